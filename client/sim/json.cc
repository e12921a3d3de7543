#include "client/sim/json.h"

#include <cctype>
#include <charconv>

namespace blazed::sim {
namespace {

constexpr int kDeepest = 32;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Read(Json& out, int depth) {
    Skip();
    if (at_ >= text_.size() || depth > kDeepest) return false;
    switch (text_[at_]) {
      case '{':
        return ReadObject(out.value.emplace<Json::Object>(), depth);
      case '[':
        return ReadArray(out.value.emplace<Json::Array>(), depth);
      case '"':
        return ReadText(out.value.emplace<std::string>());
      case 't':
        out.value = true;
        return Take("true");
      case 'f':
        out.value = false;
        return Take("false");
      case 'n':
        return Take("null");
      default:
        return ReadNumber(out.value.emplace<double>());
    }
  }

  bool AtEnd() {
    Skip();
    return at_ == text_.size();
  }

 private:
  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool Take(std::string_view word) {
    Skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool ReadNumber(double& number) {
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    at_ += static_cast<size_t>(end - begin);
    return error == std::errc();
  }

  bool ReadText(std::string& text) {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' &&
          (++at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\\')))
        return false;
      text += text_[at_];
    }
    return Take("\"");
  }

  bool ReadArray(Json::Array& items, int depth) {
    Take("[");
    if (Take("]")) return true;
    do {
      if (!Read(items.emplace_back(), depth + 1)) return false;
    } while (Take(","));
    return Take("]");
  }

  bool ReadObject(Json::Object& fields, int depth) {
    Take("{");
    if (Take("}")) return true;
    do {
      Skip();
      std::string key;
      if (at_ >= text_.size() || text_[at_] != '"' || !ReadText(key) || !Take(":")) return false;
      if (!Read(fields[key], depth + 1)) return false;
    } while (Take(","));
    return Take("}");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json& Json::At(const std::string& key) const {
  static const Json kNull;
  const auto* object = std::get_if<Object>(&value);
  if (object == nullptr) return kNull;
  const auto it = object->find(key);
  return it == object->end() ? kNull : it->second;
}

const Json::Array& Json::Items() const {
  static const Array kNone;
  const auto* items = std::get_if<Array>(&value);
  return items == nullptr ? kNone : *items;
}

double Json::Number() const {
  const auto* number = std::get_if<double>(&value);
  return number == nullptr ? 0 : *number;
}

std::string Json::Text() const {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

std::optional<Json> ParseJson(std::string_view text) {
  Reader reader(text);
  Json json;
  if (!reader.Read(json, 0) || !reader.AtEnd()) return std::nullopt;
  return json;
}

}  // namespace blazed::sim
