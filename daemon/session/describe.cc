// Graphs and the workload: from here on the session's tuning directs it.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/log.h"
#include "daemon/session/environment.h"
#include "daemon/session/session_table.h"
#include "daemon/session/workload_fingerprint.h"
#include "storage/workload_match.h"

namespace blazed::session {

namespace field = log::field;

namespace {

constexpr size_t kMostGraphs = 64;

// Ids of a session start above all that an earlier daemon may have given to the same process: the
// shim keeps answers by id.
constexpr int kDirectiveEpochShift = 32;
constexpr int kVariantEpochShift = 20;
constexpr uint64_t kVariantEpochMask = 0x3ff;  // ids stay below 2^31

// A workload's row is shared by all users, so nobody may put another description under its
// fingerprint.
absl::Status CheckFingerprint(const storage::WorkloadRow& told) {
  const planner::Digest found = WorkloadFingerprint(told);
  if (told.spec.fingerprint == found) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "WorkloadSeen.fingerprint is ", ToHex(told.spec.fingerprint),
      ", and its graphs and decisions give ", ToHex(found), "; compute it as tuner.proto says"));
}

}  // namespace

void SessionTable::See(Session& session, uint64_t sequence, GraphSeen graph, const Done& done) {
  auto known = session.graphs.find(graph.row.fingerprint);
  if (known != session.graphs.end()) {
    if (known->second != graph.row) {
      Refuse(session, sequence,
             absl::StrCat("graph ", ToHex(graph.row.fingerprint),
                          " was described otherwise before; a fingerprint names one graph"));
    }
    return done(absl::OkStatus());
  }
  if (session.graphs.size() >= kMostGraphs) {
    return done(absl::ResourceExhaustedError(absl::StrCat(
        "a session describes at most ", kMostGraphs, " graphs; tune a smaller part of the step")));
  }
  session.graphs.emplace(graph.row.fingerprint, std::move(graph.row));
  done(absl::OkStatus());
}

void SessionTable::See(const std::shared_ptr<Session>& session, uint64_t sequence,
                       WorkloadSeen workload, Done done) {
  if (session->workload) {
    // Said again after a resume: the first description stands.
    if (session->workload->row.spec.fingerprint != workload.row.spec.fingerprint ||
        !storage::CheckSameWorkload(session->workload->row, workload.row).ok()) {
      Refuse(*session, sequence, "a session has one workload; attach again for another one");
    }
    return done(absl::OkStatus());
  }
  if (absl::Status claim = CheckFingerprint(workload.row); !claim.ok()) {
    Refuse(*session, sequence, std::string(claim.message()));
    return done(absl::OkStatus());
  }
  absl::StatusOr<Description> description = Describe(*session, workload);
  if (!description.ok()) {
    Refuse(*session, sequence, std::string(description.status().message()));
    return done(absl::OkStatus());
  }
  const storage::TuningKey key = description->key;
  if (const auto* live = tunings_.FindWorkload(tunings_.FindLive(key))) {
    if (absl::Status same = storage::CheckSameWorkload(*live, workload.row); !same.ok()) {
      Refuse(*session, sequence, std::string(same.message()));
      return done(absl::OkStatus());
    }
  }
  session->workload = std::move(workload);
  session->stage = Stage::kDescribing;
  recorder_.OpenTuning(*std::move(description),
                       [this, alive = alive_, session, sequence, key,
                        done = std::move(done)](absl::StatusOr<OpenedTuning> opened) {
                         if (*alive) Described(session, sequence, key, std::move(opened), done);
                       });
}

absl::StatusOr<Description> SessionTable::Describe(const Session& session,
                                                   const WorkloadSeen& seen) const {
  Description description;
  for (const planner::Digest& fingerprint : seen.row.graphs) {
    auto graph = session.graphs.find(fingerprint);
    if (graph == session.graphs.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("graph ", ToHex(fingerprint),
                       " of the workload was not described; send its GraphSeen first"));
    }
    description.graphs.push_back(graph->second);
  }
  description.workload = seen.row;
  description.environment =
      MakeEnvironment(session.hello.environment, machine_(session.hello.device));
  description.key.workload = seen.row.spec.fingerprint;
  description.key.environment = description.environment.fingerprint;
  description.key.contract = session.hello.contract;
  description.key.uid = session.peer.uid;
  description.key.principal = session.peer.principal;
  description.session = session.row;
  description.most_tunings = options_.workloads_per_user;
  return description;
}

void SessionTable::Described(const std::shared_ptr<Session>& session, uint64_t sequence,
                             const storage::TuningKey& key, absl::StatusOr<OpenedTuning> opened,
                             const Done& done) {
  if (Find(session->id) != session) return done(absl::OkStatus());  // it ended meanwhile
  if (absl::IsInvalidArgument(opened.status())) {
    Refuse(*session, sequence, std::string(opened.status().message()));
    session->workload.reset();
    session->stage = Stage::kOpen;
    return done(absl::OkStatus());
  }
  if (!opened.ok()) {
    done(absl::OkStatus());
    return End(session, "the store took no workload",
               absl::UnavailableError(
                   absl::StrCat("the store took no workload: ", opened.status().message(),
                                "; train on and attach later")));
  }
  session->row.tuning = opened->id;
  session->stage = Stage::kDescribed;
  log::Info("workload described", {{field::kSession, session->id},
                                   {field::kTuning, opened->id},
                                   {field::kWorkload, ToHex(key.workload)},
                                   {field::kName, session->workload->row.spec.name},
                                   {field::kCount, session->workload->row.spec.decisions.size()}});
  tunings_.Open(opened->id, key, session->workload->row, std::move(opened->memory),
                TuningFor(options_, key.contract));
  tunings_.Join(opened->id, session->hello.device, MakeReady(*session));
  done(absl::OkStatus());
}

planner::SessionReady SessionTable::MakeReady(const Session& session) const {
  planner::SessionReady ready;
  const uint64_t epoch = recorder_.epoch();
  ready.session = session.id;
  ready.uid = session.peer.uid;
  // Without a pid nothing tells two processes apart, so each session counts as its own.
  ready.process =
      session.peer.process.empty() ? absl::StrCat("session-", session.id) : session.peer.process;
  ready.device = session.hello.device;
  ready.job = session.hello.job;
  ready.mode = session.mode;
  ready.seed = MakeSeed();
  ready.default_signature = session.workload->default_signature;
  ready.default_peak_bytes = session.workload->default_peak_bytes;
  ready.extra_memory_bytes = session.hello.extra_memory_bytes;
  ready.default_step_ns = session.workload->default_step_ns;
  ready.default_build_ns = session.workload->default_build_ns;
  ready.build_ns = session.workload->build_ns;
  ready.queued = session.workload->queued;
  ready.tune_until_steps = session.hello.tune_until_steps;
  ready.tune_until = planner::Nanos(
      static_cast<int64_t>(std::min<uint64_t>(session.hello.tune_until_ns, INT64_MAX)));
  ready.first_directive = (epoch << kDirectiveEpochShift) + 1;
  ready.first_variant =
      static_cast<planner::VariantId>(((epoch & kVariantEpochMask) << kVariantEpochShift) + 1);
  return ready;
}

}  // namespace blazed::session
