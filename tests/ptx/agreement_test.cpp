// Random straight-line programs: every handler set, full warps and single lanes give the same bits.
#include "ptx/opcode_test_support.h"

namespace regraph::ptx::agreement_test {
namespace {

// Registers: %x0..7 (b32), %f0..7 (f32), %g0..7 (f64), %y0..7 (b64), %h0..7 (b16), %p %q %r.
std::string random_program(std::uint64_t seed) {
  static const char* const kForms[] = {"add.s32 X, X, X;",
                                       "sub.s32 X, X, X;",
                                       "mul.lo.s32 X, X, X;",
                                       "mul.hi.u32 X, X, X;",
                                       "mad.lo.s32 X, X, X, X;",
                                       "mul.wide.s32 Y, X, X;",
                                       "mad.wide.u32 Y, X, X, Y;",
                                       "add.s64 Y, Y, Y;",
                                       "mul.lo.s64 Y, Y, Y;",
                                       "mul.hi.s64 Y, Y, Y;",
                                       "min.s32 X, X, X;",
                                       "max.u32 X, X, X;",
                                       "abs.s32 X, X;",
                                       "neg.s64 Y, Y;",
                                       "div.s32 X, X, X;",
                                       "rem.u64 Y, Y, Y;",
                                       "div.u32 X, X, X;",
                                       "rem.s32 X, X, X;",
                                       "and.b32 X, X, X;",
                                       "xor.b64 Y, Y, Y;",
                                       "not.b32 X, X;",
                                       "shl.b32 X, X, X;",
                                       "shr.s64 Y, Y, X;",
                                       "shr.u32 X, X, X;",
                                       "shf.l.wrap.b32 X, X, X, X;",
                                       "popc.b32 X, X;",
                                       "clz.b64 X, Y;",
                                       "brev.b32 X, X;",
                                       "bfe.s32 X, X, X, X;",
                                       "bfe.u64 Y, Y, X, X;",
                                       "bfi.b32 X, X, X, X, X;",
                                       "bfind.s32 X, X;",
                                       "prmt.b32 X, X, X, X;",
                                       "add.s16 H, H, H;",
                                       "mul.lo.s16 H, H, H;",
                                       "shr.s16 H, H, X;",
                                       "mul.wide.s16 X, H, H;",
                                       "add.f32 F, F, F;",
                                       "sub.ftz.f32 F, F, F;",
                                       "mul.f32 F, F, F;",
                                       "fma.rn.f32 F, F, F, F;",
                                       "fma.rm.ftz.f32 F, F, F, F;",
                                       "add.rp.f32 F, F, F;",
                                       "mul.rz.f32 F, F, F;",
                                       "fma.rn.sat.f32 F, F, F, F;",
                                       "div.rn.f32 F, F, F;",
                                       "sqrt.rn.f32 F, F;",
                                       "min.f32 F, F, F;",
                                       "max.NaN.f32 F, F, F;",
                                       "abs.f32 F, F;",
                                       "neg.f32 F, F;",
                                       "rcp.approx.ftz.f32 F, F;",
                                       "rsqrt.approx.f32 F, F;",
                                       "ex2.approx.ftz.f32 F, F;",
                                       "lg2.approx.f32 F, F;",
                                       "sin.approx.f32 F, F;",
                                       "cos.approx.f32 F, F;",
                                       "tanh.approx.f32 F, F;",
                                       "add.f64 G, G, G;",
                                       "mul.f64 G, G, G;",
                                       "fma.rn.f64 G, G, G, G;",
                                       "fma.rz.f64 G, G, G, G;",
                                       "div.rn.f64 G, G, G;",
                                       "sqrt.rn.f64 G, G;",
                                       "min.f64 G, G, G;",
                                       "cvt.rn.f32.s32 F, X;",
                                       "cvt.rz.f32.u32 F, X;",
                                       "cvt.rzi.s32.f32 X, F;",
                                       "cvt.rni.u64.f32 Y, F;",
                                       "cvt.rn.f64.s64 G, Y;",
                                       "cvt.rpi.s64.f64 Y, G;",
                                       "cvt.rn.f32.f64 F, G;",
                                       "cvt.rm.f32.f64 F, G;",
                                       "cvt.f64.f32 G, F;",
                                       "cvt.rn.f16.f32 H, F;",
                                       "cvt.f32.f16 F, H;",
                                       "cvt.rn.bf16.f32 H, F;",
                                       "cvt.f32.bf16 F, H;",
                                       "cvt.rz.f16.f32 H, F;",
                                       "cvt.u32.u8 X, X;",
                                       "cvt.sat.s8.s32 X, X;",
                                       "cvt.s64.s32 Y, X;",
                                       "cvt.u32.u64 X, Y;",
                                       "cvt.u16.u32 H, X;",
                                       "cvt.s32.s16 X, H;",
                                       "cvt.rni.f32.f32 F, F;",
                                       "fma.rn.f16x2 X, X, X, X;",
                                       "add.rn.bf16x2 X, X, X;",
                                       "max.f16 H, H, H;",
                                       "setp.lt.s32 P, X, X;",
                                       "setp.gtu.f32 P, F, F;",
                                       "setp.le.f64 P, G, G;",
                                       "setp.eq.u64 P, Y, Y;",
                                       "setp.ne.and.s32 P|P, X, X, P;",
                                       "and.pred P, P, P;",
                                       "xor.pred P, P, P;",
                                       "not.pred P, P;",
                                       "selp.b32 X, X, X, P;",
                                       "selp.f64 G, G, G, P;",
                                       "@P mov.b32 X, X;",
                                       "@!P mov.b64 Y, Y;",
                                       "mov.b64 Y, {X, X};",
                                       "mov.b32 X, {H, H};",
                                       "mov.b32 X, F;",
                                       "mov.b64 Y, G;",
                                       "mov.b32 F, X;"};
  const char* const predicates[] = {"%p", "%q", "%r"};
  std::string text;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    const std::string from = std::string(1, "abc"[i % 3]);
    text += "xor.b32 %x" + n + ", %" + from + "32, " + std::to_string(random_bits(seed, i) % 1000) +
            ";\n";
    text += "mov.b32 %f" + n + ", %x" + n + ";\nmov.b64 %g" + n + ", %" + from + ";\n";
    text += "mov.b64 %y" + n + ", %" + from + ";\nmov.b16 %h" + n + ", %" + from + "16;\n";
  }
  text += "setp.lt.s32 %p, %a32, 0;\nsetp.lt.s32 %q, %b32, 0;\nsetp.lt.s32 %r, %c32, 0;\n";
  std::uint64_t draw = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string form = kForms[random_bits(seed, ++draw, 1) % std::size(kForms)];
    for (std::size_t at = 0; at < form.size(); ++at) {
      const char c = form[at];
      const bool name = std::string("XYFGHP").find(c) != std::string::npos;
      if (!name) {
        text += c;
      } else if (c == 'P') {
        text += predicates[random_bits(seed, ++draw, 2) % 3];
      } else {
        text += std::string("%") + static_cast<char>(c + 32) +
                std::to_string(random_bits(seed, ++draw, 3) % 8);
      }
    }
    text += '\n';
  }
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    text += "xor.b64 %d, %d, %y" + n + ";\nmov.b64 %a, %g" + n + ";\nxor.b64 %d, %d, %a;\n";
    text += "mov.b32 %t, %f" + n + ";\nxor.b32 %t, %t, %x" + n + ";\ncvt.u64.u32 %a, %t;\n";
    text += "shl.b64 %d, %d, 1;\nxor.b64 %d, %d, %a;\ncvt.u64.u16 %a, %h" + n +
            ";\nxor.b64 %d, %d, %a;\n";
  }
  for (const char* predicate : predicates) {
    text += std::string("selp.b64 %a, 1, 0, ") + predicate +
            ";\nshl.b64 %d, %d, 1;\nxor.b64 %d, %d, %a;\n";
  }
  return text;
}

OpcodeInputs random_inputs(std::uint64_t seed) {
  OpcodeInputs inputs;
  for (std::size_t i = 0; i < kInputs; ++i) {
    for (std::size_t l = 0; l < 32; ++l) {
      std::uint64_t value = random_bits(seed, i, l);
      // Often floats of ordinary size, sometimes small integers, sometimes any bits.
      if (value % 3 == 0) value = 0x3f80000040000000ULL ^ (value & 0x80ffffff80ffffffULL);
      if (value % 3 == 1) value %= 1000;
      inputs.values[i][l] = value;
    }
  }
  return inputs;
}

TEST(AgreementTest, HandlerSetsAgreeBitForBit) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string ptx = opcode_kernel(random_program(seed), 64);
    const OpcodeInputs inputs = random_inputs(seed);
    const LaneValues expected = run_opcode(ptx, inputs, HandlerSet::baseline);
    for (HandlerSet handlers : kAllHandlers) {
      ASSERT_EQ(run_opcode(ptx, inputs, handlers), expected) << "seed " << seed << "\n" << ptx;
    }
  }
}

// The lanes of a full warp against 32 runs of one lane each.
TEST(AgreementTest, LanesDoNotDependOnTheirNeighbours) {
  for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
    const std::string ptx = opcode_kernel(random_program(seed), 64);
    const OpcodeInputs inputs = random_inputs(seed);
    const LaneValues together = run_opcode(ptx, inputs, HandlerSet::automatic);
    for (std::size_t l = 0; l < 32; ++l) {
      OpcodeInputs one;
      for (std::size_t i = 0; i < kInputs; ++i)
        one.values[i][0] = inputs.values[i][l];
      ASSERT_EQ(run_opcode(ptx, one, HandlerSet::automatic, 1)[0], together[l])
          << "seed " << seed << " lane " << l;
    }
  }
}

// Loops that lanes leave at different times, with branches inside, against plain C++.
TEST(AgreementTest, DivergentLoopsReconverge) {
  const std::string body = R"(
  and.b64 %y0, %a, 31;
  mov.b64 %y1, 0;
  OUTER:
  setp.ge.u64 %p, %y1, %y0;
  @%p bra DONE;
  and.b64 %y2, %y1, 1;
  setp.eq.s64 %q, %y2, 0;
  @%q bra EVEN;
  xor.b64 %d, %d, %b;
  setp.gt.u64 %r, %d, %c;
  @%r bra NEXT;
  add.s64 %d, %d, 3;
  bra.uni NEXT;
  EVEN:
  mul.lo.s64 %d, %d, 5;
  add.s64 %d, %d, %y1;
  NEXT:
  add.s64 %y1, %y1, 1;
  mov.b64 %y3, 0;
  INNER:
  add.s64 %y3, %y3, 1;
  add.s64 %d, %d, %y3;
  setp.lt.u64 %r, %y3, %y1;
  @%r bra INNER;
  bra OUTER;
  DONE:
  activemask.b32 %t;
  setp.ne.u32 %p, %t, -1;
  @%p trap;
)";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const OpcodeInputs inputs = random_inputs(seed);
    const LaneValues result = run_opcode(opcode_kernel(body, 64), inputs, HandlerSet::automatic);
    for (std::size_t l = 0; l < 32; ++l) {
      std::uint64_t d = 0;
      for (std::uint64_t i = 0; i < (inputs.values[0][l] & 31); ++i) {
        if (i % 2 == 0) {
          d = d * 5 + i;
        } else {
          d ^= inputs.values[1][l];
          if (d <= inputs.values[2][l]) d += 3;
        }
        for (std::uint64_t j = 1; j <= i + 1; ++j)
          d += j;
      }
      ASSERT_EQ(result[l], d) << "seed " << seed << " lane " << l;
    }
  }
}

}  // namespace
}  // namespace regraph::ptx::agreement_test
