#include "client/blazectl/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

constexpr size_t kGap = 2;            // blanks between columns
constexpr size_t kElasticFloor = 12;  // an elastic column keeps this much
constexpr size_t kElasticMost = 48;   // and takes no more where nothing else bounds it

size_t Total(const std::vector<size_t>& widths) {
  if (widths.empty()) return 0;
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

std::string Padded(const std::string& text, size_t width, Align align) {
  const size_t blanks = width - std::min(width, Columns(text));
  return align == Align::kRight ? std::string(blanks, ' ') + text : text + std::string(blanks, ' ');
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::Add(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.text = Clean(cell.text);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::Widths(const std::vector<size_t>& shown) const {
  std::vector<size_t> widths;
  for (size_t column : shown) {
    size_t width = Columns(columns_[column].heading);
    for (const auto& row : rows_) width = std::max(width, Columns(row[column].text));
    widths.push_back(width);
  }
  return widths;
}

// Returns the columns shown; `widths` gets theirs.
std::vector<size_t> Table::FitInto(size_t columns, std::vector<size_t>* widths) const {
  std::vector<size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), 0);
  while (true) {
    *widths = Widths(shown);
    if (columns == 0) {
      for (size_t i = 0; i < shown.size(); ++i) {
        const bool elastic = columns_[shown[i]].stretch == Stretch::kElastic;
        if (elastic) (*widths)[i] = std::min((*widths)[i], kElasticMost);
      }
      return shown;
    }
    // The widest elastic column gives one character at a time, so that all end about equally wide.
    while (Total(*widths) > columns) {
      size_t* widest = nullptr;
      for (size_t i = 0; i < shown.size(); ++i) {
        const bool gives =
            columns_[shown[i]].stretch == Stretch::kElastic && (*widths)[i] > kElasticFloor;
        if (gives && (widest == nullptr || (*widths)[i] > *widest)) widest = &(*widths)[i];
      }
      if (widest == nullptr) break;
      --*widest;
    }
    if (Total(*widths) <= columns) return shown;
    auto least = shown.end();
    for (auto it = shown.begin(); it != shown.end(); ++it) {
      const int importance = columns_[*it].importance;
      if (importance == 0) continue;
      if (least == shown.end() || importance <= columns_[*least].importance) least = it;
    }
    if (least == shown.end()) return shown;
    shown.erase(least);
  }
}

std::string Table::Render(const Screen& screen) const {
  std::vector<size_t> widths;
  const std::vector<size_t> shown = FitInto(screen.columns, &widths);
  const auto line = [&](const std::vector<Cell>& cells) {
    std::string text;
    for (size_t i = 0; i < shown.size(); ++i) {
      const bool last = i + 1 == shown.size();
      std::string padded =
          Padded(Shortened(cells[shown[i]].text, widths[i]), widths[i], columns_[shown[i]].align);
      if (last) absl::StripTrailingAsciiWhitespace(&padded);
      absl::StrAppend(&text, screen.Paint(padded, cells[shown[i]].ink),
                      last ? "" : std::string(kGap, ' '));
    }
    if (!screen.colour) absl::StripTrailingAsciiWhitespace(&text);
    return text + "\n";
  };
  std::vector<Cell> headings;
  for (const Column& column : columns_) headings.push_back({column.heading, Ink::kFaint});
  std::string text = line(headings);
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace blazed::blazectl
