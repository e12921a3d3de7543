#include "daemon/history/query.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/history/page_token.h"
#include "storage/digest_text.h"

namespace blazed::history {
namespace {

constexpr size_t kShortestPrefix = 4;

}  // namespace

std::optional<storage::Owner> ViewOf(const rpc::Caller& caller) {
  if (caller.is_root) return std::nullopt;
  return storage::Owner{caller.uid, caller.principal};
}

absl::StatusOr<std::string> ResolveWorkload(storage::Reader& reader, const rpc::Caller& caller,
                                            const std::string& prefix) {
  if (prefix.empty()) return std::string();
  if (absl::Status status = storage::DigestsByPrefix(prefix).status(); !status.ok()) return status;
  if (prefix.size() < kShortestPrefix) {
    return absl::InvalidArgumentError(absl::StrCat("a workload is named by at least ",
                                                   kShortestPrefix, " digits of its fingerprint, '",
                                                   prefix, "' is shorter: give more digits"));
  }
  storage::Page page;
  page.limit = 2;
  page.workload_hex = prefix;
  page.owner = ViewOf(caller);
  absl::StatusOr<std::vector<storage::Reader::Workload>> found = reader.Workloads(page);
  if (!found.ok()) return found.status();
  if (found->empty()) {
    return absl::NotFoundError(absl::StrCat("no workload of yours begins with '", prefix,
                                            "': list them with blazectl graphs"));
  }
  if (found->size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("several workloads begin with '", prefix, "': give more digits"));
  }
  return storage::DigestToHex(found->front().row.spec.fingerprint);
}

absl::StatusOr<storage::Page> PageOf(storage::Reader& reader, const rpc::Caller& caller,
                                     const std::string& list, const v1::ListRequest& request) {
  storage::Page page;
  page.limit = request.page_size() == 0 ? kDefaultPage : request.page_size();
  if (page.limit > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat("page_size is ", request.page_size(),
                                                   ", at most ", kLargestPage,
                                                   " rows fit a page: ask for fewer"));
  }
  absl::StatusOr<int64_t> before = ReadPageToken(list, request.page_token());
  if (!before.ok()) return before.status();
  page.before = *before;
  absl::StatusOr<std::string> workload = ResolveWorkload(reader, caller, request.workload());
  if (!workload.ok()) return workload.status();
  page.workload_hex = *std::move(workload);
  page.owner = ViewOf(caller);
  return page;
}

}  // namespace blazed::history
