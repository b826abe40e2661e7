// The parameter block of a launch.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "ptx/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace regraph::verify {

// Packs one value an argument: `addresses[i]` for pointers (of those without memory of their own it
// is worked out), its bytes for a structure, with the pointers in it, the given value or the size
// symbol of its name for scalars. `passed` is what a launch passes, as Launch::arguments. Errors:
// invalid_argument when the kernel's parameters are not the problem's or a value does not fit its
// type, not_found for a scalar without a value.
[[nodiscard]] Result<std::vector<std::byte>> pack_parameters(
    const Problem& problem, const ptx::Program& program, const std::vector<std::string>& passed,
    const Symbols& symbols, std::span<const std::uint64_t> addresses);

// Stores what a scalar is passed at these sizes, in at most 8 bytes. Errors as pack_parameters.
[[nodiscard]] Status put_scalar(const Argument& argument, const Symbols& symbols,
                                std::byte* target);

// Whether the host fills any __constant__ variable.
[[nodiscard]] bool has_symbols(const Problem& problem);

// Fills the __constant__ variable of the argument's name. One that the compiler dropped because the
// kernel does not use it is none of our business.
[[nodiscard]] Status set_symbol(const Argument& argument, std::span<const std::byte> content,
                                ptx::ModuleMemory& variables);

}  // namespace regraph::verify
