#include "eval/verify/repeated_runs.h"

#include <algorithm>
#include <vector>

namespace regraph::verify {

namespace {

// Of the tolerance: that much atomics may move a result from launch to launch.
constexpr double kShareOfTolerance = 0.1;

bool is_floating_addition(std::string_view opcode) {
  if (!opcode.starts_with("atom.") && !opcode.starts_with("red.")) return false;
  if (opcode.find(".add") == std::string_view::npos) return false;
  return opcode.find(".f") != std::string_view::npos ||
         opcode.find(".bf") != std::string_view::npos;
}

}  // namespace

bool adds_floats_atomically(std::string_view ptx) {
  for (const std::string_view name : {"atom.", "red."}) {
    for (std::size_t at = ptx.find(name); at != std::string_view::npos;
         at = ptx.find(name, at + 1)) {
      const std::size_t end = ptx.find_first_of(" \t\n", at);
      if (is_floating_addition(ptx.substr(at, end - at))) return true;
    }
  }
  return false;
}

RunsDifference difference_of_runs(const Problem& problem, const Symbols& symbols,
                                  const Buffers& first, const Buffers& again,
                                  bool adds_floats_atomically, const Arithmetic& arithmetic,
                                  double allowed) {
  RunsDifference result;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_output() || first[i] == again[i] ||
        problem.check.allows_races(argument.name)) {
      continue;
    }
    std::vector<std::int64_t> extents;
    for (const IntegerExpression& extent : argument.shape) {
      const Result<std::int64_t> value = extent.evaluate(symbols);
      extents.push_back(value.ok() ? *value : 1);
    }
    if (argument.components > 1) extents.push_back(argument.components);
    double tau = 0.0;
    if (adds_floats_atomically)
      tau = kShareOfTolerance *
            tolerance(judged_type(argument), arithmetic, problem.check, problem.assume);
    if (tau > 0.0) tau = std::max(tau, allowed);
    const BufferComparison comparison =
        compare({argument, extents, first[i], again[i], {}, {}}, tau, tau == 0.0);
    if (tau > 0.0)
      result.relative_error = std::max(result.relative_error, comparison.relative_error);
    // Other bits of NaN, or of zero, are no other result.
    if (!comparison.equal && !result.message) result.message = comparison.message;
  }
  return result;
}

}  // namespace regraph::verify
