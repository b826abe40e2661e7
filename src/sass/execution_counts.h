// How often each machine instruction runs, from how often each PTX instruction did.
//
// The line table says which PTX line a machine instruction was made from, but ptxas unrolls loops,
// with remainder loops behind them, and one PTX instruction may become twenty. Anchors tell copies
// from expansions: PTX instructions that become exactly one machine instruction of the same kind
// (fused multiply-adds, loads, stores, ...). A PTX block that ran e times and whose anchors stand n
// times in the stretch of machine code that did a share f of the loop's iterations made each block
// of that stretch run e * f / n times. Of several stretches for one loop (unrolled 16 times, 4
// times, once) the widest takes as many iterations as it can, then the next.
#pragma once

#include "ptx/interpreter.h"
#include "sass/machine_code.h"

#include <cstdint>
#include <vector>

namespace regraph::sass {

struct ExecutionCounts {
  // Of each machine instruction, an average warp, whether its guard held or not.
  std::vector<double> executions;
  std::vector<double> active;            // only those whose guard held
  std::vector<double> block_executions;  // the same of each block of MachineCode::flow
  // The PTX instruction each was made from, an index into the profile; -1: unknown.
  std::vector<std::int32_t> ptx_instruction;
  // Share of executed memory instructions whose PTX line holds an access of the same kind; 1 when
  // there are none in PTX either, 0 when nothing could be counted. Much less means that the line
  // table was not understood.
  double matched_memory = 1.0;
  // Arithmetic instructions executed for each that was executed in PTX, of the worse of FP32 and
  // special functions; 1 when PTX has none. ptxas expands and now and then drops some; much less
  // than 1 means that a loop was lost.
  double carried_out = 1.0;
  // Share of executed instructions whose operation is not known.
  double unknown = 0.0;
};

// `profile` must be of `program`, and both of the PTX that `code` was made from.
[[nodiscard]] ExecutionCounts count_executions(const MachineCode& code, const ptx::Program& program,
                                               const ptx::Profile& profile);

}  // namespace regraph::sass
