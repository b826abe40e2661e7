// Files that the user fills buffers from: `init: weights.npy`, `init: {file: data.bin}`.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"

#include <filesystem>

namespace regraph {

// Reads the file of every input that has one. Relative names are in `folder`, and all are absolute
// afterwards; the hash of what was read is kept with them, and compared where there is one already.
// A name that ends in .npy is a NumPy file: the type of its elements must be the buffer's, in C
// order; others hold the bytes alone. There must be as many elements as the buffer has at the
// largest bench size, and it may be no longer at any test size: there it takes the first ones.
// Errors name argument, file and reason: not_found, io, resource, invalid_argument.
[[nodiscard]] Status load_input_files(Problem& problem, const std::filesystem::path& folder);

}  // namespace regraph
