// A kernel run on given data on the interpreter, and what it leaves.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "session/opened_problem.h"
#include "session/session_error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph {

// Runs the original once, at the first bench size, and writes NAME.out.npy into `folder` for each
// output NAME. Inputs are what NAME.npy in that folder holds; one without such a file is drawn from
// the manifest with `seed`. Outputs begin as poison. Returns the files that were written. Errors:
// usage (a file that cannot be read or does not fit), unusable_kernel (a fault), internal,
// interrupted.
[[nodiscard]] Result<std::vector<std::string>, SessionError> run_on_data(
    const OpenedProblem& opened, const std::filesystem::path& folder, std::uint64_t seed,
    const Cancellation& cancellation);

}  // namespace regraph
