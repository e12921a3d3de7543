// Whole answers against whole texts: what an operator reads is what is promised here.
#include "client/blazectl/render/render.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace blazed::blazectl {
namespace {

template <typename Message>
Message Parse(const char* text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

constexpr char kSettlement[] = R"pb(
  id: 4
  workload: "3f2a9c0011223344aabbccddeeff0011"
  workload_name: "attention 64x256"
  kind: SETTLEMENT_KIND_IN_JOB
  contract: CONTRACT_ROUNDING
  plan { choices { decision: 3 option: 1 } }
  plan_text: "attention=streamed"
  default_step_ns: 21440000
  settled_step_ns: 18800000
  gain: 0.1231
  gain_low: 0.1186
  gain_high: 0.1279
  search_pairs: 640
  replication_pairs: 48
  window_ns: 41000000000
  break_even_steps: 812.4
  settled_unix_ns: 1799999700000000000
  state: "in_force"
  next_check_steps: 500
)pb";

v1::RaceRow Race(int id, const char* outcome, double estimate, double low, double high) {
  v1::RaceRow race;
  race.set_id(static_cast<uint64_t>(id));
  race.set_kind("search");
  race.set_outcome(outcome);
  race.set_pairs(64);
  race.set_alpha(0.025);
  race.set_log_e_accept(4.21);
  race.set_estimate(estimate);
  race.set_low(low);
  race.set_high(high);
  race.set_challenger_text("attention=streamed");
  return race;
}

TEST(RenderStatus, ShowsDaemonStoreAndSessions) {
  const auto status = Parse<v1::GetStatusReply>(R"pb(
    version: "0.1.0"
    commit: "0123abcd4567"
    daemon_epoch: 7
    uptime_ns: 7500000000000
    store_path: "/var/lib/blazed/blazed.db"
    store_state: "ok"
    store_bytes: 1258291
    rss_bytes: 33030144
    sqlite_version: "3.40.1"
    sessions {
      session: 12
      uid: 1000
      pid: 4711
      job: "demo"
      host_name: "blaze-train 0.1.0"
      workload: "3f2a9c0011223344"
      workload_name: "attention"
      phase: "search"
      attached_ns: 61000000000
      candidates: 9
      dropped: 4
      search_pairs: 320
      gain: 0.08
      budget_spent_ns: 12300000000
      budget_allowed_ns: 61200000000
    }
  )pb");
  EXPECT_EQ(RenderStatus(status, {}),
            "blazed 0.1.0 (0123abcd4567)  up 2 h 5 min, start 7 of this store, 31.5 MiB resident\n"
            "store   ok  /var/lib/blazed/blazed.db  1.20 MiB, SQLite 3.40.1\n"
            "1 session attached\n"
            "\n"
            "session  job   workload   phase   candidates  dropped  pairs              saves       "
            "   explored  "
            "attached  host               user   pid\n"
            "     12  demo  attention  search           9        4    320  8.0 % provisional  12.3 "
            "s of 61.2 s  "
            "  61.0 s  blaze-train 0.1.0  1000  4711\n");
}

TEST(RenderStatus, SaysWhatTheDaemonNotedOfASession) {
  const auto status = Parse<v1::GetStatusReply>(R"pb(
    sessions { session: 3 phase: "settled" gain: 0.08 }
    sessions {
      session: 4
      phase: "standing"
      note: "the settlement could not be kept: database or disk is full"
    }
  )pb");
  const std::string text = RenderStatus(status, {});
  EXPECT_NE(
      text.find("\n\nsession 4: the settlement could not be kept: database or disk is full\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("session 3:"), std::string::npos);
  EXPECT_EQ(text.find("provisional"), std::string::npos) << "what is settled was replicated";
}

TEST(RenderStatus, ShowsWhyTheStoreIsNotWell) {
  const auto status = Parse<v1::GetStatusReply>(R"pb(
    version: "0.1.0"
    commit: "c"
    store_path: "/s"
    store_state: "quarantined"
    store_detail: "damaged page 7; see docs/troubleshooting.md"
    sqlite_version: "3.40.1"
  )pb");
  const std::string text = RenderStatus(status, {});
  EXPECT_NE(text.find("quarantined"), std::string::npos);
  EXPECT_NE(text.find("damaged page 7"), std::string::npos);
  EXPECT_NE(text.find("no session is attached"), std::string::npos);
}

TEST(RenderStatus, SaysThatTheStoreCannotBeWrittenAndWhatWaits) {
  const auto status = Parse<v1::GetStatusReply>(R"pb(
    version: "0.1.0"
    commit: "c"
    store_path: "/s/blazed.db"
    store_state: "read_only"
    store_detail: "the store cannot be written since 2026-01-01 00:00:00 UTC: disk full; free space on /s"
    sqlite_version: "3.40.1"
    store_read_only_since_unix_ns: 1767225600000000000
    rows_waiting: 12
    rows_dropped: 3
  )pb");
  EXPECT_EQ(RenderStatus(status, {}),
            "blazed 0.1.0 (c)  up 0 ns, start 0 of this store, 0 B resident\n"
            "store   read_only  /s/blazed.db  0 B, SQLite 3.40.1\n"
            "        the store cannot be written since 2026-01-01 00:00:00 UTC: disk full; free "
            "space on /s\n"
            "        12 rows waiting\n"
            "        3 rows dropped since the start, because too many waited for the disk\n"
            "no session is attached\n");
}

TEST(RenderStatus, SaysWhatThisStartFoundInTheStore) {
  auto status = Parse<v1::GetStatusReply>(R"pb(
    store_state: "ok"
    store_opening {
      state: "restored"
      detail: "a page is damaged; the damaged files are in /s/quarantine/1"
      quarantine: "/s/quarantine/1"
      restored_from: "/s/backups/1.db"
    }
  )pb");
  EXPECT_NE(RenderStatus(status, {})
                .find("        restored at this start: a page is damaged; the "
                      "damaged files are in /s/quarantine/1\n"),
            std::string::npos)
      << RenderStatus(status, {});
  status.mutable_store_opening()->Clear();
  status.mutable_store_opening()->set_state("ok");
  EXPECT_EQ(RenderStatus(status, {}).find("at this start"), std::string::npos);
  status.mutable_store_opening()->set_migrated_from(3);
  EXPECT_NE(RenderStatus(status, {}).find("brought from schema version 3 to this one"),
            std::string::npos);
}

TEST(RenderGraphs, ShowsWorkloadsThenGraphs) {
  const auto workloads = Parse<v1::ListWorkloadsReply>(R"pb(
    rows {
      fingerprint: "3f2a9c0011223344"
      name: "attention"
      decisions: 31
      graphs: 1
      last_seen_unix_ns: 1799999700000000000
      settlement: "in_job"
      gain: 0.123
    }
    rows { fingerprint: "77aa9c0011223344" name: "chain" decisions: 11 graphs: 1 }
  )pb");
  const auto graphs = Parse<v1::ListGraphsReply>(R"pb(
    rows {
      fingerprint: "aa00"
      name: "attention"
      regime: REGIME_TRAINING
      nodes: 88
      description: "2 layers"
    }
  )pb");
  EXPECT_EQ(RenderGraphs(workloads, graphs, {}, kNow),
            "workload      name       decisions  graphs  settled   saves       seen\n"
            "3f2a9c001122  attention         31       1  in_job   12.3 %  5 min ago\n"
            "77aa9c001122  chain             11       1  -             -\n"
            "\n"
            "graph  name       regime    nodes  description\n"
            "aa00   attention  training     88  2 layers\n");
}

TEST(RenderPlans, ShowsLosersWithTheirReason) {
  const auto plans = Parse<v1::ListPlansReply>(R"pb(
    rows {
      id: 2
      workload: "3f2a9c0011223344"
      plan { choices { decision: 3 option: 1 } }
      plan_text: "attention=streamed"
      verdict: VERDICT_CHAMPION
      pairs: 640
      build_ns: 1500000
      peak_bytes: 1048576
    }
    rows {
      id: 3
      workload: "3f2a9c0011223344"
      plan { choices { decision: 1 option: 1 } }
      verdict: VERDICT_DUPLICATE
      reason: "ran the same as the default plan"
    }
    rows { id: 1 workload: "3f2a9c0011223344" verdict: VERDICT_PROVEN }
  )pb");
  EXPECT_EQ(RenderPlans(plans, {}),
            "plan  workload      verdict    pairs  built in      peak  choices             reason\n"
            "   2  3f2a9c001122  champion     640   1.50 ms  1.00 MiB  attention=streamed\n"
            "   3  3f2a9c001122  duplicate      0         -         -  1=1                 ran the "
            "same as the "
            "default plan\n"
            "   1  3f2a9c001122  proven         0         -         -  default\n");
}

TEST(RenderRaces, DrawsIntervalsOnOneScale) {
  v1::ListRacesReply races;
  *races.add_rows() = Race(2, "won", 0.1278, 0.1165, 0.1393);
  *races.add_rows() = Race(1, "lost", -0.05, -0.08, -0.02);
  EXPECT_EQ(RenderRaces(races, {}),
            "race  kind    outcome  pairs   saves  interval               ln E  alpha  challenger  "
            "        reason\n"
            "   2  search  won         64  12.0 %  ..........|.....[o...   4.2  0.025  "
            "attention=streamed\n"
            "   1  search  lost        64  -5.1 %  .....[=o=]|..........   4.2  0.025  "
            "attention=streamed\n"
            "\n"
            "interval: from -18.0 % to 18.0 % of a step saved; | is no difference\n");
}

TEST(RenderRaces, AWildRaceLeavesTheOthersTheirRoom) {
  v1::ListRacesReply races;
  *races.add_rows() = Race(2, "lost", -64, -64, 2.001);
  *races.add_rows() = Race(1, "won", 0.2, 0.1, 0.3);
  const std::string text = RenderRaces(races, {});
  EXPECT_NE(text.find("..........|.[=o]....."), std::string::npos) << text;
  EXPECT_NE(text.find("<===================>"), std::string::npos) << text;
  EXPECT_NE(text.find("  > 7 x slower  "), std::string::npos) << text;
  EXPECT_NE(text.find("from -50.0 % to 50.0 %"), std::string::npos) << text;
}

TEST(RenderRaces, SaysWhatWasNotTestedOrDidNotRun) {
  v1::ListRacesReply races;
  v1::RaceRow* drift = races.add_rows();
  *drift = Race(3, "lost", -0.05, -0.08, -0.02);
  drift->set_kind("drift");
  drift->set_alpha(0);
  drift->set_log_e_accept(0);
  *races.add_rows() = Race(2, "undecided", 0, 0, 0);
  races.mutable_rows(1)->set_pairs(0);
  EXPECT_EQ(
      RenderRaces(races, {}),
      "race  kind    outcome    pairs   saves  interval               ln E  alpha  challenger  "
      "        reason\n"
      "   3  drift   lost          64  -5.1 %  <==o===]..|..........     -      -  "
      "attention=streamed\n"
      "   2  search  undecided      0       -  no pair ran               -      -  "
      "attention=streamed\n"
      "\n"
      "interval: from -7.7 % to 7.7 % of a step saved; | is no difference\n");
}

TEST(RenderSettlements, GivesAnOpenEndNoNumber) {
  v1::ListSettlementsReply settlements;
  v1::SettlementRow& row = *settlements.add_rows();
  row = Parse<v1::SettlementRow>(kSettlement);
  row.set_gain_high(0.8651);
  EXPECT_NE(RenderSettlements(settlements, {}, kNow).find("12.3 % (at least 11.9 %)"),
            std::string::npos);
  row.set_gain_low(-6.4);
  EXPECT_NE(RenderSettlements(settlements, {}, kNow).find("12.3 % (not bounded)"),
            std::string::npos);
}

TEST(RenderSettlements, SaysWhatASettlementSavesAndCosts) {
  v1::ListSettlementsReply settlements;
  *settlements.add_rows() = Parse<v1::SettlementRow>(kSettlement);
  EXPECT_EQ(
      RenderSettlements(settlements, {}, kNow),
      "settlement  workload          kind    state     saves                      default step  "
      "contract   pairs  window  pays after       when    next check  plan\n"
      "         4  attention 64x256  in job  in_force  12.3 % (11.9 % to 12.8 %)       21.4 ms  "
      "rounding  640+48  41.0 s   812 steps  5 min ago  in 500 steps  attention=streamed\n");
}

TEST(RenderSettlements, SaysWhereNoCheckIsPlannedAndWhereOneIsDue) {
  v1::ListSettlementsReply settlements;
  v1::SettlementRow& row = *settlements.add_rows();
  row = Parse<v1::SettlementRow>(kSettlement);
  row.set_next_check_steps(0);
  EXPECT_NE(RenderSettlements(settlements, {}, kNow).find("  due  "), std::string::npos);
  row.clear_next_check_steps();
  EXPECT_NE(RenderSettlements(settlements, {}, kNow).find("  no check planned  "),
            std::string::npos);
}

TEST(RenderExplain, SpeaksThenShowsPlansAndRaces) {
  v1::ExplainReply answer = Parse<v1::ExplainReply>(R"pb(
    workload { fingerprint: "3f2a9c0011223344" name: "attention" decisions: 31 }
    environment { key: "device" value: "cpu" }
    environment { key: "host" value: "blaze-train 0.1.0" }
    plans {
      id: 2
      workload: "3f2a9c0011223344"
      plan_text: "attention=streamed"
      verdict: VERDICT_CHAMPION
    }
    sentences: "streaming the attention saves 12.3 % of a step"
    sentences: "cutting ln.1 lost its race after 64 pairs"
  )pb");
  *answer.mutable_settlement() = Parse<v1::SettlementRow>(kSettlement);
  *answer.add_races() = Race(2, "won", 0.1278, 0.1165, 0.1393);
  EXPECT_EQ(RenderExplain(answer, {}, kNow),
            "attention  3f2a9c001122  31 decisions\n"
            "settled in job: saves 12.3 % (11.9 % to 12.8 %) of 21.4 ms a step; the search is paid "
            "back after 812 "
            "steps\n"
            "plan: attention=streamed\n"
            "settled 5 min ago\n"
            "\n"
            "- streaming the attention saves 12.3 % of a step\n"
            "- cutting ln.1 lost its race after 64 pairs\n"
            "\n"
            "measured under\n"
            "  device  cpu\n"
            "  host    blaze-train 0.1.0\n"
            "\n"
            "candidates\n"
            "plan  verdict   pairs  built in  peak  choices             reason\n"
            "   2  champion      0         -     -  attention=streamed\n"
            "\n"
            "races\n"
            "race  kind    outcome  pairs   saves  interval               ln E  alpha  challenger  "
            "        reason\n"
            "   2  search  won         64  12.0 %  ..........|.....[o...   4.2  0.025  "
            "attention=streamed\n"
            "\n"
            "interval: from -18.0 % to 18.0 % of a step saved; | is no difference\n");
}

TEST(RenderExplain, ShowsKernelsBeforeAndAfter) {
  const auto answer = Parse<v1::ExplainReply>(R"pb(
    workload { name: "attention" fingerprint: "3f2a9c0011223344" decisions: 2 }
    kernels {
      kernels {
        name: "triton_poi_fused_add_0"
        before {
          launches: 12
          time_ns: 310000
          read_bytes: 1048576
          written_bytes: 524288
          registers: 32
          spill_bytes: 0
          shared_bytes: 4096
        }
        after {
          launches: 12
          time_ns: 280000
          read_bytes: 1048576
          written_bytes: 524288
          registers: 40
          spill_bytes: 16
        }
      }
      kernels {
        name: "gone"
        before { launches: 1 time_ns: 900 }
      }
      kernels {
        name: "untold"
        before {}
        after {}
      }
    }
  )pb");
  EXPECT_EQ(
      RenderExplain(answer, {}, kNow),
      "attention  3f2a9c001122  2 decisions\n"
      "nothing is settled; the default plan or a provisional champion runs\n"
      "\n"
      "kernels before (default plan) and after (this plan), of one step each\n"
      "kernel                  launches  before   after    change      read  written  "
      "registers     spilled        shared\n"
      "triton_poi_fused_add_0        12  310 us  280 us  -30.0 us  1.00 MiB  512 KiB    "
      "32 > 40  0 B > 16 B  4.00 KiB > ?\n"
      "gone                           1  900 ns       -   -900 ns         ?        ?          "
      "?           ?             ?\n"
      "untold                         ?       ?       ?         ?         ?        ?          "
      "?           ?             ?\n");
}

TEST(RenderExplain, LeavesOutWhatNoKernelSays) {
  const auto kernels = Parse<v1::KernelComparison>(R"pb(
    kernels {
      name: "aten::mm"
      before { launches: 3 time_ns: 900 }
      after { launches: 2 }
    }
  )pb");
  EXPECT_EQ(RenderKernels(kernels, {}),
            "kernel    launches  before\n"
            "aten::mm     3 > 2  900 ns\n");
}

TEST(RenderExplain, LeavesKernelsBeyondTheFirstToJson) {
  v1::ExplainReply answer;
  for (int i = 0; i < 27; ++i) answer.mutable_kernels()->add_kernels()->set_name("kernel");
  EXPECT_NE(RenderExplain(answer, {}, kNow).find("and 2 more, with --json"), std::string::npos);
}

TEST(RenderExplain, SaysThatNoWinnerIsAnAnswer) {
  auto answer = Parse<v1::ExplainReply>(R"pb(
    workload { fingerprint: "77aa" name: "chain" decisions: 1 }
    settlement { kind: SETTLEMENT_KIND_NO_WINNER default_step_ns: 1000000 }
  )pb");
  EXPECT_EQ(RenderExplain(answer, {}, kNow),
            "chain  77aa  1 decision\n"
            "no winner: the search ended, and the default plan stays, 1.00 ms a step\n"
            "plan: default\n");
  answer.clear_settlement();
  EXPECT_NE(RenderExplain(answer, {}, kNow).find("nothing is settled"), std::string::npos);
}

TEST(RenderEvent, FitsOneLine) {
  const auto event = Parse<v1::WatchEvent>(R"pb(
    id: 42
    unix_ns: 1800000000123000000
    workload: "3f2a9c0011223344"
    workload_name: "attention"
    session: 12
    kind: "race_won"
    detail: "attention=streamed beat the default by 12.3 % in 64 pairs\x1b[2J"
  )pb");
  EXPECT_EQ(
      RenderEvent(event, {}, absl::UTCTimeZone()),
      "08:00:00  race won          session 12  attention  attention=streamed beat the default by "
      "12.3 % in 64 pairs?[2J\n");
  const std::string narrow = RenderEvent(event, {80, false}, absl::UTCTimeZone());
  EXPECT_EQ(narrow.size(), 81u) << narrow;
}

TEST(RenderEvent, PaintsWhatIsGoodAndWhatIsBad) {
  const Screen colour{0, true};
  for (const auto& [kind, code] : {std::pair("race_won", "\x1b[32m"),
                                   {"settlement_stored", "\x1b[32m"},
                                   {"settlement_failed", "\x1b[31m"},
                                   {"stood_down", "\x1b[31m"},
                                   {"store_outage", "\x1b[31m"}}) {
    v1::WatchEvent event;
    event.set_kind(kind);
    EXPECT_NE(RenderEvent(event, colour, absl::UTCTimeZone()).find(code), std::string::npos)
        << kind;
  }
  for (const char* kind : {"champion", "settled"}) {
    v1::WatchEvent plain;
    plain.set_kind(kind);
    EXPECT_EQ(RenderEvent(plain, colour, absl::UTCTimeZone()).find('\x1b'), std::string::npos)
        << kind;
  }
}

TEST(RenderEvent, SaysWhenASettlementIsOnTheDisk) {
  v1::WatchEvent event;
  event.set_kind("settlement_stored");
  event.set_detail("9 settlement_stored request=1 settlement=4");
  EXPECT_EQ(RenderEvent(event, {}, absl::UTCTimeZone()),
            "00:00:00  settlement stored  the settlement is on the disk and in force\n");
}

TEST(RenderEvent, LeavesOutWhatOnlyAReplayReads) {
  v1::WatchEvent event;
  event.set_detail("3 lease_done at=7 lease=9");
  for (const char* kind : {"tick", "lease_done", "probe_done", "variant_built", "service_window",
                           "thought_done", "directive_held", "directive_sent"}) {
    event.set_kind(kind);
    EXPECT_EQ(RenderEvent(event, {}, absl::UTCTimeZone()), "") << kind;
  }
  event.set_kind("session_ready");
  event.set_session(3);
  event.set_workload("3f2a9c0011223344");
  EXPECT_EQ(RenderEvent(event, {}, absl::UTCTimeZone()),
            "00:00:00  session ready     session 3  3f2a9c001122  a job attached\n");
}

TEST(RenderEmpty, SaysSoInASentence) {
  EXPECT_EQ(RenderPlans({}, {}), "no candidate was named yet\n");
  EXPECT_EQ(RenderRaces({}, {}), "no race was run yet\n");
  EXPECT_EQ(RenderSettlements({}, {}, kNow), "nothing was settled yet\n");
  EXPECT_NE(RenderGraphs({}, {}, {}, kNow).find("no workload"), std::string::npos);
}

}  // namespace
}  // namespace blazed::blazectl
