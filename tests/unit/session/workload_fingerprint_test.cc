#include "daemon/session/workload_fingerprint.h"

#include <gtest/gtest.h>

#include "daemon/base/ids.h"

namespace blazed::session {
namespace {

storage::WorkloadRow Workload() {
  storage::WorkloadRow row;
  row.graphs = {planner::Digest{1, 2, 3}};
  planner::DecisionSpec decision;
  decision.name = "d";
  decision.kind = planner::DecisionKind::kChoice;
  decision.options = {"host", "other"};
  decision.graph = 1;
  decision.sites = 1;
  row.spec.decisions = {decision};
  return row;
}

// tests/unit/shim/description_test.cc says the same of the shim.
TEST(WorkloadFingerprint, IsTheShims) {
  EXPECT_EQ(ToHex(WorkloadFingerprint(Workload())), "91831478f93544cadc19d1882e40e248");
}

TEST(WorkloadFingerprint, SeesStructureAndNotNames) {
  const planner::Digest base = WorkloadFingerprint(Workload());
  storage::WorkloadRow row = Workload();
  row.spec.name = row.spec.decisions[0].name = "another";
  row.spec.fingerprint = planner::Digest{9};
  EXPECT_EQ(WorkloadFingerprint(row), base);
  const auto differs = [&base](auto change) {
    storage::WorkloadRow other = Workload();
    change(other, other.spec.decisions[0]);
    return WorkloadFingerprint(other) != base;
  };
  EXPECT_TRUE(differs([](auto& w, auto&) { w.graphs.push_back(w.graphs[0]); }));
  EXPECT_TRUE(differs([](auto& w, auto&) { w.graphs[0][15] = 1; }));
  EXPECT_TRUE(differs([](auto& w, auto& d) { w.spec.decisions.push_back(d); }));
  EXPECT_TRUE(differs([](auto&, auto& d) { d.id[15] = 1; }));
  EXPECT_TRUE(differs([](auto&, auto& d) { d.kind = planner::DecisionKind::kBoundary; }));
  EXPECT_TRUE(differs([](auto&, auto& d) { d.options.push_back("third"); }));
  EXPECT_TRUE(differs([](auto&, auto& d) { d.options = {"hos", "tother"}; }));
  EXPECT_TRUE(differs([](auto&, auto& d) { d.graph = 0; }));
  EXPECT_TRUE(differs([](auto&, auto& d) { d.sites = 2; }));
}

}  // namespace
}  // namespace blazed::session
