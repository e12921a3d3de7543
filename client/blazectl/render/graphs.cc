#include "absl/strings/str_cat.h"
#include "client/blazectl/enum_text.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/table.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {

std::string RenderGraphs(const v1::ListWorkloadsReply& workloads, const v1::ListGraphsReply& graphs,
                         const Screen& screen, absl::Time now) {
  if (workloads.rows().empty() && graphs.rows().empty()) {
    return "no workload was seen yet; attach a job with mode tune\n";
  }
  Table known({{"workload", Align::kLeft, Stretch::kRigid, 0},
               {"name", Align::kLeft, Stretch::kElastic, 0},
               {"decisions", Align::kRight, Stretch::kRigid, 3},
               {"graphs", Align::kRight, Stretch::kRigid, 2},
               {"settled", Align::kLeft, Stretch::kRigid, 5},
               {"saves", Align::kRight, Stretch::kRigid, 4},
               {"seen", Align::kRight, Stretch::kRigid, 1}});
  for (const v1::WorkloadRow& row : workloads.rows()) {
    known.Add({{ShortHex(row.fingerprint())},
               {row.name()},
               {absl::StrCat(row.decisions())},
               {absl::StrCat(row.graphs())},
               {row.settlement().empty() ? "-" : row.settlement()},
               {row.gain() == 0 ? "-" : PercentText(row.gain()),
                row.gain() > 0 ? Ink::kGood : Ink::kPlain},
               {AgoText(row.last_seen_unix_ns(), now)}});
  }
  Table seen({{"graph", Align::kLeft, Stretch::kRigid, 0},
              {"name", Align::kLeft, Stretch::kElastic, 0},
              {"regime", Align::kLeft, Stretch::kRigid, 3},
              {"nodes", Align::kRight, Stretch::kRigid, 2},
              {"description", Align::kLeft, Stretch::kElastic, 1}});
  for (const v1::GraphRow& row : graphs.rows()) {
    seen.Add({{ShortHex(row.fingerprint())},
              {row.name()},
              {Word(row.regime())},
              {absl::StrCat(row.nodes())},
              {row.description()}});
  }
  return absl::StrCat(known.Render(screen), "\n", seen.Render(screen));
}

}  // namespace blazed::blazectl
