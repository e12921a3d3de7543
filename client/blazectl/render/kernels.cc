#include <algorithm>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/table.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

constexpr int kMostRows = 25;  // beyond them hardly any time changes; --json has all

constexpr char kUnknown[] = "?";
constexpr char kNotRun[] = "-";

// What one side says of a number of a kernel.
template <typename Has, typename Text>
std::string Side(bool runs, const v1::KernelUse& use, Has has, Text text) {
  if (!runs) return kNotRun;
  return has(use) ? text(use) : kUnknown;
}

// "12", or "12 > 3" where the sides differ; of one side where the other does not run it.
template <typename Has, typename Text>
std::string Both(const v1::KernelChange& row, Has has, Text text) {
  const std::string before = Side(row.has_before(), row.before(), has, text);
  const std::string after = Side(row.has_after(), row.after(), has, text);
  if (before == after || !row.has_after()) return before;
  return row.has_before() ? absl::StrCat(before, " > ", after) : after;
}

std::string LaunchText(const v1::KernelUse& use) { return absl::StrCat(use.launches()); }

std::string TimeText(bool runs, const v1::KernelUse& use) {
  return Side(
      runs, use, [](const auto& of) { return of.has_time_ns(); },
      [](const auto& of) { return DurationText(static_cast<double>(of.time_ns())); });
}

Cell ChangeCell(const v1::KernelChange& row) {
  const bool known = (!row.has_before() || row.before().has_time_ns()) &&
                     (!row.has_after() || row.after().has_time_ns());
  if (!known) return {kUnknown};
  const double change =
      static_cast<double>(row.after().time_ns()) - static_cast<double>(row.before().time_ns());
  if (change == 0) return {"0 ns"};
  return {absl::StrCat(change > 0 ? "+" : "", DurationText(change)),
          change > 0 ? Ink::kBad : Ink::kGood};
}

std::vector<Cell> CellsOf(const v1::KernelChange& row) {
  return {{row.name()},
          {Both(
              row, [](const auto& use) { return use.has_launches(); }, LaunchText)},
          {TimeText(row.has_before(), row.before())},
          {TimeText(row.has_after(), row.after())},
          ChangeCell(row),
          {Both(
              row, [](const auto& use) { return use.has_read_bytes(); },
              [](const auto& use) { return BytesText(use.read_bytes()); })},
          {Both(
              row, [](const auto& use) { return use.has_written_bytes(); },
              [](const auto& use) { return BytesText(use.written_bytes()); })},
          {Both(
              row, [](const auto& use) { return use.has_registers(); },
              [](const auto& use) { return absl::StrCat(use.registers()); })},
          {Both(
              row, [](const auto& use) { return use.has_spill_bytes(); },
              [](const auto& use) { return BytesText(use.spill_bytes()); })},
          {Both(
              row, [](const auto& use) { return use.has_shared_bytes(); },
              [](const auto& use) { return BytesText(use.shared_bytes()); })}};
}

// Columns of which no row knows anything, as those of a GPU on a CPU, are left out.
Table TableOf(const std::vector<Column>& columns, const std::vector<std::vector<Cell>>& rows) {
  std::vector<size_t> told;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto tells = [i](const auto& row) { return row[i].text != kUnknown; };
    if (std::any_of(rows.begin(), rows.end(), tells)) told.push_back(i);
  }
  const auto only_told = [&told](const auto& all) {
    std::decay_t<decltype(all)> some;
    for (const size_t i : told) some.push_back(all[i]);
    return some;
  };
  Table table(only_told(columns));
  for (const std::vector<Cell>& row : rows) table.Add(only_told(row));
  return table;
}

}  // namespace

std::string RenderKernels(const v1::KernelComparison& kernels, const Screen& screen) {
  const std::vector<Column> columns = {{"kernel", Align::kLeft, Stretch::kElastic, 0},
                                       {"launches", Align::kRight, Stretch::kRigid, 5},
                                       {"before", Align::kRight, Stretch::kRigid, 0},
                                       {"after", Align::kRight, Stretch::kRigid, 0},
                                       {"change", Align::kRight, Stretch::kRigid, 6},
                                       {"read", Align::kRight, Stretch::kRigid, 4},
                                       {"written", Align::kRight, Stretch::kRigid, 4},
                                       {"registers", Align::kRight, Stretch::kRigid, 3},
                                       {"spilled", Align::kRight, Stretch::kRigid, 2},
                                       {"shared", Align::kRight, Stretch::kRigid, 1}};
  const int shown = std::min(kernels.kernels_size(), kMostRows);
  std::vector<std::vector<Cell>> rows;
  for (int i = 0; i < shown; ++i) rows.push_back(CellsOf(kernels.kernels(i)));
  std::string text = TableOf(columns, rows).Render(screen);
  if (shown < kernels.kernels_size()) {
    absl::StrAppend(&text, "and ", kernels.kernels_size() - shown, " more, with --json\n");
  }
  return text;
}

}  // namespace blazed::blazectl
