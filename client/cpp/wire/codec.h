// Between messages.h and protobuf bytes, by nanopb. Stateless; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/cpp/wire/messages.h"
#include "kernels/equivalence/verdict.h"

namespace blazed::shim {

struct ProbeDone {
  uint64_t probe_id = 0;
  uint32_t variant = 0;
  equivalence::Summary summary;
  uint64_t probe_ns = 0;
  uint32_t passed_batches = 0;
};

// A ShimMessage without its sequence, which belongs to the stream it goes out on. Texts beyond the
// limits of tuner.proto are cut. Empty: the message cannot be encoded within 1 MiB.
std::string Encode(const Hello& hello);
std::string Encode(const GraphSeen& graph);
std::string Encode(const WorkloadSeen& workload);
std::string Encode(const VariantBuilt& built);
std::string Encode(const ProbeDone& done);
std::string Encode(const StepsDone& done);
std::string Encode(const DirectiveRefused& refused);
std::string Encode(const ServiceWindow& window);
std::string Encode(const Adopted& adopted);
std::string Encode(const KernelsSeen& kernels);
std::string Encode(const Bye& bye);

// The bytes of the `sequence` field, to be put before an encoded body.
std::string EncodeSequence(uint64_t sequence);

// Nothing: no DaemonMessage within the limits of tuner.proto. Unknown fields are ignored.
std::optional<DaemonBody> DecodeDaemonMessage(std::string_view bytes);

std::string EncodeGetReportRequest(const Digest& session);

// The `json` of a GetReportReply; nothing: not such a message.
std::optional<std::string> DecodeGetReportReply(std::string_view bytes);

}  // namespace blazed::shim
