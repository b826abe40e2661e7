// Options that say which kernel a program works on, and for which device.
#pragma once

#include "session/session_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace regraph::cli {

// --manifest, --kernel, --define, --include-dir, --size, --block.
void add_problem_options(CLI::App& app, ProblemOptions& problem);
// --device, --evaluator.
void add_device_options(CLI::App& app, SessionOptions& session);

}  // namespace regraph::cli
