// What every list request has in common: checks, the caller's view, the workload meant.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "blazed/v1/history.pb.h"
#include "daemon/rpc/caller.h"
#include "storage/store.h"

namespace blazed::history {

inline constexpr uint32_t kDefaultPage = 50;
inline constexpr uint32_t kLargestPage = 1000;

// Everyone's rows for root of the machine, else those of the caller's principal.
std::optional<storage::Owner> ViewOf(const rpc::Caller& caller);

// The full fingerprint that a prefix of at least four digits means among what the caller may see;
// "" for "". INVALID_ARGUMENT: no hex, too short, or several. NOT_FOUND: none.
absl::StatusOr<std::string> ResolveWorkload(storage::Reader& reader, const rpc::Caller& caller,
                                            const std::string& prefix);

// `list` names the call, for its page tokens.
absl::StatusOr<storage::Page> PageOf(storage::Reader& reader, const rpc::Caller& caller,
                                     const std::string& list, const v1::ListRequest& request);

}  // namespace blazed::history
