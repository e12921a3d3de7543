#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

constexpr size_t kLeastDetail = 20;  // narrower screens wrap instead

Ink InkOfKind(absl::string_view kind) {
  if (kind == "race_won" || kind == "settled" || kind == "settlement_stored") return Ink::kGood;
  if (kind == "stood_down" || kind == "settlement_failed" || kind == "store_outage")
    return Ink::kBad;
  return Ink::kPlain;
}

// The planner's own line of an event starts with its version and its kind; the kind has a column
// already.
absl::string_view WithoutHead(absl::string_view detail, absl::string_view kind) {
  absl::string_view rest = detail;
  while (!rest.empty() && absl::ascii_isdigit(static_cast<unsigned char>(rest.front()))) {
    rest.remove_prefix(1);
  }
  if (rest.size() == detail.size() || !absl::ConsumePrefix(&rest, " ")) return detail;
  if (!absl::ConsumePrefix(&rest, kind) || !absl::ConsumePrefix(&rest, " ")) return detail;
  return rest;
}

}  // namespace

std::string RenderEvent(const v1::WatchEvent& event, const Screen& screen, absl::TimeZone zone) {
  const std::string head =
      absl::StrCat(absl::FormatTime("%H:%M:%E3S", absl::FromUnixNanos(event.unix_ns()), zone),
                   absl::StrFormat("  %6d  ", event.id()));
  const std::string kind = absl::StrFormat("%-18s", Clean(event.kind()));
  std::string who;
  if (event.session() != 0) absl::StrAppend(&who, "  session ", event.session());
  if (!event.workload().empty()) absl::StrAppend(&who, "  ", ShortHex(Clean(event.workload())));

  std::string detail = Clean(WithoutHead(event.detail(), event.kind()));
  const size_t used = Columns(head) + Columns(kind) + Columns(who) + 2;
  if (screen.columns > 0) {
    detail =
        Shortened(detail, std::max(kLeastDetail, screen.columns - std::min(used, screen.columns)));
  }
  std::string line =
      absl::StrCat(head, screen.Paint(kind, InkOfKind(event.kind())), who, "  ", detail);
  while (line.back() == ' ') line.pop_back();
  return line + "\n";
}

}  // namespace blazed::blazectl
