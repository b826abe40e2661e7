#include "regraph/expander.h"

namespace regraph {

std::string StepProposal::text() const {
  std::string result = step;
  if (parameters.empty()) return result;
  result += '(';
  const char* separator = "";
  for (const auto& [name, value] : parameters) {
    result += separator + name + '=' + value;
    separator = ", ";
  }
  result += ')';
  return result;
}

}  // namespace regraph
