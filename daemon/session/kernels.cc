// What a settled plan runs, asked of the first session that has it in use and can tell.
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/log.h"
#include "daemon/session/session_table.h"

namespace blazed::session {

namespace field = log::field;

// The shim has followed the adoption. A session that may not explore is left alone: telling takes a
// step of the default plan.
void SessionTable::WantKernels(Session& session, const planner::Adopt& adopt) {
  session.wanted_kernels.reset();
  const bool known = tunings_.HasKernels(session.row.tuning, adopt.plan);
  if (!adopt.settled || adopt.plan.empty() || known || session.mode != planner::Mode::kTune) return;
  session.wanted_kernels = WantedKernels{adopt.variant, adopt.plan};
  if (session.link) session.link->Send(session::WantKernels{adopt.variant});
}

absl::Status SessionTable::Answer(Session& session, uint64_t sequence, KernelsSeen kernels) {
  const std::optional<WantedKernels> wanted = std::exchange(session.wanted_kernels, std::nullopt);
  if (!wanted || wanted->variant != kernels.variant) {
    session.wanted_kernels = wanted;
    Refuse(session, sequence,
           absl::StrCat("the kernels of variant ", kernels.variant,
                        " were not asked for; tell of those that WantKernels names, once"));
    return absl::OkStatus();
  }
  log::Info("kernels of a plan told", {{field::kSession, session.id},
                                       {field::kTuning, session.row.tuning},
                                       {field::kCount, kernels.after.kernels.size()}});
  tunings_.KeepKernels(session.row.tuning,
                       storage::PlanKernels{wanted->plan, session.id, std::move(kernels.before),
                                            std::move(kernels.after)});
  return absl::OkStatus();
}

}  // namespace blazed::session
