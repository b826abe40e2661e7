// Large buffers whose memory is there before they are filled.
//
// A page of memory is made when it is first touched, by the thread that touches it: half a second a
// gigabyte, which a large vector's own zeros cost. Many threads ask for pages much faster.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace regraph::gpu {

// Asks the system for all of the buffer's pages, from several threads where it is large. Where the
// system cannot (Linux before 5.14), they come as they are touched. Contents stay as they are.
void make_present(std::span<std::byte> buffer);

// `bytes` zeros.
[[nodiscard]] std::vector<std::byte> present_buffer(std::size_t bytes);

}  // namespace regraph::gpu
