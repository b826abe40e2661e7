// The identity of compiled device code.
#pragma once

#include "base/hash.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace regraph::compile_internal {

// Hashes what the machine executes for the kernel `entry`: its instructions, those of functions it
// may call, the relocations in them and constant data. Names, line tables and register counts have
// no part in it, so kernels that differ only in these are equal. Nothing when the bytes are not a
// well-formed cubin or lack the kernel.
[[nodiscard]] std::optional<Hash128> hash_machine_code(std::span<const std::byte> cubin,
                                                       std::string_view entry);

}  // namespace regraph::compile_internal
