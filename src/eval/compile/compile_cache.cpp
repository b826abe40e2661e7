#include "eval/compile/compile_cache.h"

#include "base/files.h"

#include <cstring>

namespace regraph::compile_internal {

namespace {

// Changes whenever the layout below or the meaning of a field does.
constexpr std::string_view kMagic = "ReGraphCubin 02\n";
constexpr std::size_t kLargestEntry = std::size_t{256} << 20;

void put(std::string& bytes, std::string_view text) {
  const std::uint64_t size = text.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes += text;
}

bool get(std::string_view& bytes, std::string& text) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof(size)) return false;
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes.remove_prefix(sizeof(size));
  if (size > bytes.size()) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

template <typename Structure>
std::string_view raw(const Structure& structure) {
  static_assert(std::is_trivially_copyable_v<Structure>);
  return {reinterpret_cast<const char*>(&structure), sizeof(structure)};
}

template <typename Structure>
bool get_raw(std::string_view& bytes, Structure& structure) {
  std::string text;
  if (!get(bytes, text) || text.size() != sizeof(structure)) return false;
  std::memcpy(&structure, text.data(), sizeof(structure));
  return true;
}

}  // namespace

std::string encode(const CacheEntry& entry) {
  std::string body;
  if (entry.kernel) {
    const CompiledKernel& kernel = *entry.kernel;
    put(body, "kernel");
    put(body, kernel.ptx);
    put(body, {reinterpret_cast<const char*>(kernel.cubin.data()), kernel.cubin.size()});
    put(body, kernel.entry);
    put(body, raw(kernel.resources));
    put(body, kernel.log);
    put(body, raw(kernel.machine_code));
    put(body, raw(kernel.compiler));
  } else {
    put(body, "refusal");
    put(body, entry.refusal);
  }
  return std::string(kMagic) + hash_text(body).hex() + body;
}

std::optional<CacheEntry> decode_cache_entry(std::string_view bytes) {
  constexpr std::size_t kChecksum = 32;
  if (bytes.size() < kMagic.size() + kChecksum || bytes.substr(0, kMagic.size()) != kMagic) {
    return std::nullopt;
  }
  const std::string_view checksum = bytes.substr(kMagic.size(), kChecksum);
  std::string_view body = bytes.substr(kMagic.size() + kChecksum);
  if (hash_text(body).hex() != checksum) return std::nullopt;

  CacheEntry entry;
  std::string kind;
  if (!get(body, kind)) return std::nullopt;
  if (kind == "refusal") {
    if (!get(body, entry.refusal)) return std::nullopt;
    return entry;
  }
  CompiledKernel kernel;
  std::string cubin;
  if (kind != "kernel" || !get(body, kernel.ptx) || !get(body, cubin) || !get(body, kernel.entry) ||
      !get_raw(body, kernel.resources) || !get(body, kernel.log) ||
      !get_raw(body, kernel.machine_code) || !get_raw(body, kernel.compiler) ||
      kernel.compiler > CudaCompiler::nvcc) {
    return std::nullopt;
  }
  kernel.cubin.resize(cubin.size());
  if (!cubin.empty()) std::memcpy(kernel.cubin.data(), cubin.data(), cubin.size());
  entry.kernel = std::move(kernel);
  return entry;
}

std::filesystem::path CompileCache::path(const Hash128& key) const {
  const std::string name = key.hex();
  // Two levels: directories stay small with hundreds of thousands of entries.
  return directory_ / name.substr(0, 2) / (name.substr(2) + ".compiled");
}

std::optional<CacheEntry> CompileCache::find(const Hash128& key) const {
  if (directory_.empty()) return std::nullopt;
  const Result<std::string> bytes = read_file(path(key), kLargestEntry);
  if (!bytes.ok()) return std::nullopt;
  return decode_cache_entry(*bytes);
}

void CompileCache::store(const Hash128& key, const CacheEntry& entry) const {
  if (directory_.empty()) return;
  [[maybe_unused]] const Status ignored = write_file(path(key), encode(entry));
}

}  // namespace regraph::compile_internal
