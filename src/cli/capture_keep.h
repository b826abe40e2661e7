// "regraph-capture -- ./program": its launches as problem folders.
#pragma once

#include "cli/program.h"
#include "session/kept_program.h"

#include <string>
#include <vector>

namespace regraph::cli {

// What follows "--" on a command line, divided at each "--also --": the commands of several runs.
// Takes it off `arguments`.
[[nodiscard]] std::vector<std::vector<std::string>> take_commands(
    std::vector<std::string>& arguments);

// Captures and says on standard error what was kept. The program's own output follows on standard
// output, unless `quiet`. Returns the exit code.
[[nodiscard]] int capture_keep(const Program& program, const KeepRequest& request, bool quiet);

}  // namespace regraph::cli
