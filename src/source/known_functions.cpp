#include "source/known_functions.h"

#include <algorithm>
#include <array>

namespace regraph::source {
namespace {

constexpr auto kPureFunctions = std::to_array<std::string_view>({
    "min",
    "max",
    "abs",
    "fminf",
    "fmaxf",
    "fabsf",
    "fmin",
    "fmax",
    "fabs",
    "sqrtf",
    "sqrt",
    "rsqrtf",
    "rsqrt",
    "expf",
    "exp",
    "exp2f",
    "logf",
    "log",
    "log2f",
    "powf",
    "pow",
    "sinf",
    "cosf",
    "sin",
    "cos",
    "tanhf",
    "tanh",
    "fmaf",
    "fma",
    "floorf",
    "ceilf",
    "roundf",
    "truncf",
    "floor",
    "ceil",
    "erff",
    "erf",
    "erfcf",
    "erfc",
    "exp10f",
    "cbrtf",
    "atanf",
    "atan2f",
    "asinf",
    "acosf",
    "tanf",
    "sinhf",
    "coshf",
    "hypotf",
    "log1pf",
    "expm1f",
    "fmodf",
    "rintf",
    "__expf",
    "__logf",
    "__sinf",
    "__cosf",
    "__powf",
    "__log2f",
    "__log10f",
    "log10f",
    "__fdividef",
    "__frcp_rn",
    "__fsqrt_rn",
    "__mul24",
    "__umul24",
    "__popc",
    "__clz",
    "__brev",
    "__ffs",
    "__float2int_rn",
    "__int2float_rn",
    "__float_as_int",
    "__int_as_float",
    "__ldg",
    "isnan",
    "isinf",
    "copysignf",
});

}  // namespace

bool is_atomic(std::string_view function) {
  return function.starts_with("atomic");
}

bool is_warp_intrinsic(std::string_view function) {
  for (const std::string_view prefix : {"__shfl", "__ballot", "__any", "__all", "__activemask",
                                        "__match", "__reduce", "__syncwarp"}) {
    if (function.starts_with(prefix)) return true;
  }
  return false;
}

bool is_pure_function(std::string_view function) {
  const bool makes_vector =
      function.starts_with("make_") && function.back() >= '1' && function.back() <= '4';
  return makes_vector ||
         std::find(kPureFunctions.begin(), kPureFunctions.end(), function) != kPureFunctions.end();
}

bool reads_through_argument(std::string_view function) {
  return function == "__ldg";
}

bool is_pure(const Call& call) {
  if (call.effect != CallEffect::by_name) return call.effect == CallEffect::pure;
  return is_pure_function(call.function);
}

bool call_reads(const Call& call) {
  return !is_pure(call) || reads_through_argument(call.function);
}

bool only_uses_memory(const Call& call) {
  return call.effect == CallEffect::memory || is_pure(call);
}

}  // namespace regraph::source
