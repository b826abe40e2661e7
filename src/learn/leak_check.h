// Whether families of a corpus that must not know of each other hold nearly the same kernel: then
// what was learned from one is tested on a copy of it, and the figures are worth nothing.
//
// Two kernels are joined when a state of one (the original, or what a search made of it) is a state
// of the other, or when their sources are alike (source_shingles.h); kernels that are joined to the
// same one are joined. A leak is two joined kernels of different families that are not kin. Nor may
// kin be joined where one of them is sealed, or is a control: sealed families are tested on what
// all open ones taught, and controls are trained on in every fold.
#pragma once

#include "learn/corpus.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace regraph::learn {

inline constexpr double kAlike = 0.6;       // similarity from which on kernels are joined
inline constexpr double kRepetitive = 0.9;  // from which on a second style adds nothing

struct CheckedState {
  std::string identity;
  std::vector<std::string> path;  // steps from the original; empty: it is the original
};

struct CheckedKernel {
  CorpusKernel kernel;
  std::string source;
  std::vector<CheckedState> states;  // of kept searches, if there are any
};

// Two kernels and how near they are.
struct KernelPair {
  CorpusKernel one;
  CorpusKernel other;
  double similarity = 0.0;  // of the sources
  // Paths to a state that both have: of those with the fewest steps.
  std::optional<std::pair<std::vector<std::string>, std::vector<std::string>>> shared_state;
};

// Two families that must differ and do not.
struct Leak {
  std::string one;
  std::string other;
  // Joined kernels that lead from one family to the other: a single pair, the nearest, where any
  // kernels of the two are joined themselves.
  std::vector<KernelPair> chain;
  std::size_t pairs = 0;      // of kernels of the two that are joined themselves
  bool kinship_mends = true;  // false: sealed or a control
};

struct LeakCheck {
  std::vector<Leak> leaks;  // by names of families
  // Families, two or more, whose kernels are joined, directly or over others: to be kept together.
  std::vector<std::vector<std::string>> joined;
  // Open families beside a sealed one that is their kin.
  std::vector<std::pair<std::string, std::string>> kin_of_sealed;
  // The most similar sources of families that must differ; nothing where no families must.
  std::optional<KernelPair> nearest;
  // Kernels of one family of which one adds nothing: very similar, or the same original.
  std::vector<KernelPair> repetitions;
};

// `kernels` are of `corpus`, by name; nothing is compared with the others.
[[nodiscard]] LeakCheck check_leaks(const Corpus& corpus, std::span<const CheckedKernel> kernels);

}  // namespace regraph::learn
