// "regraph-capture -- ./program": its launches as problem folders.
#pragma once

#include "cli/program.h"
#include "session/kept_program.h"

#include <string>

namespace regraph::cli {

// Captures and says on standard error what was kept. The program's own output follows on standard
// output, unless `quiet`. `report`: file for it as JSON; empty: none. Returns the exit code.
[[nodiscard]] int capture_keep(const Program& program, const KeepRequest& request,
                               const std::string& report, bool quiet);

}  // namespace regraph::cli
