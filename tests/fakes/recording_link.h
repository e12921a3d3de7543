// A session's link that keeps what it is told. The test's thread only.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "daemon/session/link.h"

namespace blazed::fakes {

class RecordingLink final : public session::Link {
 public:
  void Send(const session::Outbound& message) override {
    if (!end) sent.push_back(message);
  }
  void End(absl::Status status) override {
    if (!end) end = std::move(status);
  }

  template <typename T>
  const T* Last() const {
    for (auto it = sent.rbegin(); it != sent.rend(); ++it) {
      if (const T* found = std::get_if<T>(&*it)) return found;
    }
    return nullptr;
  }

  template <typename T>
  size_t Count() const {
    size_t count = 0;
    for (const auto& message : sent) count += std::holds_alternative<T>(message);
    return count;
  }

  std::vector<session::Outbound> sent;
  std::optional<absl::Status> end;
};

}  // namespace blazed::fakes
