// Half precision: comparisons of pairs, flushing, f32 pairs, mixed types, tf32 and 8-bit floats.
// The reference converts with the processor-independent definitions below, never with the
// interpreter's.
#include "ptx/opcode_check.h"

#include <cmath>

namespace regraph::ptx::opcode_half_test {
namespace {

double half_value(U bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31);
  const double mantissa = static_cast<double>(bits & 1023);
  double value =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) value = mantissa != 0 ? NAN : INFINITY;
  return (bits & 0x8000) != 0 ? -value : value;
}
double bfloat_value(U bits) {
  return f32((bits & 0xffff) << 16);
}

using Compare = bool (*)(double, double);
const struct {
  const char* name;
  Compare holds;
} kComparisons[] = {{"lt", [](double a, double b) { return a < b; }},
                    {"eq", [](double a, double b) { return a == b; }},
                    {"neu", [](double a, double b) { return !(a == b); }},
                    {"geu", [](double a, double b) { return !(a < b); }},
                    {"num", [](double a, double b) { return a == a && b == b; }},
                    {"nan", [](double a, double b) { return a != a || b != b; }}};

TEST(OpcodeHalfTest, ComparisonsOfPairs) {
  for (const char* type : {"f16", "bf16"}) {
    const auto value = type[0] == 'f' ? &half_value : &bfloat_value;
    const U one = type[0] == 'f' ? 0x3c00 : 0x3f80;
    for (const auto& [name, holds] : kComparisons) {
      const std::string pair = std::string(type) + "x2";
      const auto low = [value = value, holds = holds](U a, U b) {
        return holds(value(a & 0xffff), value(b & 0xffff));
      };
      const auto high = [low](U a, U b) { return low(u32(a) >> 16, u32(b) >> 16); };
      const std::string head = std::string("set.") + name + ".";
      check(Inputs::integers, head + pair + "." + pair + " %d32, %a32, %b32;", 32,
            [=](U a, U b, U) { return (low(a, b) ? one : 0) | ((high(a, b) ? one : 0) << 16); });
      check(Inputs::integers, head + "u32." + pair + " %d32, %a32, %b32;", 32, [=](U a, U b, U) {
        return U{low(a, b) ? 0xffffU : 0U} | (high(a, b) ? 0xffff0000U : 0U);
      });
      check(Inputs::integers, head + type + "." + type + " %d16, %a16, %b16;", 16,
            [=](U a, U b, U) { return low(a, b) ? one : 0; });
      const std::string setp = std::string("setp.") + name;
      check(Inputs::integers,
            setp + "." + pair +
                " %p|%q, %a32, %b32; selp.b32 %x0, 1, 0, %p; selp.b32 %x1, 2, 0, %q;"
                "or.b32 %d32, %x0, %x1;",
            32, [=](U a, U b, U) { return U{low(a, b) ? 1U : 0U} | (high(a, b) ? 2U : 0U); });
      check(Inputs::integers,
            "setp.lt.s32 %r, %c32, 0; " + setp + ".and." + pair +
                " %p|%q, %a32, %b32, %r;"
                "selp.b32 %x0, 1, 0, %p; selp.b32 %x1, 2, 0, %q; or.b32 %d32, %x0, %x1;",
            32, [=](U a, U b, U c) {
              return s32(c) < 0 ? U{low(a, b) ? 1U : 0U} | (high(a, b) ? 2U : 0U) : U{0};
            });
    }
  }
}

TEST(OpcodeHalfTest, FlushesDenormals) {
  // 2^-15 + 2^-15: the summands flush; 2^-14 * 0.5: the product does.
  check(Inputs::integers, "mov.b16 %h0, 0x0200; add.ftz.f16 %d16, %h0, %h0;", 16,
        [](U, U, U) { return U{0}; });
  check(Inputs::integers, "mov.b16 %h0, 0x0200; add.f16 %d16, %h0, %h0;", 16,
        [](U, U, U) { return U{0x0400}; });
  check(Inputs::integers,
        "mov.b32 %x0, 0x84000400; mov.b32 %x1, 0x3c003800; mul.ftz.f16x2 %d32, %x0, %x1;", 32,
        [](U, U, U) { return U{0x84000000}; });
}

TEST(OpcodeHalfTest, PairsOfSingles) {
  const auto pair = [](U low, U high) { return low | (high << 32); };
  const std::string pack = "mov.b64 %y0, {%a32, %b32}; mov.b64 %y1, {%b32, %c32};";
  check(Inputs::floats, pack + "add.rn.f32x2 %d, %y0, %y1;", 64,
        [=](U a, U b, U c) { return pair(bits(f32(a) + f32(b)), bits(f32(b) + f32(c))); });
  check(Inputs::floats, pack + "mul.rn.f32x2 %d, %y0, %y1;", 64,
        [=](U a, U b, U c) { return pair(bits(f32(a) * f32(b)), bits(f32(b) * f32(c))); });
  check(Inputs::floats, pack + "fma.rn.f32x2 %d, %y0, %y1, %y0;", 64, [=](U a, U b, U c) {
    return pair(bits(std::fma(f32(a), f32(b), f32(a))), bits(std::fma(f32(b), f32(c), f32(b))));
  });
}

TEST(OpcodeHalfTest, MixedPrecision) {
  check(Inputs::integers,
        "mov.b32 %f0, %c32; fma.rn.f32.f16 %f1, %a16, %b16, %f0; mov.b32 %d32, %f1;", 32,
        [](U a, U b, U c) {
          return bits(std::fma(static_cast<float>(half_value(a & 0xffff)),
                               static_cast<float>(half_value(b & 0xffff)), f32(c)));
        });
  check(Inputs::integers, "mov.b32 %f0, %c32; add.f32.bf16 %f1, %a16, %f0; mov.b32 %d32, %f1;", 32,
        [](U a, U, U c) { return bits(static_cast<float>(bfloat_value(a)) + f32(c)); });
}

TEST(OpcodeHalfTest, SignsByExclusiveOr) {
  check(Inputs::floats, "min.xorsign.abs.f32 %d32, %a32, %b32;", 32, [](U a, U b, U) {
    const U magnitude = bits(std::fmin(std::fabs(f32(a)), std::fabs(f32(b)))) & 0x7fffffff;
    return magnitude | ((u32(a) ^ u32(b)) & 0x80000000U);
  });
}

TEST(OpcodeHalfTest, RoundsToTf32) {
  check(Inputs::floats, "cvt.rna.tf32.f32 %d32, %a32;", 32, [](U a, U, U) {
    if (f32(a) != f32(a)) return U{0x7fffffff};
    if (std::isinf(f32(a)) || f32(a) == 0) return a;
    int exponent = 0;
    std::frexp(f32(a), &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - 11);  // ten mantissa bits
    return bits(static_cast<float>(std::round(f32(a) / unit) * unit));   // halves away from zero
  });
}

// All 256 patterns: what a byte means, and that converting its value gives it back.
TEST(OpcodeHalfTest, EightBitFloats) {
  const auto meaning = [](U byte, int mantissa_bits, int bias) {
    const int exponent = static_cast<int>((byte & 0x7f) >> mantissa_bits);
    const auto mantissa = static_cast<double>(byte & ((1U << mantissa_bits) - 1));
    const double steps = std::ldexp(1.0, mantissa_bits);
    const double value = exponent == 0 ? std::ldexp(mantissa / steps, 1 - bias)
                                       : std::ldexp(1 + mantissa / steps, exponent - bias);
    return (byte & 0x80) != 0 ? -value : value;
  };
  for (const auto& [type, mantissa_bits, bias, largest] :
       {std::tuple{"e4m3x2", 3, 7, U{0x7e}}, std::tuple{"e5m2x2", 2, 15, U{0x7b}}}) {
    const auto usable = [largest = largest](U byte) { return (byte & 0x7f) <= largest; };
    check(Inputs::integers,
          std::string("cvt.rn.f16x2.") + type + " %d32, %a16; and.b32 %d32, %d32, 0xffff;", 32,
          [=, mantissa_bits = mantissa_bits, bias = bias](U a, U, U) {
            if (!usable(a & 0xff)) return U{mantissa_bits == 3 ? 0x7fffU : (u32(a) & 0xff) << 8};
            for (U half = 0; half < 0x10000; ++half) {
              const double value = meaning(a & 0xff, mantissa_bits, bias);
              if (half_value(half) == value && std::signbit(value) == (half >= 0x8000)) return half;
            }
            return ~U{0};
          });
    // There and back, from the bytes of a: f16x2 to f32 to bytes.
    check(Inputs::integers,
          std::string("cvt.rn.f16x2.") + type +
              " %x0, %a16; mov.b32 {%h0, %h1}, %x0; cvt.f32.f16 %f0, %h0;"
              "cvt.f32.f16 %f1, %h1; cvt.rn.satfinite." +
              type + ".f32 %d16, %f1, %f0;",
          16, [=, largest = largest](U a, U, U) {
            const auto byte = [&](U one) {
              if (usable(one)) return one;
              const bool infinite = largest == 0x7b && (one & 0x7f) == 0x7c;
              return infinite ? (one & 0x80) | largest : U{0x7f};
            };
            return byte(a & 0xff) | (byte((a >> 8) & 0xff) << 8);
          });
    // Halfway goes to even, beyond the end stays at it.
    check(Inputs::integers,
          std::string("mov.f32 %f0, 0f7149F2CA; mov.f32 %f1, 0fC7C35000; cvt.rn.satfinite.") +
              type + ".f32 %d16, %f1, %f0;",
          16, [largest = largest](U, U, U) { return largest | ((largest | 0x80) << 8); });
  }
}

}  // namespace
}  // namespace regraph::ptx::opcode_half_test
