// Values of sizes that nobody gave.
#pragma once

#include "infer/size_quotients.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"

#include <string>
#include <vector>

namespace regraph::infer {

// Halves the sizes called `names`, the largest first, until the manifest's launch has no more than
// 2^24 threads, no buffer more than 2^24 elements, and a block no more than 48 KiB of dynamic
// shared memory, which it has without asking the driver. What cannot be evaluated, and what none of
// these sizes is in, is left as it is.
void shrink_sizes(const std::vector<std::string>& names, Manifest& manifest);

// Whether a launch of the problem at these sizes has no more threads and elements than that.
[[nodiscard]] bool is_moderate(const Problem& problem, const Symbols& symbols);

// Tests for sizes called `names` that were halved until they look like structural ones, which tests
// leave as they are: odd ones, even ones, and odd ones with every `small` size one less, where
// sizes that others divide (`quotients`) are multiples of these. None where no size is that small,
// or the manifest has tests.
void add_small_tests(const std::vector<std::string>& names, const std::vector<std::string>& small,
                     const std::vector<SizeQuotient>& quotients, Manifest& manifest);

// "no size is given: B, C = 64 (change it with --size B=...)", those of one value together.
[[nodiscard]] std::vector<std::string> notes_of_own_sizes(const std::vector<std::string>& names,
                                                          const Symbols& sizes);
// Whether a note is one of these.
[[nodiscard]] bool is_note_of_own_sizes(const std::string& note);

}  // namespace regraph::infer
