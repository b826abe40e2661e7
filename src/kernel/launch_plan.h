// How a candidate is launched: blocks are concrete numbers, grids are expressions, so one candidate
// runs on every problem size.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "kernel/expression.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

// A block whose extents are expressions of sizes.
struct BlockOfSizes {
  std::array<IntegerExpression, 3> extents = {1, 1, 1};
  Dim3 at;  // what they are at the first bench size
  bool operator==(const BlockOfSizes&) const = default;
};

struct Launch {
  std::string kernel;                                 // name of the __global__ function
  Dim3 block;                                         // threads
  std::array<IntegerExpression, 3> grid = {1, 1, 1};  // blocks, over sizes and bx, by, bz
  IntegerExpression dynamic_shared_bytes = 0;
  // What is passed for each of the kernel's parameters in order: the name of an argument of the
  // problem, or an expression of sizes for an integer. Empty: all arguments of the problem.
  std::vector<std::string> arguments = {};
  // The block follows the sizes as long as `block` is what it is at the first bench size: whoever
  // sets another one fixes it.
  std::optional<BlockOfSizes> block_of_sizes = {};
  bool operator==(const Launch&) const = default;

  [[nodiscard]] bool block_follows_sizes() const {
    return block_of_sizes && block_of_sizes->at == block;
  }
  // x, y or z of the block: an expression of sizes where it follows them.
  [[nodiscard]] IntegerExpression block_extent(std::size_t axis) const;
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

// The block at these sizes. Errors: an unknown symbol, extents that CUDA does not allow.
[[nodiscard]] Result<Dim3> block_at(const Launch& launch, const Symbols& sizes);

// Evaluates the launch for `sizes` (bx, by, bz are added from the block). Errors: an unknown
// symbol, a grid extent < 1 or beyond CUDA's limits (x 2^31-1, y and z 65535), a block beyond 1024
// threads.
[[nodiscard]] Result<ConcreteLaunch> concretise(const Launch& launch, const Symbols& sizes);

}  // namespace regraph
