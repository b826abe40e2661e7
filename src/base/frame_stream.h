// A service process' own end of the conversation (service_process.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace regraph {

// Waits for the next message on a blocking descriptor. Nothing at its end, after a message that was
// broken off, and for one beyond ServiceProcess::kLargestMessage.
[[nodiscard]] std::optional<std::string> read_frame(int descriptor);

// Writes a message and its length. False where nobody reads them any more.
[[nodiscard]] bool write_frame(int descriptor, std::string_view message);

}  // namespace regraph
