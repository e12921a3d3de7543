// One HTTP/2 connection that speaks gRPC as a client, by nghttp2. It does no I/O of its own: bytes
// from the socket go into Receive, bytes for it come out of TakeOutput. One thread.
//
// Whatever the peer sends, the worst outcome is Receive() == false or a call that ends with a
// status.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "client/cpp/transport/frame_reader.h"

namespace blazed::shim {

// Codes of gRPC that the shim acts on.
inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcUnknown = 2;
inline constexpr int kGrpcInvalidArgument = 3;
inline constexpr int kGrpcNotFound = 5;
inline constexpr int kGrpcPermissionDenied = 7;
inline constexpr int kGrpcResourceExhausted = 8;
inline constexpr int kGrpcUnimplemented = 12;
inline constexpr int kGrpcInternal = 13;
inline constexpr int kGrpcUnavailable = 14;
inline constexpr int kGrpcUnauthenticated = 16;

struct CallStatus {
  int code = kGrpcUnavailable;
  std::string message;
};

// Receives what happens on one call. Must outlive the call; must not call the connection
// inside.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  virtual void OnMessage(std::string_view message) = 0;
  virtual void OnClosed(const CallStatus& status) = 0;  // once, the last of a call
};

class GrpcConnection {
 public:
  // Null: memory ran out.
  static std::unique_ptr<GrpcConnection> Create();
  ~GrpcConnection();
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  // Opens a call to "/package.Service/Method". The stream's id, or a negative number where the
  // connection takes no more calls.
  int32_t Open(const char* path, size_t max_message_bytes, CallHandler* handler);

  // Queues one message on an open call. False: the call is over.
  bool Write(int32_t call, std::string_view message);

  // Nothing more will be written on the call.
  void FinishWrites(int32_t call);

  // Ends the call without waiting for the server; its handler hears nothing more.
  void Cancel(int32_t call);

  // False: the peer broke HTTP/2; drop the connection. Handlers are called inside.
  bool Receive(std::string_view bytes);

  // Appends what should go to the socket, about `limit` bytes at most. False: drop the connection.
  bool TakeOutput(std::string& out, size_t limit);

  // Bytes queued by Write that flow control or TakeOutput's caller has not let out.
  size_t QueuedBytes() const { return queued_bytes_; }

  // True when the connection has nothing left to do in either direction.
  bool Finished() const;

 private:
  struct Call;
  GrpcConnection() = default;
  Call* Find(int32_t id);
  void CloseCall(int32_t id, uint32_t http2_error);
  std::string ReasonOf(uint32_t http2_error) const;

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_bytes, const uint8_t* value, size_t value_bytes, uint8_t,
                      void* user);
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t bytes,
                    void* user);
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user);
  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t error, void* user);
  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* buffer, size_t bytes,
                          uint32_t* flags, nghttp2_data_source*, void* user);

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::unique_ptr<Call>> calls_;
  size_t queued_bytes_ = 0;
  std::string goodbye_;  // the text of the server's GOAWAY
};

}  // namespace blazed::shim
