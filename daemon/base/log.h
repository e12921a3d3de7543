// Structured log: one sentence a line and fields for what varies, written as logfmt to stderr.
//
//   log::Info("session opened", {{log::field::kSession, id}, {log::field::kUid, uid}});
//
// Lines are written by a thread of their own: a full pipe on stderr never stops a caller. Beyond
// 1,024 waiting lines the oldest are dropped. Under systemd's journal a line begins with its
// priority instead of a time. Any thread may log. Before Start and after Stop lines go to stderr at
// once.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/base/log_fields.h"

namespace blazed::log {

enum class Level { kDebug, kInfo, kWarning, kError };

struct Field {
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(v) {}
  Field(std::string_view k, std::integral auto v) : key(k), value(absl::StrCat(v)) {}
  std::string_view key;
  std::string value;
};
using Fields = std::initializer_list<Field>;

void Debug(std::string_view sentence, Fields fields = {});
void Info(std::string_view sentence, Fields fields = {});
void Warning(std::string_view sentence, Fields fields = {});
void Error(std::string_view sentence, Fields fields = {});

// Starts and stops the writing thread. Stop writes what waits.
void Start(Level level);
void Stop();
void SetLevel(Level level);

// "debug", "info", "warning" or "error".
bool ParseLevel(std::string_view text, Level* level);

// The line as it is written, without time: `level=info msg="session opened" session=4`.
std::string FormatLine(Level level, std::string_view sentence, Fields fields);

// Collects lines while it lives, for tests that assert what was logged. One at a time.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  std::vector<std::string> lines() const;
  // Whether a line holds all of `parts`.
  bool Has(std::initializer_list<std::string_view> parts) const;
};

}  // namespace blazed::log
