#include "rewrite/analysis/vector_copy.h"

#include <gtest/gtest.h>

namespace regraph::test::vector_copy_test {
namespace {

using affine::AccessMap;
using rewrite::require_divisible;
using rewrite::SymbolFacts;
using rewrite::vector_copy_of;
using source::Polynomial;

Polynomial symbol(const char* name) {
  return Polynomial::symbol(name);
}

// K and N are parameters, k0 a multiple of 16.
SymbolFacts facts() {
  return {[](const std::string& name) { return name == "K" || name == "N" || name == "batch"; },
          {{"k0", 16}}};
}

// `rows` of A[row * K + k].
AccessMap rows_of(std::int64_t rows, std::int64_t columns) {
  AccessMap footprint;
  if (rows > 1) footprint.dimensions.push_back({symbol("K"), {{"r", 1}}, rows});
  footprint.dimensions.push_back({Polynomial(1), {{"c", 1}}, columns});
  return footprint;
}

TEST(RequireDivisible, AsksParametersOnlyWhereNothingElseHelps) {
  const auto asked = [](const Polynomial& polynomial, std::int64_t width) {
    std::set<std::string> divisible;
    EXPECT_TRUE(require_divisible(polynomial, width, facts(), divisible));
    return divisible;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(asked(Polynomial(8) * symbol("blockIdx.x") + Polynomial(-4), 4), Names{});
  EXPECT_EQ(asked(symbol("k0"), 4), Names{});
  EXPECT_EQ(asked(symbol("blockIdx.y") * symbol("K") + symbol("k0"), 4), Names{"K"});
  EXPECT_EQ(asked(Polynomial(2) * symbol("K") * symbol("blockIdx.y"), 2), Names{});
  // Once asked it serves all.
  EXPECT_EQ(asked(symbol("N") * symbol("threadIdx.y") + symbol("N") * symbol("K"), 4), Names{"N"});
}

TEST(RequireDivisible, SaysWhereNoParameterWouldDo) {
  std::set<std::string> divisible;
  EXPECT_FALSE(require_divisible(Polynomial(3), 4, facts(), divisible));
  EXPECT_FALSE(require_divisible(symbol("K") + Polynomial(1), 4, facts(), divisible));
  EXPECT_FALSE(require_divisible(symbol("threadIdx.x"), 2, facts(), divisible));
  EXPECT_FALSE(
      require_divisible(symbol("k0") * Polynomial(1) + symbol("j"), 4, facts(), divisible));
  // A multiple of 16 is none of 32.
  EXPECT_FALSE(require_divisible(symbol("k0"), 32, facts(), divisible));
}

TEST(VectorCopy, IsAsWideAsRowsAndAlignmentAllow) {
  const Polynomial base = Polynomial(64) * symbol("K") * symbol("blockIdx.y") + symbol("k0");
  const auto wide = vector_copy_of(rows_of(64, 16), base, ScalarType::f32, 256, facts());
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->width, 4);
  EXPECT_EQ(wide->divisible, std::set<std::string>{"K"});
  const auto bytes = vector_copy_of(rows_of(64, 16), base, ScalarType::u8, 256, facts());
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->width, 16);
  const auto halves = vector_copy_of(rows_of(64, 16), base, ScalarType::f16, 256, facts());
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->width, 8);
  const auto doubles = vector_copy_of(rows_of(64, 16), base, ScalarType::f64, 256, facts());
  ASSERT_TRUE(doubles);
  EXPECT_EQ(doubles->width, 2);
  const auto aligned = vector_copy_of(rows_of(64, 16), base, ScalarType::f32, 8, facts());
  ASSERT_TRUE(aligned);
  EXPECT_EQ(aligned->width, 2);
  const auto narrow = vector_copy_of(rows_of(64, 6), base, ScalarType::f32, 256, facts());
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->width, 2);
}

// What a width that came to nothing asked for is forgotten.
TEST(VectorCopy, AsksOnlyForWhatItsWidthNeeds) {
  AccessMap footprint = rows_of(4, 8);
  footprint.dimensions[0].stride = Polynomial(2) * symbol("K");
  const auto copy = vector_copy_of(footprint, Polynomial(2), ScalarType::f32, 256, facts());
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->width, 2);
  EXPECT_TRUE(copy->divisible.empty());
}

TEST(VectorCopy, NeedsNeighboursInMemory) {
  const Polynomial base;
  EXPECT_FALSE(vector_copy_of({}, base, ScalarType::f32, 256, facts()));
  AccessMap strided = rows_of(1, 16);
  strided.dimensions[0].stride = symbol("N");
  EXPECT_FALSE(vector_copy_of(strided, base, ScalarType::f32, 256, facts()));
  EXPECT_FALSE(vector_copy_of(rows_of(4, 5), base, ScalarType::f32, 256, facts()));
  EXPECT_FALSE(vector_copy_of(rows_of(4, 16), base + Polynomial(1), ScalarType::f32, 256, facts()));
  EXPECT_FALSE(vector_copy_of(rows_of(4, 16), base, ScalarType::f32, 4, facts()));
  EXPECT_FALSE(vector_copy_of(rows_of(4, 16), base, ScalarType::boolean, 256, facts()));
}

}  // namespace
}  // namespace regraph::test::vector_copy_test
