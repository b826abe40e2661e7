#include "fleet/nats/packing.h"

#include <fmt/format.h>

#include <memory>
#include <zstd.h>

namespace regraph::fleet {
namespace {

constexpr char kRaw = 'r';
constexpr char kZstd = 'z';
constexpr int kPackingLevel = 3;
// Of the memory that a frame may ask for; the level above needs an eighth of it.
constexpr int kLargestWindowLog = 24;
constexpr std::size_t kStep = std::size_t{64} << 10;

Error damaged_packing() {
  return fail(ErrorCode::parse, "packed bytes are damaged or too large");
}

}  // namespace

std::string pack(std::string_view bytes) {
  std::string packed(1 + ZSTD_compressBound(bytes.size()), kZstd);
  const std::size_t size = ZSTD_compress(packed.data() + 1, packed.size() - 1, bytes.data(),
                                         bytes.size(), kPackingLevel);
  if (ZSTD_isError(size) == 0 && size < bytes.size()) {
    packed.resize(1 + size);
    return packed;
  }
  packed.assign(1, kRaw);
  packed.append(bytes);
  return packed;
}

Result<std::string> pack_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return pack(text);
  return fail(ErrorCode::resource,
              fmt::format("{} bytes are more than the {} that travel", text.size(), most));
}

Result<std::string> unpack(std::string_view packed, std::size_t most) {
  if (packed.empty()) return damaged_packing();
  const std::string_view body = packed.substr(1);
  if (packed.front() == kRaw) {
    if (body.size() > most) return damaged_packing();
    return std::string(body);
  }
  if (packed.front() != kZstd) return damaged_packing();
  // Step by step: what the frame says of its size is not believed.
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                        &ZSTD_freeDCtx);
  if (context == nullptr) return fail(ErrorCode::resource, "out of memory");
  (void)ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kLargestWindowLog);
  std::string bytes;
  std::string step(kStep, '\0');
  ZSTD_inBuffer in{.src = body.data(), .size = body.size(), .pos = 0};
  while (true) {
    ZSTD_outBuffer out{.dst = step.data(), .size = step.size(), .pos = 0};
    const std::size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0 || out.pos > most - bytes.size()) return damaged_packing();
    bytes.append(step.data(), out.pos);
    if (left == 0) break;
    // It wants more than there is.
    if (in.pos == in.size && out.pos < out.size) return damaged_packing();
  }
  // One frame and nothing behind it.
  if (in.pos != in.size) return damaged_packing();
  return bytes;
}

}  // namespace regraph::fleet
