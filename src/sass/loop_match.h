// Which machine code did which iterations of which PTX loop.
#pragma once

#include "ptx/interpreter.h"
#include "sass/machine_code.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace regraph::sass {

inline constexpr std::int32_t kNone = -1;

// A stretch of machine code that does part of a PTX loop's iterations: a machine loop, or a block
// outside of them. Of code outside all PTX loops, and of loops that were unrolled wholly, all there
// is.
struct Stretch {
  bool loop = false;
  std::map<std::int32_t, int> anchors;  // PTX instruction -> copies
  std::map<std::int32_t, int> lines;    // the same of all that machine instructions were made from
  double share = 1.0;                   // of the PTX loop's iterations
  // Worked out of these once all are there: what is asked for each machine instruction.
  std::unordered_map<std::uint32_t, double> copies;  // how often a PTX block's anchors stand here
  double width = 1.0;                                // the same of the whole loop
};

// Whether `machine` is what one instruction of class `ptx` becomes, so that copies can be counted.
[[nodiscard]] bool is_anchor(OperationClass machine, ptx::InstructionClass ptx);

// References must outlive it. `profile` is of the PTX whose control flow is given.
class LoopMatch {
 public:
  LoopMatch(const MachineCode& code, const ptx::ControlFlow& flow, const ptx::Profile& profile);

  // The PTX instruction that a machine instruction was made from; kNone: unknown.
  [[nodiscard]] const std::vector<std::int32_t>& ptx_instructions() const {
    return ptx_instruction_;
  }
  // Machine blocks that control does not reach, or only on slow paths.
  [[nodiscard]] bool cold(std::uint32_t block) const { return cold_[block]; }
  // How often a PTX instruction or block ran, an average warp.
  [[nodiscard]] double executions(std::int32_t instruction) const;
  [[nodiscard]] double block_executions(std::uint32_t ptx_block) const {
    return ptx_executions_[ptx_block];
  }
  [[nodiscard]] std::uint32_t ptx_block(std::int32_t instruction) const {
    return ptx_.block_of[static_cast<std::size_t>(instruction)];
  }
  [[nodiscard]] bool anchors(std::uint32_t machine, std::int32_t instruction) const;

  // Executions of machine block `block` for each execution of what stands for `instruction` in it:
  // share of the iterations over copies; negative: this instruction says nothing about it.
  [[nodiscard]] double weight(std::uint32_t block, std::int32_t instruction) const;
  // Rounds of the loops around a machine block that one atomic became; 1 outside of such.
  [[nodiscard]] double rounds(std::uint32_t block) const;

 private:
  template <typename Visit>
  void for_each_line(std::uint32_t block, const Visit& visit) const;
  [[nodiscard]] std::int32_t ptx_loop(std::int32_t instruction) const {
    return ptx_.blocks[ptx_block(instruction)].loop;
  }
  [[nodiscard]] bool calls_slow_path(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t stretch_of(std::uint32_t block, std::int32_t loop) const;
  [[nodiscard]] const Stretch* find_stretch(std::uint32_t block, std::int32_t loop) const;
  [[nodiscard]] double unrolled(const Stretch& stretch, std::int32_t loop) const;
  [[nodiscard]] double iterations(std::int32_t loop) const;
  void map_lines();
  void find_cold_blocks();
  void find_atomic_loops();
  void assign_loops();
  void collect_stretches();
  void measure_stretches();
  void share_iterations();

  const MachineCode& code_;
  const ptx::ControlFlow& ptx_;
  const ptx::Profile& profile_;
  std::vector<std::int32_t> ptx_instruction_;  // of machine instructions
  std::vector<double> ptx_executions_;         // of PTX blocks
  std::vector<bool> cold_;                     // of machine blocks
  std::vector<double> rounds_;                 // of machine loops that one atomic became; else 0
  std::vector<std::int32_t> loop_of_;          // of machine blocks: the innermost other loop
  std::vector<std::int32_t> assigned_;         // of machine loops: the PTX loop
  std::map<std::int32_t, std::map<std::uint32_t, Stretch>> stretches_;  // of PTX loops
};

}  // namespace regraph::sass
