// What waits to be sent, across streams and daemons. Pure; the link's thread.
//
// Answers written to a stream that then broke may or may not have arrived. Every answer carries the
// id of its directive and is counted once, so the latest ones are sent again after a resume.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "client/cpp/transport/channel.h"

namespace blazed::shim {

class SendQueue {
 public:
  static constexpr size_t kMaxMessages = 512;
  static constexpr size_t kMaxBytes = 4 << 20;
  static constexpr size_t kKeptAnswers = 16;
  static constexpr size_t kMaxDescriptions = kMaxGraphs + 1;

  // Takes a message from the host. Beyond the limits the oldest service window goes, or else the
  // oldest kernels, or the oldest answer, never a description: without it the daemon knows no
  // workload.
  void Add(Outgoing&& message);

  // A stream was welcomed for `generation`. The descriptions go first; of another generation than
  // before, nothing else is left; of the same one, the kept answers go again.
  void OnWelcome(uint64_t generation);

  // The encoded body to be sent next. False: none.
  bool Next(std::string& body);

  bool empty() const { return pending_.empty(); }
  uint32_t lost() const { return lost_; }

 private:
  void Append(Outgoing&& message);
  void Trim();

  std::deque<Outgoing> pending_;
  size_t pending_bytes_ = 0;
  std::deque<std::string> kept_;
  std::deque<std::string> descriptions_;
  uint64_t generation_ = 0;
  uint32_t lost_ = 0;
};

}  // namespace blazed::shim
