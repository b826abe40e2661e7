// Which paths through a plan's kernels were taken: instructions that ran, and which way their
// conditions went.
#pragma once

#include "ptx/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraph::verify {

class PathSet {
 public:
  // What one instruction did, as bits.
  static constexpr std::uint8_t kRan = 1;
  static constexpr std::uint8_t kFalse = 2;  // a branch not taken, a guard or select that said no
  static constexpr std::uint8_t kTrue = 4;
  static constexpr std::uint8_t kResultFalse = 8;  // a comparison, or logic on predicates, gave no
  static constexpr std::uint8_t kResultTrue = 16;

  // Adds what a run of the launch did whose first instruction is number `first` of the plan's. The
  // profile must be of a run with RunOptions::record_paths.
  void add(const ptx::Profile& profile, std::size_t first = 0);
  void add(const PathSet& other);
  // Adds bits of one instruction of the plan.
  void add_way(std::size_t instruction, std::uint8_t bits);

  // What is here and not in `other`.
  [[nodiscard]] PathSet without(const PathSet& other) const;
  [[nodiscard]] bool empty() const;
  // By instruction of the plan's launches, one launch after the other; may end early.
  [[nodiscard]] const std::vector<std::uint8_t>& instructions() const { return instructions_; }

  bool operator==(const PathSet&) const = default;

 private:
  std::vector<std::uint8_t> instructions_;
};

}  // namespace regraph::verify
