#include "base/utf8.h"

#include <cstdint>

namespace regraph {

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::uint8_t first = byte(at);
    if (first < 0x80) {
      ++at;
      continue;
    }
    std::size_t further = 0;
    std::uint8_t low = 0x80;  // bounds of the second byte
    std::uint8_t high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
      further = 1;
    } else if (first >= 0xE0 && first <= 0xEF) {
      further = 2;
      if (first == 0xE0) low = 0xA0;
      if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
      further = 3;
      if (first == 0xF0) low = 0x90;
      if (first == 0xF4) high = 0x8F;
    } else {
      return at;
    }
    if (text.size() - at <= further) return at;
    if (byte(at + 1) < low || byte(at + 1) > high) return at;
    for (std::size_t next = 2; next <= further; ++next) {
      if ((byte(at + next) & 0xC0) != 0x80) return at;
    }
    at += further + 1;
  }
  return std::nullopt;
}

}  // namespace regraph
