// Steps on kernels whose indices and values come through records.
#include "rewrite/step_checks.h"

namespace regraph::test::record_steps_test {
namespace {

const Application kElements = {"row_kernel", {{"form", "elements"}}};

TEST(RecordSteps, FieldsWithZerosOutsideAreWindows) {
  const auto kernel = sample("field_of_zeros_outside");
  ASSERT_NE(kernel, nullptr);
  const auto window =
      expect_correct(*kernel, {{"window", {{"axis", "y"}, {"rows", "4"}, {"block", "keep"}}}});
  const std::string code = source::print(window.unit.kernel.body, 0);
  EXPECT_EQ(code.find("inside"), std::string::npos) << code;
  EXPECT_EQ(code.find("f_data"), std::string::npos) << code;
}

TEST(RecordSteps, ElementsOfRowsAreThreads) {
  const auto kernel = sample("turned_rows");
  ASSERT_NE(kernel, nullptr);
  const auto spread = expect_correct(*kernel, {kElements});
  EXPECT_EQ(spread.plan.launches[0].grid[0].text(), "cdiv(heads * half, bx)");
  EXPECT_EQ(spread.plan.launches[0].block.x, 256U);
  expect_correct(*kernel, {kElements, {"linearize", {}}});
  // What is added up is no single element's.
  const auto sums = sample("block_softmax");
  ASSERT_NE(sums, nullptr);
  expect_refusal(*sums, kElements, "");
}

}  // namespace
}  // namespace regraph::test::record_steps_test
