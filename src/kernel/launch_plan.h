// How a candidate is launched: blocks are concrete numbers, grids are expressions, so one candidate
// runs on every problem size.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "kernel/expression.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regraph {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const {
    return std::uint64_t{x} * std::uint64_t{y} * std::uint64_t{z};
  }
  bool operator==(const Dim3&) const = default;
};

struct Launch {
  std::string kernel;                                 // name of the __global__ function
  Dim3 block;                                         // threads
  std::array<IntegerExpression, 3> grid = {1, 1, 1};  // blocks, over sizes and bx, by, bz
  IntegerExpression dynamic_shared_bytes = 0;
  bool operator==(const Launch&) const = default;
};

// A launch with every expression evaluated for one problem size.
struct ConcreteLaunch {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared_bytes = 0;
};

struct LaunchPlan {
  std::vector<Launch> launches;  // in order, on one stream; one entry in the common case
  bool operator==(const LaunchPlan&) const = default;

  // Canonical text of the plan; equal plans have equal texts.
  [[nodiscard]] std::string text() const;
};

// Evaluates the launch for `sizes` (bx, by, bz are added from the block). Errors: an unknown
// symbol, a grid extent < 1 or beyond CUDA's limits (x 2^31-1, y and z 65535), a block beyond 1024
// threads.
[[nodiscard]] Result<ConcreteLaunch> concretise(const Launch& launch, const Symbols& sizes);

}  // namespace regraph
