// One shim's life with the daemon, as plain data. The strand owns it; the verbs that act on it are
// methods of SessionTable, one file each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "daemon/session/device_locks.h"
#include "daemon/session/link.h"
#include "daemon/session/loop.h"
#include "daemon/session/messages.h"
#include "daemon/session/peer.h"
#include "storage/records.h"

namespace blazed::session {

enum class Stage {
  kOpening,     // Hello is with the store
  kOpen,        // welcomed; graphs may be described
  kDescribing,  // the workload is with the store
  kDescribed,   // its tuning directs it
};

// A directive without its answer; sent again when the session comes back on another stream.
struct Unanswered {
  Outbound message;
  std::set<planner::VariantId> waiting;  // of a probe: variants without an answer
  Loop::Handle deadline = 0;             // of a lease
  std::function<uint32_t()> events;      // of a lease: what happened on its device meanwhile
};

struct WantedKernels {
  planner::VariantId variant = 0;
  planner::Plan plan;
};

struct Session {
  planner::SessionId id = 0;
  SessionToken token{};
  Stage stage = Stage::kOpening;
  Peer peer;
  Hello hello;
  planner::Mode mode = planner::Mode::kObserve;  // granted
  std::string mode_reason;
  DeviceLocks::Hold device;    // while the mode is above observing
  std::shared_ptr<Link> link;  // null between a lost stream and the next
  storage::SessionRow row;
  planner::Moment attached{};

  std::map<planner::Digest, storage::GraphRow> graphs;
  std::optional<WorkloadSeen> workload;

  std::map<planner::DirectiveId, Unanswered> unanswered;
  planner::DirectiveId highest_directive = 0;
  // Variants dropped, by the highest id asked before. A drop has no answer; the shim has it for
  // sure once it answers something that was asked later.
  std::multimap<planner::DirectiveId, planner::VariantId> drops;
  std::optional<planner::Stand> standing;          // the last word was Stand, not Adopt
  std::optional<planner::VariantAdopted> adopted;  // the last one; until the shim takes it back
  // A plan in use whose kernels were asked for and not told.
  std::optional<WantedKernels> wanted_kernels;

  planner::ReportProgress progress;  // the latest, sent or not
  planner::Moment progress_sent{};
  bool progress_due = false;

  Loop::Handle process_watch = 0;
  Loop::Handle grace = 0;
};

}  // namespace blazed::session
