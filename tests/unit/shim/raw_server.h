// The other end of a GrpcConnection, in memory: an nghttp2 server session that sends the frames the
// test asks for, and any other bytes.
#pragma once

#include <nghttp2/nghttp2.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace blazed::shim {

class RawServer {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  explicit RawServer(uint32_t window = 65535) {
    nghttp2_session_callbacks* callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks,
        [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes,
           const uint8_t* value, size_t value_bytes, uint8_t, void* user) {
          auto* self = static_cast<RawServer*>(user);
          self->call = frame->hd.stream_id;
          self->headers[frame->hd.stream_id][std::string(name, name + name_bytes)] =
              std::string(value, value + value_bytes);
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t bytes,
                      void* user) {
          static_cast<RawServer*>(user)->body[stream].append(data, data + bytes);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          auto* self = static_cast<RawServer*>(user);
          if (frame->hd.type == NGHTTP2_DATA && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
            self->ended[frame->hd.stream_id] = true;
          }
          if (frame->hd.type == NGHTTP2_RST_STREAM) {
            self->resets[frame->hd.stream_id] = frame->rst_stream.error_code;
          }
          return 0;
        });
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
    nghttp2_submit_settings(session_, 0, &setting, 1);
  }
  ~RawServer() { nghttp2_session_del(session_); }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  void SendHeaders(int32_t stream, const Headers& headers, bool end = false) {
    std::vector<nghttp2_nv> fields;
    for (const auto& [name, value] : headers) {
      fields.push_back({reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
                        reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(),
                        value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_submit_headers(session_, end ? NGHTTP2_FLAG_END_STREAM : 0, stream, nullptr,
                           fields.data(), fields.size(), nullptr);
    Flush();
  }
  void SendOk(int32_t stream) {
    SendHeaders(stream, {{":status", "200"}, {"content-type", "application/grpc"}});
  }
  // One DATA frame, written by hand so that its size is the test's.
  void SendData(int32_t stream, const std::string& bytes, bool end = false) {
    Flush();
    std::string frame;
    frame.push_back(static_cast<char>(bytes.size() >> 16));
    frame.push_back(static_cast<char>(bytes.size() >> 8));
    frame.push_back(static_cast<char>(bytes.size()));
    frame.push_back(NGHTTP2_DATA);
    frame.push_back(end ? NGHTTP2_FLAG_END_STREAM : 0);
    for (int shift = 24; shift >= 0; shift -= 8) {
      frame.push_back(static_cast<char>(stream >> shift));
    }
    out += frame + bytes;
  }
  void Reset(int32_t stream, uint32_t error) {
    nghttp2_submit_rst_stream(session_, 0, stream, error);
    Flush();
  }
  // `last`: the last stream that is still served.
  void GoAway(const std::string& text = "", int32_t last = 2147483647) {
    nghttp2_submit_goaway(session_, 0, last, NGHTTP2_NO_ERROR,
                          reinterpret_cast<const uint8_t*>(text.data()), text.size());
    Flush();
  }
  void OpenWindow(int32_t stream, int32_t bytes) {
    nghttp2_submit_window_update(session_, 0, stream, bytes);
    Flush();
  }
  void Flush() {
    const uint8_t* data;
    ssize_t bytes;
    while ((bytes = nghttp2_session_mem_send(session_, &data)) > 0) out.append(data, data + bytes);
  }
  bool Receive(const std::string& bytes) {
    const bool ok =
        nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                 bytes.size()) == static_cast<ssize_t>(bytes.size());
    Flush();
    return ok;
  }

  std::string out;  // not yet delivered
  int32_t call = 0;
  std::map<int32_t, std::map<std::string, std::string>> headers;
  std::map<int32_t, std::string> body;
  std::map<int32_t, bool> ended;
  std::map<int32_t, uint32_t> resets;

 private:
  nghttp2_session* session_ = nullptr;
};

}  // namespace blazed::shim
