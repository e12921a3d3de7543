#include "client/cpp/transport/send_queue.h"

#include <algorithm>
#include <utility>

#include "client/cpp/wire/codec.h"

namespace blazed::shim {

void SendQueue::Add(Outgoing&& message) {
  if (message.kind == OutgoingKind::kDescription) {
    if (descriptions_.size() == kMaxDescriptions) return;
    descriptions_.push_back(message.body);
    // Before the first welcome OnWelcome brings it.
    if (generation_ == 0) return;
  } else if (message.generation != generation_) {
    return;  // meant for a session that is no more
  }
  Append(std::move(message));
  Trim();
}

void SendQueue::Append(Outgoing&& message) {
  pending_bytes_ += message.body.size();
  pending_.push_back(std::move(message));
}

void SendQueue::Trim() {
  while (pending_.size() > kMaxMessages || pending_bytes_ > kMaxBytes) {
    const auto oldest = [this](OutgoingKind kind) {
      return std::find_if(pending_.begin(), pending_.end(),
                          [kind](const Outgoing& message) { return message.kind == kind; });
    };
    auto victim = oldest(OutgoingKind::kWindow);
    if (victim == pending_.end()) victim = oldest(OutgoingKind::kKernels);
    if (victim == pending_.end()) victim = oldest(OutgoingKind::kAnswer);
    if (victim == pending_.end()) return;  // descriptions alone: the host's own, and bounded
    pending_bytes_ -= victim->body.size();
    pending_.erase(victim);
    ++lost_;
  }
}

void SendQueue::OnWelcome(uint64_t generation) {
  std::deque<Outgoing> waiting;
  if (generation == generation_) {
    for (std::string& body : kept_) {
      waiting.push_back({OutgoingKind::kAnswer, generation, std::move(body), {}});
    }
    for (Outgoing& message : pending_) {
      if (message.kind != OutgoingKind::kDescription) waiting.push_back(std::move(message));
    }
  }
  kept_.clear();
  pending_.clear();
  pending_bytes_ = 0;
  generation_ = generation;
  for (const std::string& body : descriptions_) {
    Append({OutgoingKind::kDescription, generation, body, {}});
  }
  for (Outgoing& message : waiting) Append(std::move(message));
  Trim();
}

bool SendQueue::Next(std::string& body) {
  if (pending_.empty()) return false;
  Outgoing message = std::move(pending_.front());
  pending_.pop_front();
  pending_bytes_ -= message.body.size();
  body = message.kind == OutgoingKind::kWindow ? Encode(message.window) : std::move(message.body);
  if (message.kind == OutgoingKind::kAnswer) {
    kept_.push_back(body);
    if (kept_.size() > kKeptAnswers) kept_.pop_front();
  }
  return true;
}

}  // namespace blazed::shim
