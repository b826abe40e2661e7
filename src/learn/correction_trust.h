// How far a policy's corrections are to be believed, at the original and at later states.
//
// Networks are sure of themselves on the families they were trained on. How much of F is worth
// adding is seen on families that they were not: networks trained without them say F, and
//
//   trust = argmin over t in {0, .05, ..., 1} of the mean of CE(pi*, softmax(ln P_graph + t F))
//
// over groups, each family's weighing the same (stacking; Wolpert, Neural Networks 1992). Two
// numbers, because first steps and later ones differ in how much can be learned of them: a kernel
// has one original and many later states, and its priors are better there.
#pragma once

#include "learn/policy_examples.h"
#include "policy/policy_model.h"

#include <span>
#include <vector>

namespace regraph::learn {

// What is believed where there is nothing to measure it by: about what 28 families gave.
inline constexpr policy::CorrectionTrust kUsualTrust{0.4F, 0.6F};

// `corrections`: by example, F of its siblings from networks that did not see its family.
[[nodiscard]] policy::CorrectionTrust trust_of(std::span<const PolicyExample> examples,
                                               std::span<const std::vector<double>> corrections,
                                               double temperature);

}  // namespace regraph::learn
