// Products of a warpgroup on Hopper's tensor cores, as inline assembly (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Instructions"). Used by warpgroup_code and
// attention_code.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/transform/code_lines.h"

#include <functional>
#include <string>

namespace regraph::rewrite {

inline constexpr int kWarpgroupThreads = 128;
// Of the instruction.
inline constexpr int kWarpgroupRows = 64;
// What addresses in descriptors count.
inline constexpr int kDescriptorUnit = 16;  // bytes

// Factors lie in shared memory in panels 128 bytes wide whose 16-byte places are exchanged by the
// number of the line (place_in_panels), from a multiple of 1024 bytes on.
struct WarpgroupProduct {
  ScalarType element = ScalarType::f16;  // of the factors
  ScalarType sum_type = ScalarType::f32;
  int columns = 64;  // 8 to 256
  int depth = 16;    // places along k
  // Register `i` of a thread's columns / 2 sums, to which the product is added.
  std::function<std::string(int i)> sum;
  // The factor with the 64 rows: a descriptor, or the operands of four registers.
  std::string rows_at;
  bool rows_in_registers = false;
  std::string columns_at;  // a descriptor
  // Of factors of 16 bits in shared memory: lines count places along k.
  bool turns_rows = false;
  bool turns_columns = false;
};

void write_warpgroup_product(CodeLines& lines, const WarpgroupProduct& product);

// The descriptor of the panels that begin at an address in shared memory. `panel_bytes`: from a
// panel to the next, of factors whose lines count places along k; kDescriptorUnit for others.
[[nodiscard]] std::string panel_descriptor(const std::string& address, int panel_bytes);

void write_warpgroup_fence(CodeLines& lines);
// Products since the last one are a group; waits until all but the last `groups` are done.
void commit_warpgroup_products(CodeLines& lines);
void await_warpgroup_products(CodeLines& lines, int groups);

}  // namespace regraph::rewrite
