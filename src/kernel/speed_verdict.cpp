#include "kernel/speed_verdict.h"

namespace regraph {

const char* name(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::fast:
      return "FAST";
    case SpeedVerdict::slow:
      return "SLOW";
    case SpeedVerdict::same:
      return "SAME";
    case SpeedVerdict::ambiguous:
      break;
  }
  return "AMBIGUOUS";
}

}  // namespace regraph
