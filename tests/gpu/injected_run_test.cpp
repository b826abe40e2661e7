// Programs captured while they run on a GPU, as they are: the runtime linked statically.
#include "session/injected_run.h"

#include "base/files.h"
#include "capture/problem/captured_kernel.h"
#include "eval/compile/compiler.h"
#include "gpu_machine.h"
#include "kernel/captured_data.h"
#include "session/kept_program.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

namespace regraph::injected_run_test {
namespace {

constexpr const char* kScaleMain = R"cuda(
#include <cstdio>
#include <vector>
struct View { float* data; int n; };
__constant__ float factors[2];
template <typename T>
__global__ void scale(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factors[0] + factors[1];
}
__global__ void negate(View view) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < view.n) view.data[i] = -view.data[i];
}
int main() {
  const int n = 1000;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = i;
  float f[2] = {3.0f, 0.5f}, *a, *b;
  cudaMemcpyToSymbol(factors, f, sizeof f);
  cudaMalloc(&a, n * sizeof(float));
  cudaMallocManaged(&b, n * sizeof(float));
  cudaMemcpy(a, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < 40; ++i) scale<float><<<(n + 127) / 128, 128>>>(a, b, n);
  negate<<<8, 128>>>(View{b, n});
  scale<float><<<(n + 127) / 128, 128>>>(b, b, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%g\n", b[10]);
  return b[10] == (-30.5f) * 3.0f + 0.5f ? 0 : 1;
}
)cuda";

class InjectedRunTest : public test::GpuTest {
 protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (IsSkipped()) return;
    const auto toolkit = find_cuda_toolkit();
    if (!toolkit || !std::filesystem::exists(toolkit->root / "bin" / "nvcc"))
      GTEST_SKIP() << "there is no nvcc";
    ASSERT_TRUE(directory);
    ASSERT_TRUE(write_file(directory->path() / "main.cu", kScaleMain));
    request.build = directory->path() / "main.cu";
    request.commands = {{}};
    request.place = CapturePlace::gpu;
    request.keep.folder = directory->path() / "kept";
    request.wall_seconds = 120.0;
  }
  [[nodiscard]] Result<KeptProgram, SessionError> keep() const {
    const Cancellation never;
    return keep_program(request, Installation::of_program(test::beside_this_program("gpu_test")),
                        never);
  }

  Result<TemporaryDirectory> directory = TemporaryDirectory::create("regraph-injected-");
  KeepRequest request;
};

TEST_F(InjectedRunTest, KeepsWhatTheKernelsWereGiven) {
  const auto kept = keep();
  ASSERT_TRUE(kept) << kept.error().message;
  for (const std::string& note : kept->notes)
    ADD_FAILURE() << note;
  EXPECT_EQ(kept->ends.front().exit_code, 0);
  ASSERT_EQ(kept->folders.size(), 2U);
  const auto found = std::ranges::find_if(
      kept->folders, [](const auto& one) { return one.path.filename() == "scale-float"; });
  ASSERT_NE(found, kept->folders.end());
  const capture::CapturedKernel& kernel = found->kernel;
  EXPECT_EQ(kernel.launches, 41U);
  EXPECT_GT(kernel.seconds, 0.0);
  EXPECT_TRUE(kernel.overlapping);  // in the last launch alone
  ASSERT_FALSE(kernel.kept.empty());
  const capture::KeptLaunch& first = kernel.kept.front();
  ASSERT_EQ(first.pointers.size(), 2U);
  EXPECT_GE(first.pointers[0].bytes, 4000U);
  ASSERT_EQ(first.variables.size(), 1U);
  const auto content = read_captured(found->path / "data" / first.pointers[0].data);
  ASSERT_TRUE(content) << content.error().message;
  float tenth = 0.0f;
  std::memcpy(&tenth, (*content)->data() + 10 * sizeof(float), sizeof tenth);
  EXPECT_EQ(tenth, 10.0f);
  const auto factors = read_captured(found->path / "data" / first.variables[0].data);
  ASSERT_TRUE(factors) << factors.error().message;
  float factor = 0.0f;
  std::memcpy(&factor, (*factors)->data(), sizeof factor);
  EXPECT_EQ(factor, 3.0f);
}

TEST_F(InjectedRunTest, KernelsInARowAreOneProblem) {
  request.keep.sequence = {"negate", "scale"};
  const auto kept = keep();
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_EQ(kept->folders.size(), 1U);
  const capture::CapturedKernel& kernel = kept->folders.front().kernel;
  EXPECT_EQ(kernel.launches, 1U);
  ASSERT_EQ(kernel.stages.size(), 2U);
  ASSERT_EQ(kernel.kept.size(), 1U);
  ASSERT_EQ(kernel.kept.front().pointers.size(), 3U);
  EXPECT_EQ(kernel.kept.front().pointers[0].allocation, kernel.kept.front().pointers[1].allocation);
  EXPECT_TRUE(kernel.overlapping);  // the second kernel works in place
}

}  // namespace
}  // namespace regraph::injected_run_test
