#include "daemon/planner/standing.h"

#include "daemon/planner/counted.h"

namespace blazed::planner {

std::string StandingOf(const PlanRecord& record) {
  switch (record.verdict) {
    case Verdict::kProposed:
      return record.signature == Digest{} ? "named by the search, not built"
                                          : "built and runs as no plan before it, not measured";
    case Verdict::kProven:
      if (record.pairs == 0) return "computes the same, not measured";
      return "computes the same; after " + Counted(record.pairs, "pair") +
             " no win that was worth a race";
    default:
      return {};
  }
}

}  // namespace blazed::planner
