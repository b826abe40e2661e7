#include "source/ir.h"

namespace regraph::source {

const KernelParameter* Kernel::parameter(const std::string& parameter_name) const {
  for (const KernelParameter& candidate : parameters) {
    if (candidate.name == parameter_name) return &candidate;
  }
  return nullptr;
}

}  // namespace regraph::source
