// One-instruction kernels: every lane loads 64-bit inputs a, b, c, runs a few lines of PTX and
// stores 64-bit results.
#pragma once

#include "ptx/ptx_test_support.h"

#include <array>
#include <bit>

namespace regraph::ptx {

inline constexpr int kInputs = 3;
using LaneValues = std::array<std::uint64_t, 32>;

struct OpcodeInputs {
  std::array<LaneValues, kInputs> values = {};
};

// `body` reads %a, %b, %c (b64), %a32 .. %c32 (b32), %a16 .. %c16 (b16) and writes %d (b64),
// %d32 (b32), %d16 (b16) or the predicate %dp; `width` (64, 32, 16, 1) says which is stored.
inline std::string opcode_kernel(const std::string& body, int width) {
  std::string finish;
  if (width == 32) finish = "cvt.u64.u32 %d, %d32;\n";
  if (width == 16) finish = "cvt.u64.u16 %d, %d16;\n";
  if (width == 1) finish = "selp.b64 %d, 1, 0, %dp;\n";
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %dp, %p, %q, %r;
  .reg .b16 %a16, %b16, %c16, %d16, %h<8>;
  .reg .b32 %a32, %b32, %c32, %d32, %t, %x<8>;
  .reg .f32 %f<8>;
  .reg .f64 %g<8>;
  .reg .b64 %a, %b, %c, %d, %in, %out, %at, %y<8>;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 8;
  add.s64 %in, %in, %at;
  add.s64 %out, %out, %at;
  ld.global.u64 %a, [%in];
  ld.global.u64 %b, [%in+256];
  ld.global.u64 %c, [%in+512];
  cvt.u32.u64 %a32, %a;
  cvt.u32.u64 %b32, %b;
  cvt.u32.u64 %c32, %c;
  cvt.u16.u64 %a16, %a;
  cvt.u16.u64 %b16, %b;
  cvt.u16.u64 %c16, %c;
  mov.b64 %d, 0;
  mov.b32 %d32, 0;
  mov.b16 %d16, 0;
)" + body +
         "\n" + finish + "  st.global.u64 [%out], %d;\n  ret;\n}\n";
}

// Runs `ptx` for the first `threads` lanes of one warp; lanes that do not run keep ~0.
inline LaneValues run_opcode(const std::string& ptx, const OpcodeInputs& inputs,
                             HandlerSet handlers, std::uint32_t threads = 32) {
  const auto program = Program::load(ptx, "k");
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message) << "\n" << ptx;
  LaneValues result;
  result.fill(~0ULL);
  if (!program.ok()) return result;
  DeviceMemory memory;
  std::vector<std::uint64_t> in;
  for (const LaneValues& values : inputs.values)
    in.insert(in.end(), values.begin(), values.end());
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", std::vector<std::uint64_t>(32, ~0ULL));
  RunOptions options;
  options.handlers = handlers;
  const RunResult run = run_kernel(*program, memory, {1, 1, 1}, {threads, 1, 1},
                                   Parameters().add(d_in).add(d_out), options);
  EXPECT_TRUE(run.ok()) << run.fault.message << "\n" << ptx;
  const auto out = read_buffer<std::uint64_t>(memory, d_out);
  for (std::size_t l = 0; l < 32; ++l)
    result[l] = out[l];
  return result;
}

inline constexpr std::array<HandlerSet, 3> kAllHandlers = {
    HandlerSet::baseline, HandlerSet::x86_64_v3, HandlerSet::x86_64_v4};

}  // namespace regraph::ptx
