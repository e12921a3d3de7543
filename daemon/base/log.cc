#include "daemon/base/log.h"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace blazed::log {
namespace {

constexpr size_t kWaitingLines = 1024;

struct State {
  std::atomic<Level> level{Level::kInfo};
  absl::Mutex mutex;
  std::shared_ptr<spdlog::details::thread_pool> pool ABSL_GUARDED_BY(mutex);
  std::shared_ptr<spdlog::logger> logger ABSL_GUARDED_BY(mutex);
  bool capturing ABSL_GUARDED_BY(mutex) = false;
  std::vector<std::string> captured ABSL_GUARDED_BY(mutex);
};

// Never destroyed: a line written while the program ends still finds its state.
State& TheState() {
  static State* state = new State;
  return *state;
}

bool UnderJournal() { return std::getenv("JOURNAL_STREAM") != nullptr; }

std::string_view Name(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  return "error";
}

// sd-daemon(3): the journal reads a leading <N> as the priority.
std::string_view JournalPrefix(Level level) {
  switch (level) {
    case Level::kDebug:
      return "<7>";
    case Level::kInfo:
      return "<6>";
    case Level::kWarning:
      return "<4>";
    case Level::kError:
      return "<3>";
  }
  return "<3>";
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  for (unsigned char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7f) return true;
  }
  return false;
}

// Values come from clients too: control bytes are escaped so that no value can forge a line.
void AppendValue(std::string* line, std::string_view text) {
  if (!NeedsQuotes(text)) {
    line->append(text);
    return;
  }
  line->push_back('"');
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      line->push_back('\\');
      line->push_back(static_cast<char>(c));
    } else if (c < ' ' || c == 0x7f) {
      absl::StrAppend(line, "\\x", absl::Hex(c, absl::kZeroPad2));
    } else {
      line->push_back(static_cast<char>(c));
    }
  }
  line->push_back('"');
}

void Write(Level level, std::string_view sentence, Fields fields) {
  State& state = TheState();
  if (level < state.level.load(std::memory_order_relaxed)) return;
  std::string line = FormatLine(level, sentence, fields);
  absl::MutexLock lock(&state.mutex);
  if (state.capturing) state.captured.push_back(line);
  if (state.logger) {
    state.logger->log(
        spdlog::level::info,
        UnderJournal() ? absl::StrCat(std::string(JournalPrefix(level)), line) : line);
  } else if (!state.capturing) {
    line.push_back('\n');
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
}

}  // namespace

std::string FormatLine(Level level, std::string_view sentence, Fields fields) {
  std::string line = absl::StrCat("level=", std::string(Name(level)), " msg=");
  AppendValue(&line, sentence);
  for (const Field& field : fields) {
    line.push_back(' ');
    line.append(field.key);
    line.push_back('=');
    AppendValue(&line, field.value);
  }
  return line;
}

void Debug(std::string_view sentence, Fields fields) { Write(Level::kDebug, sentence, fields); }
void Info(std::string_view sentence, Fields fields) { Write(Level::kInfo, sentence, fields); }
void Warning(std::string_view sentence, Fields fields) { Write(Level::kWarning, sentence, fields); }
void Error(std::string_view sentence, Fields fields) { Write(Level::kError, sentence, fields); }

void Start(Level level) {
  SetLevel(level);
  State& state = TheState();
  absl::MutexLock lock(&state.mutex);
  state.pool = std::make_shared<spdlog::details::thread_pool>(kWaitingLines, 1);
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  state.logger = std::make_shared<spdlog::async_logger>(
      "blazed", std::move(sink), state.pool, spdlog::async_overflow_policy::overrun_oldest);
  state.logger->set_pattern(UnderJournal() ? "%v" : "ts=%Y-%m-%dT%H:%M:%S.%e%z %v");
  state.logger->set_level(spdlog::level::trace);
  state.logger->flush_on(spdlog::level::trace);
}

void Stop() {
  State& state = TheState();
  std::shared_ptr<spdlog::details::thread_pool> pool;
  {
    absl::MutexLock lock(&state.mutex);
    state.logger.reset();
    pool = std::exchange(state.pool, nullptr);
  }
  pool.reset();  // joins its thread, which first writes what waits
}

void SetLevel(Level level) { TheState().level.store(level, std::memory_order_relaxed); }

bool ParseLevel(std::string_view text, Level* level) {
  for (Level known : {Level::kDebug, Level::kInfo, Level::kWarning, Level::kError}) {
    if (text == Name(known)) {
      *level = known;
      return true;
    }
  }
  return false;
}

Capture::Capture() {
  State& state = TheState();
  absl::MutexLock lock(&state.mutex);
  state.capturing = true;
  state.captured.clear();
}

Capture::~Capture() {
  State& state = TheState();
  absl::MutexLock lock(&state.mutex);
  state.capturing = false;
}

std::vector<std::string> Capture::lines() const {
  State& state = TheState();
  absl::MutexLock lock(&state.mutex);
  return state.captured;
}

bool Capture::Has(std::initializer_list<std::string_view> parts) const {
  for (const std::string& line : lines()) {
    bool all = true;
    for (std::string_view part : parts) all = all && line.find(part) != std::string::npos;
    if (all) return true;
  }
  return false;
}

}  // namespace blazed::log
