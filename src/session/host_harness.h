// The program that runs a sequential function of the user's once. Used by host_function.
#pragma once

#include "session/problem_source.h"

#include <string>

namespace regraph {

// How its process ends where memory beside a buffer was written.
inline constexpr int kDamaged = 3;

// Its text, in C++, or C for a file of that. It reads the parameters from its standard input and
// writes what the function leaves in its outputs to its standard output; with an argument, the best
// of several times instead.
[[nodiscard]] std::string host_harness(const SequentialSource& source, const std::string& file);

}  // namespace regraph
