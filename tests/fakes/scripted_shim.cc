#include "tests/fakes/scripted_shim.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace blazed::fakes {

std::shared_ptr<grpc::Channel> DialDaemon(const std::string& socket) {
  grpc::ChannelArguments arguments;
  // Else grpc++ shares one connection between channels of one target.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // The least backoff stays gRPC's: it bounds a single attempt, and a busy machine takes its time.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

void Prepare(grpc::ClientContext* context) {
  context->AddMetadata("blazed-protocol", "1");
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(4));
}

ScriptedShim::ScriptedShim(std::string socket, SyntheticHost host, uint64_t seed)
    : socket_(std::move(socket)), host_(std::move(host)), random_(seed) {
  hello_.set_mode(v1::MODE_TUNE);
  hello_.set_job("scripted");
  hello_.set_world_size(1);
  hello_.set_host_name("scripted-shim");
  hello_.set_device("cpu");
  hello_.set_extra_memory_bytes(uint64_t{1} << 40);
  v1::EnvironmentEntry* entry = hello_.add_environment();
  entry->set_key("host");
  entry->set_value("synthetic");
}

ScriptedShim::~ScriptedShim() { Drop(); }

grpc::Status ScriptedShim::Attach() {
  channel_ = DialDaemon(socket_);
  stub_ = v1::Tuner::NewStub(channel_);
  context_ = std::make_unique<grpc::ClientContext>();
  Prepare(context_.get());
  context_->set_wait_for_ready(wait_for_daemon);
  sequence_ = 0;
  stream_ = stub_->Attach(context_.get());
  v1::ShimMessage message;
  *message.mutable_hello() = hello_;
  Send(message);
  std::optional<v1::DaemonMessage> reply = Read();
  if (!reply || !reply->has_welcome()) return Finish();
  const v1::Welcome& welcome = reply->welcome();
  result_.welcome_session = welcome.session();
  result_.epoch = welcome.daemon_epoch();
  result_.mode = welcome.mode();
  result_.mode_reason = welcome.mode_reason();
  hello_.set_resume(welcome.session());
  hello_.set_resume_epoch(welcome.daemon_epoch());
  return grpc::Status::OK;
}

bool ScriptedShim::Describe() {
  v1::ShimMessage graph, workload;
  *graph.mutable_graph_seen() = host_.Graph();
  *workload.mutable_workload_seen() = host_.Workload();
  return Send(graph) && Send(workload);
}

bool ScriptedShim::PlayUntil(const std::function<bool(const ScriptedResult&)>& done) {
  v1::DaemonMessage message;
  while (!done(result_)) {
    if (!stream_ || !stream_->Read(&message)) return false;
    Take(message);
  }
  return true;
}

bool ScriptedShim::RunJob() {
  return Attach().ok() && Describe() &&
         PlayUntil([](const ScriptedResult& result) { return result.settled.has_value(); });
}

void ScriptedShim::Bye() {
  v1::ShimMessage message;
  message.mutable_bye()->set_steps(step_);
  message.mutable_bye()->set_reason("done");
  Send(message);
}

bool ScriptedShim::Send(v1::ShimMessage message) {
  message.set_sequence(++sequence_);
  return SendNumbered(message);
}

bool ScriptedShim::SendNumbered(const v1::ShimMessage& message) {
  return stream_ && stream_->Write(message);
}

std::optional<v1::DaemonMessage> ScriptedShim::Read() {
  v1::DaemonMessage message;
  while (stream_ && stream_->Read(&message)) {
    if (!message.has_progress()) return message;
    result_.progress = message.progress();
  }
  return std::nullopt;
}

grpc::Status ScriptedShim::Finish() {
  if (!stream_) return ended_;
  stream_->WritesDone();
  return AwaitEnd();
}

grpc::Status ScriptedShim::AwaitEnd() {
  if (!stream_) return ended_;
  v1::DaemonMessage message;
  while (stream_->Read(&message)) {
  }
  ended_ = stream_->Finish();
  stream_.reset();
  return ended_;
}

void ScriptedShim::Drop() {
  if (!stream_) return;
  context_->TryCancel();
  v1::DaemonMessage message;
  while (stream_->Read(&message)) {
  }
  stream_->Finish();
  stream_.reset();
}

grpc::Status ScriptedShim::GetReport(std::string* json) {
  grpc::ClientContext context;
  Prepare(&context);
  v1::GetReportRequest request;
  request.set_session(result_.welcome_session);
  v1::GetReportReply reply;
  const grpc::Status status =
      v1::Tuner::NewStub(DialDaemon(socket_))->GetReport(&context, request, &reply);
  *json = reply.json();
  return status;
}

void ScriptedShim::Take(const v1::DaemonMessage& message) {
  if (message.has_progress()) result_.progress = message.progress();
  if (message.has_stand()) result_.stand = message.stand();
  if (message.has_drop()) variants_.erase(message.drop().variant());
  if (message.has_refused()) {
    ++result_.refused;
    result_.refused_detail = message.refused().detail();
  }
  if (before_answer && !before_answer(message)) return;
  if (message.has_build()) Answer(message.build());
  if (message.has_probe()) Answer(message.probe());
  if (message.has_run_pairs()) Answer(message.run_pairs());
  if (message.has_adopt()) Answer(message.adopt());
}

void ScriptedShim::Answer(const v1::Build& build) {
  ++result_.builds;
  variants_.erase(build.rebuild_of());
  const ProtoPlan plan = FromProto(build.plan());
  v1::ShimMessage message;
  v1::VariantBuilt* built = message.mutable_variant_built();
  built->set_build_id(build.build_id());
  built->set_variant(build.variant());
  built->set_build_ns(host_.build_ns);
  if (host_.Builds(plan)) {
    variants_[build.variant()] = plan;
    built->set_status(v1::BUILD_STATUS_OK);
    built->set_signature(host_.Signature(plan));
    built->set_peak_bytes(1 << 20);
  } else {
    built->set_status(v1::BUILD_STATUS_FAILED);
    built->set_reason("the synthetic host does not build this");
  }
  Send(message);
}

void ScriptedShim::Answer(const v1::Probe& probe) {
  ++result_.probes;
  for (uint32_t variant : probe.variants()) {
    const bool correct = host_.Correct(variants_[variant]);
    v1::ShimMessage message;
    v1::ProbeDone* done = message.mutable_probe_done();
    done->set_probe_id(probe.probe_id());
    done->set_variant(variant);
    done->set_probe_ns(1'000'000);
    done->set_passed_batches(correct ? probe.batches() : 0);
    v1::ComparisonSummary* summary = done->mutable_summary();
    summary->set_equivalence(correct ? v1::EQUIVALENCE_IDENTICAL
                                     : v1::EQUIVALENCE_REJECTED_DIFFERENT);
    summary->set_elements(4096);
    summary->set_mismatches(correct ? 0 : 4096);
    summary->set_max_rel(correct ? 0 : 0.5);
    summary->set_digest_default(TestDigest("numbers"));
    summary->set_digest_variant(TestDigest(correct ? "numbers" : "other numbers"));
    Send(message);
  }
}

uint64_t ScriptedShim::UnitNs(uint32_t variant, uint32_t steps) {
  std::normal_distribution<double> noise(1, host_.noise);
  return static_cast<uint64_t>(host_.StepNs(variants_[variant]) * steps *
                               std::max(0.5, noise(random_)));
}

void ScriptedShim::Answer(const v1::RunPairs& lease) {
  ++result_.leases;
  (lease.champion() == lease.challenger() ? result_.noise_pairs : result_.pairs) += lease.pairs();
  v1::ShimMessage message;
  v1::StepsDone* done = message.mutable_steps_done();
  done->set_lease_id(lease.lease_id());
  done->set_first_step(step_);
  done->set_complete(1);
  for (uint32_t pair = 0; pair < lease.pairs(); ++pair) {
    const bool challenger_first = ((lease.challenger_first()[pair / 8] >> (pair % 8)) & 1) != 0;
    for (bool challenger : {challenger_first, !challenger_first}) {
      const uint32_t variant = challenger ? lease.challenger() : lease.champion();
      done->add_units()->set_host_ns(UnitNs(variant, lease.timed_steps()));
      step_ += lease.warm_steps() + lease.timed_steps();
    }
  }
  Send(message);
}

void ScriptedShim::Answer(const v1::Adopt& adopt) {
  result_.adopted = adopt;
  if (adopt.settled() != 0) result_.settled = adopt;
  v1::ShimMessage message;
  message.mutable_adopted()->set_adopt_id(adopt.adopt_id());
  message.mutable_adopted()->set_variant(adopt.variant());
  message.mutable_adopted()->set_from_step(++step_);
  Send(message);
}

}  // namespace blazed::fakes
