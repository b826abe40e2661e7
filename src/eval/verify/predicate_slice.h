// What decides a condition of a kernel: the instructions behind it, and its value for other sizes,
// where sizes and scalars alone decide it.
#pragma once

#include "ptx/decode/def_use.h"
#include "ptx/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace regraph::verify {

// The most that a condition depends on.
enum class DependsOn : std::uint8_t {
  parameters,  // and on the launch's extents: the same for all threads
  threads,     // also on which thread or block it is, or on how often a loop ran
  data,        // also on what memory holds, or on other threads
};

// Not thread-safe.
class PredicateSlice {
 public:
  // Of the result of an instruction of the program's kernel, whose definitions are given. The
  // program must outlive the slice.
  PredicateSlice(const ptx::Program& program, const ptx::DefinitionTable& definitions,
                 std::size_t instruction);

  [[nodiscard]] DependsOn depends_on() const { return depends_on_; }

  // Whether the condition holds for these parameters (as packed for the launch) and extents, where
  // parameters decide it; nothing where it takes an operation that is not known here.
  [[nodiscard]] std::optional<bool> holds(std::span<const std::byte> parameters, const Dim3& grid,
                                          const Dim3& block);

 private:
  void collect(const ptx::DefinitionTable& definitions, std::size_t instruction);

  const ptx::Program& program_;
  DependsOn depends_on_ = DependsOn::parameters;
  std::vector<std::size_t> order_;                 // instructions, those before their users
  std::map<std::uint32_t, std::uint64_t> values_;  // of registers
};

}  // namespace regraph::verify
