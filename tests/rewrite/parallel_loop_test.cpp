// parallel_loop: loops whose iterations become threads.
#include "rewrite/step_checks.h"

namespace regraph::test {
namespace {

Application fold(const char* loop = "1") {
  return {"parallel_loop", {{"axis", "x"}, {"loop", loop}}};
}

Application along(const char* axis, const char* loop = "1") {
  return {"parallel_loop", {{"axis", axis}, {"loop", loop}}};
}

Application moved(const char* old_x, const char* loop = "1") {
  return {"parallel_loop", {{"axis", "x"}, {"loop", loop}, {"old_x", old_x}}};
}

TEST(ParallelLoop, Prints) {
  for (const char* name : {"batched_products", "chunk_a_thread", "row_scaled_by_a_thread",
                           "channels_of_a_pixel", "columns_updated_in_place", "one_thread_for_all",
                           "samples_counted_by_a_thread"}) {
    const auto kernel = sample(name);
    for (const auto& step : {fold(), fold("2"), along("y"), along("y", "2"), along("z"), moved("y"), moved("z"), moved("z", "2")}) {
      auto next = kernel->apply(kernel->original(), step.step, step.parameters);
      std::cout << "==== " << name;
      for (auto& [k, v] : step.parameters) std::cout << " " << k << "=" << v;
      if (next) {
        const auto& launch = next->plan.launches[0];
        std::cout << "\n" << source::print(next->unit) << "\n" << launch.block.x << "," << launch.block.y << "," << launch.block.z << "  " << launch.grid[0].text() << " , " << launch.grid[1].text() << " , "<< launch.grid[2].text() << "\n" << kernel->verdict(*next) << "\n";
      } else {
        std::cout << "\n" << next.error().message << "\n";
      }
    }
  }
}

}  // namespace
}  // namespace regraph::test
