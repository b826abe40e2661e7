#include "eval/verify/path_set.h"

#include <algorithm>

namespace regraph::verify {

void PathSet::add(const ptx::Profile& profile, std::size_t first) {
  const std::size_t end = first + profile.instructions.size();
  if (instructions_.size() < end) instructions_.resize(end);
  for (std::size_t i = first; i < end; ++i) {
    const ptx::InstructionProfile& one = profile.instructions[i - first];
    std::uint8_t bits = one.warp_executions > 0 ? kRan : 0;
    if (one.condition_was_false) bits |= kFalse;
    if (one.condition_was_true) bits |= kTrue;
    if (one.result_was_false) bits |= kResultFalse;
    if (one.result_was_true) bits |= kResultTrue;
    instructions_[i] |= bits;
  }
}

void PathSet::add_way(std::size_t instruction, std::uint8_t bits) {
  if (instructions_.size() <= instruction) instructions_.resize(instruction + 1, 0);
  instructions_[instruction] |= bits;
}

void PathSet::add(const PathSet& other) {
  if (instructions_.size() < other.instructions_.size()) {
    instructions_.resize(other.instructions_.size());
  }
  for (std::size_t i = 0; i < other.instructions_.size(); ++i)
    instructions_[i] |= other.instructions_[i];
}

PathSet PathSet::without(const PathSet& other) const {
  PathSet left = *this;
  const std::size_t common = std::min(instructions_.size(), other.instructions_.size());
  for (std::size_t i = 0; i < common; ++i) {
    left.instructions_[i] &= static_cast<std::uint8_t>(~other.instructions_[i]);
  }
  return left;
}

bool PathSet::empty() const {
  return std::all_of(instructions_.begin(), instructions_.end(),
                     [](std::uint8_t bits) { return bits == 0; });
}

}  // namespace regraph::verify
