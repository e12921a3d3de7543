#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/history/convert.h"
#include "daemon/history/explain.h"
#include "daemon/history/query.h"
#include "daemon/history/service.h"
#include "daemon/planner/counted.h"

namespace blazed::history {
namespace {

using storage::Page;
using storage::Reader;

// Every row of the page's workload, page by page, up to a limit that no person reads to the end of.
template <typename Row, typename Read, typename IdOf>
absl::StatusOr<std::vector<Row>> All(Page page, Read read, IdOf id_of) {
  constexpr size_t kMost = 5000;
  std::vector<Row> all;
  page.limit = kLargestPage;
  for (;;) {
    absl::StatusOr<std::vector<Row>> rows = read(page);
    if (!rows.ok()) return rows.status();
    std::move(rows->begin(), rows->end(), std::back_inserter(all));
    if (rows->size() < page.limit || all.size() >= kMost) return all;
    page.before = id_of(all.back());
  }
}

template <typename Row>
void KeepOf(storage::TuningId tuning, std::vector<Row>& rows) {
  std::erase_if(rows, [tuning](const Row& row) { return row.tuning != tuning; });
}

// Why nothing is settled: what is kept of the session that ran the latest race.
absl::Status LoadLastEnd(Reader& reader, Evidence& evidence) {
  if (evidence.races.empty()) return absl::OkStatus();
  const auto latest = std::max_element(evidence.races.begin(), evidence.races.end(),
                                       [](const auto& a, const auto& b) { return a.id < b.id; });
  const absl::StatusOr<Reader::SessionStory> story = reader.Story(latest->record.session);
  if (absl::IsNotFound(story.status())) return absl::OkStatus();
  if (!story.ok()) return story.status();
  if (story->outcome && story->outcome->record.outcome == planner::Outcome::kUndecided) {
    evidence.last_end = story->outcome->record.reason;
  }
  return absl::OkStatus();
}

// Rows of the one tuning that the answer is about: the settlement in force, else the newest
// settlement, else the newest plan says which.
absl::Status LoadEvidence(Reader& reader, const Page& page, uint64_t asked_plan,
                          Evidence& evidence) {
  auto settlements = All<storage::StoredSettlement>(
      page, [&](const Page& p) { return reader.Settlements(p); },
      [](const storage::StoredSettlement& row) { return static_cast<int64_t>(row.record.id); });
  if (!settlements.ok()) return settlements.status();
  auto plans = All<storage::StoredPlan>(
      page, [&](const Page& p) { return reader.Plans(p); },
      [](const storage::StoredPlan& row) { return row.id; });
  if (!plans.ok()) return plans.status();
  auto races = All<storage::StoredRace>(
      page, [&](const Page& p) { return reader.Races(p); },
      [](const storage::StoredRace& row) { return row.id; });
  if (!races.ok()) return races.status();

  storage::TuningId tuning = plans->empty() ? 0 : plans->front().tuning;
  for (auto row = settlements->rbegin(); row != settlements->rend(); ++row) {
    evidence.settlement = *row;
  }
  for (auto row = settlements->rbegin(); row != settlements->rend(); ++row) {
    if (row->state == storage::SettlementState::kInForce) evidence.settlement = *row;
  }
  if (evidence.settlement.has_value()) tuning = evidence.settlement->tuning;
  for (const storage::StoredPlan& plan : *plans) {
    if (static_cast<uint64_t>(plan.id) == asked_plan) tuning = plan.tuning;
  }
  if (evidence.settlement.has_value() && evidence.settlement->tuning != tuning) {
    evidence.settlement.reset();
  }
  KeepOf(tuning, *plans);
  KeepOf(tuning, *races);
  evidence.plans = *std::move(plans);
  evidence.races = *std::move(races);
  SortForPeople(evidence.plans);
  if (tuning == 0) return absl::OkStatus();
  absl::StatusOr<Reader::Tuning> found = reader.TuningById(tuning);
  if (!found.ok()) return found.status();
  evidence.key = std::move(found->key);
  if (!evidence.settlement.has_value()) return LoadLastEnd(reader, evidence);
  auto drift = reader.Drift(static_cast<int64_t>(evidence.settlement->record.id));
  if (!drift.ok()) return drift.status();
  evidence.drift = *drift;
  return absl::OkStatus();
}

// What a step runs under the plan that the answer is about: the one asked for, else the one
// settled.
absl::Status LoadKernels(Reader& reader, const storage::StoredPlan* asked, Evidence& evidence) {
  if (asked == nullptr && !evidence.settlement.has_value()) return absl::OkStatus();
  auto kernels = asked != nullptr ? reader.Kernels(asked->tuning, asked->record.plan)
                                  : reader.Kernels(evidence.settlement->tuning,
                                                   evidence.settlement->record.plan);
  if (!kernels.ok()) return kernels.status();
  evidence.kernels = *std::move(kernels);
  return absl::OkStatus();
}

// Rows up to a size that every client takes: gRPC's refuse what is longer than 4 MiB unless told
// otherwise.
class RowBudget {
 public:
  // Whether the row still fits; counts those that do not.
  bool Takes(const google::protobuf::Message& row, size_t* left_out) {
    constexpr size_t kMostBytes = 3 << 20;
    const size_t bytes = row.ByteSizeLong() + 8;  // its tag and length
    if (bytes_ + bytes > kMostBytes) {
      ++*left_out;
      return false;
    }
    bytes_ += bytes;
    return true;
  }

 private:
  size_t bytes_ = 0;
};

absl::Status Fill(Reader& reader, const Evidence& evidence, v1::ExplainReply* reply) {
  Lookup lookup(reader);
  if (evidence.settlement.has_value()) {
    absl::StatusOr<v1::SettlementRow> row = ToProto(*evidence.settlement, lookup);
    if (!row.ok()) return row.status();
    *reply->mutable_settlement() = *std::move(row);
  }
  if (evidence.kernels.has_value()) *reply->mutable_kernels() = ToProto(*evidence.kernels);
  RowBudget budget;
  size_t plans_left = 0, races_left = 0;
  for (const storage::StoredPlan& plan : evidence.plans) {
    absl::StatusOr<v1::PlanRow> row = ToProto(plan, lookup);
    if (!row.ok()) return row.status();
    if (budget.Takes(*row, &plans_left)) *reply->add_plans() = *std::move(row);
  }
  for (const storage::StoredRace& race : evidence.races) {
    absl::StatusOr<v1::RaceRow> row = ToProto(race, lookup);
    if (!row.ok()) return row.status();
    if (budget.Takes(*row, &races_left)) *reply->add_races() = *std::move(row);
  }
  if (plans_left + races_left > 0) {
    reply->add_sentences(absl::StrCat(
        planner::Counted(plans_left, "plan"), " and ", planner::Counted(races_left, "race"),
        " did not fit this answer; list them with blazectl plans and races"));
  }
  absl::StatusOr<storage::EnvironmentRow> environment =
      reader.Environment(evidence.key.environment);
  // A workload that nobody tuned has no conditions yet.
  if (absl::IsNotFound(environment.status())) return absl::OkStatus();
  if (!environment.ok()) return environment.status();
  for (const auto& [key, value] : environment->fields) {
    v1::EnvironmentField* field = reply->add_environment();
    field->set_key(key);
    field->set_value(value);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AnswerExplain(Reader& reader, const rpc::Caller& caller,
                           const v1::ExplainRequest& request, v1::ExplainReply* reply) {
  if (request.workload().empty()) {
    return absl::InvalidArgumentError(
        "workload is missing: give a fingerprint that blazectl graphs shows");
  }
  absl::StatusOr<std::string> workload = ResolveWorkload(reader, caller, request.workload());
  if (!workload.ok()) return workload.status();
  Page page;
  page.workload_hex = *workload;
  page.owner = ViewOf(caller);
  absl::StatusOr<std::vector<Reader::Workload>> found = reader.Workloads(page);
  if (!found.ok()) return found.status();
  if (found->empty()) return absl::NotFoundError("the workload is not stored any more");
  Evidence evidence;
  evidence.workload = found->front().row.spec;
  absl::Status status = LoadEvidence(reader, page, request.plan(), evidence);
  if (!status.ok()) return status;
  const storage::StoredPlan* asked = nullptr;
  for (const storage::StoredPlan& plan : evidence.plans) {
    if (request.plan() != 0 && static_cast<uint64_t>(plan.id) == request.plan()) asked = &plan;
  }
  if (request.plan() != 0 && asked == nullptr) {
    return absl::NotFoundError(absl::StrCat("plan ", request.plan(),
                                            " is not one of this workload: list them with "
                                            "blazectl plans"));
  }
  status = LoadKernels(reader, asked, evidence);
  if (!status.ok()) return status;
  *reply->mutable_workload() = ToProto(found->front());
  for (std::string& sentence : Explain(evidence, asked)) {
    reply->add_sentences(std::move(sentence));
  }
  return Fill(reader, evidence, reply);
}

}  // namespace blazed::history
