// What the tests of the session table share: a table over a memory store, and clients of it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/session/session_table.h"
#include "daemon/session/store_recorder.h"
#include "daemon/session/workload_fingerprint.h"
#include "storage/memory/memory_store.h"
#include "tests/fakes/held_thinker.h"
#include "tests/fakes/manual_loop.h"
#include "tests/fakes/recording_link.h"

namespace blazed::session {

inline planner::Digest DigestOf(uint8_t byte) {
  planner::Digest digest{};
  digest[0] = byte;
  return digest;
}

inline Hello TuneHello() {
  Hello hello;
  hello.mode = planner::Mode::kTune;
  hello.job = "job";
  hello.device = "cpu";
  return hello;
}

// Workloads of other numbers are other ones.
inline WorkloadSeen Workload(uint8_t number, int decisions) {
  WorkloadSeen seen;
  seen.row.spec.name = "workload";
  seen.row.graphs = {DigestOf(100)};
  for (int i = 0; i < decisions; ++i) {
    planner::DecisionSpec decision;
    decision.id = DigestOf(static_cast<uint8_t>(i + 1));
    decision.name = "boundary";
    decision.options = {"merge", "cut"};
    decision.graph = 1;
    decision.sites = number;
    seen.row.spec.decisions.push_back(decision);
  }
  seen.row.spec.fingerprint = WorkloadFingerprint(seen.row);
  seen.default_signature = DigestOf(200);
  seen.default_step_ns = 1'000'000;
  return seen;
}

inline GraphSeen Graph() {
  GraphSeen seen;
  seen.row.fingerprint = DigestOf(100);
  seen.row.name = "graph";
  return seen;
}

// A table over a memory store, on a loop that the test turns.
class SessionTableTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/sessions-XXXXXX";
    folder_ = mkdtemp(name.data());
    storage::WriterOptions options;
    options.group_window = absl::ZeroDuration();
    writer_ = std::make_unique<storage::Writer>(std::make_unique<storage::MemoryStore>(), options);
    recorder_ = std::make_unique<StoreRecorder>(*writer_, loop_, quarantine_, [] {});
    table_ = std::make_unique<SessionTable>(
        loop_, *recorder_, thinker_, quarantine_, DeviceLocks(folder_, folder_),
        [](const std::string&) { return std::map<std::string, std::string>(); }, options_);
  }
  void TearDown() override {
    table_.reset();
    writer_->Stop();
    std::filesystem::remove_all(folder_);
  }

  Peer Me(const std::string& process = "boot/1/1") {
    Peer peer;
    peer.uid = 1000;
    peer.pid = 1;
    peer.process = process;
    peer.principal = "uid:1000";
    return peer;
  }

  // A stream whose messages are numbered by the test.
  struct Client {
    std::shared_ptr<fakes::RecordingLink> link = std::make_shared<fakes::RecordingLink>();
    uint64_t sequence = 0;
    size_t answered = 0;               // of link->sent
    std::optional<absl::Status> done;  // of the last message
  };

  Client Connect(Peer peer) {
    Client client;
    table_->Attach(client.link, std::move(peer));
    return client;
  }

  // Hands a message on and waits until the table is done with it.
  absl::Status Say(Client& client, Inbound message) {
    client.done.reset();
    table_->Receive(client.link, ++client.sequence, std::move(message),
                    [&client](absl::Status status) { client.done = std::move(status); });
    EXPECT_TRUE(loop_.RunUntil([&] { return client.done.has_value(); }));
    return client.done.value_or(absl::InternalError("no answer"));
  }

  Client Open(Peer peer) {
    Client client = Connect(std::move(peer));
    EXPECT_TRUE(Say(client, TuneHello()).ok());
    return client;
  }

  Client Described(Peer peer, uint8_t workload = 1, int decisions = 2) {
    Client client = Open(std::move(peer));
    EXPECT_TRUE(Say(client, Graph()).ok());
    EXPECT_TRUE(Say(client, Workload(workload, decisions)).ok());
    return client;
  }

  // Answers what it was asked since the last call and what comes of that: leases evenly, builds as
  // told. A directive for which `keep` holds stays without an answer, as all behind it.
  void Answer(Client& client, planner::BuildStatus built,
              const std::function<bool(const Outbound&)>& keep = nullptr) {
    for (; client.answered < client.link->sent.size(); ++client.answered) {
      const Outbound asked = client.link->sent[client.answered];
      if (keep && keep(asked)) return;
      if (std::optional<Inbound> answer = AnswerTo(asked, built)) {
        EXPECT_TRUE(Say(client, *std::move(answer)).ok());
      }
      loop_.RunReady();
    }
  }

  static std::optional<Inbound> AnswerTo(const Outbound& asked, planner::BuildStatus built) {
    if (const auto* lease = std::get_if<planner::RunPairs>(&asked)) {
      planner::LeaseDone done;
      done.lease = lease->lease;
      done.units.resize(2 * lease->challenger_first.size(), planner::UnitTime{1'000'000, 0, 0});
      return done;
    }
    if (const auto* build = std::get_if<planner::BuildVariant>(&asked)) {
      planner::VariantBuilt done;
      done.build = build->build;
      done.variant = build->variant;
      done.status = built;
      done.signature = DigestOf(static_cast<uint8_t>(1 + build->variant));
      return done;
    }
    if (const auto* adopt = std::get_if<planner::Adopt>(&asked)) {
      planner::VariantAdopted done;
      done.adopt = adopt->adopt;
      done.variant = adopt->variant;
      return done;
    }
    return std::nullopt;
  }

  // Whoever comes back with the session's token.
  Client Resume(const SessionToken& token) {
    Client client = Connect(Me());
    Hello hello = TuneHello();
    hello.resume = token;
    EXPECT_TRUE(Say(client, hello).ok());
    return client;
  }

  // Rows of one kind in the store's event log.
  size_t Events(const std::string& kind) {
    EXPECT_TRUE(
        writer_->Run(storage::Durability::kSynced, [](storage::Store&) { return absl::OkStatus(); })
            .ok());
    storage::EventPage page;
    page.limit = 1000;
    const auto rows = writer_->NewReader()->Events(page);
    EXPECT_TRUE(rows.ok());
    return static_cast<size_t>(std::count_if(
        rows->begin(), rows->end(), [&kind](const auto& row) { return row.kind == kind; }));
  }

  fakes::ManualLoop loop_;
  fakes::HeldThinker thinker_;
  Quarantine quarantine_;
  Options options_;
  std::string folder_;
  std::unique_ptr<storage::Writer> writer_;
  std::unique_ptr<StoreRecorder> recorder_;
  std::unique_ptr<SessionTable> table_;
};

}  // namespace blazed::session
