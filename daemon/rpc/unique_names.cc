#include "daemon/rpc/unique_names.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace blazed::rpc {
namespace {

constexpr size_t kLongestName = 96;  // of plan.proto

}  // namespace

void NumberEqualNames(std::vector<planner::DecisionSpec>* decisions) {
  std::set<std::string> taken;
  for (const planner::DecisionSpec& decision : *decisions) taken.insert(decision.name);
  std::map<std::string, int> last;  // number given, by name
  for (planner::DecisionSpec& decision : *decisions) {
    const std::string said = decision.name;
    int& number = last[said];
    if (++number == 1) continue;
    while (true) {
      const std::string mark = absl::StrCat(" #", number);
      decision.name = absl::StrCat(said.substr(0, kLongestName - mark.size()), mark);
      if (taken.insert(decision.name).second) break;
      ++number;
    }
  }
}

}  // namespace blazed::rpc
