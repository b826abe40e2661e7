#include "rewrite/forms/plain_form.h"

#include "rewrite/forms/addressed_elements.h"
#include "rewrite/forms/constant_lengths.h"
#include "rewrite/forms/counted_loops.h"
#include "rewrite/forms/dead_guards.h"
#include "rewrite/forms/early_exits.h"
#include "rewrite/forms/element_registers.h"
#include "rewrite/forms/guards_first.h"
#include "rewrite/forms/if_conversion.h"
#include "rewrite/forms/induction_variables.h"
#include "rewrite/forms/local_pointers.h"
#include "rewrite/forms/moved_parameters.h"
#include "rewrite/forms/narrow_counters.h"
#include "rewrite/forms/packed_elements.h"
#include "rewrite/forms/previous_elements.h"
#include "rewrite/forms/rebased_counters.h"
#include "rewrite/forms/rerolling.h"
#include "rewrite/forms/rolled_copies.h"
#include "rewrite/forms/rolled_sums.h"
#include "rewrite/forms/scaled_sums.h"
#include "rewrite/forms/single_assignment.h"
#include "rewrite/forms/sunk_loads.h"
#include "rewrite/forms/table_values.h"
#include "rewrite/forms/unused_names.h"
#include "rewrite/forms/webs.h"
#include "source/analysis.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

namespace {

// Whether a loop writes an element of an array: else there is nothing to keep, and nothing to ask.
bool stores_in_loops(const Block& block, bool in_loop = false) {
  return std::any_of(block.begin(), block.end(), [&](const StmtPtr& stmt) {
    if (in_loop && is<Subscript>(target_of(*stmt))) return true;
    const bool is_loop = is<ForLoop>(stmt) || is<WhileLoop>(stmt);
    return stores_in_loops(body_of(*stmt), in_loop || is_loop) ||
           stores_in_loops(otherwise_of(*stmt), in_loop);
  });
}

// Without unrolling by hand, where that is all that stands between a loop and its counter.
void roll_loops(PlainForm& form, const PlainFormLicence& licence) {
  RerolledLoops rolled =
      with_loops_rerolled(form.kernel, {licence.distinct_buffers, licence.reordered_sums});
  if (rolled.kernel.body == form.kernel.body) return;
  // A counter that two loops shared belongs to one.
  form.kernel = with_webs_declared(rolled.kernel);
  form.needs_distinct_buffers = rolled.relied_on.distinct_buffers;
  form.reorders_sums = rolled.relied_on.reordered_sums;
}

// With the buffers themselves in the place of pointers into them where that lets elements be kept.
Kernel with_registers(const Kernel& kernel, const PlainFormLicence& licence) {
  Kernel direct = without_local_pointers(kernel);
  const Kernel kept =
      with_previous_in_registers(with_elements_in_registers(direct, licence.raced), licence.raced);
  return kept.body == direct.body ? kernel : kept;
}

}  // namespace

PlainForm plain_form(const Kernel& kernel, const PlainFormLicence& licence) {
  PlainForm result{kernel};
  if (Analysis(kernel).opaque()) return result;
  if (licence.distinct_buffers) result.kernel.body = with_plain_loads(kernel);
  result.kernel.body = without_unused_names(result.kernel);
  result.kernel.body = with_packed_elements(result.kernel);
  result.kernel.body = with_atomic_elements(result.kernel);
  result.kernel.body = without_moved_parameters(result.kernel);
  result.kernel = without_buffer_names(result.kernel);
  result.kernel.body = without_continues(result.kernel.body);
  result.kernel.body = with_table_values(result.kernel);
  result.kernel.body = with_counted_loops(result.kernel.body);
  result.kernel.body = with_narrow_counters(result.kernel);
  result.kernel.body = if_converted(result.kernel);
  result.kernel.body = with_guards_first(result.kernel.body);
  result.kernel.body = with_single_assignments(result.kernel);
  result.kernel = with_webs_declared(result.kernel);
  roll_loops(result, licence);
  result.kernel.body = with_copies_rolled(result.kernel);
  result.kernel.body = with_sums_rolled(result.kernel);
  result.kernel.body = with_scaled_sums(result.kernel);
  result.kernel.body = with_sunk_loads(result.kernel);
  result.kernel.body = without_induction_variables(result.kernel);
  result.kernel.body = with_constant_lengths(result.kernel);
  result.kernel.body = with_rebased_counters(result.kernel);
  result.kernel.body = without_dead_guards(result.kernel);
  if (!licence.distinct_buffers || !stores_in_loops(result.kernel.body)) return result;
  Kernel kept = with_registers(result.kernel, licence);
  result.needs_distinct_buffers = result.needs_distinct_buffers || kept.body != result.kernel.body;
  result.kernel = std::move(kept);
  return result;
}

}  // namespace regraph::rewrite
