#include "client/trainer/job/facts.h"

namespace blazed::trainer {

const char* NameOf(Stopped stopped) {
  switch (stopped) {
    case Stopped::kSteps:
      return "steps";
    case Stopped::kSettled:
      return "settled";
    case Stopped::kUndecided:
      return "undecided";
    case Stopped::kSeconds:
      return "seconds";
    case Stopped::kSignal:
      return "signal";
  }
  return "unknown";
}

const char* NameOf(blz_state state) {
  switch (state) {
    case BLZ_STATE_OFF:
      return "off";
    case BLZ_STATE_ATTACHING:
      return "attaching";
    case BLZ_STATE_ATTACHED:
      return "attached";
    case BLZ_STATE_RECONNECTING:
      return "reconnecting";
    case BLZ_STATE_CLOSED:
      return "closed";
  }
  return "unknown";
}

const char* NameOf(blz_phase phase) {
  switch (phase) {
    case BLZ_PHASE_NONE:
      return "starting";
    case BLZ_PHASE_WAITING:
      return "waiting";
    case BLZ_PHASE_FORECAST:
      return "forecast";
    case BLZ_PHASE_SEARCH:
      return "search";
    case BLZ_PHASE_VERIFY:
      return "verify";
    case BLZ_PHASE_REPLICATE:
      return "replicate";
    case BLZ_PHASE_SETTLED:
      return "settled";
    case BLZ_PHASE_STANDING:
      return "standing";
    case BLZ_PHASE_SERVED:
      return "served";
  }
  return "unknown";
}

}  // namespace blazed::trainer
