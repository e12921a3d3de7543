// Directives as messages.
#include "blazed_version.h"
#include "daemon/base/ids.h"
#include "daemon/rpc/convert.h"

namespace blazed::rpc {
namespace {

v1::Mode ToProto(planner::Mode mode) {
  switch (mode) {
    case planner::Mode::kObserve:
      return v1::MODE_OBSERVE;
    case planner::Mode::kTune:
      return v1::MODE_TUNE;
    case planner::Mode::kPinned:
      return v1::MODE_PINNED;
  }
  return v1::MODE_OBSERVE;
}

v1::AdoptReason ToProto(planner::AdoptReason reason) {
  switch (reason) {
    case planner::AdoptReason::kWonRace:
      return v1::ADOPT_REASON_WON_RACE;
    case planner::AdoptReason::kSettled:
      return v1::ADOPT_REASON_SETTLED;
    case planner::AdoptReason::kStoredMatch:
      return v1::ADOPT_REASON_STORED_MATCH;
    case planner::AdoptReason::kReplicatedHere:
      return v1::ADOPT_REASON_REPLICATED_HERE;
    case planner::AdoptReason::kDemoted:
      return v1::ADOPT_REASON_DEMOTED;
    case planner::AdoptReason::kPinned:
      return v1::ADOPT_REASON_PINNED;
  }
  return v1::ADOPT_REASON_UNSPECIFIED;
}

v1::SettlementKind ToProto(planner::SettlementKind kind) {
  switch (kind) {
    case planner::SettlementKind::kInJob:
      return v1::SETTLEMENT_KIND_IN_JOB;
    case planner::SettlementKind::kReplicated:
      return v1::SETTLEMENT_KIND_REPLICATED;
    case planner::SettlementKind::kNoWinner:
      return v1::SETTLEMENT_KIND_NO_WINNER;
  }
  return v1::SETTLEMENT_KIND_UNSPECIFIED;
}

v1::StandReason ToProto(planner::StandReason reason) {
  switch (reason) {
    case planner::StandReason::kPaused:
      return v1::STAND_REASON_PAUSED;
    case planner::StandReason::kPolicy:
      return v1::STAND_REASON_POLICY;
    case planner::StandReason::kDemoted:
      return v1::STAND_REASON_DEMOTED;
    case planner::StandReason::kDraining:
      return v1::STAND_REASON_DRAINING;
    case planner::StandReason::kStoreFailed:
      return v1::STAND_REASON_STORE_FAILED;
  }
  return v1::STAND_REASON_UNSPECIFIED;
}

v1::Phase ToProto(planner::Phase phase) {
  switch (phase) {
    case planner::Phase::kWaiting:
      return v1::PHASE_WAITING;
    case planner::Phase::kForecast:
      return v1::PHASE_FORECAST;
    case planner::Phase::kSearch:
      return v1::PHASE_SEARCH;
    case planner::Phase::kVerify:
      return v1::PHASE_VERIFY;
    case planner::Phase::kReplicate:
      return v1::PHASE_REPLICATE;
    case planner::Phase::kSettled:
      return v1::PHASE_SETTLED;
    case planner::Phase::kStanding:
      return v1::PHASE_STANDING;
    case planner::Phase::kServed:
      return v1::PHASE_SERVED;
  }
  return v1::PHASE_UNSPECIFIED;
}

void Fill(const planner::Plan& plan, v1::Plan* out) {
  for (const planner::Choice& choice : plan) {
    v1::Choice* added = out->add_choices();
    added->set_decision(choice.decision);
    added->set_option(choice.option);
  }
}

// Spans are never negative on the wire.
uint64_t Span(planner::Nanos span) { return span.count() < 0 ? 0 : span.count(); }

// What the shim holds is bounded; a longer sentence is cut, at a character of UTF-8.
std::string Cut(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

constexpr size_t kDetailBytes = 256;
constexpr size_t kNoteBytes = 160;

void Fill(const session::Welcome& in, v1::DaemonMessage* message) {
  v1::Welcome* out = message->mutable_welcome();
  out->set_session(ToBytes(in.token));
  out->set_daemon_epoch(in.epoch);
  out->set_daemon_version(BLAZED_VERSION);
  out->set_mode(ToProto(in.mode));
  out->set_mode_reason(Cut(in.mode_reason, kDetailBytes));
  out->set_probe_batches(in.probe_batches);
}

void Fill(const planner::BuildVariant& in, v1::DaemonMessage* message) {
  v1::Build* out = message->mutable_build();
  out->set_build_id(in.build);
  out->set_variant(in.variant);
  Fill(in.plan, out->mutable_plan());
  out->set_rebuild_of(in.rebuild_of);
}

void Fill(const planner::ProbeVariants& in, v1::DaemonMessage* message) {
  v1::Probe* out = message->mutable_probe();
  out->set_probe_id(in.probe);
  for (planner::VariantId variant : in.variants) out->add_variants(variant);
  out->set_batches(in.batches);
}

void Fill(const planner::RunPairs& in, v1::DaemonMessage* message) {
  v1::RunPairs* out = message->mutable_run_pairs();
  out->set_lease_id(in.lease);
  out->set_champion(in.champion);
  out->set_challenger(in.challenger);
  out->set_pairs(static_cast<uint32_t>(in.challenger_first.size()));
  std::string coins((in.challenger_first.size() + 7) / 8, '\0');
  for (size_t i = 0; i < in.challenger_first.size(); ++i) {
    if (in.challenger_first[i]) coins[i / 8] = static_cast<char>(coins[i / 8] | (1 << (i % 8)));
  }
  out->set_challenger_first(std::move(coins));
  out->set_warm_steps(in.warm_steps);
  out->set_timed_steps(in.timed_steps);
  out->set_deadline_ns(Span(in.deadline));
  out->set_abort_step_ns(in.abort_step_ns);
}

void Fill(const planner::Adopt& in, v1::DaemonMessage* message) {
  v1::Adopt* out = message->mutable_adopt();
  out->set_adopt_id(in.adopt);
  out->set_variant(in.variant);
  Fill(in.plan, out->mutable_plan());
  out->set_reason(ToProto(in.reason));
  if (in.settlement != 0) out->set_settlement(ToProto(in.settlement_kind));
  out->set_settlement_id(in.settlement);
  out->set_settled(in.settled ? 1 : 0);
}

void Fill(const planner::DropVariant& in, v1::DaemonMessage* message) {
  message->mutable_drop()->set_variant(in.variant);
}

void Fill(const planner::Stand& in, v1::DaemonMessage* message) {
  message->mutable_stand()->set_reason(ToProto(in.reason));
  message->mutable_stand()->set_detail(Cut(in.detail, kDetailBytes));
}

void Fill(const planner::ReportProgress& in, v1::DaemonMessage* message) {
  v1::Progress* out = message->mutable_progress();
  out->set_phase(ToProto(in.phase));
  out->set_candidates(in.candidates);
  out->set_dropped(in.dropped);
  out->set_builds(in.cost.builds);
  out->set_races(in.cost.races);
  out->set_search_pairs(in.cost.search_pairs);
  out->set_replication_pairs(in.cost.replication_pairs);
  out->set_window_ns(Span(in.cost.window));
  out->set_regret_ns(Span(in.cost.regret));
  out->set_gain(in.gain);
  out->set_champion_choices(in.champion_choices);
  v1::Forecast* forecast = out->mutable_forecast();
  forecast->set_window_ns(Span(in.forecast.window));
  forecast->set_builds(in.forecast.builds);
  forecast->set_regret_ns(Span(in.forecast.regret));
  forecast->set_resolvable(in.forecast.resolvable);
  forecast->set_based_on(Cut(in.forecast.based_on, 96));
  out->set_note(Cut(in.note, kNoteBytes));
}

void Fill(const session::WantKernels& in, v1::DaemonMessage* message) {
  message->mutable_want_kernels()->set_variant(in.variant);
}

void Fill(const session::Refused& in, v1::DaemonMessage* message) {
  message->mutable_refused()->set_sequence(in.sequence);
  message->mutable_refused()->set_detail(Cut(in.detail, kDetailBytes));
}

}  // namespace

v1::DaemonMessage ToProto(const session::Outbound& message, uint64_t sequence) {
  v1::DaemonMessage out;
  out.set_sequence(sequence);
  std::visit([&out](const auto& body) { Fill(body, &out); }, message);
  return out;
}

}  // namespace blazed::rpc
