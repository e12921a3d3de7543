#include "tests/fault/daemon/announced.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace blazed::fault {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);  // beyond it the test has failed

std::string PlanText(const fakes::ProtoPlan& plan) {
  std::string text;
  for (const auto& [decision, option] : plan) absl::StrAppend(&text, decision, ":", option, ",");
  return text;
}

std::string Facts(const std::string& workload_hex, const std::string& name, v1::SettlementKind kind,
                  const fakes::ProtoPlan& plan, const std::string& champion_hex,
                  const std::string& default_hex) {
  return absl::StrCat("workload ", workload_hex, " ", name, ", ", v1::SettlementKind_Name(kind),
                      ", plan ", PlanText(plan), " runs as ", champion_hex, ", default ",
                      default_hex, ", user ", geteuid());
}

std::string FactsOf(const fakes::SyntheticHost& host, const v1::Adopt& adopt) {
  const fakes::ProtoPlan plan = fakes::FromProto(adopt.plan());
  return Facts(absl::BytesToHexString(host.Workload().fingerprint()), host.name, adopt.settlement(),
               plan, absl::BytesToHexString(host.Signature(plan)),
               absl::BytesToHexString(host.Signature({})));
}

std::string FactsOf(const v1::SettlementRow& row) {
  return Facts(row.workload(), row.workload_name(), row.kind(), fakes::FromProto(row.plan()),
               row.champion_signature(), row.default_signature());
}

std::string ConditionOf(const v1::ExplainReply& reply) {
  std::string text;
  for (const v1::EnvironmentField& field : reply.environment()) {
    absl::StrAppend(&text, field.key(), "=", field.value(), "; ");
  }
  return text;
}

// The words beside the plan in force; empty while its row says something provisional.
std::string ReasonOf(const v1::ExplainReply& reply) {
  for (const v1::PlanRow& plan : reply.plans()) {
    const bool in_force =
        plan.plan().SerializeAsString() == reply.settlement().plan().SerializeAsString();
    if (in_force && plan.verdict() == v1::VERDICT_CHAMPION) return plan.reason();
  }
  return "";
}

// What was announced. The countdown to the next check moves with every served step and is kept
// when there is time.
std::string LastingBytes(v1::SettlementRow row) {
  row.clear_next_check_steps();
  return row.SerializeAsString();
}

}  // namespace

void Announced::Adopted(const Job& job, const v1::Adopt& adopt) {
  Count();
  const std::string facts = FactsOf(HostOf(job.workload), adopt);
  std::lock_guard lock(mutex_);
  Told& told = all_[adopt.settlement_id()];
  if (told.facts.empty()) fresh_.push_back(adopt.settlement_id());
  if (!told.facts.empty() && told.facts != facts) {
    contradictions_.push_back(absl::StrCat("settlement ", adopt.settlement_id(), " was told as ",
                                           told.facts, " and then as ", facts));
  }
  told.job = job;
  told.settlement = adopt.settlement_id();
  told.plan = fakes::FromProto(adopt.plan());
  told.facts = facts;
}

void Announced::Count() {
  std::lock_guard lock(mutex_);
  if (to_come_ == 0 || --to_come_ > 0) return;
  if (then_) then_();
  told_.notify_all();
}

void Announced::Listed(const v1::SettlementRow& row) {
  std::lock_guard lock(mutex_);
  Told& told = all_[row.id()];
  told.settlement = row.id();
  if (told.row.empty()) told.row = LastingBytes(row);
}

void Announced::Explained(const v1::ExplainReply& reply) {
  if (!reply.has_settlement()) return;
  Listed(reply.settlement());
  std::lock_guard lock(mutex_);
  Told& told = all_[reply.settlement().id()];
  if (told.condition.empty()) told.condition = ConditionOf(reply);
  if (told.reason.empty()) told.reason = ReasonOf(reply);
}

void Announced::StartCounting(size_t number, std::function<void()> then) {
  std::lock_guard lock(mutex_);
  to_come_ = number;
  then_ = std::move(then);
}

bool Announced::AwaitCounted() {
  std::unique_lock lock(mutex_);
  return told_.wait_for(lock, kPatience, [this] { return to_come_ == 0; });
}

size_t Announced::size() const {
  std::lock_guard lock(mutex_);
  return all_.size();
}

std::optional<Told> Announced::Any(std::mt19937_64& random) const {
  std::lock_guard lock(mutex_);
  std::vector<const Told*> named;
  for (const auto& [id, told] : all_) {
    if (!told.facts.empty()) named.push_back(&told);
  }
  if (named.empty()) return std::nullopt;
  return *named[random() % named.size()];
}

std::vector<Told> Announced::TakeFresh() {
  std::lock_guard lock(mutex_);
  std::vector<Told> fresh;
  for (const uint64_t id : fresh_) fresh.push_back(all_[id]);
  fresh_.clear();
  return fresh;
}

std::vector<std::string> Announced::MissingFrom(const std::vector<v1::SettlementRow>& rows) const {
  std::map<uint64_t, const v1::SettlementRow*> stored;
  for (const v1::SettlementRow& row : rows) stored[row.id()] = &row;
  std::lock_guard lock(mutex_);
  std::vector<std::string> missing = contradictions_;
  for (const auto& [id, told] : all_) {
    const auto found = stored.find(id);
    if (found == stored.end()) {
      missing.push_back(absl::StrCat("settlement ", id, " is gone: ", told.facts));
    } else if (!told.facts.empty() && told.facts != FactsOf(*found->second)) {
      missing.push_back(absl::StrCat("settlement ", id, " was told as ", told.facts,
                                     " and is stored as ", FactsOf(*found->second)));
    } else if (!told.row.empty() && told.row != LastingBytes(*found->second)) {
      v1::SettlementRow answered;
      answered.ParseFromString(told.row);
      missing.push_back(absl::StrCat("settlement ", id, " was answered as ",
                                     answered.ShortDebugString(), " and is stored as ",
                                     found->second->ShortDebugString()));
    }
  }
  return missing;
}

std::vector<std::string> Announced::DifferencesFrom(const v1::ExplainReply& reply) const {
  std::lock_guard lock(mutex_);
  const auto found = all_.find(reply.settlement().id());
  if (found == all_.end()) return {"Explain answers a settlement that nobody was told of"};
  const Told& told = found->second;
  std::vector<std::string> differences;
  if (!told.condition.empty() && told.condition != ConditionOf(reply)) {
    differences.push_back(absl::StrCat("the conditions of settlement ", told.settlement, " were ",
                                       told.condition, " and are ", ConditionOf(reply)));
  }
  if (!told.reason.empty() && told.reason != ReasonOf(reply)) {
    differences.push_back(absl::StrCat("the reason of settlement ", told.settlement, " was \"",
                                       told.reason, "\" and is \"", ReasonOf(reply), "\""));
  }
  return differences;
}

}  // namespace blazed::fault
