// Makes fat binaries as nvcc does, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <zstd.h>

namespace regraph::capture::test {

template <typename Number>
void put(std::string& bytes, std::size_t at, Number number) {
  bytes.replace(at, sizeof number, reinterpret_cast<const char*>(&number), sizeof number);
}

struct Entry {
  std::uint16_t kind = 1;
  std::uint32_t architecture = 90;
  std::string content;
  std::uint64_t flags = 0;
};

inline std::string packed(const std::string& content) {
  std::string bytes(ZSTD_compressBound(content.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), content.data(), content.size(), 3));
  return bytes;
}

inline std::string entry_bytes(const Entry& entry) {
  std::string payload = (entry.flags & 0x8000) != 0 ? packed(entry.content) : entry.content;
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  payload.resize((payload.size() + 7) / 8 * 8);
  std::string header(64, '\0');
  put(header, 0, entry.kind);
  put(header, 4, std::uint32_t{64});
  put(header, 8, static_cast<std::uint64_t>(payload.size()));
  put(header, 16, bytes);
  put(header, 28, entry.architecture);
  put(header, 40, entry.flags);
  put(header, 56, static_cast<std::uint64_t>(entry.content.size()));
  return header + payload;
}

inline std::string container(const std::string& entries) {
  std::string header(16, '\0');
  put(header, 0, std::uint32_t{0xBA55ED50});
  put(header, 4, std::uint16_t{1});
  put(header, 6, std::uint16_t{16});
  put(header, 8, static_cast<std::uint64_t>(entries.size()));
  return header + entries;
}

}  // namespace regraph::capture::test
