// Basic blocks, immediate post-dominators (where diverged lanes meet again) and natural loops.
#pragma once

#include "ptx/parse/module.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraph::ptx {

struct BasicBlock {
  std::uint32_t first = 0;  // instructions [first, last)
  std::uint32_t last = 0;
  std::vector<std::uint32_t> successors;
  std::uint32_t reconvergence = 0xffffffffU;  // immediate post-dominator; ~0: only the exit
  int loop_depth = 0;
  std::int32_t loop = -1;  // the innermost natural loop it is in, into ControlFlow::loops
};

struct NaturalLoop {
  std::uint32_t header = 0;  // block
  std::int32_t parent = -1;  // the smallest loop around it
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;
  std::vector<NaturalLoop> loops;       // one a header
  std::vector<std::uint32_t> block_of;  // by instruction

  // Whether loop `inner` is `outer` or lies in it. -1 is the code around all loops.
  [[nodiscard]] bool inside(std::int32_t inner, std::int32_t outer) const {
    while (inner != outer && inner >= 0)
      inner = loops[static_cast<std::size_t>(inner)].parent;
    return inner == outer;
  }
};

// What an instruction does to the flow of control.
struct FlowEffect {
  enum class Kind : std::uint8_t { none, branch, exit };
  Kind kind = Kind::none;
  bool conditional = false;
  std::vector<std::uint32_t> targets;  // instruction indices
};

// `entries` are the first instructions of the functions that make up the code, the kernel's first.
// `effects` has one entry an instruction; a target may equal their number (the end: an exit).
// Linear in practice: iterative data flow over blocks in post-order.
[[nodiscard]] ControlFlow analyse_control_flow(const std::vector<FlowEffect>& effects,
                                               const std::vector<std::uint32_t>& entries);

}  // namespace regraph::ptx
