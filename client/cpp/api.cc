// The C functions of blazed.h. Nothing is decided here. The shim is built without exceptions.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "blazed_version.h"
#include "client/cpp/base/text.h"
#include "client/cpp/session.h"
#include "client/cpp/transport/socket_search.h"

using namespace blazed::shim;

namespace {

constexpr char kForkedReason[] = "this process was forked from the one that attached, attach anew";
constexpr char kNullReason[] = "there is no session";

// The first candidate that takes a connection.
Connection ConnectFirst(const Config& config, std::string& path) {
  const SocketCandidates found =
      FindSockets(config.socket.c_str(), getenv("BLAZED_SOCKET"), getenv("XDG_RUNTIME_DIR"));
  Connection last;
  last.error = found.error.empty() ? "no place to look for the daemon's socket" : found.error;
  for (const std::string& candidate : found.paths) {
    Connection made = ConnectUnix(candidate);
    if (made.result == ConnectResult::kConnected) {
      path = candidate;
      return made;
    }
    last = std::move(made);
  }
  return last;
}

void TakeOver(blz_session* session) {
  session->handle = session->engine->champion_handle();
  if (session->engine->dead()) session->TurnOff(session->engine->reason());
}

blz_result StayOff(blz_session* session, const std::string& reason, const Config& config,
                   blz_result result) {
  session->TurnOff(reason);
  if (config.log != nullptr) config.log(config.log_user, BLZ_LOG_INFO, session->off_reason.c_str());
  return result;
}

blz_result Attach(const blz_options* options, const blz_host_ops* ops, blz_session* session) {
  const uint64_t deadline_from = MonotonicNs();
  Config config = MakeConfig(options, ops, getenv("BLAZED_MODE"));
  if (!config.error.empty()) return StayOff(session, config.error, config, BLZ_INVALID);
  if (config.mode == BLZ_MODE_OFF) {
    return StayOff(session, "the mode is off", config, BLZ_OFF);
  }
  std::string path;
  const Connection connection = ConnectFirst(config, path);
  if (connection.result != ConnectResult::kConnected) {
    return StayOff(session, connection.error, config, BLZ_OFF);
  }
  session->guard = ForkGuard::Create();
  if (session->guard == nullptr) {
    close(connection.fd);
    return StayOff(session, "too many sessions in this process", config, BLZ_OFF);
  }
  session->hot = &session->guard->hot();
  session->link =
      Link::Start(path, connection.fd, MakeHello(config, deadline_from), session->guard.get());
  if (session->link == nullptr) {
    return StayOff(session, "no thread could be started", config, BLZ_OFF);
  }
  const uint64_t deadline = SaturatingAdd(deadline_from, config.attach_timeout_ns);
  session->engine = std::make_unique<Engine>(std::move(config), CopyOps(ops), session->clock,
                                             *session->hot, *session->link);
  session->timer = &session->engine->timer();
  session->hot->fetch_or(kHotAlive, std::memory_order_relaxed);
  session->link->WaitForAnswer(deadline);
  session->engine->Poll();
  TakeOver(session);
  return session->IsOff() ? BLZ_OFF : BLZ_OK;
}

// Copies as much as the caller's structure has room for.
void CopyOut(const blz_status_info& from, blz_status_info* out) {
  const size_t size = out->struct_size;
  std::memcpy(static_cast<void*>(out), &from, std::min(size, sizeof from));
  out->struct_size = size;
}

[[gnu::noinline]] uint64_t SlowBegin(blz_session* session) {
  if (session->inside)
    return 0;  // a callback that steps: a bug of the host that must stay harmless
  session->inside = true;
  const uint64_t handle = session->engine->BeginStep(session->steps);
  session->inside = false;
  if (session->InForkedChild()) return 0;
  TakeOver(session);
  return session->IsOff() ? 0 : handle;
}

[[gnu::noinline]] void SlowEnd(blz_session* session, uint32_t flags) {
  if (session->inside) return;
  session->inside = true;
  session->engine->EndStep(session->steps, flags);
  session->inside = false;
  if (!session->InForkedChild()) TakeOver(session);
}

[[gnu::noinline]] void EndWindow(blz_session* session) {
  if (session->inside) return;
  session->inside = true;
  session->engine->OnServiceWindow(*session->timer);
  session->inside = false;
  if (!session->InForkedChild()) TakeOver(session);
}

}  // namespace

extern "C" {

const char* blz_version(void) { return BLAZED_VERSION; }

blz_result blz_attach(const blz_options* options, const blz_host_ops* ops, blz_session** out) {
  if (out == nullptr) return BLZ_INVALID;
  blz_session* session = new (std::nothrow) blz_session;
  *out = session;
  if (session == nullptr) return BLZ_OFF;
  return Attach(options, ops, session);
}

blz_result blz_describe_graph(blz_session* session, const blz_graph* graph) {
  if (session == nullptr || session->IsOff()) return BLZ_OFF;
  return session->engine->DescribeGraph(graph);
}

blz_result blz_describe_workload(blz_session* session, const blz_workload* workload) {
  if (session == nullptr || session->IsOff()) return BLZ_OFF;
  return session->engine->DescribeWorkload(workload);
}

uint64_t blz_step_begin(blz_session* session) {
  if (session == nullptr) return 0;
  const uint32_t hot = session->hot->load(std::memory_order_relaxed);
  const uint64_t step = ++session->steps;
  if (hot == kHotAlive) {
    if (ServiceTimer::Covers(step)) session->timer->Begin(step, MonotonicNs());
    return session->handle;
  }
  return hot == 0 ? 0 : SlowBegin(session);
}

void blz_step_end(blz_session* session, uint32_t flags) {
  if (session == nullptr) return;
  const uint32_t hot = session->hot->load(std::memory_order_relaxed);
  if (hot == kHotAlive) {
    const uint64_t step = session->steps;
    if (ServiceTimer::Covers(step) && session->timer->End(step, MonotonicNs(), flags)) {
      EndWindow(session);
    }
  } else if (hot != 0) {
    SlowEnd(session, flags);
  }
}

blz_result blz_quiet_steps(const blz_session* session, blz_quiet* out) {
  if (out == nullptr || out->struct_size < sizeof *out) return BLZ_INVALID;
  if (session == nullptr || session->IsOff()) return BLZ_OFF;
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
                std::atomic<uint32_t>::is_always_lock_free);
  out->word = reinterpret_cast<const volatile uint32_t*>(session->hot);
  out->value = kHotAlive;
  out->handle = session->handle;
  const bool quiet = !session->inside && session->hot->load(std::memory_order_relaxed) == kHotAlive;
  out->steps = quiet ? ServiceTimer::Uncovered(session->steps + 1) : 0;
  return BLZ_OK;
}

void blz_pass_steps(blz_session* session, uint32_t steps) {
  if (session != nullptr) session->steps += steps;
}

blz_result blz_give_kernels(blz_session* session, uint64_t handle, const blz_step_kernels* before,
                            const blz_step_kernels* after) {
  if (session == nullptr || session->IsOff() || session->inside) return BLZ_OFF;
  return session->engine->GiveKernels(handle, before, after);
}

blz_result blz_probe_tensor(blz_probe_sink* sink, const blz_tensor* tensor) {
  if (sink == nullptr || tensor == nullptr) return BLZ_INVALID;
  return sink->Take(*tensor);
}

const char* blz_reason(blz_session* session) {
  if (session == nullptr) return kNullReason;
  if (session->InForkedChild()) return kForkedReason;
  if (session->engine == nullptr || session->IsOff()) return session->off_reason.c_str();
  return session->engine->reason().c_str();
}

void blz_status(blz_session* session, blz_status_info* out) {
  if (out == nullptr || out->struct_size < sizeof(size_t)) return;
  blz_status_info info{};
  info.mode = BLZ_MODE_OFF;
  info.note = "";
  info.forecast_based_on = "";
  const bool off = session == nullptr || session->IsOff();
  if (session != nullptr) {
    if (session->engine != nullptr && !session->InForkedChild()) {
      session->engine->FillStatus(info);
    }
    info.steps = session->steps;
  }
  if (off) {
    info.state = BLZ_STATE_OFF;
    info.mode = BLZ_MODE_OFF;
    info.champion = 0;
    info.champion_handle = 0;
    info.champion_choices = nullptr;
    info.champion_choice_count = 0;
  }
  info.reason = blz_reason(session);
  CopyOut(info, out);
}

blz_result blz_report_json(blz_session* session, uint32_t timeout_ms, char* buffer, size_t capacity,
                           size_t* length) {
  if (length != nullptr) *length = 0;
  if (session == nullptr || session->IsOff() || session->link == nullptr) return BLZ_OFF;
  if (length == nullptr || (buffer == nullptr && capacity > 0)) return BLZ_INVALID;
  std::string json;
  const uint64_t deadline = SaturatingAdd(MonotonicNs(), timeout_ms * kMillisecond);
  switch (session->link->FetchReport(deadline, json)) {
    case ReportOutcome::kOk:
      break;
    case ReportOutcome::kTimeout:
      return BLZ_TIMEOUT;
    case ReportOutcome::kNotFound:
      return BLZ_NOT_FOUND;
    case ReportOutcome::kFailed:
      return BLZ_OFF;
  }
  *length = json.size();
  if (json.size() + 1 > capacity) return BLZ_TOO_SMALL;
  std::memcpy(buffer, json.c_str(), json.size() + 1);
  return BLZ_OK;
}

void blz_close(blz_session* session) {
  if (session == nullptr) return;
  // The parent's thread does not exist here, and may have been anywhere in these structures.
  if (session->InForkedChild()) return;
  if (session->inside) return;  // a callback that closes: nothing may vanish under the engine
  if (session->engine != nullptr) session->engine->Close();
  if (session->link != nullptr) session->link->Stop({session->steps, ""});
  // The thread ends before what it refers to; the hot word lives in the guard.
  session->link.reset();
  session->engine.reset();
  session->hot = &session->off_word;
  session->guard.reset();
  delete session;
}

}  // extern "C"
