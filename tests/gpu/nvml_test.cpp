// The real management library, where there is one.
#include "eval/gpu/driver/nvml.h"

#include "eval/gpu/driver/gpu_disturbances.h"
#include "gpu_machine.h"

#include <cstdio>

namespace regraph::nvml_test {
namespace {

class Nvml : public test::GpuTest {};

TEST_F(Nvml, KnowsTheGpuThatCudaShows) {
  const std::vector<std::string> candidates = gpu::nvml_candidates();
  const std::string& bus_id = machine().device().bus_id;
  const auto before = gpu::read_gpu_state(bus_id, candidates);
  if (!before.ok()) GTEST_SKIP() << before.error().message;
  EXPECT_EQ(before->name, machine().device().name);
  ASSERT_TRUE(before->most_sm_clock_hertz);
  EXPECT_NEAR(*before->most_sm_clock_hertz, machine().device().clock_hertz, 1e8);
  std::printf("%s\n", gpu::state_text(*before).c_str());

  // A worker of ours is nobody else.
  const auto process = machine().start();
  ASSERT_TRUE(process);
  const auto during = gpu::read_gpu_state(bus_id, candidates);
  ASSERT_TRUE(during.ok()) << during.error().message;
  const std::size_t others = gpu::disturbances(*before, false).size();
  EXPECT_LE(gpu::disturbances(*during, true).size(), others);
  for (const std::string& one : gpu::disturbances(*during, true))
    std::printf("%s\n", one.c_str());
}

}  // namespace
}  // namespace regraph::nvml_test
