// The run database as the page reads it: by the names of columns, without locking the run.
// Internal.
#pragma once

#include "base/result.h"
#include "report/page/run_files.h"

#include <filesystem>

namespace regraph {

// Fills in what `files` has of the database. Errors: parse (damaged, or no run database), io.
[[nodiscard]] Status read_run_rows(const std::filesystem::path& path, RunFiles& files);

}  // namespace regraph
