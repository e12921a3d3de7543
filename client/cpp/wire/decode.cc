#include <blazed/v1/tuner.pb.h>
#include <pb_decode.h>

#include <memory>

#include "client/cpp/base/raw_enum.h"
#include "client/cpp/base/text.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {
namespace {

pb_istream_t StreamOf(std::string_view bytes) {
  return pb_istream_from_buffer(reinterpret_cast<const pb_byte_t*>(bytes.data()), bytes.size());
}

template <size_t kSize>
std::string TextOf(const char (&text)[kSize]) {
  return Printable(std::string_view(text, strnlen(text, kSize)), kSize);
}

Plan PlanOf(bool present, const blazed_v1_Plan& from) {
  Plan plan;
  if (!present) return plan;
  plan.reserve(from.choices_count);
  for (pb_size_t i = 0; i < from.choices_count; ++i) {
    plan.push_back({from.choices[i].decision, from.choices[i].option});
  }
  return plan;
}

Welcome From(const blazed_v1_Welcome& from) {
  Welcome to;
  to.has_session = from.session.size == to.session.size();
  if (to.has_session) to.session = DigestFrom(from.session.bytes);
  to.daemon_epoch = from.daemon_epoch;
  to.daemon_version = TextOf(from.daemon_version);
  to.mode = static_cast<WireMode>(RawEnum(from.mode));
  to.mode_reason = TextOf(from.mode_reason);
  to.probe_batches = from.probe_batches;
  return to;
}

Build From(const blazed_v1_Build& from) {
  return {from.build_id, from.variant, PlanOf(from.has_plan, from.plan), from.rebuild_of};
}

Probe From(const blazed_v1_Probe& from) {
  return {from.probe_id, {from.variants, from.variants + from.variants_count}, from.batches};
}

RunPairs From(const blazed_v1_RunPairs& from) {
  RunPairs to;
  to.lease_id = from.lease_id;
  to.champion = from.champion;
  to.challenger = from.challenger;
  to.pairs = from.pairs;
  to.challenger_first.assign(from.challenger_first.bytes,
                             from.challenger_first.bytes + from.challenger_first.size);
  to.warm_steps = from.warm_steps;
  to.timed_steps = from.timed_steps;
  to.deadline_ns = from.deadline_ns;
  to.abort_step_ns = from.abort_step_ns;
  return to;
}

Adopt From(const blazed_v1_Adopt& from) {
  Adopt to;
  to.adopt_id = from.adopt_id;
  to.variant = from.variant;
  to.plan = PlanOf(from.has_plan, from.plan);
  to.reason = RawEnum(from.reason);
  to.settlement = RawEnum(from.settlement);
  to.settlement_id = from.settlement_id;
  to.settled = from.settled != 0;
  return to;
}

Progress From(const blazed_v1_Progress& from) {
  Progress to;
  to.phase = RawEnum(from.phase);
  to.candidates = from.candidates;
  to.dropped = from.dropped;
  to.builds = from.builds;
  to.races = from.races;
  to.search_pairs = from.search_pairs;
  to.replication_pairs = from.replication_pairs;
  to.window_ns = from.window_ns;
  to.regret_ns = from.regret_ns;
  to.gain = from.gain;
  to.has_forecast = from.has_forecast;
  to.forecast_window_ns = from.forecast.window_ns;
  to.forecast_builds = from.forecast.builds;
  to.forecast_regret_ns = from.forecast.regret_ns;
  to.forecast_resolvable = from.forecast.resolvable;
  to.forecast_based_on = TextOf(from.forecast.based_on);
  to.note = TextOf(from.note);
  return to;
}

DaemonBody BodyOf(const blazed_v1_DaemonMessage& message) {
  const auto& body = message.body;
  switch (message.which_body) {
    case blazed_v1_DaemonMessage_welcome_tag:
      return From(body.welcome);
    case blazed_v1_DaemonMessage_build_tag:
      return From(body.build);
    case blazed_v1_DaemonMessage_probe_tag:
      return From(body.probe);
    case blazed_v1_DaemonMessage_run_pairs_tag:
      return From(body.run_pairs);
    case blazed_v1_DaemonMessage_adopt_tag:
      return From(body.adopt);
    case blazed_v1_DaemonMessage_drop_tag:
      return Drop{body.drop.variant};
    case blazed_v1_DaemonMessage_stand_tag:
      return Stand{RawEnum(body.stand.reason), TextOf(body.stand.detail)};
    case blazed_v1_DaemonMessage_progress_tag:
      return From(body.progress);
    case blazed_v1_DaemonMessage_want_kernels_tag:
      return WantKernels{body.want_kernels.variant};
    case blazed_v1_DaemonMessage_refused_tag:
      return Refused{body.refused.sequence, TextOf(body.refused.detail)};
    default:
      return UnknownBody{};
  }
}

}  // namespace

std::optional<DaemonBody> DecodeDaemonMessage(std::string_view bytes) {
  if (bytes.size() > kMaxMessageBytes) return std::nullopt;
  // Every field has a fixed place: nothing is allocated that pb_release would have to free.
  auto message = std::make_unique<blazed_v1_DaemonMessage>();
  pb_istream_t stream = StreamOf(bytes);
  if (!pb_decode(&stream, blazed_v1_DaemonMessage_fields, message.get())) return std::nullopt;
  return BodyOf(*message);
}

// By hand: nanopb's sizes end at 64 KiB, a report does not.
std::optional<std::string> DecodeGetReportReply(std::string_view bytes) {
  pb_istream_t stream = StreamOf(bytes);
  std::string json;
  pb_wire_type_t type;
  uint32_t tag;
  bool end = false;
  while (pb_decode_tag(&stream, &type, &tag, &end)) {
    if (tag != blazed_v1_GetReportReply_json_tag || type != PB_WT_STRING) {
      if (!pb_skip_field(&stream, type)) return std::nullopt;
      continue;
    }
    pb_istream_t field;
    if (!pb_make_string_substream(&stream, &field)) return std::nullopt;
    json.resize(field.bytes_left);
    if (!pb_read(&field, reinterpret_cast<pb_byte_t*>(json.data()), json.size()) ||
        !pb_close_string_substream(&stream, &field)) {
      return std::nullopt;
    }
  }
  if (!end) return std::nullopt;
  return json;
}

}  // namespace blazed::shim
