// No node of the IR is built of an operand that is none.
//
// Null pointers to nodes mean "there is none" where they are optional (a declaration's initial
// value), and a function that finds nothing returns one. Whoever builds a node of such an answer
// without a look has made a mistake; instead of a tree that some later visitor falls over, it gets
// an exception, which the rooms that build kernels turn into an error at their border:
//
//   return without_missing_operands([&] { return step.apply(kernel, parameters); });
#pragma once

#include "base/result.h"

#include <stdexcept>
#include <string>

namespace regraph::source {

// Thrown by the constructors of nodes (expressions.h, statements.h).
class MissingOperand : public std::logic_error {
 public:
  explicit MissingOperand(const std::string& node)
      : std::logic_error("a part of " + node + " is missing; this is a mistake in ReGraph") {}
};

// The operand, which is not null. `node`: what is built, for the message.
template <typename Pointer>
[[nodiscard]] Pointer required(Pointer operand, const char* node) {
  if (!operand) throw MissingOperand(node);
  return operand;
}

// All of the list, none of which is null.
template <typename List>
[[nodiscard]] List all_required(List operands, const char* node) {
  for (const auto& operand : operands)
    if (!operand) throw MissingOperand(node);
  return operands;
}

// What `work`, which returns a Result or a Status, returns; ErrorCode::internal where a node would
// have been built of an operand that is none.
template <typename Work>
[[nodiscard]] auto without_missing_operands(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const MissingOperand& missing) {
    return fail(ErrorCode::internal, missing.what());
  }
}

}  // namespace regraph::source
