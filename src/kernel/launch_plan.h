// How a candidate is launched: blocks are concrete numbers, grids are expressions, so one candidate
// runs on every problem size.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "kernel/expression.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

// What every CUDA device allows (CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability"); what one of them has at a time is in its table (eval/model/device.h).
inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;

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
  // What is passed for each of the kernel's parameters in order: the name of an argument of the
  // problem, or an expression of sizes for an integer. Empty: all arguments of the problem.
  std::vector<std::string> arguments = {};
  bool operator==(const Launch&) const = default;
};

// A launch with every expression evaluated for one problem size.
struct ConcreteLaunch {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<std::string> arguments = {};  // as in Launch
};

struct LaunchPlan {
  std::vector<Launch> launches;  // in order, on one stream; one entry in the common case
  bool operator==(const LaunchPlan&) const = default;

  // Canonical text of the plan; equal plans have equal texts.
  [[nodiscard]] std::string text() const;

  // The first launch of `kernel`, null when there is none. Valid as long as the plan.
  [[nodiscard]] const Launch* launch_of(std::string_view kernel) const;
};

// Evaluates the launch for `sizes` (bx, by, bz are added from the block). Errors: an unknown
// symbol, a grid extent < 1 or beyond CUDA's limits (x 2^31-1, y and z 65535), a block beyond 1024
// threads.
[[nodiscard]] Result<ConcreteLaunch> concretise(const Launch& launch, const Symbols& sizes);

}  // namespace regraph
