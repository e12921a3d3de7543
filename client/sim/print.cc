#include "client/sim/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace blazed::sim {
namespace {

std::string Number(double value, int digits) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, digits);
  return std::string(buffer, end.ptr);
}

// Names and settings of scenarios are this program's own and hold nothing that JSON would escape.
std::string JsonText(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && !std::isfinite(*number)) return "null";
  return ToText(value);
}

bool Is(const Row& row, const std::string& name, const char* ending) {
  const std::string end = ending;
  return name.size() > end.size() && name.ends_with(end) &&
         FieldOf(row, name.substr(0, name.size() - end.size())) != nullptr;
}

// One column for a figure with its interval; its count where it is not that of the figure before.
std::vector<std::pair<std::string, std::string>> CellsOf(const Row& row) {
  std::vector<std::pair<std::string, std::string>> cells;
  std::string counted;
  for (const auto& [name, value] : row) {
    if (Is(row, name, "_low") || Is(row, name, "_high") || Is(row, name, "_n")) continue;
    std::string text = ToText(value);
    const Value *low = FieldOf(row, name + "_low"), *n = FieldOf(row, name + "_n");
    if (n != nullptr && NumberOf(row, name + "_n") == 0) {
      text = "no data";
    } else if (low != nullptr) {
      text = Number(std::get<double>(value), 4) + " (" + Number(std::get<double>(*low), 3) +
             " to " + Number(std::get<double>(*FieldOf(row, name + "_high")), 3);
      if (n != nullptr && ToText(*n) != counted) text += ", n " + (counted = ToText(*n));
      text += ")";
    }
    cells.push_back({name, text});
  }
  return cells;
}

bool SameFields(const Row& a, const Row& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

void AddTable(const std::vector<Row>& rows, size_t from, size_t to, std::string& out) {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& [name, text] : CellsOf(rows[from])) lines[0].push_back(name);
  for (size_t r = from; r < to; ++r) {
    std::vector<std::string>& line = lines.emplace_back();
    for (auto& [name, text] : CellsOf(rows[r])) line.push_back(std::move(text));
  }
  std::vector<size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  for (const auto& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) {
      out += line[c];
      if (c + 1 < line.size()) out.append(widths[c] - line[c].size() + 2, ' ');
    }
    out += '\n';
  }
}

}  // namespace

std::string ToText(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return Number(*number, 6);
  return std::to_string(std::get<uint64_t>(value));
}

std::string ToTable(const std::vector<Row>& rows) {
  std::string out;
  for (size_t from = 0; from < rows.size();) {
    size_t to = from + 1;
    while (to < rows.size() && SameFields(rows[from], rows[to])) ++to;
    if (from > 0) out += '\n';
    AddTable(rows, from, to, out);
    from = to;
  }
  return out;
}

std::string ToJson(const std::string& scenario, uint64_t runs, uint64_t seed,
                   const std::vector<Row>& rows, const std::vector<Finding>& findings) {
  std::string out = "{\"schema\":1,\"scenario\":" + JsonText(scenario);
  out += ",\"runs\":" + std::to_string(runs) + ",\"seed\":" + std::to_string(seed) + ",\"rows\":[";
  for (size_t r = 0; r < rows.size(); ++r) {
    out += r == 0 ? "{" : ",{";
    for (size_t c = 0; c < rows[r].size(); ++c) {
      if (c > 0) out += ',';
      out += JsonText(rows[r][c].first) + ":" + JsonText(rows[r][c].second);
    }
    out += '}';
  }
  out += ']';
  for (size_t f = 0; f < findings.size(); ++f) {
    out += f == 0 ? ",\"bars\":[" : ",";
    out += "{\"standing\":" + JsonText(std::string(NameOf(findings[f].standing))) +
           ",\"finding\":" + JsonText(findings[f].text) + "}";
  }
  return out + (findings.empty() ? "}\n" : "]}\n");
}

std::string ToLines(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) out += finding.text + '\n';
  return out;
}

}  // namespace blazed::sim
