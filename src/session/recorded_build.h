// A build of the user's, whose calls of nvcc are written down.
#pragma once

#include "base/cancellation.h"
#include "session/compile_commands.h"
#include "session/kept_program.h"
#include "session/session_error.h"

#include <string>
#include <vector>

namespace regraph {

// Runs the shell command, with nvcc told to link the runtime that programs at `place` need. Calls
// of the nvcc that PATH leads to are recorded: a script of that name stands in front of it. Builds
// that name nvcc by its path work and record nothing. Errors: usage, with the build's words;
// interrupted.
[[nodiscard]] Result<std::vector<CompileCommand>, SessionError> run_recorded_build(
    const std::string& command, CapturePlace place, const Cancellation& cancellation);

}  // namespace regraph
