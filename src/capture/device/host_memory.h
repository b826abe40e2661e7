// How much memory the machine has to spare, for device memory that lies in it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace regraph::capture {

// Bytes that processes may still take without others being killed for them: what the system counts
// as available, or less where this process's control group has a limit. `root` stands before the
// paths of the files that say so; what cannot be read is no limit.
[[nodiscard]] std::uint64_t spare_host_bytes(const std::filesystem::path& root = "/");

}  // namespace regraph::capture
