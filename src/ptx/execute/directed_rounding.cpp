// f64 arithmetic in the directed rounding modes, by the processor's own rounding control. Compiled
// with -frounding-math (CMakeLists.txt).
#include "ptx/decode/execution.h"

#include <cfenv>
#include <cmath>

namespace regraph::ptx {

double rounded_double(Operation operation, double a, double b, double c, RoundingMode mode) {
  const int before = std::fegetround();
  std::fesetround(mode == RoundingMode::zero   ? FE_TOWARDZERO
                  : mode == RoundingMode::down ? FE_DOWNWARD
                  : mode == RoundingMode::up   ? FE_UPWARD
                                               : FE_TONEAREST);
  // volatile: the operation must stay between the two calls.
  volatile double x = a;
  volatile double y = b;
  volatile double z = c;
  volatile double result = 0;
  switch (operation) {
    case Operation::add_rounded:
      result = x + y;
      break;
    case Operation::mul_rounded:
      result = x * y;
      break;
    case Operation::div_rounded:
      result = x / y;
      break;
    case Operation::square_root_rounded:
      result = std::sqrt(x);
      break;
    default:
      result = std::fma(x, y, z);
      break;
  }
  std::fesetround(before);
  return result;
}

}  // namespace regraph::ptx
