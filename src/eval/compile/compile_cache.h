// Compile results on disk, by content hash. Several processes may share a directory.
#pragma once

#include "base/hash.h"
#include "eval/compile/compiler.h"

#include <filesystem>
#include <optional>
#include <string>

namespace regraph::compile_internal {

// What a compile came to: a kernel, or the compiler's refusal, which is as repeatable.
struct CacheEntry {
  std::optional<CompiledKernel> kernel;
  std::string refusal;  // when there is no kernel
};

// The bytes of an entry with a checksum, and back; nothing when they are damaged or of another
// format.
[[nodiscard]] std::string encode(const CacheEntry& entry);
[[nodiscard]] std::optional<CacheEntry> decode_cache_entry(std::string_view bytes);

class CompileCache {
 public:
  // An empty directory turns the cache off.
  explicit CompileCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Nothing when absent, unreadable or damaged. Thread-safe.
  [[nodiscard]] std::optional<CacheEntry> find(const Hash128& key) const;
  // Best effort: a full disk costs speed, not correctness. Thread-safe; atomic across processes.
  void store(const Hash128& key, const CacheEntry& entry) const;

 private:
  [[nodiscard]] std::filesystem::path path(const Hash128& key) const;
  std::filesystem::path directory_;
};

}  // namespace regraph::compile_internal
