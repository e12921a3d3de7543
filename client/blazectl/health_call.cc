#include "client/blazectl/health_call.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/generic/generic_stub.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"

namespace blazed::blazectl {
namespace {

constexpr uint32_t kServiceField = 1 << 3 | 2;  // string service = 1
constexpr uint32_t kStatusField = 1 << 3 | 0;   // enum status = 1

absl::StatusOr<std::string> Flat(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (buffer.Valid() && !buffer.Dump(&slices).ok()) {
    return absl::InternalError("cannot read the answer; ask again");
  }
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

std::string EncodeHealthRequest(const std::string& subsystem) {
  std::string bytes;
  if (subsystem.empty()) return bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.WriteTag(kServiceField);
  out.WriteVarint32(static_cast<uint32_t>(subsystem.size()));
  out.WriteString(subsystem);
  out.Trim();
  return bytes;
}

absl::StatusOr<Serving> DecodeHealthResponse(const std::string& bytes) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  uint32_t status = 0;
  bool well_formed = true;
  while (const uint32_t tag = in.ReadTag()) {
    well_formed = well_formed && tag == kStatusField && in.ReadVarint32(&status);
    if (!well_formed) break;
  }
  if (!well_formed || !in.ConsumedEntireMessage()) {
    return absl::InternalError(
        "the health answer is malformed; compare the versions of both sides");
  }
  return status <= 3 ? static_cast<Serving>(status) : Serving::kUnknown;
}

absl::StatusOr<Serving> CheckHealth(const Connection& connection, const std::string& subsystem) {
  grpc::GenericStub stub(connection.channel());
  grpc::ClientContext context;
  connection.Prepare(context);
  const grpc::Slice question(EncodeHealthRequest(subsystem));
  grpc::ByteBuffer request(&question, 1), response;
  grpc::Status status;
  absl::Notification answered;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request, &response,
                 [&](grpc::Status given) {
                   status = std::move(given);
                   answered.Notify();
                 });
  answered.WaitForNotification();
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return Serving::kServiceUnknown;
  if (!status.ok()) return connection.Translate(status);
  const absl::StatusOr<std::string> bytes = Flat(response);
  if (!bytes.ok()) return bytes.status();
  return DecodeHealthResponse(*bytes);
}

}  // namespace blazed::blazectl
