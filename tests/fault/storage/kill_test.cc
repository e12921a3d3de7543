// A daemon killed at random moments while it settles: nothing it announced may be gone.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/writer.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"

namespace blazed::storage {
namespace {

SqliteOptions Options(const std::string& folder) {
  SqliteOptions options;
  options.folder = folder;
  options.checkpoint_pages = 20;
  options.events_kept = 50;
  return options;
}

// One message of the child: a settlement that a session would have heard of, or 0 at the start of
// another one.
void Tell(int pipe, uint64_t message) {
  if (write(pipe, &message, sizeof(message)) != sizeof(message)) _exit(3);
}

// The child: settles through the writer thread among batched rows until it is killed.
[[noreturn]] void SettleForEver(const std::string& folder, int pipe) {
  auto store = SqliteStore::Open(Options(folder), nullptr);
  if (!store.ok()) _exit(1);
  WriterOptions options;
  options.prune_every = absl::ZeroDuration();
  Writer writer(*std::move(store), options);
  TuningId tuning = 0;
  absl::Status status = writer.Run(Durability::kSynced, [&tuning](Store& s) {
    absl::StatusOr<TuningId> id = samples::PutTuningWithParents(s, samples::Key());
    tuning = id.value_or(0);
    return id.status();
  });
  for (uint32_t i = 1; status.ok(); ++i) {
    Tell(pipe, 0);
    for (int k = 0; k < 3 && status.ok(); ++k) {
      status = writer.Submit(Durability::kBatched, [tuning, i](Store& s) {
        absl::Status put = s.PutRace(tuning, samples::Race(i, 200));
        return put.ok() ? s.PutEvent(samples::Event(tuning, "race_won")).status() : put;
      });
    }
    uint64_t settlement = 0;
    if (status.ok()) {
      status = writer.Run(Durability::kSynced, [&settlement, tuning](Store& s) {
        absl::StatusOr<uint64_t> id = s.PutSettlement(tuning, samples::Settlement());
        settlement = id.value_or(0);
        return id.status();
      });
    }
    if (status.ok()) Tell(pipe, settlement);
  }
  _exit(2);
}

// Kills the child after a number of messages, wherever it is by then; gives what it announced.
void RunAndKill(const std::string& folder, uint64_t messages, std::set<uint64_t>& announced) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    SettleForEver(folder, ends[1]);
  }
  close(ends[1]);
  uint64_t message = 0;
  for (uint64_t i = 0; read(ends[0], &message, sizeof(message)) == sizeof(message); ++i) {
    if (message != 0) announced.insert(message);
    if (i == messages) kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself, exit " << WEXITSTATUS(status);
}

TEST(Kill, LosesNoAnnouncedSettlement) {
  constexpr int kRounds = 30;
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  TemporaryFolder folder;
  std::set<uint64_t> announced;
  for (int round = 1; round <= kRounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    ASSERT_NO_FATAL_FAILURE(RunAndKill(folder.path(), random() % 40, announced));
    OpenReport report;
    auto store = SqliteStore::Open(Options(folder.path()), &report);
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ(report.state, OpenReport::State::kOk) << report.detail;
    EXPECT_EQ((*store)->epoch(), static_cast<uint64_t>(2 * round));
    std::set<uint64_t> kept;
    Page page;
    page.limit = 1000;
    const std::unique_ptr<Reader> reader = (*store)->NewReader();
    for (;;) {
      auto rows = reader->Settlements(page);
      ASSERT_TRUE(rows.ok()) << rows.status();
      for (const StoredSettlement& row : *rows) kept.insert(row.record.id);
      if (rows->size() < page.limit) break;
      page.before = static_cast<int64_t>(rows->back().record.id);
    }
    for (const uint64_t id : announced) ASSERT_TRUE(kept.contains(id)) << id;
    EXPECT_EQ((*store)->damaged_rows(), 0u);
  }
  EXPECT_GT(announced.size(), 0u);
}

}  // namespace
}  // namespace blazed::storage
