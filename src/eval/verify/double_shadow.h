// The original kernel computed in double precision: the yardstick for how wrong rounding makes the
// original, and may make a candidate.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiled_plan.h"
#include "eval/compile/compiler.h"
#include "eval/verify/comparison.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::verify {

// The problem with every fp32 argument in fp64, and the original's plan for it.
struct DoubleShadow {
  Problem problem;
  CompiledPlan compiled;
  LoadedPlan plan;
};

// Where a shadow runs: a GPU wants machine code, the interpreter does without.
enum class ShadowUse : std::uint8_t { interpreter, gpu };

// Translates `source` (double_source.h) and compiles it. Errors: unsupported, when it has no
// counterpart in double or the problem has no fp32 output; those of Compiler::compile and
// load_plan.
[[nodiscard]] Result<DoubleShadow> make_double_shadow(Compiler& compiler, const Problem& problem,
                                                      const std::string& source,
                                                      const std::string& architecture,
                                                      const Cancellation& cancellation,
                                                      ShadowUse use = ShadowUse::interpreter);

// What one fp32 output must be.
struct ExactOutput {
  std::vector<std::byte> values;  // fp32, rounded from fp64; empty: nothing is known
  double tau = 0.0;               // tolerance against them, see comparison.h
  // The original's own error is more than can be told from a wrong result: tau leaves it out, so
  // that what agrees with the original is right, too.
  bool original_is_far = false;
};

// Runs the shadow on the inputs of a case. Per argument; only fp32 outputs of which the original's
// `expected` values agree with the shadow's to 1 % have values. With E the original's error, D the
// largest change of the result when every input moves by about half a unit in the last place (of
// two random draws, six for fewer than 64 elements), u = 2^-24, K the reduction length, n the
// number of elements and c = 0.5 (1 + 3 / sqrt(n)):
//   tau ||ref|| = 4 E + c u sqrt(K) ||ref|| + (2 + c sqrt(K)) D
// An honest sum in any order stays below it: its rounding grows like 0.25 u sqrt(K), relative to
// the result or, where terms cancel, to the terms, which D measures; of few elements one may be
// unlucky. Above 0.05 / sqrt(n) one element that jumps would not show: there 4 E is left out
// (original_is_far), and where that is not enough nothing is said. `untouched` as in OutputView,
// per argument. Errors: cancelled; else none, nothing is known then.
[[nodiscard]] Result<std::vector<ExactOutput>> exact_outputs(
    const DoubleShadow& shadow, const Problem& problem, const Symbols& symbols,
    const Buffers& inputs, const Buffers& expected,
    const std::vector<std::vector<std::uint8_t>>& untouched, double reduction_length,
    std::uint64_t instruction_budget, const Cancellation& cancellation);

}  // namespace regraph::verify
