// Loops that use what they have accumulated so far, dealt out to threads.
#include "rewrite/step_checks.h"

#include <cstdlib>
#include <iostream>

namespace regraph::test {
namespace {

Application lanes(const char* threads, const char* rows, const char* items) {
  return {"cross_thread_scan",
          {{"threads_per_row", threads}, {"rows_per_block", rows}, {"items", items}}};
}

Application slices(const char* number, const char* items) {
  return {"slice_scan", {{"slices", number}, {"items", items}}};
}

std::string text_of(const rewrite::KernelState& state) {
  return source::print(state.unit);
}

TEST(CrossThreadScan, DealsRowsOutToWarpsAndBlocks) {
  for (const char* name : {"running_sums", "sums_onto_previous", "exclusive_counts",
                           "means_in_place", "running_maxima_of_columns", "distribution_of_row"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* items : {"1", "2", "4", "8"}) {
      const auto state = expect_correct(*kernel, {lanes("32", "4", items)});
      if (std::getenv("SHOW")) std::cout << text_of(state);
      expect_correct(*kernel, {lanes("128", "1", items)});
      const auto state2 = expect_correct(*kernel, {lanes("256", "1", items)});
      if (std::getenv("SHOW")) std::cout << text_of(state2);
    }
  }
}

TEST(SliceScan, DealsStepsOutToSlices) {
  for (const char* name : {"running_sums", "sums_onto_previous", "exclusive_counts",
                           "means_in_place", "running_maxima_of_columns", "distribution_of_row"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* items : {"1", "4"}) {
      const auto state = expect_correct(*kernel, {slices("8", items)});
      if (std::getenv("SHOW")) std::cout << text_of(state);
      expect_correct(*kernel, {slices("16", items)});
    }
  }
}

}  // namespace
}  // namespace regraph::test
