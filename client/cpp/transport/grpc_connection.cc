#include "client/cpp/transport/grpc_connection.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "blazed_version.h"
#include "client/cpp/base/text.h"

namespace blazed::shim {
namespace {

constexpr size_t kMaxStatusMessage = 512;
constexpr uint32_t kStreamWindow = 1 << 20;
constexpr size_t kCompactBytes = 64 * 1024;

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// grpc-message is percent-encoded; what is not stays as it came.
std::string PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

// At most three digits; anything else is gRPC's UNKNOWN.
int ParseCode(std::string_view text) {
  if (text.empty() || text.size() > 3) return kGrpcUnknown;
  int code = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return kGrpcUnknown;
    code = code * 10 + (c - '0');
  }
  return code;
}

}  // namespace

struct GrpcConnection::Call {
  Call(size_t max_message_bytes, CallHandler* handler)
      : reader(max_message_bytes), handler(handler) {}

  FrameReader reader;
  CallHandler* handler;
  std::string body;  // framed, not yet taken by nghttp2
  size_t taken = 0;
  bool writes_done = false;
  bool has_status = false;
  int http_status = 0;
  CallStatus status;
};

std::unique_ptr<GrpcConnection> GrpcConnection::Create() {
  std::unique_ptr<GrpcConnection> connection(new GrpcConnection);
  nghttp2_session_callbacks* callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnStreamClose);
  const int made = nghttp2_session_client_new(&connection->session_, callbacks, connection.get());
  nghttp2_session_callbacks_del(callbacks);
  if (made != 0) return nullptr;
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 16384}};
  if (nghttp2_submit_settings(connection->session_, NGHTTP2_FLAG_NONE, settings, 3) != 0) {
    return nullptr;
  }
  return connection;
}

GrpcConnection::~GrpcConnection() {
  if (session_ != nullptr) nghttp2_session_del(session_);
}

GrpcConnection::Call* GrpcConnection::Find(int32_t id) {
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : found->second.get();
}

int32_t GrpcConnection::Open(const char* path, size_t max_message_bytes, CallHandler* handler) {
  const nghttp2_nv headers[] = {Header(":method", "POST"),
                                Header(":scheme", "http"),
                                Header(":path", path),
                                Header(":authority", "localhost"),
                                Header("te", "trailers"),
                                Header("content-type", "application/grpc"),
                                Header("user-agent", "blazed-shim/" BLAZED_VERSION),
                                Header("blazed-protocol", "1")};
  nghttp2_data_provider body{};
  body.read_callback = &ReadBody;
  const int32_t id =
      nghttp2_submit_request(session_, nullptr, headers, std::size(headers), &body, nullptr);
  if (id < 0) return -1;
  calls_[id] = std::make_unique<Call>(max_message_bytes, handler);
  return id;
}

bool GrpcConnection::Write(int32_t id, std::string_view message) {
  Call* call = Find(id);
  if (call == nullptr || call->writes_done) return false;
  call->body += FramePrefix(message.size());
  call->body += message;
  queued_bytes_ += message.size() + 5;
  if (call->taken > kCompactBytes) {
    call->body.erase(0, call->taken);
    call->taken = 0;
  }
  // Fails where the body was not waiting for data: nothing to resume then.
  static_cast<void>(nghttp2_session_resume_data(session_, id));
  return true;
}

void GrpcConnection::FinishWrites(int32_t id) {
  Call* call = Find(id);
  if (call == nullptr) return;
  call->writes_done = true;
  static_cast<void>(nghttp2_session_resume_data(session_, id));
}

void GrpcConnection::Cancel(int32_t id) {
  Call* call = Find(id);
  if (call == nullptr) return;
  queued_bytes_ -= call->body.size() - call->taken;
  calls_.erase(id);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

bool GrpcConnection::Receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return used == static_cast<ssize_t>(bytes.size());
}

bool GrpcConnection::TakeOutput(std::string& out, size_t limit) {
  while (out.size() < limit) {
    const uint8_t* data = nullptr;
    const ssize_t bytes = nghttp2_session_mem_send(session_, &data);
    if (bytes < 0) return false;
    if (bytes == 0) break;
    out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(bytes));
  }
  return true;
}

bool GrpcConnection::Finished() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

int GrpcConnection::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                             size_t name_bytes, const uint8_t* value, size_t value_bytes, uint8_t,
                             void* user) {
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  Call* call = static_cast<GrpcConnection*>(user)->Find(frame->hd.stream_id);
  if (call == nullptr) return 0;
  const std::string_view key(reinterpret_cast<const char*>(name), name_bytes);
  const std::string_view text(reinterpret_cast<const char*>(value), value_bytes);
  if (key == ":status") {
    call->http_status = ParseCode(text);
  } else if (key == "grpc-status") {
    call->has_status = true;
    call->status.code = ParseCode(text);
  } else if (key == "grpc-message") {
    call->status.message = Printable(PercentDecode(text), kMaxStatusMessage);
  }
  return 0;
}

int GrpcConnection::OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data,
                           size_t bytes, void* user) {
  auto* self = static_cast<GrpcConnection*>(user);
  Call* call = self->Find(id);
  if (call == nullptr || call->http_status != 200) return 0;
  const auto result =
      call->reader.Feed(std::string_view(reinterpret_cast<const char*>(data), bytes),
                        [call](std::string_view message) { call->handler->OnMessage(message); });
  if (result == FrameReader::Result::kOk) return 0;
  call->has_status = true;
  call->status = result == FrameReader::Result::kTooLarge
                     ? CallStatus{kGrpcResourceExhausted, "the daemon sent an oversized message"}
                     : CallStatus{kGrpcInternal, "the daemon sent a compressed message"};
  nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  return 0;
}

// The server's last word ends the call, also where our half is still open: it would not be read.
int GrpcConnection::OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
  auto* self = static_cast<GrpcConnection*>(user);
  if (frame->hd.type == NGHTTP2_GOAWAY) {
    const auto* text = reinterpret_cast<const char*>(frame->goaway.opaque_data);
    self->goodbye_ =
        Printable(std::string_view(text, frame->goaway.opaque_data_len), kMaxStatusMessage);
    return 0;
  }
  const bool has_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
  if (!has_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  const int32_t id = frame->hd.stream_id;
  const Call* call = self->Find(id);
  if (call == nullptr) return 0;
  if (!call->writes_done || call->taken < call->body.size()) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
  }
  self->CloseCall(id, NGHTTP2_NO_ERROR);
  return 0;
}

int GrpcConnection::OnStreamClose(nghttp2_session*, int32_t id, uint32_t error, void* user) {
  static_cast<GrpcConnection*>(user)->CloseCall(id, error);
  return 0;
}

// A daemon that takes no connection says why in its GOAWAY; the call is then refused unread.
std::string GrpcConnection::ReasonOf(uint32_t http2_error) const {
  if (http2_error == NGHTTP2_NO_ERROR) return "the stream ended without a gRPC status";
  if (http2_error == NGHTTP2_REFUSED_STREAM && !goodbye_.empty()) {
    return "it refused the connection: " + goodbye_;
  }
  return std::string("the stream was reset: ") + nghttp2_http2_strerror(http2_error);
}

void GrpcConnection::CloseCall(int32_t id, uint32_t http2_error) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const std::unique_ptr<Call> call = std::move(found->second);
  calls_.erase(found);
  queued_bytes_ -= call->body.size() - call->taken;
  if (!call->has_status) {
    call->status.code = http2_error == NGHTTP2_NO_ERROR ? kGrpcUnknown : kGrpcUnavailable;
    call->status.message = ReasonOf(http2_error);
  } else if (call->status.code == kGrpcOk && !call->reader.AtBoundary()) {
    call->status = {kGrpcInternal, "the stream ended inside a message"};
  }
  call->handler->OnClosed(call->status);
}

ssize_t GrpcConnection::ReadBody(nghttp2_session*, int32_t id, uint8_t* buffer, size_t bytes,
                                 uint32_t* flags, nghttp2_data_source*, void* user) {
  auto* self = static_cast<GrpcConnection*>(user);
  Call* call = self->Find(id);
  if (call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const size_t ready = std::min(bytes, call->body.size() - call->taken);
  std::memcpy(buffer, call->body.data() + call->taken, ready);
  call->taken += ready;
  self->queued_bytes_ -= ready;
  if (call->taken == call->body.size()) {
    call->body.clear();
    call->taken = 0;
    if (call->writes_done) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (ready == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
  }
  return static_cast<ssize_t>(ready);
}

}  // namespace blazed::shim
