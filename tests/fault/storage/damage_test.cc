// Damaged files: whatever happened to them, the store opens, and every row it serves is one that
// was written.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"

namespace blazed::storage {
namespace {

namespace fs = std::filesystem;

// What a sound store answers; row lists are compared as sets.
struct Answers {
  std::vector<Reader::Tuning> tunings;
  std::vector<StoredPlan> plans;
  std::vector<StoredRace> races;
  std::vector<StoredSettlement> settlements;
  std::vector<EventRow> events;
  std::vector<WorkloadRow> workloads;
};

template <typename T>
std::vector<T> Take(absl::StatusOr<std::vector<T>> rows) {
  // Damage that SQLite itself notices in the middle of a query is an answer too.
  return rows.ok() ? *std::move(rows) : std::vector<T>();
}

Answers AnswersOf(Reader& reader) {
  Page page;
  page.limit = 1000;
  EventPage events;
  events.limit = 1000;
  Answers answers;
  answers.plans = Take(reader.Plans(page));
  answers.races = Take(reader.Races(page));
  answers.settlements = Take(reader.Settlements(page));
  answers.events = Take(reader.Events(events));
  for (Reader::Workload& workload : Take(reader.Workloads(page))) {
    answers.workloads.push_back(std::move(workload.row));
  }
  for (TuningId id = 1; id <= 8; ++id) {
    auto tuning = reader.TuningById(id);
    if (tuning.ok()) answers.tunings.push_back(*std::move(tuning));
  }
  return answers;
}

template <typename T>
void ExpectServed(const std::vector<T>& served, const std::vector<T>& written, const char* what) {
  for (const T& row : served) {
    EXPECT_NE(std::find(written.begin(), written.end(), row), written.end())
        << "a row of " << what << " that nobody wrote";
  }
}

void Fill(Store& store, int64_t clock) {
  for (const uint8_t workload : {3, 5, 7, 9}) {
    const TuningId tuning = *samples::PutTuningWithParents(store, samples::Key(1000, workload));
    for (uint32_t option = 1; option <= 5; ++option) {
      planner::PlanRecord plan = samples::Plan(option);
      plan.reason = absl::StrCat("tried at ", clock, " for ", workload);
      ASSERT_TRUE(store.PutPlan(tuning, plan).ok());
      ASSERT_TRUE(store.PutRace(tuning, samples::Race(option)).ok());
      ASSERT_TRUE(store.PutKernels(tuning, samples::Kernels(option)).ok());
      ASSERT_TRUE(store.PutEvent(samples::Event(tuning, "race_won")).ok());
    }
    ASSERT_TRUE(store.PutSettlement(tuning, samples::Settlement()).ok());
  }
}

// A store with everything in it, half of it in the main file and half in the log, and with a
// backup.
class DamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = Open(model_.path());
    ASSERT_TRUE(store.ok()) << store.status();
    Fill(**store, 1);
    ASSERT_TRUE((*store)->Checkpoint().ok());
    ASSERT_TRUE((*store)->Backup().ok());
    const TuningId late = *samples::PutTuningWithParents(**store, samples::Key(1001, 3));
    for (planner::RaceId race = 1; race <= 20; ++race) {
      ASSERT_TRUE((*store)->PutRace(late, samples::Race(race)).ok());
    }
    ASSERT_TRUE((*store)->PutSettlement(late, samples::Settlement()).ok());
    written_ = AnswersOf(*(*store)->NewReader());
    ASSERT_EQ(written_.settlements.size(), 5u);
    ASSERT_EQ(written_.tunings.size(), 5u);
    fs::copy(model_.path(), copy_.path() + "/model", fs::copy_options::recursive);
  }

  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& folder,
                                                           OpenReport* report = nullptr) {
    SqliteOptions options;
    options.folder = folder;
    options.clock = [] { return int64_t{1'800'000'000'000'000'000}; };
    return SqliteStore::Open(options, report);
  }

  // Damages a copy, opens it, and compares what it serves.
  void Check(const std::function<void(const StoreNames&)>& damage) {
    const std::string folder = copy_.path() + "/store";
    fs::remove_all(folder);
    fs::copy(copy_.path() + "/model", folder, fs::copy_options::recursive);
    damage(StoreNames{folder});
    OpenReport report;
    auto store = Open(folder, &report);
    ASSERT_TRUE(store.ok()) << store.status();
    states_[static_cast<size_t>(report.state)]++;
    const std::unique_ptr<Reader> reader = (*store)->NewReader();
    const Answers served = AnswersOf(*reader);
    left_out_ += (*store)->damaged_rows();
    ExpectServed(served.plans, written_.plans, "plan");
    ExpectServed(served.races, written_.races, "race");
    ExpectServed(served.settlements, written_.settlements, "settlement");
    ExpectServed(served.events, written_.events, "event");
    ExpectServed(served.workloads, written_.workloads, "workload");
    for (const Reader::Tuning& tuning : served.tunings) {
      EXPECT_EQ(tuning.key, written_.tunings[static_cast<size_t>(tuning.id) - 1].key);
    }
    for (const StoredRace& race : served.races) {
      auto pairs = reader->LoadPairs(race.id);
      if (pairs.ok()) {
        EXPECT_EQ(*pairs, samples::Race(race.record.id).pairs);
      }
    }
    ExpectKernelsServed(*reader);
    ExpectMemoryServed(**store);
    // A store that stopped says so; one that did not takes rows.
    const absl::Status put = samples::PutTuningWithParents(**store, samples::Key(1002, 3)).status();
    EXPECT_TRUE(put.ok() || absl::IsDataLoss(put) || absl::IsFailedPrecondition(put)) << put;
  }

  static void ExpectKernelsServed(Reader& reader) {
    for (TuningId tuning = 1; tuning <= 4; ++tuning) {
      for (uint32_t option = 1; option <= 5; ++option) {
        const PlanKernels written = samples::Kernels(option);
        const auto kernels = reader.Kernels(tuning, written.plan);
        if (kernels.ok() && kernels->has_value()) {
          EXPECT_EQ((*kernels)->record, written);
        }
      }
    }
  }

  // The planner's way in: settlements under the right keys only.
  void ExpectMemoryServed(Store& store) {
    for (const Reader::Tuning& tuning : written_.tunings) {
      auto memory = store.LoadMemory(tuning.id);
      if (!memory.ok() || !memory->settlement.has_value()) continue;
      const auto row = std::find_if(
          written_.settlements.begin(), written_.settlements.end(), [&](const auto& settlement) {
            return settlement.record == *memory->settlement && settlement.tuning == tuning.id;
          });
      EXPECT_NE(row, written_.settlements.end()) << "a settlement of another tuning";
    }
  }

  TemporaryFolder model_, copy_;
  Answers written_;
  int states_[3] = {0, 0, 0};  // by OpenReport::State
  uint64_t left_out_ = 0;      // rows of bad checksums that the queries met
};

std::string FileOf(const StoreNames& names, std::mt19937& random) {
  switch (random() % 5) {
    case 0:
    case 1:
      return names.log();
    case 2:
      return names.log_index();
    default:
      return names.database();
  }
}

void Damage(const std::string& path, std::mt19937& random) {
  std::string content = ReadWholeFile(path).value_or("");
  if (content.empty()) return;
  switch (random() % 5) {
    case 0:
    case 1:  // bit flips
      for (auto flips = 1 + random() % 8; flips > 0; --flips) {
        content[random() % content.size()] ^= static_cast<char>(1 << random() % 8);
      }
      break;
    case 2:
      content.resize(random() % content.size());
      break;
    case 3: {  // a page of zeros
      const size_t page = random() % ((content.size() + 4095) / 4096) * 4096;
      std::fill_n(content.begin() + static_cast<long>(page),
                  std::min<size_t>(4096, content.size() - page), '\0');
      break;
    }
    default: {  // a page over another
      const size_t pages = content.size() / 4096;
      if (pages < 2) break;
      content.replace(random() % pages * 4096, 4096, content.substr(random() % pages * 4096, 4096));
    }
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

TEST_F(DamageTest, ServesNoRowThatNobodyWrote) {
  constexpr unsigned kSeeds = 100;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Check([seed](const StoreNames& names) {
      std::mt19937 random(seed);
      for (auto files = 1 + random() % 2; files > 0; --files) Damage(FileOf(names, random), random);
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(states_[static_cast<size_t>(OpenReport::State::kOk)], 0);
  EXPECT_GT(states_[static_cast<size_t>(OpenReport::State::kRestored)], 0)
      << "the damage must be of a kind that is noticed at open, too";
}

TEST_F(DamageTest, LeavesOutARowWithOneFlippedBit) {
  // Everything in the main file, so that nothing but the rows' own checksums stands before a flip
  // in a row.
  {
    auto store = Open(copy_.path() + "/model");
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->Checkpoint().ok());
  }
  constexpr unsigned kSeeds = 150;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Check([seed](const StoreNames& names) {
      std::mt19937 random(seed);
      std::string content = ReadWholeFile(names.database()).value_or("");
      // Only where there is something: a flip in a page's empty middle proves nothing.
      size_t place = 0;
      do {
        place = random() % content.size();
      } while (content[place] == 0);
      content[place] ^= static_cast<char>(1 << random() % 8);
      std::ofstream(names.database(), std::ios::binary | std::ios::trunc) << content;
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(left_out_, 10u) << "the flips must reach rows, or the test proves nothing";
}

TEST_F(DamageTest, SurvivesTheLogOfAnotherStore) {
  TemporaryFolder other;
  auto store = Open(other.path());
  ASSERT_TRUE(store.ok());
  Fill(**store, 2);
  Check([&](const StoreNames& names) {
    fs::copy_file(StoreNames{other.path()}.log(), names.log(),
                  fs::copy_options::overwrite_existing);
  });
  EXPECT_EQ(states_[static_cast<size_t>(OpenReport::State::kRestored)], 1);
}

TEST_F(DamageTest, SurvivesAnotherProgramsDatabaseAndNoDatabaseAtAll) {
  Check([](const StoreNames& names) {
    fs::remove(names.database());
    fs::remove(names.log());
    auto foreign = *Connection::Open(names.database(), Access::kReadWrite);
    ASSERT_TRUE(foreign->Execute("CREATE TABLE settlement(id INTEGER PRIMARY KEY, tuning)").ok());
  });
  EXPECT_EQ(states_[static_cast<size_t>(OpenReport::State::kRestored)], 1);
  Check([](const StoreNames& names) { fs::resize_file(names.database(), 0); });
  EXPECT_EQ(states_[static_cast<size_t>(OpenReport::State::kRestored)], 2);
}

TEST_F(DamageTest, GoesOnWithoutItsLog) {
  Check([](const StoreNames& names) {
    fs::remove(names.log());
    fs::remove(names.log_index());
  });
  EXPECT_EQ(states_[static_cast<size_t>(OpenReport::State::kOk)], 1);
}

}  // namespace
}  // namespace blazed::storage
