// What floating-point work the original does, and what came out: which inputs tell anything of it,
// and how closely results can be compared.
#pragma once

#include "eval/verify/kernel_run.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <cstdint>
#include <vector>

namespace regraph::verify {

// What floating-point work a run did.
struct FloatWork {
  bool adds = false;  // adds, subtracts or multiplies and adds
  bool adds_constants = false;
  std::uint64_t additions = 0;  // by threads
  bool multiplies = false;
  bool exchanges = false;        // values between threads, by shuffles or shared memory
  std::uint64_t products = 0;    // and quotients, by threads; those that are added at once apart
  bool chooses = false;          // compares, or takes a minimum or maximum
  bool chooses_between = false;  // of values of which none is a constant
  bool in_double = false;        // computes in fp64
  bool in_half = false;          // tensor cores add in half precision
  std::uint64_t roundings = 0;   // to half precision or bfloat16, by threads; constants, too
  std::uint64_t loads = 0;       // of global memory, by threads
  // Adds halves atomically: each sum ends where the next term is lost, elsewhere in each order.
  bool sums_halves_in_any_order = false;
};
// By the instructions of `plan` that ran, says the profile.
[[nodiscard]] FloatWork float_work(const LoadedPlan& plan, const ptx::Profile& profile);

// Numbers of floating type in the arguments' buffers that are NaN or infinite.
[[nodiscard]] std::uint64_t not_finite(const Problem& problem, const Buffers& buffers);

// Whether a result in `after` is so large that another order of its terms might overflow.
// `untouched` as in Case.
[[nodiscard]] bool is_near_overflow(const Problem& problem, const Buffers& after,
                                    const std::vector<std::vector<std::uint8_t>>& untouched);

}  // namespace regraph::verify
