// A host whose step times come from a table: what a plan costs, what it runs as, and whether it
// computes the same. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "blazed/v1/tuner.pb.h"

namespace blazed::fakes {

using ProtoPlan = std::vector<std::pair<uint32_t, uint32_t>>;  // decision, option

struct SyntheticHost {
  std::string name = "synthetic";
  double default_step_ns = 1e6;
  double noise = 0.002;        // relative standard deviation of a unit
  std::vector<double> saving;  // by boundary decision: part of a step that cutting saves (or costs)
  std::set<uint32_t> not_honoured;  // decisions that change nothing
  std::set<uint32_t> wrong;         // decisions whose other option computes other numbers
  std::set<uint32_t> unbuildable;   // decisions whose other option does not build
  uint64_t build_ns = 1'000'000;

  uint32_t decisions() const { return static_cast<uint32_t>(saving.size()); }

  v1::GraphSeen Graph() const;
  v1::WorkloadSeen Workload() const;

  std::string Signature(const ProtoPlan& plan) const;  // 16 bytes
  double StepNs(const ProtoPlan& plan) const;
  bool Builds(const ProtoPlan& plan) const;
  bool Correct(const ProtoPlan& plan) const;
};

// 16 bytes that are a function of the text alone.
std::string TestDigest(const std::string& text);

// What tuner.proto asks for, told apart from the daemon's own code and the shim's.
std::string WorkloadFingerprint(const v1::WorkloadSeen& workload);

ProtoPlan FromProto(const v1::Plan& plan);

}  // namespace blazed::fakes
