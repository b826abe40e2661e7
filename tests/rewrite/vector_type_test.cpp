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
  EXPECT_EQ(rewrite::vector_type(ScalarType::i16, 8), "");
  EXPECT_EQ(rewrite::component_name(0), "x");
  EXPECT_EQ(rewrite::component_name(3), "w");
}

TEST(VectorType, ShapesNeedNoTypeOfCuda) {
  using rewrite::VectorShape;
  EXPECT_TRUE(rewrite::can_be_moved({ScalarType::f16, 8}));
  EXPECT_TRUE(rewrite::can_be_moved({ScalarType::f32, 16}));
  EXPECT_FALSE(rewrite::can_be_moved({ScalarType::f64, 16}));
  EXPECT_FALSE(rewrite::can_be_moved({ScalarType::f16, 3}));
  EXPECT_FALSE(rewrite::can_be_moved({ScalarType::boolean, 4}));
  EXPECT_EQ((VectorShape{ScalarType::bf16, 4}.alignment()), 8);
  EXPECT_EQ((VectorShape{ScalarType::f32, 8}.alignment()), 16);
}

}  // namespace
}  // namespace regraph::test::vector_type_test
