// Integer forms beyond the everyday ones, lane by lane, against what the PTX ISA says.
#include "ptx/opcode_check.h"

#include <algorithm>
#include <cmath>

namespace regraph::ptx::opcode_integer_test {
namespace {

__extension__ using Wide = unsigned __int128;

void integers(const std::string& body, int width, const Expect& expect) {
  check(Inputs::integers, body, width, expect);
}
U clamp32(std::int64_t value) {
  return u32(static_cast<U>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX)));
}
std::int64_t field(U value, int at, int bits, bool is_signed) {
  const U raw = (value >> at) & ((U{1} << bits) - 1);
  return is_signed && (raw >> (bits - 1)) != 0 ? static_cast<std::int64_t>(raw) - (1LL << bits)
                                               : static_cast<std::int64_t>(raw);
}

TEST(OpcodeIntegerTest, CarryChains) {
  // 64 bits in two halves.
  integers(
      "mov.b64 {%x0, %x1}, %a; mov.b64 {%x2, %x3}, %b; add.cc.u32 %x4, %x0, %x2;"
      "addc.u32 %x5, %x1, %x3; mov.b64 %d, {%x4, %x5};",
      64, [](U a, U b, U) { return a + b; });
  integers(
      "mov.b64 {%x0, %x1}, %a; mov.b64 {%x2, %x3}, %b; sub.cc.u32 %x4, %x0, %x2;"
      "subc.u32 %x5, %x1, %x3; mov.b64 %d, {%x4, %x5};",
      64, [](U a, U b, U) { return a - b; });
  // The carry out of 128 bits.
  integers("add.cc.u64 %y0, %a, %b; addc.cc.u64 %y1, %c, %a; addc.u64 %d, 0, 0;", 64,
           [](U a, U b, U c) {
             const U carry = a + b < a ? 1 : 0;
             return U((Wide{c} + a + carry) >> 64);
           });
  integers("sub.cc.s64 %y0, %a, %b; subc.cc.s64 %y1, %c, %a; subc.s64 %d, 0, 0;", 64,
           [](U a, U b, U c) {
             const U borrow = a < b ? 1 : 0;
             return Wide{c} < Wide{a} + borrow ? ~U{0} : U{0};
           });
  // 32 x 32 + 64 bits by mad.lo.cc and madc.hi.
  integers(
      "mov.b64 {%x0, %x1}, %c; mad.lo.cc.u32 %x4, %a32, %b32, %x0;"
      "madc.hi.u32 %x5, %a32, %b32, %x1; mov.b64 %d, {%x4, %x5};",
      64, [](U a, U b, U c) { return U{u32(a)} * u32(b) + c; });
  integers("mad.lo.cc.u64 %y0, %a, %b, %c; madc.hi.cc.u64 %d, %a, %b, 0;", 64,
           [](U a, U b, U c) { return U((Wide{a} * b + c) >> 64); });
  // Lanes that a guard leaves out keep their flag.
  integers(
      "setp.lt.u32 %p, %a32, 99; add.cc.u32 %x0, -1, 1; @%p add.cc.u32 %x1, 0, 0;"
      "addc.u32 %d32, 0, 0;",
      32, [](U a, U, U) { return u32(a) < 99 ? U{0} : U{1}; });
}

TEST(OpcodeIntegerTest, Saturation) {
  integers("add.sat.s32 %d32, %a32, %b32;", 32,
           [](U a, U b, U) { return clamp32(std::int64_t{s32(a)} + s32(b)); });
  integers("sub.sat.s32 %d32, %a32, %b32;", 32,
           [](U a, U b, U) { return clamp32(std::int64_t{s32(a)} - s32(b)); });
  integers("mad.hi.sat.s32 %d32, %a32, %b32, %c32;", 32,
           [](U a, U b, U c) { return clamp32(((std::int64_t{s32(a)} * s32(b)) >> 32) + s32(c)); });
  integers("max.s32.relu %d32, %a32, %b32;", 32, [](U a, U b, U) {
    return U(std::max({s32(a), s32(b), 0}));
  });
}

TEST(OpcodeIntegerTest, TwentyFourBitProducts) {
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? "s32" : "u32";
    const auto product = [=](U a, U b) {
      return static_cast<U>(field(a, 0, 24, is_signed) * field(b, 0, 24, is_signed));
    };
    integers("mul24.lo." + type + " %d32, %a32, %b32;", 32,
             [=](U a, U b, U) { return product(a, b); });
    integers("mul24.hi." + type + " %d32, %a32, %b32;", 32,
             [=](U a, U b, U) { return product(a, b) >> 16; });
    integers("mad24.lo." + type + " %d32, %a32, %b32, %c32;", 32,
             [=](U a, U b, U c) { return product(a, b) + c; });
  }
}

TEST(OpcodeIntegerTest, ThreeInputLogic) {
  for (const int table : {0x00, 0xff, 0x80, 0xe8, 0x96, 0x1d, 0xca, 0x40}) {
    integers("lop3.b32 %d32, %a32, %b32, %c32, " + std::to_string(table) + ";", 32,
             [=](U a, U b, U c) {
               U result = 0;
               for (int i = 0; i < 32; ++i) {
                 const U row = ((a >> i) & 1) * 4 + ((b >> i) & 1) * 2 + ((c >> i) & 1);
                 result |= U((table >> row) & 1) << i;
               }
               return result;
             });
  }
}

// PTX ISA, table of prmt modes: source bytes by mode and selector, most significant first.
TEST(OpcodeIntegerTest, PermuteModes) {
  const struct {
    const char* mode;
    int bytes[4][4];
  } modes[] = {{"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
               {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
               {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
               {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
               {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
               {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}};
  for (const auto& mode : modes) {
    integers(std::string("prmt.b32.") + mode.mode + " %d32, %a32, %b32, %c32;", 32,
             [&](U a, U b, U c) {
               const U both = (b << 32) | u32(a);
               U result = 0;
               for (const int byte : mode.bytes[c & 3])
                 result = (result << 8) | ((both >> (8 * byte)) & 0xff);
               return result;
             });
  }
}

TEST(OpcodeIntegerTest, NthSetBit) {
  integers(
      "and.b32 %x0, %b32, 31; and.b32 %x1, %c32, 7; sub.s32 %x1, %x1, 3;"
      "fns.b32 %d32, %a32, %x0, %x1;",
      32, [](U a, U b, U c) {
        int position = static_cast<int>(b & 31);
        const int offset = static_cast<int>(c & 7) - 3;
        if (offset == 0) return ((a >> position) & 1) != 0 ? U(position) : U{0xffffffff};
        int count = std::abs(offset) - 1;
        for (; position >= 0 && position<32; position += offset> 0 ? 1 : -1) {
          if (((a >> position) & 1) != 0 && count-- == 0) return U(position);
        }
        return U{0xffffffff};
      });
}

TEST(OpcodeIntegerTest, DotProductsOfTwo) {
  for (const bool high : {false, true}) {
    for (const auto& [x, y] :
         {std::pair{"s32", "s32"}, {"u32", "u32"}, {"s32", "u32"}, {"u32", "s32"}}) {
      integers(
          std::string("dp2a.") + (high ? "hi." : "lo.") + x + "." + y + " %d32, %a32, %b32, %c32;",
          32, [=, first = x[0] == 's', second = y[0] == 's'](U a, U b, U c) {
            for (int i = 0; i < 2; ++i) {
              c += U(field(a, 16 * i, 16, first) * field(b, 8 * i + (high ? 16 : 0), 8, second));
            }
            return c;
          });
    }
  }
}

TEST(OpcodeIntegerTest, PairsAndQuadruples) {
  const auto halves = [](U a, U b, bool is_signed, auto combine) {
    U result = 0;
    for (int i = 0; i < 32; i += 16) {
      result |=
          (static_cast<U>(combine(field(a, i, 16, is_signed), field(b, i, 16, is_signed))) & 0xffff)
          << i;
    }
    return result;
  };
  const auto smaller = [](std::int64_t x, std::int64_t y) { return std::min(x, y); };
  const auto larger = [](std::int64_t x, std::int64_t y) { return std::max(x, y); };
  integers("add.u16x2 %d32, %a32, %b32;", 32, [&](U a, U b, U) {
    return halves(a, b, false, [](std::int64_t x, std::int64_t y) { return x + y; });
  });
  integers("min.u16x2 %d32, %a32, %b32;", 32,
           [&](U a, U b, U) { return halves(a, b, false, smaller); });
  integers("max.u16x2 %d32, %a32, %b32;", 32,
           [&](U a, U b, U) { return halves(a, b, false, larger); });
  integers("min.s16x2 %d32, %a32, %b32;", 32,
           [&](U a, U b, U) { return halves(a, b, true, smaller); });
  integers("max.s16x2.relu %d32, %a32, %b32;", 32, [&](U a, U b, U) {
    return halves(a, b, true, [](std::int64_t x, std::int64_t y) {
      return std::max({x, y, std::int64_t{0}});
    });
  });
  for (const int bits : {8, 16}) {
    for (const bool is_signed : {false, true}) {
      const std::string name = bits == 8 ? "vabsdiff4" : "vabsdiff2";
      const std::string types = is_signed ? ".s32.s32.s32" : ".u32.u32.u32";
      const auto difference = [=](U a, U b, int at) {
        return static_cast<U>(
            std::abs(field(a, at, bits, is_signed) - field(b, at, bits, is_signed)));
      };
      integers(name + types + " %d32, %a32, %b32, %c32;", 32, [=](U a, U b, U) {
        U result = 0;
        for (int i = 0; i < 32; i += bits)
          result |= (difference(a, b, i) & ((U{1} << bits) - 1)) << i;
        return result;
      });
      integers(name + types + ".add %d32, %a32, %b32, %c32;", 32, [=](U a, U b, U c) {
        for (int i = 0; i < 32; i += bits)
          c += difference(a, b, i);
        return c;
      });
    }
  }
}

TEST(OpcodeIntegerTest, Selections) {
  integers("slct.s32.s32 %d32, %a32, %b32, %c32;", 32,
           [](U a, U b, U c) { return s32(c) >= 0 ? a : b; });
  integers("slct.u64.s32 %d, %a, %b, %c32;", 64, [](U a, U b, U c) { return s32(c) >= 0 ? a : b; });
  check(Inputs::floats, "slct.b32.f32 %d32, %a32, %b32, %c32;", 32,
        [](U a, U b, U c) { return f32(c) >= 0 ? a : b; });
  check(Inputs::floats, "min.f32 %d32, %a32, %b32, %c32;", 32, [](U a, U b, U c) {
    const auto smaller = [](U x, U y) {
      if (f32(x) == 0 && f32(y) == 0) return U{(u32(x) | u32(y)) & 0x80000000U};
      return bits(std::fmin(f32(x), f32(y)));
    };
    return smaller(smaller(a, b), c);
  });
}

}  // namespace
}  // namespace regraph::ptx::opcode_integer_test
