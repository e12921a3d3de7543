#include "client/cpp/transport/grpc_connection.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/shim/raw_server.h"

namespace blazed::shim {
namespace {

constexpr char kPath[] = "/blazed.v1.Tuner/Attach";

class Recorder final : public CallHandler {
 public:
  void OnMessage(std::string_view message) override { messages.emplace_back(message); }
  void OnClosed(const CallStatus& closed) override {
    ++closes;
    status = closed;
  }
  std::vector<std::string> messages;
  CallStatus status;
  int closes = 0;
};

class GrpcConnectionTest : public testing::Test {
 protected:
  GrpcConnectionTest() { id = connection->Open(kPath, 1000, &call); }

  // Carries bytes both ways until neither side has any; false: the client dropped the connection.
  bool Pump(size_t chunk = SIZE_MAX) {
    while (true) {
      std::string bytes;
      if (!connection->TakeOutput(bytes, SIZE_MAX)) return false;
      if (!bytes.empty()) server->Receive(bytes);
      const std::string reply = std::exchange(server->out, "");
      if (bytes.empty() && reply.empty()) return true;
      for (size_t at = 0; at < reply.size(); at += std::min(chunk, reply.size() - at)) {
        if (!connection->Receive(std::string_view(reply).substr(at, chunk))) return false;
      }
    }
  }
  static std::string Framed(const std::string& message) {
    return FramePrefix(message.size()) + message;
  }
  void ExpectClosed(int code, const std::string& text = "") {
    EXPECT_EQ(call.closes, 1);
    EXPECT_EQ(call.status.code, code) << call.status.message;
    EXPECT_NE(call.status.message.find(text), std::string::npos) << call.status.message;
  }

  std::unique_ptr<GrpcConnection> connection = GrpcConnection::Create();
  std::unique_ptr<RawServer> server = std::make_unique<RawServer>();
  Recorder call;
  int32_t id = -1;
};

TEST_F(GrpcConnectionTest, RequestsAreWhatGrpcAsksFor) {
  connection->Write(id, "hello");
  ASSERT_TRUE(Pump());
  const auto& headers = server->headers[id];
  EXPECT_EQ(headers.at(":method"), "POST");
  EXPECT_EQ(headers.at(":path"), kPath);
  EXPECT_EQ(headers.at("te"), "trailers");
  EXPECT_EQ(headers.at("content-type"), "application/grpc");
  EXPECT_EQ(headers.at("blazed-protocol"), "1");
  EXPECT_EQ(server->body[id], std::string("\0\0\0\0\5hello", 10));
  EXPECT_FALSE(server->ended[id]);
  connection->FinishWrites(id);
  ASSERT_TRUE(Pump());
  EXPECT_TRUE(server->ended[id]);
}

TEST_F(GrpcConnectionTest, AMessageInOneByteFramesArrivesWhole) {
  Pump();
  server->SendOk(id);
  for (const char byte : Framed("first") + Framed("") + Framed("third")) {
    server->SendData(id, std::string(1, byte));
  }
  ASSERT_TRUE(Pump(3));
  EXPECT_EQ(call.messages, (std::vector<std::string>{"first", "", "third"}));
  EXPECT_EQ(call.closes, 0);
}

TEST_F(GrpcConnectionTest, ManyMessagesInOneFrame) {
  Pump();
  server->SendOk(id);
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += Framed(std::to_string(i));
  server->SendData(id, bytes);
  ASSERT_TRUE(Pump());
  ASSERT_EQ(call.messages.size(), 100u);
  EXPECT_EQ(call.messages[99], "99");
}

TEST_F(GrpcConnectionTest, SendingWaitsForTheServersWindow) {
  server = std::make_unique<RawServer>(10);
  ASSERT_TRUE(Pump());  // the small window is known
  const std::string large(1000, 'x');
  connection->Write(id, large);
  std::string bytes;
  connection->TakeOutput(bytes, SIZE_MAX);
  server->Receive(bytes);
  EXPECT_LE(server->body[id].size(), 10u);
  EXPECT_GE(connection->QueuedBytes(), 995u);
  server->OpenWindow(id, 2000);
  ASSERT_TRUE(Pump());
  EXPECT_EQ(server->body[id], Framed(large));
  EXPECT_EQ(connection->QueuedBytes(), 0u);
}

TEST_F(GrpcConnectionTest, TrailersEndTheCall) {
  Pump();
  server->SendOk(id);
  server->SendData(id, Framed("last"));
  server->SendHeaders(id, {{"grpc-status", "8"}, {"grpc-message", "too%20much"}}, true);
  ASSERT_TRUE(Pump());
  EXPECT_EQ(call.messages.size(), 1u);
  ExpectClosed(kGrpcResourceExhausted, "too much");
  EXPECT_FALSE(connection->Write(id, "more"));
}

TEST_F(GrpcConnectionTest, TrailersOnlyEndTheCall) {
  Pump();
  server->SendHeaders(id,
                      {{":status", "200"},
                       {"content-type", "application/grpc"},
                       {"grpc-status", "12"},
                       {"grpc-message", "no such method"}},
                      true);
  ASSERT_TRUE(Pump());
  ExpectClosed(kGrpcUnimplemented, "no such method");
}

TEST_F(GrpcConnectionTest, AnEndWithoutAStatusIsUnknown) {
  Pump();
  server->SendOk(id);
  server->SendData(id, "", true);
  ASSERT_TRUE(Pump());
  ExpectClosed(kGrpcUnknown, "without a gRPC status");
}

TEST_F(GrpcConnectionTest, AnEndInsideAMessageIsAnError) {
  Pump();
  server->SendOk(id);
  server->SendData(id, Framed("cut").substr(0, 6));
  server->SendHeaders(id, {{"grpc-status", "0"}}, true);
  ASSERT_TRUE(Pump());
  EXPECT_TRUE(call.messages.empty());
  ExpectClosed(kGrpcInternal, "inside a message");
}

TEST_F(GrpcConnectionTest, AResetEndsTheCallAndNotTheConnection) {
  Pump();
  server->Reset(id, NGHTTP2_REFUSED_STREAM);
  ASSERT_TRUE(Pump());
  ExpectClosed(kGrpcUnavailable, "REFUSED_STREAM");
  Recorder other;
  const int32_t next = connection->Open(kPath, 1000, &other);
  ASSERT_GT(next, id);
  Pump();
  server->SendOk(next);
  server->SendData(next, Framed("fine"));
  ASSERT_TRUE(Pump());
  EXPECT_EQ(other.messages.size(), 1u);
}

TEST_F(GrpcConnectionTest, AConnectionThatIsRefusedSaysWhy) {
  Pump();
  server->GoAway("user 7 has 256 connections\x1b open; close one", 0);
  Pump();
  ExpectClosed(kGrpcUnavailable, "it refused the connection: user 7 has 256 connections");
  EXPECT_EQ(call.status.message.find('\x1b'), std::string::npos);
  EXPECT_NE(call.status.message.find("close one"), std::string::npos) << call.status.message;
}

TEST_F(GrpcConnectionTest, AfterGoAwayTheOpenCallGoesOnAndNoOtherStarts) {
  Pump();
  server->SendOk(id);
  server->GoAway();
  server->SendData(id, Framed("still"));
  ASSERT_TRUE(Pump());
  EXPECT_EQ(call.messages.size(), 1u);
  Recorder other;
  const int32_t next = connection->Open(kPath, 1000, &other);
  Pump();
  EXPECT_TRUE(next < 0 || other.closes == 1);
  server->SendHeaders(id, {{"grpc-status", "14"}}, true);
  Pump();
  ExpectClosed(kGrpcUnavailable);
}

TEST_F(GrpcConnectionTest, OversizedMessagesAreCutBeforeTheyAreHeld) {
  Pump();
  server->SendOk(id);
  server->SendData(id, std::string("\0\xff\xff\xff\xff", 5) + "x");
  ASSERT_TRUE(Pump());
  ExpectClosed(kGrpcResourceExhausted, "oversized");
  EXPECT_EQ(server->resets[id], uint32_t{NGHTTP2_CANCEL});
}

TEST_F(GrpcConnectionTest, CompressedMessagesAreRefused) {
  Pump();
  server->SendOk(id);
  server->SendData(id, std::string("\1\0\0\0\1x", 6));
  ASSERT_TRUE(Pump());
  ExpectClosed(kGrpcInternal, "compressed");
}

TEST_F(GrpcConnectionTest, AnotherHttpStatusCarriesNoMessages) {
  Pump();
  server->SendHeaders(id, {{":status", "503"}});
  server->SendData(id, Framed("page"), true);
  ASSERT_TRUE(Pump());
  EXPECT_TRUE(call.messages.empty());
  ExpectClosed(kGrpcUnknown);
}

TEST_F(GrpcConnectionTest, AStatusThatIsNoNumberIsUnknown) {
  for (const char* text : {"", "x", "-1", "99999999999999999999"}) {
    SCOPED_TRACE(text);
    Recorder handler;
    const int32_t stream = connection->Open(kPath, 1000, &handler);
    Pump();
    server->SendHeaders(stream, {{":status", "200"}, {"grpc-status", text}}, true);
    ASSERT_TRUE(Pump());
    EXPECT_EQ(handler.status.code, kGrpcUnknown);
  }
}

TEST_F(GrpcConnectionTest, AStatusTextCannotSteerATerminalNorGrow) {
  Pump();
  server->SendHeaders(id,
                      {{":status", "200"},
                       {"grpc-status", "2"},
                       {"grpc-message", "%1b[2J%" + std::string(8000, 'y')}},
                      true);
  ASSERT_TRUE(Pump());
  ExpectClosed(kGrpcUnknown, "?[2J%y");
  EXPECT_LE(call.status.message.size(), 512u);
}

TEST_F(GrpcConnectionTest, ACancelledCallIsNotHeardOfAgain) {
  connection->Write(id, "x");
  connection->Cancel(id);
  EXPECT_EQ(connection->QueuedBytes(), 0u);
  ASSERT_TRUE(Pump());
  EXPECT_EQ(call.closes, 0);
}

TEST_F(GrpcConnectionTest, GarbageDropsTheConnection) {
  const bool goes_on = connection->Receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  std::string bytes;
  EXPECT_TRUE(!goes_on || !connection->TakeOutput(bytes, SIZE_MAX) || connection->Finished());
}

TEST_F(GrpcConnectionTest, MutatedTrafficNeverHurts) {
  constexpr uint64_t kSeed = 41;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 2000; ++round) {
    connection = GrpcConnection::Create();
    server = std::make_unique<RawServer>();
    Recorder handler;
    const int32_t stream = connection->Open(kPath, 1000, &handler);
    connection->Write(stream, "hello");
    std::string bytes;
    connection->TakeOutput(bytes, SIZE_MAX);
    server->Receive(bytes);
    server->SendOk(stream);
    server->SendData(stream, Framed("one") + Framed("two"));
    server->SendHeaders(stream, {{"grpc-status", "0"}}, true);
    server->GoAway();
    std::string traffic = server->out;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      traffic[random() % traffic.size()] ^= static_cast<char>(1 + random() % 255);
    }
    if (random() % 4 == 0) traffic.resize(random() % traffic.size());
    if (connection->Receive(traffic)) connection->TakeOutput(bytes, SIZE_MAX);
    EXPECT_LE(handler.closes, 1);
  }
}

}  // namespace
}  // namespace blazed::shim
