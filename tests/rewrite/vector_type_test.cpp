#include "rewrite/analysis/vector_type.h"

#include <gtest/gtest.h>

namespace regraph::test::vector_type_test {
namespace {

TEST(VectorType, IsWhatOneAccessMoves) {
  EXPECT_EQ(rewrite::vector_type(ScalarType::f32, 4), "float4");
  EXPECT_EQ(rewrite::vector_type(ScalarType::u8, 4), "uchar4");
  EXPECT_EQ(rewrite::vector_type(ScalarType::i16, 2), "short2");
  EXPECT_EQ(rewrite::vector_type(ScalarType::f64, 2), "double2");
  EXPECT_EQ(rewrite::vector_type(ScalarType::f64, 4), "");
  EXPECT_EQ(rewrite::vector_type(ScalarType::boolean, 4), "");
  EXPECT_EQ(rewrite::component_name(0), "x");
  EXPECT_EQ(rewrite::component_name(3), "w");
}

}  // namespace
}  // namespace regraph::test::vector_type_test
