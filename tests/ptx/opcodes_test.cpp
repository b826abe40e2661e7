// Every opcode family against what the PTX ISA says, lane by lane, in every handler set.
#include "ptx/opcode_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

namespace regraph::ptx::opcodes_test {
namespace {

TEST(OpcodesTest, IntegerArithmetic) {
  const auto integers = Inputs::integers;
  check(integers, "add.s32 %d32, %a32, %b32;", 32, [](U a, U b, U) { return a + b; });
  check(integers, "sub.s64 %d, %a, %b;", 64, [](U a, U b, U) { return a - b; });
  check(integers, "mul.lo.s32 %d32, %a32, -7;", 32, [](U a, U, U) { return a * U(-7); });
  check(integers, "mul.lo.u64 %d, %a, %b;", 64, [](U a, U b, U) { return a * b; });
  check(integers, "mul.hi.s32 %d32, %a32, %b32;", 32,
        [](U a, U b, U) { return U((std::int64_t{s32(a)} * s32(b)) >> 32); });
  check(integers, "mul.hi.u64 %d, %a, %b;", 64,
        [](U a, U b, U) { return U((static_cast<unsigned __int128>(a) * b) >> 64); });
  check(integers, "mul.wide.s32 %d, %a32, %b32;", 64,
        [](U a, U b, U) { return U(std::int64_t{s32(a)} * s32(b)); });
  check(integers, "mul.wide.u16 %d32, %a16, %b16;", 32,
        [](U a, U b, U) { return (a & 0xffff) * (b & 0xffff); });
  check(integers, "mul.wide.s16 %d32, %a16, %b16;", 32, [](U a, U b, U) {
    return U(std::int64_t{static_cast<std::int16_t>(a)} * static_cast<std::int16_t>(b));
  });
  check(integers, "mad.lo.s32 %d32, %a32, %b32, %c32;", 32,
        [](U a, U b, U c) { return a * b + c; });
  check(integers, "mad.wide.u32 %d, %a32, %b32, %c;", 64,
        [](U a, U b, U c) { return U{u32(a)} * u32(b) + c; });
  check(integers, "mad.hi.u32 %d32, %a32, %b32, %c32;", 32,
        [](U a, U b, U c) { return ((U{u32(a)} * u32(b)) >> 32) + c; });
  check(integers, "div.s32 %d32, %a32, 7;", 32, [](U a, U, U) { return U(s32(a) / 7); });
  check(integers, "rem.u64 %d, %a, 1000;", 64, [](U a, U, U) { return a % 1000; });
  check(integers, "div.s32 %d32, %a32, -1;", 32, [](U a, U, U) { return 0 - a; });
  check(integers, "div.u32 %d32, %a32, 0;", 32, [](U, U, U) { return ~U{0}; });
  check(integers, "min.s32 %d32, %a32, %b32;", 32,
        [](U a, U b, U) { return U(std::min(s32(a), s32(b))); });
  check(integers, "max.u64 %d, %a, %b;", 64, [](U a, U b, U) { return std::max(a, b); });
  check(integers, "max.s16 %d16, %a16, %b16;", 16, [](U a, U b, U) {
    return U(std::max(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)));
  });
  check(integers, "neg.s32 %d32, %a32;", 32, [](U a, U, U) { return 0 - a; });
  check(integers, "abs.s64 %d, %a;", 64, [](U a, U, U) { return s64(a) < 0 ? 0 - a : a; });
  check(integers, "sad.u32 %d32, %a32, %b32, %c32;", 32,
        [](U a, U b, U c) { return c + (u32(a) > u32(b) ? u32(a) - u32(b) : u32(b) - u32(a)); });
  check(integers, "add.u16 %d16, %a16, %b16;", 16, [](U a, U b, U) { return a + b; });
}

TEST(OpcodesTest, LogicAndShifts) {
  const auto integers = Inputs::integers;
  check(integers, "and.b32 %d32, %a32, %b32;", 32, [](U a, U b, U) { return a & b; });
  check(integers, "or.b64 %d, %a, %b;", 64, [](U a, U b, U) { return a | b; });
  check(integers, "xor.b32 %d32, %a32, -1;", 32, [](U a, U, U) { return ~a; });
  check(integers, "not.b64 %d, %a;", 64, [](U a, U, U) { return ~a; });
  check(integers, "and.b32 %x0, %b32, 63; shl.b32 %d32, %a32, %x0;", 32,
        [](U a, U b, U) { return (b & 63) > 31 ? 0 : a << (b & 63); });
  check(integers, "and.b32 %x0, %b32, 63; shr.s32 %d32, %a32, %x0;", 32,
        [](U a, U b, U) { return U(s32(a) >> std::min<U>(b & 63, 31)); });
  check(integers, "and.b32 %x0, %b32, 127; shr.u64 %d, %a, %x0;", 64,
        [](U a, U b, U) { return (b & 127) > 63 ? 0 : a >> (b & 127); });
  check(integers, "shr.u16 %d16, %a16, 3;", 16, [](U a, U, U) { return (a & 0xffff) >> 3; });
  check(integers, "shf.l.wrap.b32 %d32, %a32, %b32, 5;", 32,
        [](U a, U b, U) { return (b << 5) | (u32(a) >> 27); });
  check(integers, "shf.r.clamp.b32 %d32, %a32, %b32, 40;", 32, [](U, U b, U) { return b; });
  check(integers, "popc.b64 %d32, %a;", 32, [](U a, U, U) { return U(std::popcount(a)); });
  check(integers, "clz.b32 %d32, %a32;", 32, [](U a, U, U) { return U(std::countl_zero(u32(a))); });
  check(integers, "brev.b32 %d32, %a32;", 32, [](U a, U, U) {
    U result = 0;
    for (int i = 0; i < 32; ++i)
      result |= ((a >> i) & 1) << (31 - i);
    return result;
  });
  check(integers, "bfind.u32 %d32, %a32;", 32,
        [](U a, U, U) { return u32(a) == 0 ? U{0xffffffff} : U(31 - std::countl_zero(u32(a))); });
  const auto extract = [](U a, int position, int length, bool is_signed) {
    const bool sign =
        is_signed && length > 0 && ((a >> std::min(position + length - 1, 31)) & 1) != 0;
    U result = 0;
    for (int i = 0; i < 32; ++i) {
      const bool inside = i < length && position + i <= 31;
      result |= (inside ? (a >> (position + i)) & 1 : U{sign}) << i;
    }
    return result;
  };
  for (const auto& field : {std::pair{3, 7}, {0, 32}, {28, 9}, {40, 4}, {5, 0}, {31, 1}, {0, 33}}) {
    const int position = field.first;
    const int length = field.second;
    const std::string fields = std::to_string(position) + ", " + std::to_string(length) + ";";
    check(integers, "bfe.u32 %d32, %a32, " + fields, 32,
          [&](U a, U, U) { return extract(a, position, length, false); });
    check(integers, "bfe.s32 %d32, %a32, " + fields, 32,
          [&](U a, U, U) { return extract(a, position, length, true); });
    check(integers, "bfi.b32 %d32, %a32, %b32, " + fields, 32, [&](U a, U b, U) {
      for (int i = 0; i < length && position + i <= 31; ++i) {
        b = (b & ~(U{1} << (position + i))) | (((a >> i) & 1) << (position + i));
      }
      return b;
    });
  }
  check(integers, "prmt.b32 %d32, %a32, %b32, 0x7c41;", 32, [](U a, U b, U) {
    const auto byte = [&](int i) { return (((U{u32(b)} << 32) | u32(a)) >> (8 * i)) & 0xff; };
    const U sign = (byte(4) & 0x80) != 0 ? 0xff : 0;  // selector c: byte 4's sign
    return (byte(7) << 24) | (sign << 16) | (byte(4) << 8) | byte(1);
  });
  check(integers, "dp4a.s32.s32 %d32, %a32, %b32, %c32;", 32, [](U a, U b, U c) {
    for (int i = 0; i < 4; ++i) {
      c += U(int{static_cast<std::int8_t>(a >> (8 * i))} * static_cast<std::int8_t>(b >> (8 * i)));
    }
    return c;
  });
}

TEST(OpcodesTest, SingleArithmetic) {
  const auto floats = Inputs::floats;
  check(floats, "add.f32 %d32, %a32, %b32;", 32, [](U a, U b, U) { return bits(f32(a) + f32(b)); });
  check(floats, "sub.f32 %d32, %a32, %b32;", 32, [](U a, U b, U) { return bits(f32(a) - f32(b)); });
  check(floats, "mul.rn.f32 %d32, %a32, 0f3F000000;", 32,
        [](U a, U, U) { return bits(f32(a) * 0.5F); });
  check(floats, "fma.rn.f32 %d32, %a32, %b32, %c32;", 32,
        [](U a, U b, U c) { return bits(std::fma(f32(a), f32(b), f32(c))); });
  check(floats, "div.rn.f32 %d32, %a32, %b32;", 32,
        [](U a, U b, U) { return bits(f32(a) / f32(b)); });
  check(floats, "sqrt.rn.f32 %d32, %a32;", 32, [](U a, U, U) { return bits(std::sqrt(f32(a))); });
  check(floats, "rcp.rn.f32 %d32, %a32;", 32, [](U a, U, U) { return bits(1.0F / f32(a)); });
  check(floats, "neg.f32 %d32, %a32;", 32,
        [](U a, U, U) { return f32(a) == f32(a) ? U{u32(a) ^ 0x80000000U} : U{0x7fffffffU}; });
  check(floats, "abs.f32 %d32, %a32;", 32, [](U a, U, U) { return bits(std::fabs(f32(a))); });
  check(floats, "min.f32 %d32, %a32, %b32;", 32, [](U a, U b, U) {
    if (f32(a) == 0 && f32(b) == 0) return U{(u32(a) | u32(b)) & 0x80000000U};
    return bits(std::fmin(f32(a), f32(b)));
  });
  check(floats, "max.NaN.f32 %d32, %a32, %b32;", 32, [](U a, U b, U) {
    if (f32(a) != f32(a) || f32(b) != f32(b)) return U{0x7fffffffU};
    if (f32(a) == 0 && f32(b) == 0) return U{u32(a) & u32(b) & 0x80000000U};
    return bits(std::fmax(f32(a), f32(b)));
  });
  check(floats, "add.sat.f32 %d32, %a32, %b32;", 32, [](U a, U b, U) {
    const float sum = f32(a) + f32(b);
    return bits(sum > 0 ? std::min(sum, 1.0F) : 0.0F);
  });
  check(floats, "add.ftz.f32 %d32, %a32, %b32;", 32, [](U a, U b, U) {
    const auto flush = [](float x) {
      return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x;
    };
    return bits(flush(flush(f32(a)) + flush(f32(b))));
  });
}

// The exact sum or product of two floats, rounded in each direction by long double arithmetic.
TEST(OpcodesTest, DirectedRounding) {
  const auto directed = [](long double exact, char mode) {
    auto value = static_cast<float>(exact);
    const float infinity = std::numeric_limits<float>::infinity();
    const bool lower = mode == 'm' || (mode == 'z' && exact > 0);
    const bool higher = mode == 'p' || (mode == 'z' && exact < 0);
    if (std::isfinite(static_cast<double>(exact))) {
      if (lower && value > exact) value = std::nextafter(value, -infinity);
      if (higher && value < exact) value = std::nextafter(value, infinity);
    }
    return value;
  };
  for (char mode : {'z', 'm', 'p'}) {
    const std::string suffix = std::string(".r") + mode + ".f32 %d32, %a32, %b32";
    check(Inputs::floats, "mul" + suffix + ";", 32, [&](U a, U b, U) {
      return bits(directed(static_cast<long double>(f32(a)) * f32(b), mode));
    });
    // Multiples of 2^-30 below 1000: the sum is exact in a long double.
    check(Inputs::integers,
          "cvt.rn.f32.s32 %f0, %a32; cvt.rn.f32.s32 %f1, %b32; mul.f32 %f1, %f1, 0f30800000;"
          "add.r" +
              std::string(1, mode) + ".f32 %d32, %f0, %f1;",
          32, [&](U a, U b, U) {
            const auto x = static_cast<float>(s32(a));
            const float y = static_cast<float>(s32(b)) * 0x1p-30F;
            const long double sum = static_cast<long double>(x) + y;
            if (x == -y) return U{mode == 'm' && x != 0 ? 0x80000000U : 0U};
            return bits(directed(sum, mode));
          });
    check(Inputs::integers, "cvt.r" + std::string(1, mode) + ".f32.s32 %d32, %a32;", 32,
          [&](U a, U, U) { return bits(directed(s32(a), mode)); });
  }
}

TEST(OpcodesTest, DoubleArithmetic) {
  const auto doubles = Inputs::doubles;
  check(doubles, "add.f64 %d, %a, %b;", 64, [](U a, U b, U) { return bits(f64(a) + f64(b)); });
  check(doubles, "mul.f64 %d, %a, %b;", 64, [](U a, U b, U) { return bits(f64(a) * f64(b)); });
  check(doubles, "fma.rn.f64 %d, %a, %b, %c;", 64,
        [](U a, U b, U c) { return bits(std::fma(f64(a), f64(b), f64(c))); });
  check(doubles, "div.rn.f64 %d, %a, %b;", 64, [](U a, U b, U) { return bits(f64(a) / f64(b)); });
  check(doubles, "sqrt.rn.f64 %d, %a;", 64, [](U a, U, U) { return bits(std::sqrt(f64(a))); });
  check(doubles, "div.rz.f64 %d, 0d3FF0000000000000, 0d4008000000000000;", 64,
        [](U, U, U) { return U{0x3fd5555555555555ULL}; });
  check(doubles, "div.rp.f64 %d, 0d3FF0000000000000, 0d4008000000000000;", 64,
        [](U, U, U) { return U{0x3fd5555555555556ULL}; });
}

// Beyond 2^126 the divisor's reciprocal is 0 (PTX ISA, "div").
TEST(OpcodesTest, ApproximateQuotients) {
  const float divisors[] = {3.0F, -7.5F, 0x1p126F, 0x1.8p126F, -0x1p127F, 0x1.fp127F};
  OpcodeInputs inputs;
  for (std::size_t l = 0; l < 32; ++l) {
    inputs.values[0][l] = bits(l % 2 == 0 ? 0x1.4p120F : -5.0F);
    inputs.values[1][l] = bits(divisors[l % std::size(divisors)]);
  }
  for (HandlerSet handlers : kAllHandlers) {
    const LaneValues result =
        run_opcode(opcode_kernel("div.approx.f32 %d32, %a32, %b32;", 32), inputs, handlers);
    for (std::size_t l = 0; l < 32; ++l) {
      const double divisor = f32(inputs.values[1][l]);
      const double exact = f32(inputs.values[0][l]) / divisor;
      const double expected = std::fabs(divisor) > 0x1p126 ? 0.0 : exact;
      ASSERT_NEAR(f32(result[l]), expected, std::fabs(expected) * 3e-7) << divisor;
    }
  }
}

TEST(OpcodesTest, ApproximateFunctions) {
  struct Case {
    std::string name;
    double (*reference)(double);
  };
  const std::vector<Case> cases = {
      {"ex2", [](double x) { return std::exp2(x); }},
      {"lg2", [](double x) { return std::log2(x); }},
      {"sin", [](double x) { return std::sin(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"rsqrt", [](double x) { return 1.0 / std::sqrt(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
  };
  for (const Case& function : cases) {
    OpcodeInputs inputs;
    for (std::size_t l = 0; l < 32; ++l) {
      double x = (static_cast<double>(l) - 15.3) * 1.7;
      if (function.name == "lg2" || function.name == "rsqrt") x = std::pow(10.0, x);
      inputs.values[0][l] = bits(static_cast<float>(x));
    }
    for (HandlerSet handlers : kAllHandlers) {
      const LaneValues result = run_opcode(
          opcode_kernel(function.name + ".approx.f32 %d32, %a32;", 32), inputs, handlers);
      for (std::size_t l = 0; l < 32; ++l) {
        const double expected = function.reference(f32(inputs.values[0][l]));
        ASSERT_NEAR(f32(result[l]), expected, std::fabs(expected) * 1e-7 + 1e-9)
            << function.name << ' ' << f32(inputs.values[0][l]);
      }
    }
  }
  const auto special = [](const std::string& name, float x) {
    OpcodeInputs inputs;
    inputs.values[0].fill(std::bit_cast<std::uint32_t>(x));
    const std::string ptx = opcode_kernel(name + ".approx.f32 %d32, %a32;", 32);
    return f32(run_opcode(ptx, inputs, HandlerSet::automatic)[0]);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(special("ex2", -infinity), 0.0F);
  EXPECT_EQ(special("ex2", infinity), infinity);
  EXPECT_EQ(special("lg2", 0.0F), -infinity);
  EXPECT_TRUE(std::isnan(special("lg2", -1.0F)));
  EXPECT_TRUE(std::isnan(special("sin", infinity)));
  EXPECT_EQ(special("rsqrt", 0.0F), infinity);
}

TEST(OpcodesTest, ComparisonAndSelection) {
  const auto floats = Inputs::floats;
  const auto nan = [](U a, U b) { return f32(a) != f32(a) || f32(b) != f32(b); };
  check(floats, "setp.lt.f32 %dp, %a32, %b32;", 1, [](U a, U b, U) { return U{f32(a) < f32(b)}; });
  check(floats, "setp.geu.f32 %dp, %a32, %b32;", 1,
        [&](U a, U b, U) { return U{nan(a, b) || f32(a) >= f32(b)}; });
  check(floats, "setp.ne.f32 %dp, %a32, %b32;", 1,
        [&](U a, U b, U) { return U{!nan(a, b) && f32(a) != f32(b)}; });
  check(floats, "setp.neu.f32 %dp, %a32, %b32;", 1,
        [](U a, U b, U) { return U{f32(a) != f32(b)}; });
  check(floats, "setp.nan.f32 %dp, %a32, %a32;", 1, [&](U a, U, U) { return U{nan(a, a)}; });
  check(floats, "setp.num.f32 %dp, %a32, %b32;", 1, [&](U a, U b, U) { return U{!nan(a, b)}; });
  check(floats, "testp.infinite.f32 %dp, %a32;", 1,
        [](U a, U, U) { return U{std::isinf(f32(a))}; });
  check(floats, "testp.subnormal.f32 %dp, %a32;", 1,
        [](U a, U, U) { return U{std::fpclassify(f32(a)) == FP_SUBNORMAL}; });
  const auto integers = Inputs::integers;
  check(integers, "setp.lt.s32 %dp, %a32, %b32;", 1,
        [](U a, U b, U) { return U{s32(a) < s32(b)}; });
  check(integers, "setp.hi.u32 %dp, %a32, %b32;", 1,
        [](U a, U b, U) { return U{u32(a) > u32(b)}; });
  check(integers, "setp.ge.u64 %dp, %a, %b;", 1, [](U a, U b, U) { return U{a >= b}; });
  check(integers, "setp.lt.s32 %r, %c32, 0; setp.gt.and.s32 %dp|%q, %a32, %b32, !%r;", 1,
        [](U a, U b, U c) { return U{s32(a) > s32(b) && s32(c) >= 0}; });
  check(integers, "setp.lt.s32 %r, %c32, 0; setp.gt.or.s32 %p|%dp, %a32, %b32, %r;", 1,
        [](U a, U b, U c) { return U{!(s32(a) > s32(b)) || s32(c) < 0}; });
  check(integers, "set.eq.u32.s32 %d32, %a32, %b32;", 32,
        [](U a, U b, U) { return u32(a) == u32(b) ? ~U{0} : 0; });
  check(integers, "setp.lt.s32 %p, %a32, %b32; selp.b64 %d, %a, %c, %p;", 64,
        [](U a, U b, U c) { return s32(a) < s32(b) ? a : c; });
  check(integers, "setp.lt.s32 %p, %a32, 0; setp.lt.s32 %q, %b32, 0; xor.pred %dp, %p, %q;", 1,
        [](U a, U b, U) { return U{(s32(a) < 0) != (s32(b) < 0)}; });
  check(integers,
        "setp.lt.s32 %p, %a32, 0; mov.u32 %d32, 7; @%p mov.u32 %d32, 9;"
        "@!%p add.s32 %d32, %d32, 1;",
        32, [](U a, U, U) { return U{s32(a) < 0 ? 9U : 8U}; });
}

TEST(OpcodesTest, MovesAndPacking) {
  const auto integers = Inputs::integers;
  check(integers, "mov.b64 %d, {%a32, %b32};", 64, [](U a, U b, U) { return u32(a) | (b << 32); });
  check(integers, "mov.b64 {%x0, %d32}, %a;", 32, [](U a, U, U) { return a >> 32; });
  check(integers, "mov.b32 {%h0, %d16}, %a32;", 16, [](U a, U, U) { return u32(a) >> 16; });
  check(integers, "mov.b32 %d32, {%a16, %b16};", 32,
        [](U a, U b, U) { return (a & 0xffff) | ((b & 0xffff) << 16); });
  check(integers, "mov.b64 %d, {%a16, %b16, %c16, %a16};", 64, [](U a, U b, U c) {
    return (a & 0xffff) | ((b & 0xffff) << 16) | ((c & 0xffff) << 32) | (a << 48);
  });
  check(integers, "mov.b64 {%h0, %h1, %d16, %h3}, %a;", 16, [](U a, U, U) { return a >> 32; });
  check(integers,
        "cvt.u32.u64 %d32, %a; mov.b32 %x0, %laneid; mov.b32 %x1, %tid.x; sub.s32 %x0, %x0, %x1;"
        "add.s32 %d32, %d32, %x0;",
        32, [](U a, U, U) { return a; });
}

TEST(OpcodesTest, Conversions) {
  const auto integers = Inputs::integers;
  check(integers, "cvt.s64.s32 %d, %a32;", 64, [](U a, U, U) { return U(std::int64_t{s32(a)}); });
  check(integers, "cvt.u32.u8 %d32, %a16;", 32, [](U a, U, U) { return a & 0xff; });
  check(integers, "cvt.s32.s8 %d32, %a32;", 32,
        [](U a, U, U) { return U(std::int64_t{static_cast<std::int8_t>(a)}); });
  check(integers, "cvt.sat.u8.s32 %d32, %a32;", 32,
        [](U a, U, U) { return U(std::clamp(s32(a), 0, 255)); });
  check(integers, "cvt.sat.s16.s32 %d16, %a32;", 16,
        [](U a, U, U) { return U(std::clamp(s32(a), -32768, 32767)); });
  check(integers, "cvt.rn.f32.u64 %d32, %a;", 32,
        [](U a, U, U) { return bits(static_cast<float>(a)); });
  check(integers, "cvt.rn.f64.s32 %d, %a32;", 64,
        [](U a, U, U) { return bits(static_cast<double>(s32(a))); });
  const auto floats = Inputs::floats;
  const auto to_s32 = [](double x) {
    if (x != x) return U{0};
    return U(static_cast<std::int64_t>(std::clamp(x, -2147483648.0, 2147483647.0)));
  };
  check(floats, "cvt.rzi.s32.f32 %d32, %a32;", 32,
        [&](U a, U, U) { return to_s32(std::trunc(f32(a))); });
  check(floats, "cvt.rni.s32.f32 %d32, %a32;", 32,
        [&](U a, U, U) { return to_s32(std::nearbyint(f32(a))); });
  check(floats, "cvt.rmi.s32.f32 %d32, %a32;", 32,
        [&](U a, U, U) { return to_s32(std::floor(f32(a))); });
  check(floats, "cvt.rpi.f32.f32 %d32, %a32;", 32,
        [](U a, U, U) { return bits(std::ceil(f32(a))); });
  check(floats, "cvt.rzi.u8.f32 %d32, %a32;", 32, [](U a, U, U) {
    return f32(a) != f32(a) ? U{0} : U(std::clamp(std::trunc(f32(a)), 0.0F, 255.0F));
  });
  check(floats, "cvt.f64.f32 %d, %a32;", 64,
        [](U a, U, U) { return bits(static_cast<double>(f32(a))); });
  check(floats, "cvt.sat.f32.f32 %d32, %a32;", 32,
        [](U a, U, U) { return bits(f32(a) > 0 ? std::min(f32(a), 1.0F) : 0.0F); });
  check(Inputs::doubles, "cvt.rn.f32.f64 %d32, %a;", 32,
        [](U a, U, U) { return bits(static_cast<float>(f64(a))); });
}

// All 65,536 halves survive the way to f32 and back; ties round to even.
TEST(OpcodesTest, HalfPrecision) {
  for (HandlerSet handlers : kAllHandlers) {
    for (std::uint32_t first = 0; first < 65536; first += 32) {
      if (first % 1024 >= 64) continue;  // a sample of every exponent
      OpcodeInputs inputs;
      for (std::uint32_t l = 0; l < 32; ++l)
        inputs.values[0][l] = first + l;
      const LaneValues back = run_opcode(
          opcode_kernel("cvt.f32.f16 %f0, %a16; cvt.rn.f16.f32 %d16, %f0;", 16), inputs, handlers);
      const LaneValues value =
          run_opcode(opcode_kernel("cvt.f32.f16 %d32, %a16;", 32), inputs, handlers);
      for (std::uint32_t l = 0; l < 32; ++l) {
        const std::uint32_t half = first + l;
        const int exponent = static_cast<int>((half >> 10) & 31);
        const double mantissa = half & 1023;
        if (exponent == 31) {
          ASSERT_EQ(back[l], mantissa == 0 ? half : 0x7fffU);
          continue;
        }
        const double magnitude =
            exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
        ASSERT_EQ(std::fabs(f32(value[l])), magnitude) << half;
        ASSERT_EQ(back[l], half);
      }
    }
  }
  const auto to_half = [](double x) {
    OpcodeInputs inputs;
    inputs.values[0].fill(std::bit_cast<U>(x));
    const std::string ptx = opcode_kernel("cvt.rn.f16.f64 %d16, %a;", 16);
    return run_opcode(ptx, inputs, HandlerSet::automatic)[5];
  };
  EXPECT_EQ(to_half(1.0 + 0x1p-11), 0x3c00U);            // a tie goes to even
  EXPECT_EQ(to_half(1.0 + 0x1p-11 + 0x1p-40), 0x3c01U);  // no double rounding
  EXPECT_EQ(to_half(65519.9), 0x7bffU);
  EXPECT_EQ(to_half(65520.0), 0x7c00U);
  EXPECT_EQ(to_half(-0x1p-24 * 0.5), 0x8000U);
  EXPECT_EQ(to_half(0x1.8p-24), 0x0002U);
}

TEST(OpcodesTest, UnknownOpcodesAreNamedWithTheirLine) {
  const std::string ptx = opcode_kernel("frobnicate.u32 %d32, %a32;", 32);
  const auto before = ptx.begin() + static_cast<std::ptrdiff_t>(ptx.find("frobnicate"));
  const auto line = 1 + std::count(ptx.begin(), before, '\n');
  const auto program = Program::load(ptx, "k");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::unsupported);
  EXPECT_NE(program.error().message.find("frobnicate.u32"), std::string::npos);
  EXPECT_NE(program.error().message.find("line " + std::to_string(line) + ":"), std::string::npos)
      << program.error().message;
}

}  // namespace
}  // namespace regraph::ptx::opcodes_test
