#include "kernels/cpu/dispatch_record.h"

namespace blazed::cpu {

graph::Hash128 DispatchRecord::Signature() const {
  std::string text;
  for (const std::string& line : lines_) {
    text += line;
    text += '\n';
  }
  return graph::HashText(text);
}

}  // namespace blazed::cpu
