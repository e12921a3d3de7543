#include "daemon/planner/codec_archive.h"

#include <algorithm>

namespace blazed::planner {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

bool Plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':' || c == '/' ||
         c == '+' || c == '-';
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Lists are comma-separated; parts of an element are separated by slashes.
template <class T, class F>
std::string JoinText(const std::vector<T>& values, F text_of) {
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += ',';
    text += text_of(value);
  }
  return text;
}

template <class T, class F>
bool ParseList(std::string_view text, std::vector<T>& values, F parse) {
  values.clear();
  for (std::string_view part : SplitText(text, ',')) {
    if (!parse(SplitText(part, '/'), values.emplace_back())) return false;
  }
  return true;
}

}  // namespace

std::string EscapeText(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (Plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    out += '%';
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
  return out;
}

std::optional<std::string> UnescapeText(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (!Plain(text[i])) return std::nullopt;
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexValue(text[i + 1]), low = HexValue(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string ToHex(const uint8_t* bytes, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i) {
    out += kHexDigits[bytes[i] >> 4];
    out += kHexDigits[bytes[i] & 15];
  }
  return out;
}

std::optional<std::vector<uint8_t>> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]), low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<uint8_t>(high * 16 + low));
  }
  return bytes;
}

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

std::string ToText(const bool& value) { return value ? "1" : "0"; }
std::string ToText(const std::string& value) { return EscapeText(value); }
std::string ToText(const Nanos& value) { return FormatNumber(value.count()); }
std::string ToText(const Digest& value) { return ToHex(value.data(), value.size()); }
std::string ToText(const std::vector<uint8_t>& value) { return ToHex(value.data(), value.size()); }

std::string ToText(const Plan& value) {
  return JoinText(value, [](const Choice& c) {
    return FormatNumber(c.decision) + "/" + FormatNumber(c.option);
  });
}

std::string ToText(const std::vector<bool>& value) {
  std::string text;
  for (bool bit : value) text += bit ? '1' : '0';
  return text;
}

std::string ToText(const std::vector<uint32_t>& value) {
  return JoinText(value, [](uint32_t v) { return FormatNumber(v); });
}

std::string ToText(const std::vector<uint64_t>& value) {
  return JoinText(value, [](uint64_t v) { return FormatNumber(v); });
}

std::string ToText(const std::vector<UnitTime>& value) {
  return JoinText(value, [](const UnitTime& u) {
    return FormatNumber(u.host_ns) + "/" + FormatNumber(u.device_ns) + "/" + FormatNumber(u.flags);
  });
}

std::string ToText(const std::vector<PairSample>& value) {
  return JoinText(value, [](const PairSample& p) {
    const uint64_t bits = (p.challenger_first ? 1 : 0) + (p.excluded ? 2 : 0) +
                          (p.aborted ? 4 : 0) + 8 * uint64_t{p.flags};
    // Piece by piece: GCC 12 sees an overlap in a sum of temporaries.
    std::string text = FormatNumber(p.champion_ns);
    const auto add = [&text](const std::string& number) {
      text += '/';
      text += number;
    };
    add(FormatNumber(p.challenger_ns));
    add(FormatNumber(bits));
    if (p.champion_device_ns != 0 || p.challenger_device_ns != 0) {
      add(FormatNumber(p.champion_device_ns));
      add(FormatNumber(p.challenger_device_ns));
    }
    if (p.session != 0) add(FormatNumber(p.session));
    return text;
  });
}

// A leading comma marks each element, so that an empty string and no string differ.
std::string ToText(const std::vector<std::string>& value) {
  std::string text;
  for (const std::string& element : value) {
    text += ',';
    text += EscapeText(element);
  }
  return text;
}

bool FromText(std::string_view text, bool& value) {
  value = text == "1";
  return text == "1" || text == "0";
}

bool FromText(std::string_view text, std::string& value) {
  const auto parsed = UnescapeText(text);
  if (parsed) value = *parsed;
  return parsed.has_value();
}

bool FromText(std::string_view text, Nanos& value) {
  const auto parsed = ParseNumber<int64_t>(text);
  if (parsed) value = Nanos(*parsed);
  return parsed.has_value();
}

bool FromText(std::string_view text, Digest& value) {
  const auto bytes = FromHex(text);
  if (!bytes || bytes->size() != value.size()) return false;
  std::copy(bytes->begin(), bytes->end(), value.begin());
  return true;
}

bool FromText(std::string_view text, Plan& value) {
  return ParseList(text, value, [](const auto& parts, Choice& c) {
    return parts.size() == 2 && FromText(parts[0], c.decision) && FromText(parts[1], c.option);
  });
}

bool FromText(std::string_view text, std::vector<bool>& value) {
  value.clear();
  for (char c : text) {
    if (c != '0' && c != '1') return false;
    value.push_back(c == '1');
  }
  return true;
}

bool FromText(std::string_view text, std::vector<uint8_t>& value) {
  auto bytes = FromHex(text);
  if (bytes) value = std::move(*bytes);
  return bytes.has_value();
}

bool FromText(std::string_view text, std::vector<uint32_t>& value) {
  return ParseList(text, value, [](const auto& parts, uint32_t& v) {
    return parts.size() == 1 && FromText(parts[0], v);
  });
}

bool FromText(std::string_view text, std::vector<uint64_t>& value) {
  return ParseList(text, value, [](const auto& parts, uint64_t& v) {
    return parts.size() == 1 && FromText(parts[0], v);
  });
}

bool FromText(std::string_view text, std::vector<UnitTime>& value) {
  return ParseList(text, value, [](const auto& parts, UnitTime& u) {
    return parts.size() == 3 && FromText(parts[0], u.host_ns) && FromText(parts[1], u.device_ns) &&
           FromText(parts[2], u.flags);
  });
}

bool FromText(std::string_view text, std::vector<PairSample>& value) {
  return ParseList(text, value, [](const auto& parts, PairSample& p) {
    uint64_t bits = 0;
    // Three numbers, then the device's two where it has any, then the job where it is another.
    const size_t n = parts.size();
    const bool device = n >= 5, job = n == 4 || n == 6;
    if (device && (!FromText(parts[3], p.champion_device_ns) ||
                   !FromText(parts[4], p.challenger_device_ns))) {
      return false;
    }
    if (job && (!FromText(parts[n - 1], p.session) || p.session == 0)) return false;
    if (n < 3 || n > 6 || !FromText(parts[0], p.champion_ns) ||
        !FromText(parts[1], p.challenger_ns) || !FromText(parts[2], bits)) {
      return false;
    }
    p.challenger_first = (bits & 1) != 0;
    p.excluded = (bits & 2) != 0;
    p.aborted = (bits & 4) != 0;
    p.flags = static_cast<uint32_t>(bits / 8);
    return bits / 8 <= UINT32_MAX;
  });
}

bool FromText(std::string_view text, std::vector<std::string>& value) {
  value.clear();
  const auto parts = SplitText(text, ',');
  if (!parts.empty() && !parts[0].empty()) return false;
  for (size_t i = 1; i < parts.size(); ++i) {
    auto parsed = UnescapeText(parts[i]);
    if (!parsed) return false;
    value.push_back(std::move(*parsed));
  }
  return true;
}

std::string_view LineReader::Next(const char* name) {
  if (!ok_) return {};
  const std::string_view wanted = name;
  if (next_ < tokens_.size()) {
    const std::string_view token = tokens_[next_];
    if (token.size() > wanted.size() && token.substr(0, wanted.size()) == wanted &&
        token[wanted.size()] == '=') {
      ++next_;
      return token.substr(wanted.size() + 1);
    }
  }
  Fail(name);
  return {};
}

void LineReader::Fail(const char* name) {
  if (!ok_) return;
  ok_ = false;
  error_ = std::string("field ") + name + " is missing or unreadable";
}

}  // namespace blazed::planner
