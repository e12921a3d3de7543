// Asks a daemon's History and waits for the answer. Nothing where the daemon is gone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blazed/v1/history.grpc.pb.h"

namespace blazed::fault {

class HistoryClient {
 public:
  explicit HistoryClient(const std::string& socket);

  std::optional<v1::GetStatusReply> Status() const;
  // All of them, newest first.
  std::optional<std::vector<v1::SettlementRow>> Settlements() const;
  std::optional<v1::ExplainReply> Explain(const std::string& workload) const;

 private:
  std::unique_ptr<v1::History::Stub> stub_;
};

}  // namespace blazed::fault
