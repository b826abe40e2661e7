#include "rewrite/transform/warpgroup_product.h"

#include "rewrite/transform/tensor_tile.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::rewrite {

namespace {

// What the instruction is told behind its operands: that it adds, signs, and transpositions of what
// is in shared memory.
std::string flags(const WarpgroupProduct& product) {
  if (!is_floating(product.element)) return "1";
  if (product.element == ScalarType::f32) return "1, 1, 1";
  const int rows = product.turns_rows ? 1 : 0;
  const int columns = product.turns_columns ? 1 : 0;
  return product.rows_in_registers ? fmt::format("1, 1, 1, {}", columns)
                                   : fmt::format("1, 1, 1, {}, {}", rows, columns);
}

}  // namespace

void write_warpgroup_product(CodeLines& lines, const WarpgroupProduct& product) {
  const bool is_floating_sum = product.sum_type == ScalarType::f32;
  const int registers = product.columns / 2;
  lines.line("asm volatile(\"wgmma.mma_async.sync.aligned.m64n{0}k{1}.{3}.{2}.{2} {{\"",
             product.columns, product.depth, tensor_core_type(product.element),
             is_floating_sum ? "f32" : "s32");
  constexpr int kPerLine = 16;
  const auto list = [&](const auto& one, const char* quote) {
    for (int first = 0; first < registers; first += kPerLine) {
      std::string line = first == 0 && quote[0] == '\0' ? ": " : "";
      for (int i = first; i < std::min(first + kPerLine, registers); ++i)
        line += one(i) + (i + 1 < registers ? ", " : "");
      lines.add("    " + (quote + line + quote));
    }
  };
  list([](int i) { return fmt::format("%{}", i); }, "\"");
  if (product.rows_in_registers) {
    lines.line("    \"}}, {{%{}, %{}, %{}, %{}}}, %{}, {};\"", registers, registers + 1,
               registers + 2, registers + 3, registers + 4, flags(product));
  } else {
    lines.line("    \"}}, %{}, %{}, {};\"", registers, registers + 1, flags(product));
  }
  list(
      [&](int i) {
        return fmt::format("\"+{}\"({})", is_floating_sum ? 'f' : 'r', product.sum(i));
      },
      "");
  if (product.rows_in_registers)
    lines.line("    : {},", product.rows_at);
  else
    lines.line("    : \"l\"({}),", product.rows_at);
  lines.line("      \"l\"({}));", product.columns_at);
}

std::string panel_descriptor(const std::string& address, int panel_bytes) {
  constexpr int kEightLines = 8 * TensorTile::kPanelBytes;
  return fmt::format("(1ull << 62) | ({}ull << 32) | ({}ull << 16) | (({}) >> 4 & 0x3fff)",
                     kEightLines / kDescriptorUnit, panel_bytes / kDescriptorUnit, address);
}

void write_warpgroup_fence(CodeLines& lines) {
  lines.line("asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");");
}

void commit_warpgroup_products(CodeLines& lines) {
  lines.line("asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");");
}

void await_warpgroup_products(CodeLines& lines, int groups) {
  lines.line("asm volatile(\"wgmma.wait_group.sync.aligned {};\" ::: \"memory\");", groups);
}

}  // namespace regraph::rewrite
