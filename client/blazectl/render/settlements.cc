#include "absl/strings/str_cat.h"
#include "client/blazectl/enum_text.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/render/words.h"
#include "client/blazectl/table.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

std::string NextCheck(const v1::SettlementRow& row) {
  if (!row.has_next_check_steps()) return "no check planned";
  if (row.next_check_steps() == 0) return "due";
  return absl::StrCat("in ", Counted(row.next_check_steps(), "step"));
}

}  // namespace

std::string RenderSettlements(const v1::ListSettlementsReply& settlements, const Screen& screen,
                              absl::Time now) {
  if (settlements.rows().empty()) return "nothing was settled yet\n";
  Table table({{"settlement", Align::kRight, Stretch::kRigid, 0},
               {"workload", Align::kLeft, Stretch::kElastic, 0},
               {"kind", Align::kLeft, Stretch::kRigid, 0},
               {"state", Align::kLeft, Stretch::kRigid, 6},
               {"saves", Align::kLeft, Stretch::kRigid, 7},
               {"default step", Align::kRight, Stretch::kRigid, 3},
               {"contract", Align::kLeft, Stretch::kRigid, 1},
               {"pairs", Align::kRight, Stretch::kRigid, 2},
               {"window", Align::kRight, Stretch::kRigid, 2},
               {"pays after", Align::kRight, Stretch::kRigid, 4},
               {"when", Align::kRight, Stretch::kRigid, 5},
               {"next check", Align::kRight, Stretch::kRigid, 1},
               {"plan", Align::kLeft, Stretch::kElastic, 6}});
  for (const v1::SettlementRow& row : settlements.rows()) {
    const bool in_force = row.state() == "in_force";
    table.Add({{absl::StrCat(row.id())},
               {row.workload_name().empty() ? ShortHex(row.workload()) : row.workload_name()},
               {Word(row.kind())},
               {row.state(), in_force ? Ink::kGood : Ink::kFaint},
               {GainText(row)},
               {DurationText(row.default_step_ns())},
               {Word(row.contract())},
               {absl::StrCat(row.search_pairs(), "+", row.replication_pairs())},
               {DurationText(static_cast<double>(row.window_ns()))},
               {row.break_even_steps() > 0 ? StepsText(row.break_even_steps()) : "-"},
               {AgoText(row.settled_unix_ns(), now)},
               {NextCheck(row)},
               {PlanText(row.plan(), row.plan_text())}});
  }
  return table.Render(screen);
}

}  // namespace blazed::blazectl
