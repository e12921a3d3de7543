// The two calls of a link. Included by link.cc and link_handlers.cc only.
#pragma once

#include <string>

#include "client/cpp/transport/link.h"

namespace blazed::shim {

class Link::AttachHandler final : public CallHandler {
 public:
  explicit AttachHandler(Link* link) : link_(link) {}
  void OnMessage(std::string_view message) override { link_->IoOnMessage(message); }
  void OnClosed(const CallStatus& status) override { link_->IoOnAttachClosed(status); }

 private:
  Link* link_;
};

class Link::ReportHandler final : public CallHandler {
 public:
  explicit ReportHandler(Mailbox* mailbox) : mailbox_(mailbox) {}
  void OnMessage(std::string_view message) override { reply_.emplace(message); }
  void OnClosed(const CallStatus& status) override;
  bool done() const { return done_; }

 private:
  Mailbox* mailbox_;
  std::optional<std::string> reply_;
  bool done_ = false;
};

// The refusal of a directive for which there is no room; messages without an answer have none.
struct RefusalFor {
  bool wanted = false;
  DirectiveRefused message;
};
RefusalFor OverLimitRefusal(const DaemonBody& body);

}  // namespace blazed::shim
