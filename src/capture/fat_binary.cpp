#include "capture/fat_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <zstd.h>

namespace regraph::capture {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::size_t kContainerHeader = 16;
constexpr std::size_t kEntryHeader = 64;
constexpr std::size_t kAlignment = 8;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kElf = 2;
constexpr std::uint64_t kZstd = 0x8000;
constexpr std::uint64_t kLz4 = 0x2000;

// A number at an offset that is known to lie inside.
template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

Error damaged(std::size_t place, const char* what) {
  return fail(ErrorCode::parse, fmt::format("device code, byte {}: {}", place, what));
}

// What stands in a packed or plain payload.
void unpack(std::span<const std::byte> payload, std::uint64_t flags, std::uint64_t content_bytes,
            DeviceImage& image) {
  if ((flags & kLz4) != 0) {
    image.not_read = "it is packed with LZ4 (nvcc --compress-mode=speed)";
    return;
  }
  if ((flags & kZstd) == 0) {
    image.content.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
    return;
  }
  if (content_bytes > kLargestImage) {
    image.not_read = fmt::format("it says that it has {} bytes", content_bytes);
    return;
  }
  image.content.resize(content_bytes);
  const std::size_t unpacked =
      ZSTD_decompress(image.content.data(), image.content.size(), payload.data(), payload.size());
  if (ZSTD_isError(unpacked) == 0 && unpacked == content_bytes) return;
  image.content.clear();
  image.not_read = "it does not unpack";
}

// One entry; nothing for kinds that nobody asks for.
std::optional<DeviceImage> read_entry(std::span<const std::byte> entry, std::size_t header,
                                      std::size_t padded) {
  DeviceImage image;
  const auto kind = number_at<std::uint16_t>(entry, 0);
  if (kind != kPtx && kind != kElf) return std::nullopt;
  image.kind = kind == kPtx ? DeviceImage::Kind::ptx : DeviceImage::Kind::machine_code;
  image.architecture = static_cast<int>(number_at<std::uint32_t>(entry, 28) & 0xffff);
  const auto flags = number_at<std::uint64_t>(entry, 40);
  const std::size_t packed = number_at<std::uint32_t>(entry, 16);
  const bool is_packed = (flags & (kZstd | kLz4)) != 0;
  const std::size_t bytes = is_packed ? std::min(packed, padded) : padded;
  unpack(entry.subspan(header, bytes), flags, number_at<std::uint64_t>(entry, 56), image);
  if (image.kind == DeviceImage::Kind::ptx) {
    const std::size_t end = image.content.find('\0');
    if (end != std::string::npos) image.content.resize(end);
  }
  return image;
}

}  // namespace

Result<std::vector<DeviceImage>> read_fat_binaries(std::span<const std::byte> bytes) {
  std::vector<DeviceImage> images;
  std::size_t at = 0;
  while (at + kContainerHeader <= bytes.size()) {
    if (number_at<std::uint32_t>(bytes, at) != kMagic) return damaged(at, "no fat binary");
    const std::size_t header = number_at<std::uint16_t>(bytes, at + 6);
    const auto size = number_at<std::uint64_t>(bytes, at + 8);
    if (header < kContainerHeader || header > bytes.size() - at ||
        size > bytes.size() - at - header) {
      return damaged(at, "the fat binary is cut short");
    }
    const std::size_t end = at + header + size;
    at += header;
    while (at + kEntryHeader <= end) {
      const std::size_t entry_header = number_at<std::uint32_t>(bytes, at + 4);
      const auto padded = number_at<std::uint64_t>(bytes, at + 8);
      if (entry_header < kEntryHeader || entry_header > end - at ||
          padded > end - at - entry_header) {
        return damaged(at, "an image is cut short");
      }
      auto image = read_entry(bytes.subspan(at), entry_header, padded);
      if (image) images.push_back(std::move(*image));
      at += entry_header + padded;
    }
    at = (end + kAlignment - 1) / kAlignment * kAlignment;
  }
  return images;
}

}  // namespace regraph::capture
