#include "client/blazectl/to_json.h"

#include <gtest/gtest.h>

#include <limits>

#include "blazed/v1/evidence.pb.h"
#include "blazed/v1/history.pb.h"

namespace blazed::blazectl {
namespace {

TEST(ToJson, WritesLargeIntegersAsNumbers) {
  v1::GetStatusReply status;
  status.set_uptime_ns(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(ToJson(status)["uptime_ns"].dump(), "18446744073709551615");
}

TEST(ToJson, WritesEnumsAsWordsAndBytesAsHex) {
  v1::PlanRow plan;
  plan.set_verdict(v1::VERDICT_REJECTED_DIFFERENT);
  plan.mutable_comparison()->set_digest_default(std::string("\x00\xff", 2));
  const auto json = ToJson(plan);
  EXPECT_EQ(json["verdict"], "rejected_different");
  EXPECT_EQ(json["comparison"]["digest_default"], "00ff");
}

TEST(ToJson, KeepsEveryFieldSoThatProgramsNeedNotAsk) {
  const auto json = ToJson(v1::ExplainReply());
  EXPECT_TRUE(json["settlement"].is_null());
  EXPECT_TRUE(json["plans"].is_array());
  v1::SettlementRow settlement;
  EXPECT_TRUE(ToJson(settlement)["next_check_steps"].is_null()) << "none planned is not 0";
  settlement.set_next_check_steps(0);
  EXPECT_EQ(ToJson(settlement)["next_check_steps"], 0);
  EXPECT_EQ(ToJson(v1::SessionStatus()).size(),
            static_cast<size_t>(v1::SessionStatus::descriptor()->field_count()));
}

TEST(ToJson, WritesValidJsonForNumbersAndTextsThatJsonLacks) {
  v1::RaceRow race;
  race.set_low(-std::numeric_limits<double>::infinity());
  v1::WatchEvent event;
  auto json = ToJson(race);
  json["text"] = std::string("\xff\x1b");
  const auto back = nlohmann::json::parse(Pretty(json));
  EXPECT_TRUE(back["low"].is_null());
  EXPECT_EQ(OneLine(ToJson(event)).find('\n'), OneLine(ToJson(event)).size() - 1);
}

}  // namespace
}  // namespace blazed::blazectl
