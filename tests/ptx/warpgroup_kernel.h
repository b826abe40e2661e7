// A kernel of one wgmma.
#pragma once

#include "ptx/matrix_test_support.h"

#include <string>

namespace regraph::ptx {

// Where an element of a matrix of `lines` (rows of A, columns of B) by `depth` lies, in bytes, as
// the PTX ISA's canonical layouts say: tiles of 8 lines by 16 bytes, or of 16 bytes of lines by 8
// of depth when transposed, as many of them side by side as the swizzle is wide.
struct MatrixLayout {
  int lines;
  int depth;
  int bytes;    // of an element
  int swizzle;  // bytes: 0, 32, 64, 128
  bool transposed;

  [[nodiscard]] int width() const { return swizzle == 0 ? 16 : swizzle; }  // bytes side by side
  [[nodiscard]] int size() const {
    return transposed ? size_transposed() : lines * width() * (swizzle == 0 ? 2 : 1);
  }
  [[nodiscard]] int size_transposed() const {
    const int per_row = width() / bytes;
    return (lines + per_row - 1) / per_row * depth * width();
  }
  // Byte offsets of the descriptor.
  [[nodiscard]] int leading() const {
    if (!transposed) return swizzle == 0 ? lines * 16 : 16;
    return swizzle == 0 ? lines / 8 * 128 : depth * width();
  }
  [[nodiscard]] int stride() const { return swizzle == 0 ? 128 : 8 * width(); }

  [[nodiscard]] int offset(int line, int k) const {
    int at = 0;
    if (!transposed) {
      const int byte = k * bytes;
      at = line / 8 * stride() + line % 8 * width() +
           (swizzle == 0 ? byte / 16 * leading() + byte % 16 : byte);
    } else if (swizzle == 0) {
      at = line / 8 * stride() + k / 8 * leading() + k % 8 * 16 + line % 8 * bytes;
    } else {
      const int per_row = width() / bytes;
      at = line / per_row * leading() + k / 8 * stride() + k % 8 * width() + line % per_row * bytes;
    }
    const int mask = swizzle == 0 ? 0 : swizzle / 16 - 1;
    return at ^ (((at >> 7) & mask) << 4);
  }
  [[nodiscard]] std::uint64_t descriptor_bits() const {
    const std::uint64_t mode = swizzle == 0 ? 0 : swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    return mode << 62 | static_cast<std::uint64_t>(stride() / 16) << 32 |
           static_cast<std::uint64_t>(leading() / 16) << 16;
  }
};

struct WarpgroupCase {
  std::string a = "f16";
  std::string b = "f16";
  std::string sum = "f32";
  int columns = 64;
  int swizzle_a = 128;
  int swizzle_b = 128;
  bool a_in_registers = false;
  bool a_transposed = false;
  bool b_transposed = false;
  bool adds = true;
  int scale_a = 1;
  int scale_b = 1;

  [[nodiscard]] int depth() const { return 256 / bits_of_type(a); }
  [[nodiscard]] std::string text() const {
    return "m64n" + std::to_string(columns) + "k" + std::to_string(depth()) + '.' + sum + '.' + a +
           '.' + b + " swizzles " + std::to_string(swizzle_a) + ' ' + std::to_string(swizzle_b) +
           (a_in_registers ? " registers" : "") + (a_transposed ? " A transposed" : "") +
           (b_transposed ? " B transposed" : "");
  }
};

// The kernel: 128 threads copy `bytes` bytes of `in` to shared memory, load their registers from
// `registers` (a word of 128 lanes after another: sums, then four of A), multiply, and store sums.
inline std::string warpgroup_kernel(const WarpgroupCase& c, int bytes, int b_at,
                                    const MatrixLayout& a, const MatrixLayout& b,
                                    const std::string& wait) {
  const int words = c.columns / 2 / values_of_type(c.sum);
  const auto list = [](const std::string& name, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
      text += (i > 0 ? ", " : "") + name + std::to_string(i);
    return text + "}";
  };
  std::string text =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 tile[];\n"
      ".visible .entry k(.param .u64 in, .param .u64 registers)\n{\n  .reg .pred %p, %q;\n"
      "  .reg .b32 %t, %i, %v, %s, %a<4>, %d<128>;\n"
      "  .reg .b64 %in, %regs, %at, %da, %db;\n"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %regs, [registers];\n  mov.u32 %t, %tid.x;\n"
      "  mov.u32 %s, tile;\n  shl.b32 %i, %t, 2;\n"
      "$copy:\n  cvt.u64.u32 %at, %i;\n  add.s64 %at, %in, %at;\n  ld.global.b32 %v, [%at];\n"
      "  add.u32 %v, %v, 0;\n  add.u32 %s, %s, 0;\n  mov.u32 %a0, tile;\n  add.u32 %a0, %a0, %i;\n"
      "  st.shared.b32 [%a0], %v;\n  add.u32 %i, %i, 512;\n  setp.lt.u32 %p, %i, " +
      std::to_string(bytes) +
      ";\n  @%p bra $copy;\n  mul.wide.u32 %at, %t, 4;\n  add.s64 %regs, %regs, %at;\n";
  for (int i = 0; i < words; ++i)
    text +=
        "  ld.global.b32 %d" + std::to_string(i) + ", [%regs+" + std::to_string(512 * i) + "];\n";
  for (int i = 0; i < 4; ++i)
    text += "  ld.global.b32 %a" + std::to_string(i) + ", [%regs+" +
            std::to_string(512 * (words + i)) + "];\n";
  // The address in units of 16 bytes: shared memory begins at 1024.
  text += "  bar.sync 0;\n  cvt.u64.u32 %at, %s;\n  shr.u64 %at, %at, 4;\n  add.u64 %da, %at, " +
          std::to_string(a.descriptor_bits()) + ";\n  add.u64 %db, %at, " +
          std::to_string(b.descriptor_bits() + static_cast<std::uint64_t>(b_at / 16)) +
          ";\n  setp.ne.u32 %p, " + (c.adds ? "1" : "0") + ", 0;\n" +
          "  fence.proxy.async;\n  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(c.columns) + "k" + std::to_string(c.depth()) + "." + c.sum + "." + c.a +
          "." + c.b + " " + list("%d", words) + ", " + (c.a_in_registers ? list("%a", 4) : "%da") +
          ", %db, %p";
  if (c.sum != "s32") text += ", " + std::to_string(c.scale_a) + ", " + std::to_string(c.scale_b);
  if (bits_of_type(c.a) == 16) {
    if (!c.a_in_registers) text += c.a_transposed ? ", 1" : ", 0";
    text += c.b_transposed ? ", 1" : ", 0";
  }
  text += ";\n  wgmma.commit_group.sync.aligned;\n" + wait;
  for (int i = 0; i < words; ++i)
    text +=
        "  st.global.b32 [%regs+" + std::to_string(512 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

inline constexpr const char* kWait = "  wgmma.wait_group.sync.aligned 0;\n";

}  // namespace regraph::ptx
