// Checks one line of PTX against a C++ expression: corner values and random ones, full and partial
// warps, every handler set.
#pragma once

#include "ptx/opcode_test_support.h"

#include <bit>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace regraph::ptx {

using U = std::uint64_t;
using Expect = std::function<U(U a, U b, U c)>;

inline float f32(U bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
inline double f64(U bits) {
  return std::bit_cast<double>(bits);
}
inline U bits(float value) {
  return value == value ? std::bit_cast<std::uint32_t>(value) : 0x7fffffffU;
}
inline U bits(double value) {
  return value == value ? std::bit_cast<U>(value) : 0x7ff8000000000000ULL;
}
inline std::int32_t s32(U bits) {
  return static_cast<std::int32_t>(bits);
}
inline std::uint32_t u32(U bits) {
  return static_cast<std::uint32_t>(bits);
}
inline std::int64_t s64(U bits) {
  return static_cast<std::int64_t>(bits);
}

enum class Inputs { integers, floats, doubles };

inline OpcodeInputs make_inputs(Inputs kind) {
  OpcodeInputs inputs;
  const std::vector<U> corners =
      kind == Inputs::integers
          ? std::vector<U>{0, 1, ~0ULL, 0x80000000U, 0x7fffffffU, 1ULL << 63, 5, 31, 0xffff8000U}
      : kind == Inputs::floats
          ? std::vector<U>{0, 0x80000000U, 0x3f800000U, 0x7f800000U, 0xff800000U, 0x7fc00000U,
                           1, 0x00400000U, 0x7f7fffffU, 0x3fc00000U, 0xc0200000U, 0x4f000000U}
          : std::vector<U>{0,
                           1ULL << 63,
                           bits(1.0),
                           bits(std::numeric_limits<double>::infinity()),
                           0x7ff8000000000000ULL,
                           1,
                           bits(2.5),
                           bits(-0.5),
                           bits(1e300)};
  for (int i = 0; i < kInputs; ++i) {
    for (int l = 0; l < 32; ++l) {
      U value = random_bits(7, i, l);
      if (kind == Inputs::floats) {
        value = bits(static_cast<float>((to_unit_interval(value) - 0.5) * (l % 3 == 0 ? 1e6 : 4)));
      }
      if (kind == Inputs::doubles) value = bits((to_unit_interval(value) - 0.5) * 1000);
      const int place = l * (2 * i + 1) + i;
      const auto corner = static_cast<std::size_t>(place);
      if (l % 2 == 0 || i == 2) value = corners[corner % corners.size()];
      inputs.values[static_cast<std::size_t>(i)][static_cast<std::size_t>(l)] = value;
    }
  }
  return inputs;
}

inline void check(Inputs kind, const std::string& body, int width, const Expect& expect) {
  const OpcodeInputs inputs = make_inputs(kind);
  const std::string ptx = opcode_kernel(body, width);
  for (HandlerSet handlers : kAllHandlers) {
    for (std::uint32_t threads : {32U, 19U}) {
      const LaneValues result = run_opcode(ptx, inputs, handlers, threads);
      for (std::size_t l = 0; l < threads; ++l) {
        const U a = inputs.values[0][l];
        const U b = inputs.values[1][l];
        const U c = inputs.values[2][l];
        const U mask = width == 64 ? ~0ULL : (1ULL << width) - 1;
        ASSERT_EQ(result[l], expect(a, b, c) & mask)
            << body << " lane " << l << std::hex << " a=" << a << " b=" << b << " c=" << c;
      }
      for (std::size_t l = threads; l < 32; ++l)
        ASSERT_EQ(result[l], ~0ULL);
    }
  }
}

}  // namespace regraph::ptx
