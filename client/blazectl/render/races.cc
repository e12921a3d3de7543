#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/render/words.h"
#include "client/blazectl/table.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {

std::string RenderRaces(const v1::ListRacesReply& races, const Screen& screen) {
  if (races.rows().empty()) return "no race was run yet\n";
  const double scale = BarScale(races.rows());
  Table table({{"race", Align::kRight, Stretch::kRigid, 0},
               {"kind", Align::kLeft, Stretch::kRigid, 3},
               {"outcome", Align::kLeft, Stretch::kRigid, 0},
               {"pairs", Align::kRight, Stretch::kRigid, 4},
               {"saves", Align::kRight, Stretch::kRigid, 6},
               {"interval", Align::kLeft, Stretch::kRigid, 5},
               {"ln E", Align::kRight, Stretch::kRigid, 2},
               {"alpha", Align::kRight, Stretch::kRigid, 1},
               {"challenger", Align::kLeft, Stretch::kElastic, 0},
               {"reason", Align::kLeft, Stretch::kElastic, 1}});
  for (const v1::RaceRow& row : races.rows()) {
    const bool ran = row.pairs() > 0;
    const bool tested = ran && row.alpha() > 0;  // a drift check is judged by another rule
    table.Add({{absl::StrCat(row.id())},
               {row.kind()},
               {row.outcome(), InkOfOutcome(row.outcome())},
               {absl::StrCat(row.pairs())},
               {ran ? SavingText(row.estimate()) : "-"},
               {ran ? BarOf(row, scale) : "no pair ran"},
               {tested ? absl::StrFormat("%.1f", row.log_e_accept()) : "-"},
               {tested ? absl::StrFormat("%.2g", row.alpha()) : "-"},
               {row.challenger_text().empty() ? absl::StrCat("plan ", row.challenger_plan())
                                              : row.challenger_text()},
               {row.reason()}});
  }
  return absl::StrCat(table.Render(screen), "\ninterval: from ", PercentText(-scale), " to ",
                      PercentText(scale), " of a step saved; | is no difference\n");
}

}  // namespace blazed::blazectl
