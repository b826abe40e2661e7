// Steps one after another, chosen by lot: what properties of the rewriter are tried on.
#pragma once

#include "rewrite/kernel_case.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regraph::test {

// What became of a step over all states that were looked at.
struct StepTally {
  int applied = 0;                     // chosen
  int offered = 0;                     // settings that could have been
  std::map<std::string, int> refused;  // by reason
};
using StepTallies = std::map<std::string, StepTally>;

struct RandomSequence {
  rewrite::KernelState state;        // at the end
  std::string history;               // the kernel and the steps, for messages
  std::vector<std::size_t> offered;  // settings, at each position
};

// Sequence `number` of the kernel with this number: the same numbers give the same sequence. One to
// five steps, as far as any apply. Tests on the way that a step's match and its application agree.
[[nodiscard]] RandomSequence random_sequence(const KernelCase& kernel, const std::string& name,
                                             std::uint64_t kernel_number, std::uint64_t number,
                                             StepTallies& tallies);

// The steps, how many settings there were to choose from, assumptions, launches and source: equal
// where two versions of the rewriter do the same.
[[nodiscard]] std::string record_of(const RandomSequence& sequence);

// REGRAPH_REWRITE_SEQUENCES, else `fallback`.
[[nodiscard]] int sequences_per_kernel(int fallback);
// The number of a kernel's first sequence: REGRAPH_REWRITE_FIRST, else 0.
[[nodiscard]] std::uint64_t first_sequence();
// Whether the environment wants a kernel: REGRAPH_REWRITE_KERNEL is a part of its name, and
// REGRAPH_REWRITE_SHARD=2/8 its number's share (from 0, of 8).
[[nodiscard]] bool kernel_is_wanted(const std::string& name, std::uint64_t kernel_number);
// Whether the environment leaves kernels out.
[[nodiscard]] bool some_kernels_are_left_out();

// A line a step; with reasons one more for each kind of refusal.
void print_tallies(const StepTallies& tallies, bool with_reasons);

}  // namespace regraph::test
