// Programs that nvcc builds, read again.
#include "capture/program_kernels.h"

#include "base/files.h"
#include "capture/nvcc_program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::capture::program_kernels_test {
namespace {

constexpr const char* kSource = R"(
struct Box { float* p; int n; };
template <typename T, int N> __global__ void scale(T* x, T f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) x[i] *= f;
}
__global__ void boxed(Box b, double d, char c) {
  __shared__ float s[64];
  s[threadIdx.x] = b.p[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) b.p[0] = s[1] + d + c + b.n;
}
int main() {
  float* x = nullptr;
  cudaMalloc(&x, 4096);
  scale<float, 3><<<1, 32>>>(x, 2.f);
  scale<double, 4><<<1, 32>>>((double*)x, 2.);
  boxed<<<1, 64>>>(Box{x, 3}, 1.0, 'c');
  return cudaDeviceSynchronize();
}
)";

class ProgramKernelsTest : public test::NvccTest {
 protected:
  static const ProgramKernel* find(const ProgramKernels& found, const std::string& name) {
    const auto place = std::ranges::find_if(found.kernels, [&](const ProgramKernel& kernel) {
      return readable_name(kernel.image.symbol).find(name) != std::string::npos;
    });
    return place == found.kernels.end() ? nullptr : &*place;
  }
};

TEST_F(ProgramKernelsTest, KernelsOfAProgramWithTheirParameters) {
  if (!build(kSource, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto found = read_program_kernels(path("main"));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->shared_runtime);
  EXPECT_TRUE(found->notes.empty());
  ASSERT_EQ(found->kernels.size(), 3U);
  const ProgramKernel* boxed = find(*found, "boxed(Box, double, char)");
  ASSERT_NE(boxed, nullptr);
  EXPECT_EQ(boxed->image.parameters, (std::vector<ParameterSlot>{{0, 16}, {16, 8}, {24, 1}}));
  EXPECT_EQ(boxed->image.static_shared_bytes, 256U);
  EXPECT_GT(boxed->image.registers, 0);
  EXPECT_EQ(boxed->architectures, std::set<int>{90});
  EXPECT_TRUE(boxed->has_ptx);
  const ProgramKernel* scale = find(*found, "scale<double, 4>(double*, double)");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->image.parameters, (std::vector<ParameterSlot>{{0, 8}, {8, 8}}));
  EXPECT_NE(find(*found, "scale<float, 3>"), nullptr);
}

TEST_F(ProgramKernelsTest, SeveralArchitecturesAndNoPtx) {
  if (!build(kSource, "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"))
    GTEST_SKIP() << "no nvcc";
  const auto found = read_program_kernels(path("main"));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_FALSE(found->shared_runtime);
  const ProgramKernel* boxed = find(*found, "boxed");
  ASSERT_NE(boxed, nullptr);
  EXPECT_EQ(boxed->architectures, (std::set<int>{80, 90}));
  EXPECT_FALSE(boxed->has_ptx);
}

TEST_F(ProgramKernelsTest, PtxAloneTellsParameters) {
  if (!build(kSource, "-gencode arch=compute_90,code=compute_90 -Xfatbin -compress-all"))
    GTEST_SKIP() << "no nvcc";
  const auto found = read_program_kernels(path("main"));
  ASSERT_TRUE(found.ok()) << found.error().message;
  const ProgramKernel* boxed = find(*found, "boxed");
  ASSERT_NE(boxed, nullptr);
  EXPECT_TRUE(boxed->architectures.empty());
  EXPECT_TRUE(boxed->has_ptx);
  EXPECT_EQ(boxed->image.parameters, (std::vector<ParameterSlot>{{0, 16}, {16, 8}, {24, 1}}));
}

TEST_F(ProgramKernelsTest, OtherFilesAreErrors) {
  EXPECT_EQ(read_program_kernels(path("absent")).error().code, ErrorCode::not_found);
  ASSERT_TRUE(write_file(path("text"), "just some words\n").ok());
  EXPECT_EQ(read_program_kernels(path("text")).error().code, ErrorCode::parse);
  const auto own = read_program_kernels("/proc/self/exe");
  ASSERT_FALSE(own.ok());
  EXPECT_EQ(own.error().code, ErrorCode::unsupported) << own.error().message;
}

TEST_F(ProgramKernelsTest, DamagedProgramsAreErrorsOrLess) {
  if (!build(kSource, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto whole = read_file(path("main"), 64 << 20);
  ASSERT_TRUE(whole.ok());
  std::uint64_t random = 88172645463325252ULL;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = *whole;
    for (int change = 0; change < 40; ++change) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      damaged[random % damaged.size()] = static_cast<char>(random >> 40);
    }
    if (round % 3 == 0) damaged.resize(random % damaged.size());
    ASSERT_TRUE(write_file(path("damaged"), damaged).ok());
    (void)read_program_kernels(path("damaged"));  // comes back
  }
}

}  // namespace
}  // namespace regraph::capture::program_kernels_test
