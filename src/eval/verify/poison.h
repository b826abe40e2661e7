// What buffers hold before a kernel writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace regraph::verify {

// Random words, a pure function of (seed, stream, position); `invert` flips every bit.
void fill_with_poison(std::span<std::byte> buffer, std::uint64_t seed, std::uint64_t stream,
                      bool invert);

}  // namespace regraph::verify
