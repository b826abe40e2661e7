// Joins a kernel and the device functions it may call into one function, so that everything after
// (control flow, register allocation, slices, the model) knows one list of instructions.
//
// A segment is one of the joined functions. The kernel comes first. Variables of a segment's
// parameter and local spaces make up its frame in local memory: results, parameters, then the rest.
#pragma once

#include "base/result.h"
#include "ptx/parse/module.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace regraph::ptx {

struct Segment {
  std::uint32_t function = 0;           // into Module::functions
  std::uint32_t first_instruction = 0;  // of the joined function
  std::uint32_t last_instruction = 0;   // one past
  std::uint32_t first_register = 0;
  std::uint64_t frame_bytes = 0;  // set by the decoder
  // The function may be entered again while it runs: registers must be saved at its calls.
  bool recursive = false;
  std::vector<std::uint32_t> callees;  // segments it may call
};

struct LinkedFunction {
  // The module's own function when nothing is called, else the joined one.
  std::shared_ptr<const Function> function;
  std::vector<Segment> segments;
  // Segments whose functions' addresses are taken: what an indirect call may reach.
  std::vector<std::uint32_t> addressed;
};

// What an instruction calls.
struct CallTarget {
  enum class Kind : std::uint8_t { direct, indirect, external };
  Kind kind = Kind::external;
  std::uint32_t function = 0;          // direct: into Module::functions
  std::uint32_t target = 0;            // index of the operand that names it
  std::string_view name;               // direct and external
  const Operand* arguments = nullptr;  // a list, or null
  const Operand* results = nullptr;
};
// Takes `call (results), name, (arguments)` apart; every part but the name may be missing. Error:
// parse.
[[nodiscard]] Result<CallTarget> call_target(const Module& module, const Function& function,
                                             const Instruction& instruction);

// The index of the function with a body among those of the same name; `index` when there is none.
[[nodiscard]] std::uint32_t function_with_body(const Module& module, std::uint32_t index);

// Error: parse when a call is malformed, unsupported when there are too many instructions.
[[nodiscard]] Result<LinkedFunction> link_functions(const std::shared_ptr<const Module>& module,
                                                    const Function& entry);

}  // namespace regraph::ptx
