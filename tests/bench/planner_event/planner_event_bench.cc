// What the planner's work takes on the control strand, event by event, and what its thoughts take
// off it. Whole searches under a simulated host are recorded and then decided again from their
// logs, without the host; of several such replays each event counts with its least time, because
// what else runs on the machine is in some of them only.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "client/sim/host.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"
#include "daemon/planner/sampler.h"
#include "daemon/planner/thought.h"

namespace blazed::sim {
namespace {

using namespace planner;  // logs are written in the planner's vocabulary
using Clock = std::chrono::steady_clock;

constexpr int kReplays = 5;
// In the others no thought leaves its traces in the caches, as none does where another core thinks.
constexpr int kThinkingReplays = 2;
constexpr double kDearBuild = 200, kLongJob = 1e6;  // steps
constexpr uint64_t kLearningSteps = 2500, kWaitingSteps = 1000;
constexpr double kScale = 0.015;  // of a pair
constexpr int kBatches = 15;      // of a part that is measured alone
constexpr int kPerBatch = 20;

struct Size {
  uint32_t boundaries;
  int searches;
};
constexpr Size kSizes[] = {{134, 20}, {512, 10}};

double MicrosecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

struct Recording {
  CostTable table;
  TuningMemory memory;
  std::vector<Event> events;

  Tuning Open() const { return Tuning(table.spec(), Contract::kRounding, {}, memory); }
};

Recording Record(uint32_t boundaries, uint64_t seed) {
  Recording recording{CostTable(TableOf(boundaries), seed), {}, {}};
  Host host(&recording.table, {}, {}, {}, seed + 7);
  host.RunUntilEnd(host.Attach("job"), kLongestSteps);
  recording.events = host.events();
  return recording;
}

// Builds are dear, and what a job before it measured, where they were cheap, is known.
Recording RecordFewBuilds(uint32_t boundaries, uint64_t seed) {
  Recording recording{CostTable(TableOf(boundaries), seed), {}, {}};
  Host cheap(&recording.table, {}, {}, {}, seed + 7);
  cheap.RunUntilEnd(cheap.Attach("cheap"), kLearningSteps);
  for (const auto& [plan, record] : cheap.plans()) recording.memory.plans.push_back(record);
  recording.memory.surrogate = cheap.tuning().SaveSurrogate();
  HostSettings settings;
  settings.build_steps = kDearBuild;
  Host host(&recording.table, settings, {}, recording.memory, seed + 8);
  const SessionId session = host.Attach("job");
  host.RunUntilEnd(session, kWaitingSteps);
  host.Pass(kLongJob);  // long enough for builds to pay
  host.RunUntilEnd(session, kLongestSteps);
  recording.events = host.events();
  return recording;
}

// The first thought that is asked for; null where there is none.
std::shared_ptr<const Thought> ThoughtOf(const Tuning& tuning, const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    const auto* asked = std::get_if<Think>(&action);
    if (asked != nullptr) return tuning.FindThought(asked->session, asked->request);
  }
  return nullptr;
}

struct Times {
  explicit Times(size_t count) : events(count, std::numeric_limits<double>::infinity()) {}

  std::vector<double> events;                 // with the copy that a thought is thought on
  std::map<size_t, double> copies, thoughts;  // by event
};

void Least(double value, double& least) { least = std::min(least, value); }

Times TimesOf(const Recording& recording) {
  Times times(recording.events.size());
  for (int replay = 0; replay < kReplays; ++replay) {
    Tuning tuning = recording.Open();
    for (size_t i = 0; i < recording.events.size(); ++i) {
      const auto begin = Clock::now();
      const std::vector<Action> actions = tuning.Apply(recording.events[i]);
      const double applied = MicrosecondsSince(begin);
      const auto thought = ThoughtOf(tuning, actions);
      const double copied = MicrosecondsSince(begin);
      Least(copied, times.events[i]);
      if (thought == nullptr) continue;
      Least(copied - applied, times.copies.emplace(i, copied).first->second);
      if (replay >= kThinkingReplays) continue;
      const auto thinks = Clock::now();
      Conclude(*thought);
      const double took = MicrosecondsSince(thinks);
      Least(took, times.thoughts.emplace(i, took).first->second);
    }
  }
  return times;
}

double Quantile(const std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(share * last + 0.5)];
}

// One value a search.
struct Distribution {
  std::vector<double> mean, median, p99, longest;

  void Add(std::vector<double> times) {
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    mean.push_back(std::accumulate(times.begin(), times.end(), 0.0) /
                   static_cast<double>(times.size()));
    median.push_back(Quantile(times, 0.5));
    p99.push_back(Quantile(times, 0.99));
    longest.push_back(times.back());
  }
};

// Twelve single changes, spread over the space.
Plan PlanOfFlips(const Search& search) {
  constexpr size_t kFlips = 12;
  Toggles on(search.space().size(), 0);
  for (size_t i = 0; i < kFlips; ++i) search.space().Set(on, i * on.size() / kFlips, true);
  return search.space().Decode(on);
}

std::vector<double> TimePart(const std::function<void()>& part) {
  std::vector<double> values;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = Clock::now();
    for (int i = 0; i < kPerBatch; ++i) part();
    values.push_back(MicrosecondsSince(begin) / kPerBatch);
  }
  return values;
}

class Series {
 public:
  void Add(uint32_t boundaries, const std::string& search, const std::string& arm,
           const std::vector<double>& microseconds) {
    series_.push_back({{"workload", std::to_string(boundaries) + " boundaries"},
                       {"regime", search},
                       {"arm", arm},
                       {"unit", "us"},
                       {"values", microseconds}});
  }
  const nlohmann::json& json() const { return series_; }

 private:
  nlohmann::json series_ = nlohmann::json::array();
};

std::vector<double> ValuesOf(const std::map<size_t, double>& times) {
  std::vector<double> values;
  for (const auto& [event, time] : times) values.push_back(time);
  return values;
}

void AddTimes(const Size& size, const std::string& search,
              Recording (*record)(uint32_t boundaries, uint64_t seed), Series& series) {
  Distribution events, copies, thoughts;
  for (int i = 0; i < size.searches; ++i) {
    const Times times = TimesOf(record(size.boundaries, SeedOf(1, static_cast<uint64_t>(i))));
    events.Add(times.events);
    copies.Add(ValuesOf(times.copies));
    thoughts.Add(ValuesOf(times.thoughts));
  }
  for (const auto& [what, of] : {std::pair{"an event", &events},
                                 {"the copy for a thought, of an event", &copies},
                                 {"a thought, off the strand", &thoughts}}) {
    series.Add(size.boundaries, search, what + std::string(": mean"), of->mean);
    series.Add(size.boundaries, search, what + std::string(": median"), of->median);
    series.Add(size.boundaries, search, what + std::string(": 99th percentile"), of->p99);
    series.Add(size.boundaries, search, what + std::string(": longest"), of->longest);
  }
}

// The parts of what a search costs, at its end.
void AddParts(uint32_t boundaries, Series& series) {
  const Recording recording = Record(boundaries, 1);
  Tuning tuning = recording.Open();
  std::shared_ptr<const Thought> thought;
  for (const Event& event : recording.events) {
    if (auto next = ThoughtOf(tuning, tuning.Apply(event))) thought = std::move(next);
  }
  const auto add = [&](const char* arm, const std::function<void()>& part) {
    series.Add(boundaries, "its parts", arm, TimePart(part));
  };
  Search search = thought->search;
  const Plan trial = PlanOfFlips(search);
  add("update by a lease", [&] { search.Learn({}, trial, 0, kScale, 2); });
  add("factor of the covariance", [&] { Sampler sampler(search.surrogate()); });
  Question no_plans = thought->question;
  no_plans.plans = 0;
  add("best plan under the mean, and what is left to gain", [&] { Conclude(search, no_plans); });
  TuningMemory memory;
  add("save the surrogate", [&] { memory.surrogate = tuning.SaveSurrogate(); });
  add("open a tuning from it",
      [&] { Tuning(recording.table.spec(), Contract::kRounding, {}, memory); });
}

int Run() {
  Series series;
  for (const Size& size : kSizes) {
    AddTimes(size, "a search", Record, series);
    AddTimes(size, "a search where builds are dear", RecordFewBuilds, series);
    AddParts(size.boundaries, series);
  }
  const nlohmann::json result = {
      {"what",
       "Tuning::Apply on the events of recorded searches, with the copy that a thought is thought "
       "on: one value a search, over its events, each with the least time of 5 replays; parts: "
       "means of 20 calls. Of 512 boundaries a search takes 384"},
      {"series", series.json()}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::sim

int main() { return blazed::sim::Run(); }
