#include "base/hash.h"

#include <xxhash.h>

#include <cstring>

namespace regraph {

std::string Hash128::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(32);
  for (const std::uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text.push_back(kDigits[(half >> shift) & 0xF]);
    }
  }
  return text;
}

Hash128 hash_bytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

Hash128 hash_text(std::string_view text) {
  return hash_bytes(std::as_bytes(std::span(text.data(), text.size())));
}

Hasher& Hasher::add(std::string_view field) {
  add(static_cast<std::uint64_t>(field.size()));
  buffer_.append(field);
  return *this;
}

Hasher& Hasher::add(std::uint64_t field) {
  char bytes[sizeof(field)];
  std::memcpy(bytes, &field, sizeof(field));
  buffer_.append(bytes, sizeof(field));
  return *this;
}

Hash128 Hasher::finish() const {
  return hash_text(buffer_);
}

}  // namespace regraph
