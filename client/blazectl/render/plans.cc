#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/blazectl/enum_text.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/render/words.h"
#include "client/blazectl/table.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

constexpr std::ptrdiff_t kWorkloadAt = 1;  // of the columns

}  // namespace

std::string RenderPlans(const v1::ListPlansReply& plans, const Screen& screen,
                        WorkloadColumn workload) {
  if (plans.rows().empty()) return "no candidate was named yet\n";
  std::vector<Column> columns = {{"plan", Align::kRight, Stretch::kRigid, 0},
                                 {"workload", Align::kLeft, Stretch::kRigid, 3},
                                 {"verdict", Align::kLeft, Stretch::kRigid, 0},
                                 {"pairs", Align::kRight, Stretch::kRigid, 4},
                                 {"built in", Align::kRight, Stretch::kRigid, 2},
                                 {"peak", Align::kRight, Stretch::kRigid, 1},
                                 {"choices", Align::kLeft, Stretch::kElastic, 0},
                                 {"reason", Align::kLeft, Stretch::kElastic, 5}};
  const auto at = columns.begin() + kWorkloadAt;
  if (workload == WorkloadColumn::kLeftOut) columns.erase(at);
  Table table(std::move(columns));
  for (const v1::PlanRow& row : plans.rows()) {
    std::vector<Cell> cells = {
        {absl::StrCat(row.id())},
        {ShortHex(row.workload())},
        {Word(row.verdict()), InkOf(row.verdict())},
        {absl::StrCat(row.pairs())},
        {row.build_ns() == 0 ? "-" : DurationText(static_cast<double>(row.build_ns()))},
        {row.peak_bytes() == 0 ? "-" : BytesText(row.peak_bytes())},
        {PlanText(row.plan(), row.plan_text())},
        {row.reason()}};
    if (workload == WorkloadColumn::kLeftOut) cells.erase(cells.begin() + kWorkloadAt);
    table.Add(std::move(cells));
  }
  return table.Render(screen);
}

}  // namespace blazed::blazectl
