#include "eval/verify/element.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace regraph::verify::element_test {
namespace {

TEST(Element, HalfRoundTripsEveryBitPattern) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = double_from_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(double_from_half(half_from_double(value))));
      continue;
    }
    EXPECT_EQ(half_from_double(value), half) << bits;
    const double wide = double_from_bfloat16(half);
    if (std::isnan(wide)) continue;
    EXPECT_EQ(bfloat16_from_double(wide), half) << bits;
  }
}

TEST(Element, HalfRoundsToNearestEven) {
  EXPECT_EQ(half_from_double(1.0), 0x3C00);
  EXPECT_EQ(half_from_double(-2.0), 0xC000);
  EXPECT_EQ(half_from_double(65504.0), 0x7BFF);
  EXPECT_EQ(half_from_double(65519.99), 0x7BFF);
  EXPECT_EQ(half_from_double(65520.0), 0x7C00);
  EXPECT_EQ(half_from_double(1e30), 0x7C00);
  EXPECT_EQ(half_from_double(1.0 + 0x1p-11), 0x3C00);  // tie to even
  EXPECT_EQ(half_from_double(1.0 + 0x1p-11 + 0x1p-30), 0x3C01);
  EXPECT_EQ(half_from_double(1.0 + 3 * 0x1p-11), 0x3C02);  // tie to even, upwards
  EXPECT_EQ(half_from_double(0x1p-24), 0x0001);            // smallest subnormal
  EXPECT_EQ(half_from_double(0x1p-25), 0x0000);
  EXPECT_EQ(half_from_double(-0.0), 0x8000);
  EXPECT_EQ(bfloat16_from_double(1.0 + 0x1p-8), 0x3F80);
  EXPECT_EQ(bfloat16_from_double(3.4e38), 0x7F80);
}

TEST(Element, StoresAndLoadsEveryType) {
  std::byte bytes[8];
  for (const ScalarType type :
       {ScalarType::i8, ScalarType::u8, ScalarType::i16, ScalarType::u16, ScalarType::i32,
        ScalarType::u32, ScalarType::i64, ScalarType::u64, ScalarType::f16, ScalarType::bf16,
        ScalarType::f32, ScalarType::f64}) {
    for (const double value : {0.0, 1.0, 2.0, 100.0}) {
      store_element(type, value, bytes);
      EXPECT_EQ(load_element(type, bytes), value) << static_cast<int>(type);
    }
  }
  store_element(ScalarType::i8, 1000.0, bytes);
  EXPECT_EQ(load_element(ScalarType::i8, bytes), 127.0);
  store_element(ScalarType::u32, -5.0, bytes);
  EXPECT_EQ(load_element(ScalarType::u32, bytes), 0.0);
  store_element(ScalarType::i64, 1e300, bytes);
  EXPECT_EQ(load_element(ScalarType::i64, bytes), 0x1p63);
  store_element(ScalarType::boolean, 7.0, bytes);
  EXPECT_EQ(load_element(ScalarType::boolean, bytes), 1.0);
}

}  // namespace
}  // namespace regraph::verify::element_test
