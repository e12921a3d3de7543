// The answers given, by directive, so that the same directive asked again gets the same answer.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

namespace blazed::shim {

enum class DirectiveKind { kBuild, kProbe, kRunPairs, kAdopt };

class Answers {
 public:
  static constexpr size_t kKept = 128;

  void Keep(DirectiveKind kind, uint64_t id, const std::string& body) {
    kept_.push_back({kind, id, body});
    if (kept_.size() > kKept) kept_.pop_front();
  }

  // Calls `send(body)` for every answer to that directive; false: there was none.
  template <typename Send>
  bool Repeat(DirectiveKind kind, uint64_t id, Send&& send) const {
    bool found = false;
    for (const Answer& answer : kept_) {
      if (answer.kind != kind || answer.id != id) continue;
      send(answer.body);
      found = true;
    }
    return found;
  }

  void Clear() { kept_.clear(); }

 private:
  struct Answer {
    DirectiveKind kind;
    uint64_t id;
    std::string body;
  };
  std::deque<Answer> kept_;
};

}  // namespace blazed::shim
