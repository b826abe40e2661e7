#include "eval/verify/poison.h"

#include "base/random.h"

#include <algorithm>
#include <cstring>

namespace regraph::verify {

void fill_with_poison(std::span<std::byte> buffer, std::uint64_t seed, std::uint64_t stream,
                      bool invert) {
  const std::uint64_t flip = invert ? ~std::uint64_t{0} : 0;
  for (std::size_t offset = 0; offset < buffer.size(); offset += sizeof(std::uint64_t)) {
    const std::uint64_t word = random_bits(seed, stream, offset) ^ flip;
    std::memcpy(buffer.data() + offset, &word, std::min(sizeof(word), buffer.size() - offset));
  }
}

}  // namespace regraph::verify
