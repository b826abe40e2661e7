#include "eval/gpu/protocol/gpu_process.h"

#include "eval/gpu/with_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace regraph::gpu::gpu_process_test {
namespace {

// The worker looks for the driver there first.
class WithDriver {
 public:
  explicit WithDriver(const std::string& folder) {
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    if (before != nullptr) before_ = before;
    ::setenv("LD_LIBRARY_PATH", (std::string(REGRAPH_FAKE_DRIVERS) + "/" + folder).c_str(), 1);
  }
  ~WithDriver() { ::setenv("LD_LIBRARY_PATH", before_.c_str(), 1); }
  WithDriver(const WithDriver&) = delete;
  WithDriver& operator=(const WithDriver&) = delete;

 private:
  std::string before_;
};

Result<DeviceProperties> probe() {
  const Cancellation never;
  return probe_gpu(REGRAPH_GPU_WORKER, 0, never);
}

TEST(GpuProcess, ADriverForAnOlderToolkitIsSaid) {
  const WithDriver fake("older");
  const auto device = probe();
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::unsupported);
  EXPECT_NE(device.error().message.find("CUDA 12.4"), std::string::npos) << device.error().message;
  EXPECT_NE(device.error().message.find("newer driver"), std::string::npos);
}

TEST(GpuProcess, ADriverWithoutOurFunctionsIsSaid) {
  const WithDriver fake("ancient");
  const auto device = probe();
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::unsupported);
  EXPECT_NE(device.error().message.find("it has no cu"), std::string::npos)
      << device.error().message;
}

TEST(GpuProcess, ADriverThatDoesNotStartIsSaid) {
  const WithDriver fake("broken");
  const auto device = probe();
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::resource);
  EXPECT_NE(device.error().message.find("does not start"), std::string::npos)
      << device.error().message;
}

TEST(GpuProcess, AGpuThatIsTakenIsSaid) {
  const WithDriver fake("gpu");
  const auto free = probe();
  EXPECT_TRUE(free.ok()) << free.error().message;
  const regraph::test::WithEnvironment taken("CUDA_VISIBLE_DEVICES", "taken");
  const auto device = probe();
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::resource);
  for (const char* word : {"another process", "nvidia-smi", "CUDA_VISIBLE_DEVICES"})
    EXPECT_NE(device.error().message.find(word), std::string::npos) << device.error().message;
}

TEST(GpuProcess, AGpuForOneProcessAtATimeIsSaid) {
  const WithDriver fake("gpu");
  const regraph::test::WithEnvironment exclusive("CUDA_VISIBLE_DEVICES", "exclusive");
  const auto device = probe();
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::resource);
  for (const char* word : {"one process at a time", "nvidia-smi -c 0"})
    EXPECT_NE(device.error().message.find(word), std::string::npos) << device.error().message;
}

TEST(GpuProcess, NoDriverAtAllIsNotFound) {
  const auto device = probe();
  if (device.ok() || device.error().code != ErrorCode::not_found)
    GTEST_SKIP() << "there is a driver here";
  EXPECT_NE(device.error().message.find("libcuda"), std::string::npos) << device.error().message;
}

TEST(GpuProcess, AMissingWorkerIsAnError) {
  const Cancellation never;
  EXPECT_FALSE(probe_gpu("/nonexistent/regraph-eval", 0, never).ok());
}

// Of this process's environment the worker gets what concerns CUDA.
TEST(GpuProcess, TheWorkersEnvironmentIsSmall) {
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  ::setenv("OPENAI_API_KEY", "secret", 1);
  bool visible = false;
  for (const std::string& variable : gpu_environment()) {
    EXPECT_EQ(variable.find("secret"), std::string::npos);
    visible |= variable == "CUDA_VISIBLE_DEVICES=1";
  }
  EXPECT_TRUE(visible);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ::unsetenv("OPENAI_API_KEY");
}

}  // namespace
}  // namespace regraph::gpu::gpu_process_test
