// "regraph-capture -- ./program": its launches as problem folders.
#pragma once

#include "cli/program.h"
#include "session/kept_program.h"

namespace regraph::cli {

// Captures and says on standard error what was kept. The program's own output follows on standard
// output, unless `quiet`. Returns the exit code.
[[nodiscard]] int capture_keep(const Program& program, const KeepRequest& request, bool quiet);

}  // namespace regraph::cli
