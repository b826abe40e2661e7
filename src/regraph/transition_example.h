// A verified application of a step, kept with the transition of the ReGraph that it was: code
// before and after, to be shown to a language model that is to do the same elsewhere. Plain data.
#pragma once

#include "kernel/evaluation.h"

#include <cstddef>
#include <string>

namespace regraph {

// Of a transition, each of another family of kernels: one is shown, the others are there for
// kernels that must not see it.
inline constexpr std::size_t kMostExamples = 3;
// Bytes of either side: what a prompt shows whole (llm/prompt/prompt_inputs.h).
inline constexpr std::size_t kLargestExampleSide = 6 << 10;
// Bytes of each of the names.
inline constexpr std::size_t kLongestExampleName = 512;

struct TransitionExample {
  std::string before;     // device code
  std::string after;      // the same with the step applied
  double log_gain = 0.0;  // ln(time before / time after), above 0
  TimeMethod method = TimeMethod::predicted;
  std::string device;
  std::string name;    // of the kernel's function, for people
  std::string kernel;  // Candidate::identity of the kernel as it was given, in hexadecimal
  std::string family;  // of kernels alike
  std::string run;     // the search that found it (learn/run_digest.h)

  bool operator==(const TransitionExample&) const = default;

  // What is wrong with it, or nothing: a name that is missing, text that is not UTF-8 or too long,
  // control characters, sides that are equal, a gain that is none.
  [[nodiscard]] std::string nonsense() const;
};

// Whether `one` is rather shown than `other`: measured before predicted, then the larger gain, the
// shorter code, and what makes the order total.
[[nodiscard]] bool is_better(const TransitionExample& one, const TransitionExample& other);

}  // namespace regraph
