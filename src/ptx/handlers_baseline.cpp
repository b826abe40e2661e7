// The handler set for any x86-64 processor. Compiled with that processor's flags (CMakeLists.txt),
// so everything lies in an anonymous namespace: no function of this file may stand in for another
// file's.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ptx/execution.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace regraph::ptx {
namespace {
// clang-format off: these build on one another in this order
#include "ptx/handlers/approximations.h"
#include "ptx/handlers/arithmetic.h"
#include "ptx/handlers/bit_functions.h"
#include "ptx/handlers/conversion.h"
#include "ptx/handlers/functions.h"
#include "ptx/handlers/lane_types.h"
#include "ptx/handlers/memory.h"
#include "ptx/handlers/tables.h"
// clang-format on
}  // namespace

void fill_baseline_handlers(Handler* table) {
  fill_all(table);
}

}  // namespace regraph::ptx
