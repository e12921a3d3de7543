// What clients were told of settlements, and whether it is still there. Thread-safe.
//
// Two kinds of word are kept: an Adopt that names a settlement, with what the host that heard it
// knows of the conditions (workload, signatures, contract, user); and whole rows that History
// answered.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "blazed/v1/history.pb.h"
#include "tests/fault/daemon/jobs.h"

namespace blazed::fault {

// A settlement that a client was told of.
struct Told {
  Job job;
  uint64_t settlement = 0;
  fakes::ProtoPlan plan;
  std::string facts;      // kind, plan and conditions, as text; from an Adopt
  std::string row;        // bytes of the row that History answered; empty: not asked yet
  std::string reason;     // why the plan in force is in force, as Explain answered; empty likewise
  std::string condition;  // the environment's fields, as Explain answered; empty likewise
};

class Announced {
 public:
  // An Adopt with a settlement came to this job.
  void Adopted(const Job& job, const v1::Adopt& adopt);
  // History answered this. Rows of settlements that no Adopt has named yet are kept too.
  void Listed(const v1::SettlementRow& row);
  void Explained(const v1::ExplainReply& reply);

  // From here on Adopts are counted; the one of this number runs `then` on the thread that heard
  // it, at once.
  void StartCounting(size_t number, std::function<void()> then);
  // Blocks until that one came; false after a minute without it.
  bool AwaitCounted();

  // Settlements that some client was told of.
  size_t size() const;
  // One of those that an Adopt named.
  std::optional<Told> Any(std::mt19937_64& random) const;
  // Those that an Adopt named since the last call.
  std::vector<Told> TakeFresh();

  // What is announced and not among the rows, or differs from its row; one sentence each.
  std::vector<std::string> MissingFrom(const std::vector<v1::SettlementRow>& rows) const;
  // What an earlier Explain said and this one does not.
  std::vector<std::string> DifferencesFrom(const v1::ExplainReply& reply) const;

 private:
  void Count();

  mutable std::mutex mutex_;
  std::condition_variable told_;
  std::map<uint64_t, Told> all_;
  std::vector<uint64_t> fresh_;
  size_t to_come_ = 0;
  std::function<void()> then_;
  std::vector<std::string> contradictions_;
};

}  // namespace blazed::fault
