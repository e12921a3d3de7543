#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/trainer/demo/child_process.h"

namespace blazed::trainer {

// A daemon of this process alone: its own socket, store and log under one folder.
class PrivateDaemon {
 public:
  // Starts `program` and waits until its socket takes connections. Errors carry the tail of its
  // log.
  static absl::StatusOr<PrivateDaemon> Start(const std::string& program, const std::string& folder,
                                             absl::Duration patience = absl::Seconds(15));

  const std::string& socket() const { return socket_; }
  ChildProcess& process() { return process_; }

  // OK while it runs; else how it ended, with the tail of its log.
  absl::Status Check();
  // Orderly stop.
  void Stop() { process_.Stop(absl::Seconds(10)); }

 private:
  PrivateDaemon(ChildProcess process, std::string socket, std::string log)
      : process_(std::move(process)), socket_(std::move(socket)), log_(std::move(log)) {}

  ChildProcess process_;
  std::string socket_;
  std::string log_;
};

// The last lines of a log, each indented.
std::string LogTail(const std::string& path);

}  // namespace blazed::trainer
