#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

constexpr size_t kLeastDetail = 20;  // narrower screens wrap instead

// A settlement is good once it is on the disk: "settled" is what the store was asked to keep.
Ink InkOfKind(absl::string_view kind) {
  if (kind == "race_won" || kind == "settlement_stored") return Ink::kGood;
  if (kind == "stood_down" || kind == "settlement_failed" || kind == "store_outage")
    return Ink::kBad;
  return Ink::kPlain;
}

// What the log keeps so that a tuning can be replayed. Its details are numbers; people read a
// sentence instead, or nothing where another event says what came of it.
std::optional<absl::string_view> SentenceOfLog(absl::string_view kind) {
  struct Entry {
    absl::string_view kind, sentence;
  };
  static constexpr std::array kEntries = {
      Entry{"tick", ""},
      Entry{"opening", ""},
      Entry{"variant_built", ""},
      Entry{"probe_done", ""},
      Entry{"lease_done", ""},
      Entry{"variant_adopted", ""},
      Entry{"directive_held", ""},
      Entry{"directive_sent", ""},
      Entry{"thought_done", ""},
      Entry{"service_window", ""},
      Entry{"session_ready", "a job attached"},
      Entry{"session_gone", "the job left"},
      Entry{"lease_expired", "a lease ran out without an answer"},
      Entry{"directive_refused", "the job did not follow a directive"},
      Entry{"settlement_stored", "the settlement is on the disk and in force"},
      Entry{"settlement_failed", "the store could not keep the settlement"},
      Entry{"gap", "events are missing here"},
  };
  for (const Entry& entry : kEntries) {
    if (entry.kind == kind) return entry.sentence;
  }
  return std::nullopt;
}

std::string Who(const v1::WatchEvent& event) {
  std::string who;
  if (event.session() != 0) absl::StrAppend(&who, "  session ", event.session());
  const std::string& name =
      event.workload_name().empty() ? ShortHex(event.workload()) : event.workload_name();
  if (!name.empty()) absl::StrAppend(&who, "  ", Clean(name));
  return who;
}

}  // namespace

std::string RenderEvent(const v1::WatchEvent& event, const Screen& screen, absl::TimeZone zone) {
  const std::optional<absl::string_view> sentence = SentenceOfLog(event.kind());
  if (sentence.has_value() && sentence->empty()) return "";
  const std::string head =
      absl::StrCat(absl::FormatTime("%H:%M:%S", absl::FromUnixNanos(event.unix_ns()), zone), "  ");
  const std::string kind =
      absl::StrFormat("%-16s", absl::StrReplaceAll(Clean(event.kind()), {{"_", " "}}));
  const std::string who = Who(event);
  std::string detail = Clean(sentence.value_or(event.detail()));
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
