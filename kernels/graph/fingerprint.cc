#include "kernels/graph/fingerprint.h"

#include <cstdio>
#include <string_view>

namespace blazed::graph {
namespace {

void Append(std::string* text, std::string_view word) {
  text->append(word);
  text->push_back(' ');
}

void Append(std::string* text, int64_t number) { Append(text, std::to_string(number)); }

// Hexadecimal: exact, and free of locale and rounding.
void Append(std::string* text, float number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%a", static_cast<double>(number));
  Append(text, std::string_view(buffer));
}

void PrintValue(const Value& value, std::string* text) {
  static constexpr std::string_view kKinds[] = {"input", "parameter", "state", "computed"};
  Append(text, kKinds[static_cast<size_t>(value.kind)]);
  Append(text, std::string_view(value.dtype == DType::kF32 ? "f32" : "i32"));
  Append(text, value.shape.rows);
  Append(text, value.shape.cols);
  if (value.stored_in != kNone) {
    Append(text, std::string_view("stored_in"));
    Append(text, static_cast<int64_t>(value.stored_in));
  }
  text->push_back('\n');
}

void PrintNode(const Node& node, std::string* text) {
  static constexpr std::string_view kPhases[] = {"forward", "backward", "optimiser"};
  Append(text, OpName(node.op));
  Append(text, kPhases[static_cast<size_t>(node.phase)]);
  for (const ValueId id : node.inputs) Append(text, static_cast<int64_t>(id));
  Append(text, std::string_view(">"));
  for (const ValueId id : node.outputs) Append(text, static_cast<int64_t>(id));
  Append(text, node.attributes.alpha);
  Append(text, node.attributes.beta);
  Append(text, static_cast<int64_t>(node.attributes.heads));
  Append(text, static_cast<int64_t>(node.attributes.period));
  text->push_back('\n');
}

}  // namespace

std::string CanonicalPrint(const Graph& graph) {
  // The leading word is the numeric form's epoch: operations that change their arithmetic raise it,
  // so evidence measured before is never taken for evidence about them.
  std::string text = "form1 ";
  Append(&text, std::string_view(graph.regime() == Regime::kTraining ? "training" : "forward"));
  text.push_back('\n');
  for (const Value& value : graph.values()) PrintValue(value, &text);
  for (const Node& node : graph.nodes()) PrintNode(node, &text);
  for (const Exposed& exposed : graph.exposed()) {
    Append(&text, static_cast<int64_t>(exposed.value));
    Append(&text, static_cast<int64_t>(exposed.role));
  }
  return text;
}

Hash128 Fingerprint(const Graph& graph) { return HashText(CanonicalPrint(graph)); }

}  // namespace blazed::graph
