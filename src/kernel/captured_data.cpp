#include "kernel/captured_data.h"

#include "base/files.h"
#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>
#include <zstd.h>

namespace regraph {
namespace {

constexpr int kCompressionLevel = 1;  // 0.27 of the bytes at disk speed
constexpr std::string_view kEnding = ".zst";

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

// Files that several buffers lie in are read once.
class Loader {
 public:
  explicit Loader(const std::filesystem::path& folder) : folder_(folder) {}

  Status load(CapturedContent& content, const std::string& argument, std::uint64_t wanted) {
    const std::filesystem::path path = folder_ / content.file;  // an absolute one stays
    SharedBytes& file = files_[path.string()];
    if (!file) {
      auto read = read_captured(path);
      if (!read.ok()) return read.error();
      file = std::move(*read);
    }
    if (content.offset > file->size() || wanted > file->size() - content.offset) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: '{}' needs {} bytes from byte {} on, {} were captured",
                              path.string(), argument, wanted, content.offset, file->size()));
    }
    const auto from = file->begin() + static_cast<std::ptrdiff_t>(content.offset);
    content.bytes = content.offset == 0 && wanted == file->size()
                        ? file
                        : std::make_shared<const std::vector<std::byte>>(
                              from, from + static_cast<std::ptrdiff_t>(wanted));
    content.file = std::filesystem::absolute(path).string();
    return {};
  }

 private:
  const std::filesystem::path folder_;
  std::map<std::string, SharedBytes> files_;
};

}  // namespace

Result<std::shared_ptr<const std::vector<std::byte>>> read_captured(
    const std::filesystem::path& path) {
  const auto damaged = [&](std::string_view why) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: {}; capture the program once more", path.string(), why));
  };
  const auto packed = read_file(path, kMostCapturedBytes);
  if (!packed.ok()) return packed.error();
  const auto bytes = ZSTD_getFrameContentSize(packed->data(), packed->size());
  if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR ||
      bytes > kMostCapturedBytes) {
    return damaged("it does not hold captured data");
  }
  auto content = std::make_shared<std::vector<std::byte>>(bytes);
  const std::size_t read =
      ZSTD_decompress(content->data(), content->size(), packed->data(), packed->size());
  if (ZSTD_isError(read) != 0 || read != bytes) return damaged("the data are damaged or truncated");
  if (path.filename().string() != hash_bytes(*content).hex() + std::string(kEnding))
    return damaged("the data are not those that were captured");
  return SharedBytes(std::move(content));
}

Result<std::string> store_captured(const std::filesystem::path& folder,
                                   std::span<const std::byte> bytes) {
  std::string name = hash_bytes(bytes).hex() + std::string(kEnding);
  const std::filesystem::path path = folder / name;
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) return name;
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0)
    return fail(ErrorCode::io, fmt::format("{}: {}", path.string(), ZSTD_getErrorName(size)));
  packed.resize(size);
  if (Status status = write_file(path, packed); !status.ok()) return status.error();
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, failed);
  if (failed) return fail(ErrorCode::io, fmt::format("{}: {}", path.string(), failed.message()));
  return name;
}

Status load_captured(Problem& problem, const std::filesystem::path& folder) {
  Loader loader(folder);
  for (CapturedCase& one : problem.captured) {
    for (auto& [name, content] : one.contents) {
      const auto argument = std::ranges::find(problem.arguments, name, &Argument::name);
      if (argument == problem.arguments.end()) continue;  // make_problem refuses it
      auto wanted = static_cast<std::uint64_t>(argument->record_bytes);
      if (argument->is_pointer) {
        const auto count = argument->element_count(one.symbols);
        if (!count.ok()) return count.error();
        wanted = static_cast<std::uint64_t>(*count) * size_in_bytes(argument->type);
      }
      if (Status status = loader.load(content, name, wanted); !status.ok()) return status;
    }
  }
  return {};
}

}  // namespace regraph
