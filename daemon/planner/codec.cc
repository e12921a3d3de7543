#include "daemon/planner/codec.h"

#include <algorithm>
#include <utility>

#include "daemon/planner/codec_archive.h"
#include "daemon/planner/codec_fields.h"

namespace blazed::planner {
namespace {

// In the order of EventBody and of Action; a name once given stays.
constexpr const char* kEventKinds[] = {
    "session_ready",  "session_gone",      "variant_built",     "probe_done",     "lease_done",
    "lease_expired",  "directive_refused", "directive_held",    "directive_sent", "variant_adopted",
    "service_window", "settlement_stored", "settlement_failed", "thought_done",   "tick"};
constexpr const char* kActionKinds[] = {
    "build_variant", "probe_variants", "run_pairs",    "adopt",      "drop_variant",  "stand",
    "progress",      "keep_plan",      "keep_race",    "keep_probe", "keep_forecast", "settle",
    "keep_drift",    "demote",         "keep_outcome", "think"};
constexpr const char* kOpeningKind = "tuning";
constexpr const char* kGapKind = "gap";
static_assert(std::size(kEventKinds) == std::variant_size_v<EventBody>);
static_assert(std::size(kActionKinds) == std::variant_size_v<Action>);

std::string Head(const char* kind) { return FormatNumber(kCodecVersion) + " " + kind; }

struct Line {
  std::string_view kind;
  std::vector<std::string_view> fields;
};

std::optional<Line> ReadLine(std::string_view text, std::string* error) {
  std::vector<std::string_view> tokens = SplitText(text, ' ');
  if (tokens.size() < 2) {
    *error = "the line has no version and kind";
    return std::nullopt;
  }
  if (ParseNumber<int>(tokens[0]) != kCodecVersion) {
    *error = "the line is of another version than " + FormatNumber(kCodecVersion) +
             "; replay it with the release that wrote it";
    return std::nullopt;
  }
  Line line;
  line.kind = tokens[1];
  line.fields.assign(tokens.begin() + 2, tokens.end());
  return line;
}

template <class V, size_t I = 0>
bool EmplaceKind(std::string_view kind, const char* const* kinds, V& value) {
  if constexpr (I < std::variant_size_v<V>) {
    if (kind == kinds[I]) {
      value.template emplace<I>();
      return true;
    }
    return EmplaceKind<V, I + 1>(kind, kinds, value);
  } else {
    return false;
  }
}

template <class V>
bool ReadBody(const Line& line, LineReader& reader, const char* const* kinds, V& body,
              std::string* error) {
  if (!EmplaceKind(line.kind, kinds, body)) {
    *error = "the line's kind is unknown";
    return false;
  }
  std::visit([&](auto& value) { Visit(reader, value); }, body);
  if (reader.Done()) return true;
  *error = reader.error().empty() ? "the line has more fields than its kind" : reader.error();
  return false;
}

// Lines of one kind only.
template <class T>
std::string EncodeOnly(const char* kind, T value) {
  LineWriter writer(Head(kind));
  Visit(writer, value);
  return writer.Take();
}

template <class T>
std::optional<T> DecodeOnly(std::string_view text, const char* kind, const char* other,
                            std::string* error) {
  const auto line = ReadLine(text, error);
  if (!line) return std::nullopt;
  if (line->kind != kind) {
    *error = other;
    return std::nullopt;
  }
  LineReader reader(line->fields);
  T value;
  Visit(reader, value);
  if (reader.Done()) return value;
  *error = reader.error().empty() ? "the line has more fields than its kind" : reader.error();
  return std::nullopt;
}

}  // namespace

const char* EventKind(const Event& event) { return kEventKinds[event.body.index()]; }
bool IsEventKind(std::string_view kind) {
  return std::find(std::begin(kEventKinds), std::end(kEventKinds), kind) != std::end(kEventKinds);
}
const char* ActionKind(const Action& action) { return kActionKinds[action.index()]; }

std::string EncodeEvent(const Event& event) {
  LineWriter writer(Head(EventKind(event)));
  Event copy = event;
  writer("at", copy.at);
  std::visit([&](auto& value) { Visit(writer, value); }, copy.body);
  return writer.Take();
}

std::string EncodeAction(const Action& action) {
  LineWriter writer(Head(ActionKind(action)));
  Action copy = action;
  std::visit([&](auto& value) { Visit(writer, value); }, copy);
  return writer.Take();
}

std::string EncodeOpening(const Opening& opening) { return EncodeOnly(kOpeningKind, opening); }

std::string EncodeGap(const Gap& gap) { return EncodeOnly(kGapKind, gap); }

std::optional<Event> DecodeEvent(std::string_view text, std::string* error) {
  const auto line = ReadLine(text, error);
  if (!line) return std::nullopt;
  LineReader reader(line->fields);
  Event event;
  reader("at", event.at);
  if (!ReadBody(*line, reader, kEventKinds, event.body, error)) return std::nullopt;
  return event;
}

std::optional<Action> DecodeAction(std::string_view text, std::string* error) {
  const auto line = ReadLine(text, error);
  if (!line) return std::nullopt;
  LineReader reader(line->fields);
  Action action;
  if (!ReadBody(*line, reader, kActionKinds, action, error)) return std::nullopt;
  return action;
}

std::optional<Opening> DecodeOpening(std::string_view text, std::string* error) {
  return DecodeOnly<Opening>(text, kOpeningKind, "the line does not open a tuning", error);
}

std::optional<Gap> DecodeGap(std::string_view text, std::string* error) {
  return DecodeOnly<Gap>(text, kGapKind, "the line is no gap", error);
}

uint64_t DigestActions(const std::vector<Action>& actions, uint64_t seed) {
  for (const Action& action : actions) {
    for (char c : EncodeAction(action) + "\n") {
      seed = (seed ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
    }
  }
  return seed;
}

}  // namespace blazed::planner
