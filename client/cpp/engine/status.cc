// The engine's share of a status snapshot.
#include <algorithm>

#include "client/cpp/engine/engine.h"

namespace blazed::shim {
namespace {

blz_state StateOf(const LinkState& link) {
  switch (link.stage) {
    case LinkStage::kUp:
      return BLZ_STATE_ATTACHED;
    case LinkStage::kTrying:
      return link.generation == 0 ? BLZ_STATE_ATTACHING : BLZ_STATE_RECONNECTING;
    case LinkStage::kDead:
      return BLZ_STATE_OFF;
  }
  return BLZ_STATE_OFF;
}

// Later daemons may send what this shim has no name for.
template <typename Enum>
Enum InRange(uint32_t value, Enum last) {
  return value <= static_cast<uint32_t>(last) ? static_cast<Enum>(value) : static_cast<Enum>(0);
}

}  // namespace

void Engine::FillStatus(blz_status_info& info) const {
  info.state = StateOf(link_);
  info.mode = granted_;
  info.phase = InRange(progress_.phase, BLZ_PHASE_SERVED);
  std::copy(link_.welcome.session.begin(), link_.welcome.session.end(), info.session_token);
  if (workload_.has_value()) {
    std::copy(workload_->fingerprint.begin(), workload_->fingerprint.end(), info.workload);
    std::copy(workload_->default_signature.begin(), workload_->default_signature.end(),
              info.champion_signature);
  }
  info.daemon_epoch = link_.welcome.daemon_epoch;

  info.champion = champion_;
  info.champion_handle = champion_handle_;
  info.champion_choices = champion_plan_.data();
  info.champion_choice_count = champion_plan_.size();
  Variant* champion = const_cast<VariantTable&>(variants_).Find(champion_);
  if (champion != nullptr) {
    std::copy(champion->signature.begin(), champion->signature.end(), info.champion_signature);
  } else if (orphan_.has_value()) {
    std::copy(orphan_->signature.begin(), orphan_->signature.end(), info.champion_signature);
  }
  info.settled = settled_ ? 1 : 0;
  info.settlement = InRange(adopted_.settlement, BLZ_SETTLEMENT_NO_WINNER);
  info.settlement_id = adopted_.settlement_id;
  info.adopt_reason = adopted_.reason;
  info.stand_reason = stand_reason_;

  info.candidates = progress_.candidates;
  info.dropped = progress_.dropped;
  info.builds = progress_.builds;
  info.races = progress_.races;
  info.search_pairs = progress_.search_pairs;
  info.replication_pairs = progress_.replication_pairs;
  info.window_ns = progress_.window_ns;
  info.regret_ns = progress_.regret_ns;
  info.gain = progress_.gain;
  info.note = progress_.note.c_str();
  info.forecast_window_ns = progress_.forecast_window_ns;
  info.forecast_builds = progress_.forecast_builds;
  info.forecast_regret_ns = progress_.forecast_regret_ns;
  info.forecast_resolvable = progress_.forecast_resolvable;
  info.forecast_based_on = progress_.forecast_based_on.c_str();

  info.variants = static_cast<uint32_t>(variants_.size());
  info.variants_built = built_;
  info.probes = prober_.runs();
  info.rejected = rejected_;
  info.refused = refused_;
  info.lost_messages = lost_ + link_.lost;
  info.reconnects = link_.reconnects;
  info.build_ns = build_ns_;
  info.probe_ns = probe_ns_;
  info.drain_ns = drain_ns_;
  info.units = units_;
  info.in_unit = lease_.has_value() ? 1 : 0;
}

}  // namespace blazed::shim
