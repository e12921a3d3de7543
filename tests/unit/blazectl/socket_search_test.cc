#include "client/blazectl/socket_search.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace blazed::blazectl {
namespace {

Surroundings World(std::map<std::string, std::string> environment, std::set<std::string> files) {
  Surroundings world;
  world.environment = [environment](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  world.exists = [files](const std::string& path) { return files.count(path) > 0; };
  return world;
}

constexpr char kMachine[] = "/run/blazed/blazed.sock";
constexpr char kUser[] = "/run/user/7/blazed/blazed.sock";

TEST(SocketSearch, PrefersFlagThenEnvironmentThenMachineThenUser) {
  const std::map<std::string, std::string> both = {{"BLAZED_SOCKET", "/env"},
                                                   {"XDG_RUNTIME_DIR", "/run/user/7"}};
  const std::map<std::string, std::string> user = {{"XDG_RUNTIME_DIR", "/run/user/7"}};
  EXPECT_EQ(*FindSocket("/flag", World(both, {kMachine, kUser})), "/flag");
  EXPECT_EQ(*FindSocket("", World(both, {kMachine, kUser})), "/env");
  EXPECT_EQ(*FindSocket("", World(user, {kMachine, kUser})), kMachine);
  EXPECT_EQ(*FindSocket("", World(user, {kUser})), kUser);
}

TEST(SocketSearch, NamesThePlacesItLookedAt) {
  const auto none = FindSocket("", World({{"XDG_RUNTIME_DIR", "/run/user/7"}}, {}));
  EXPECT_TRUE(absl::IsUnavailable(none.status()));
  EXPECT_NE(none.status().message().find(kMachine), std::string::npos);
  EXPECT_NE(none.status().message().find(kUser), std::string::npos);
}

TEST(SocketSearch, ReadsUnixUris) {
  EXPECT_EQ(*FindSocket("unix:/a/b", World({}, {})), "/a/b");
  EXPECT_EQ(*FindSocket("unix:///a/b", World({}, {})), "/a/b");
  EXPECT_EQ(*FindSocket("./with:colon/but/a/path", World({}, {})), "./with:colon/but/a/path");
}

TEST(SocketSearch, RefusesOtherSchemesAndPathsThatNoAddressHolds) {
  EXPECT_TRUE(absl::IsInvalidArgument(FindSocket("http://host", World({}, {})).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(FindSocket("unix:", World({}, {})).status()));
  EXPECT_TRUE(FindSocket(std::string(107, 'a'), World({}, {})).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(FindSocket(std::string(108, 'a'), World({}, {})).status()));
}

}  // namespace
}  // namespace blazed::blazectl
