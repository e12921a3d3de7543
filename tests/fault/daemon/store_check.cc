#include "tests/fault/daemon/store_check.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "daemon/history/convert.h"
#include "storage/names.h"
#include "storage/sqlite/sqlite_store.h"

namespace blazed::fault {
namespace {

namespace fs = std::filesystem;
using storage::Row;

void CheckWithSqlite(const std::string& database, std::vector<std::string>* faults) {
  auto connection = storage::Connection::Open(database, storage::Access::kReadOnly);
  if (!connection.ok()) {
    faults->push_back(connection.status().ToString());
    return;
  }
  auto integrity = (*connection)->Query("PRAGMA integrity_check");
  if (!integrity.ok() || *integrity != std::vector<Row>{{std::string("ok")}}) {
    faults->emplace_back("PRAGMA integrity_check finds damage");
  }
  auto orphans = (*connection)->Query("PRAGMA foreign_key_check");
  if (!orphans.ok() || !orphans->empty())
    faults->emplace_back("PRAGMA foreign_key_check finds rows");
}

absl::Status ReadSettlements(storage::Reader& reader, std::vector<v1::SettlementRow>* out) {
  history::Lookup lookup(reader);
  storage::Page page;
  page.limit = 1000;
  for (;;) {
    auto rows = reader.Settlements(page);
    if (!rows.ok()) return rows.status();
    for (const storage::StoredSettlement& row : *rows) {
      auto converted = history::ToProto(row, lookup);
      if (!converted.ok()) return converted.status();
      out->push_back(*std::move(converted));
    }
    if (rows->size() < page.limit) return absl::OkStatus();
    page.before = static_cast<int64_t>(rows->back().record.id);
  }
}

}  // namespace

StoreFinding CheckStore(const std::string& state, const std::string& scratch) {
  StoreFinding finding;
  fs::remove_all(scratch);
  if (fs::exists(state)) fs::copy(state, scratch, fs::copy_options::recursive);
  storage::SqliteOptions options;
  options.folder = scratch;
  storage::OpenReport report;
  auto store = storage::SqliteStore::Open(options, &report);
  if (!store.ok()) {
    finding.faults.push_back(store.status().ToString());
    return finding;
  }
  if (report.state != storage::OpenReport::State::kOk || !report.detail.empty()) {
    finding.faults.push_back(absl::StrCat("the store was damaged: ", report.detail));
  }
  CheckWithSqlite((*store)->names().database(), &finding.faults);
  const std::unique_ptr<storage::Reader> reader = (*store)->NewReader();
  const absl::Status read = ReadSettlements(*reader, &finding.settlements);
  if (!read.ok()) finding.faults.push_back(read.ToString());
  if (reader->DamagedRows() != 0) finding.faults.emplace_back("rows of a wrong checksum were met");
  return finding;
}

}  // namespace blazed::fault
