// Rows under headings, made to fit the screen: elastic columns give way first, then the least
// important column goes. Into a pipe all columns go, the elastic ones at most 48 wide: a plan of a
// hundred decisions would make every row as wide as itself.
#pragma once

#include <string>
#include <vector>

#include "client/blazectl/screen.h"

namespace blazed::blazectl {

enum class Align { kLeft, kRight };
enum class Stretch { kRigid, kElastic };

struct Column {
  std::string heading;
  Align align = Align::kLeft;
  Stretch stretch = Stretch::kRigid;
  int importance = 1;  // columns of the lowest go first where a row does not fit; 0: never
};

struct Cell {
  std::string text;
  Ink ink = Ink::kPlain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // As many cells as columns. Texts are cleaned for the terminal here.
  void Add(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  // Headings and rows, one a line, no blanks at a line's end.
  std::string Render(const Screen& screen) const;

 private:
  std::vector<size_t> Widths(const std::vector<size_t>& shown) const;
  std::vector<size_t> FitInto(size_t columns, std::vector<size_t>* widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace blazed::blazectl
