#include "eval/gpu/timing/present_buffer.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; not in Debian 12's headers of every libc
#endif

namespace regraph::gpu {
namespace {

// Bytes that a thread asks for at once, and below which no thread is worth it.
constexpr std::size_t kPart = std::size_t{32} << 20;

}  // namespace

void make_present(std::span<std::byte> buffer) {
  if (buffer.size() < 2 * kPart) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // Whole pages inside the buffer: its ends are touched soon enough.
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(buffer.data()) % page;
  std::span<std::byte> pages = buffer.subspan(beyond == 0 ? 0 : page - beyond);
  pages = pages.first(pages.size() / page * page);
  const std::size_t parts = (pages.size() + kPart - 1) / kPart;
  tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t part) {
    const std::size_t first = part * kPart;
    // Fails where the system does not know it or memory is short: nothing is lost by that.
    (void)madvise(pages.data() + first, std::min(kPart, pages.size() - first), MADV_POPULATE_WRITE);
  });
}

std::vector<std::byte> present_buffer(std::size_t bytes) {
  std::vector<std::byte> buffer;
  buffer.reserve(bytes);
  make_present({buffer.data(), bytes});
  buffer.resize(bytes);
  return buffer;
}

}  // namespace regraph::gpu
