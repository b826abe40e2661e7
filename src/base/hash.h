// 128-bit content hashing (XXH3). Identities of candidates, cache keys and cubin texts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace regraph {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  auto operator<=>(const Hash128&) const = default;

  // Returns 32 lower-case hexadecimal digits, high half first.
  [[nodiscard]] std::string hex() const;
};

// Returns the XXH3-128 hash of the bytes. Stable across machines and runs.
[[nodiscard]] Hash128 hash_bytes(std::span<const std::byte> bytes);
[[nodiscard]] Hash128 hash_text(std::string_view text);

// Hashes a sequence of fields so that ("ab","c") and ("a","bc") differ. Order matters.
class Hasher {
 public:
  Hasher& add(std::string_view field);
  Hasher& add(std::uint64_t field);
  [[nodiscard]] Hash128 finish() const;

 private:
  std::string buffer_;
};

}  // namespace regraph

template <>
struct std::hash<regraph::Hash128> {
  std::size_t operator()(const regraph::Hash128& hash) const noexcept { return hash.low; }
};
