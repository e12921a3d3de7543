#include "storage/sqlite/tables.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace blazed::storage {
namespace {

// The part of a row that its checksum is over.
Row Checked(const Table& table, const Row& row) {
  auto end = row.end();
  for (auto step = table.later.rbegin(); step != table.later.rend(); ++step) {
    const auto first = end - static_cast<std::ptrdiff_t>(*step);
    const bool none =
        std::all_of(first, end, [](const Value& value) { return value == Value(int64_t{0}); });
    if (!none) break;
    end = first;
  }
  return Row(row.begin(), end);
}

}  // namespace

absl::StatusOr<std::vector<KeyedRow>> ReadUnverified(Connection& connection, const Table& table,
                                                     const std::string& suffix,
                                                     const Row& parameters) {
  absl::StatusOr<std::vector<Row>> rows =
      connection.Query(absl::StrCat("SELECT ", table.key, ",", table.columns, ",checksum FROM ",
                                    table.name, " ", suffix),
                       parameters);
  if (!rows.ok()) return rows.status();
  std::vector<KeyedRow> keyed;
  keyed.reserve(rows->size());
  for (Row& row : *rows) {
    const auto* key = std::get_if<int64_t>(&row.front());
    KeyedRow item;
    item.key = key == nullptr ? 0 : *key;
    item.row.assign(std::make_move_iterator(row.begin() + 1), std::make_move_iterator(row.end()));
    keyed.push_back(std::move(item));
  }
  return keyed;
}

absl::StatusOr<std::vector<KeyedRow>> ReadRows(Connection& connection, const Table& table,
                                               const std::string& suffix, const Row& parameters,
                                               std::atomic<uint64_t>& damaged) {
  absl::StatusOr<std::vector<KeyedRow>> rows =
      ReadUnverified(connection, table, suffix, parameters);
  if (!rows.ok()) return rows.status();
  std::vector<KeyedRow> good;
  good.reserve(rows->size());
  for (KeyedRow& item : *rows) {
    const auto* stored = std::get_if<int64_t>(&item.row.back());
    const int64_t checksum = stored == nullptr ? 0 : *stored;
    item.row.pop_back();
    if (stored != nullptr &&
        Checksum(connection.store(), item.key, Checked(table, item.row)) == checksum) {
      good.push_back(std::move(item));
    } else {
      damaged.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return good;
}

absl::Status WriteRow(Connection& connection, const Table& table, int64_t key, const Row& row,
                      const Row& covered) {
  const std::vector<std::string> columns = absl::StrSplit(table.columns, ',');
  std::vector<std::string> updates;
  for (const std::string& column : columns) {
    updates.push_back(absl::StrCat(column, "=excluded.", column));
  }
  updates.push_back("checksum=excluded.checksum");
  const std::vector<std::string> marks(columns.size() + 2, "?");
  const std::string sql =
      absl::StrCat("INSERT INTO ", table.name, "(", table.key, ",", table.columns,
                   ",checksum) VALUES(", absl::StrJoin(marks, ","), ") ON CONFLICT(", table.key,
                   ") DO UPDATE SET ", absl::StrJoin(updates, ","));
  Row checked = Checked(table, row);
  checked.insert(checked.end(), covered.begin(), covered.end());
  Row parameters;
  parameters.reserve(row.size() + 2);
  parameters.emplace_back(key);
  parameters.insert(parameters.end(), row.begin(), row.end());
  parameters.emplace_back(Checksum(connection.store(), key, checked));
  return connection.Run(sql, parameters);
}

absl::StatusOr<int64_t> NextId(Connection& connection, const Table& table) {
  return connection.QueryInt(
      absl::StrCat("SELECT coalesce(max(", table.key, "),0)+1 FROM ", table.name));
}

absl::StatusOr<int64_t> IdWhere(Connection& connection, const Table& table,
                                const std::string& where, const Row& parameters) {
  return connection.QueryInt(
      absl::StrCat("SELECT coalesce((SELECT id FROM ", table.name, " WHERE ", where,
                   "),(SELECT coalesce(max(id),0)+1 FROM ", table.name, "))"),
      parameters);
}

}  // namespace blazed::storage
