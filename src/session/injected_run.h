// A program run on the GPU that is here, as it is, while a keeper looks on.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "capture/device/capture_program.h"
#include "capture/device/launch_observer.h"
#include "session/installation.h"
#include "session/session_error.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace regraph {

struct InjectedRun {
  capture::ProgramEnd end;
  std::map<std::string, std::uint64_t> launches;  // by symbol
  std::vector<std::string> notes;
};

// Whether this machine has a GPU, as far as devices of its driver say so.
[[nodiscard]] bool has_gpu();

// Runs `command` with capture/injection loaded by the driver; what it writes goes to `output`, too.
// Errors: usage (there is no such program), interrupted, internal.
[[nodiscard]] Result<InjectedRun, SessionError> run_injected(
    const std::vector<std::string>& command, const std::filesystem::path& output,
    double wall_seconds, const Installation& installation, capture::LaunchObserver& observer,
    const Cancellation& cancellation);

}  // namespace regraph
