#include "rewrite/forms/plain_form.h"

#include "rewrite/forms/dead_guards.h"
#include "rewrite/forms/early_exits.h"
#include "rewrite/forms/element_registers.h"
#include "rewrite/forms/local_pointers.h"
#include "rewrite/forms/selected_values.h"
#include "rewrite/forms/webs.h"
#include "source/analysis.h"

#include <utility>

namespace regraph::rewrite {

namespace {

// With the buffers themselves in the place of pointers into them where that lets elements be kept.
source::Kernel with_registers(const source::Kernel& kernel, const PlainFormLicence& licence) {
  source::Kernel direct = without_local_pointers(kernel);
  source::Kernel kept = with_elements_in_registers(direct, licence.raced);
  return kept.body == direct.body ? kernel : kept;
}

}  // namespace

PlainForm plain_form(const source::Kernel& kernel, const PlainFormLicence& licence) {
  PlainForm result{kernel};
  if (source::Analysis(kernel).opaque()) return result;
  result.kernel.body = without_continues(kernel.body);
  result.kernel.body = with_selected_values(result.kernel);
  result.kernel = with_webs_declared(result.kernel);
  result.kernel.body = without_dead_guards(result.kernel);
  if (!licence.distinct_buffers) return result;
  source::Kernel kept = with_registers(result.kernel, licence);
  result.needs_distinct_buffers = kept.body != result.kernel.body;
  result.kernel = std::move(kept);
  return result;
}

}  // namespace regraph::rewrite
