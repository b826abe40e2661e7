#include "ptx/decode/handler_tables.h"

#include <array>

namespace regraph::ptx {
namespace {

using Table = std::array<Handler, kHandlers>;

Table make_table(void (*fill)(Handler*)) {
  Table table = {};
  fill(table.data());
  fill_control_handlers(table.data());
  fill_lane_exchange_handlers(table.data());
  fill_atomic_handlers(table.data());
  fill_call_handlers(table.data());
  fill_rare_handlers(table.data());
  fill_matrix_handlers(table.data());
  fill_mbarrier_handlers(table.data());
  fill_bulk_copy_handlers(table.data());
  fill_warpgroup_handlers(table.data());
  fill_wmma_handlers(table.data());
  fill_async_copy_handlers(table.data());
  return table;
}

bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

}  // namespace

HandlerSet best_handlers() {
  if (has_v4()) return HandlerSet::x86_64_v4;
  return has_v3() ? HandlerSet::x86_64_v3 : HandlerSet::baseline;
}

const Handler* handler_table(HandlerSet set) {
  const HandlerSet best = best_handlers();
  if (set == HandlerSet::automatic || set > best) set = best;
  // A set's own fill function is made of that set's instructions: call it only where it can run.
  switch (set) {
    case HandlerSet::x86_64_v4: {
      static const Table kTable = make_table(&fill_x86_64_v4_handlers);
      return kTable.data();
    }
    case HandlerSet::x86_64_v3: {
      static const Table kTable = make_table(&fill_x86_64_v3_handlers);
      return kTable.data();
    }
    default: {
      static const Table kTable = make_table(&fill_baseline_handlers);
      return kTable.data();
    }
  }
}

}  // namespace regraph::ptx
