#include "client/sim/print.h"

#include <algorithm>
#include <charconv>

namespace blazed::sim {
namespace {

std::string Number(double value) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, 6);
  return std::string(buffer, end.ptr);
}

std::string Text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return Number(*number);
  return std::to_string(std::get<uint64_t>(value));
}

// Names and settings of scenarios are this program's own and hold nothing that JSON would escape.
std::string JsonText(const Value& value) {
  if (!std::holds_alternative<std::string>(value)) return Text(value);
  std::string quoted = "\"";
  quoted += std::get<std::string>(value);
  quoted += '"';
  return quoted;
}

}  // namespace

std::string ToTable(const std::vector<Row>& rows) {
  if (rows.empty()) return {};
  std::vector<size_t> widths;
  for (size_t c = 0; c < rows[0].size(); ++c) {
    size_t width = rows[0][c].first.size();
    for (const Row& row : rows) width = std::max(width, Text(row[c].second).size());
    widths.push_back(width);
  }
  std::string out;
  const auto cell = [&](const std::string& text, size_t c) {
    out += text;
    out.append(c + 1 < widths.size() ? widths[c] - text.size() + 2 : 0, ' ');
  };
  for (size_t c = 0; c < widths.size(); ++c) cell(rows[0][c].first, c);
  out += '\n';
  for (const Row& row : rows) {
    for (size_t c = 0; c < widths.size(); ++c) cell(Text(row[c].second), c);
    out += '\n';
  }
  return out;
}

std::string ToJson(const std::string& scenario, uint64_t runs, uint64_t seed,
                   const std::vector<Row>& rows) {
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
  return out + "]}\n";
}

}  // namespace blazed::sim
