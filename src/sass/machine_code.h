// The machine code of one kernel and of the functions beside it, decoded.
#pragma once

#include "base/result.h"
#include "ptx/decode/control_flow.h"
#include "sass/instruction.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::sass {

inline constexpr std::uint32_t kNoInstruction = 0xffffffffU;

// A stretch of code with a name: the kernel, a device function, or a subroutine of ptxas' own such
// as a 64-bit division.
struct CodeFunction {
  std::string name;
  std::uint32_t first = 0;  // instructions [first, last)
  std::uint32_t last = 0;
  bool internal = false;  // made by ptxas: no line of the PTX stands for it
  // Handles operands that ordinary numbers do not have (denormals, infinities): taken as never run.
  bool slow_path = false;
};

struct CodeInstruction {
  Instruction what;
  int ptx_line = 0;                       // 0: unknown, or in an internal function
  std::uint32_t target = kNoInstruction;  // of a branch or direct call
};

struct MachineCode {
  int architecture = 0;                       // 80, 90, 100
  std::vector<CodeInstruction> instructions;  // the kernel's first
  std::vector<CodeFunction> functions;        // in order, the kernel's first; they fill all
  // Blocks and loops; a call goes on behind itself. Functions are entries of their own.
  ptx::ControlFlow flow;

  // The function an instruction belongs to.
  [[nodiscard]] const CodeFunction& function_of(std::uint32_t instruction) const;
};

// Reads the kernel `entry` out of a cubin, and the device functions that are in it. Errors: parse,
// for bytes that are no cubin, that lack the kernel or its PTX lines, or of an architecture whose
// encoding is not known.
[[nodiscard]] Result<MachineCode> read_machine_code(std::span<const std::byte> cubin,
                                                    std::string_view entry);

}  // namespace regraph::sass
