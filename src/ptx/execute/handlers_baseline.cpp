// The handler set for any x86-64 processor. Compiled with that processor's flags (CMakeLists.txt),
// so everything lies in an anonymous namespace: no function of this file may stand in for another
// file's.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ptx/decode/execution.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace regraph::ptx {
namespace {
#include "ptx/execute/handlers/all.h"
}  // namespace

void fill_baseline_handlers(Handler* table) {
  fill_all(table);
}

}  // namespace regraph::ptx
