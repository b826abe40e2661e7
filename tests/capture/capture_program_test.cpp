// Whole programs that nvcc builds, run without a GPU.
#include "capture/device/capture_program.h"

#include "capture/program_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace regraph::capture::capture_program_test {
namespace {

TEST_F(CaptureProgramTest, AProgramComputesWhatItShould) {
  const std::string source = std::string(kHead) + R"(
struct Box { float* in; float* out; int n; };
__constant__ float factor;
__device__ int calls;
template <typename T> __global__ void scale(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
  if (i == 0) atomicAdd(&calls, 1);
}
__global__ void add(Box box) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < box.n ? box.in[i] : 0.0f;
  __syncthreads();
  if (i < box.n) box.out[i] += s[threadIdx.x];
}
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }
int main() {
  const int n = 1000;
  float host[n], *a, *b, *m;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t stream; cudaStreamCreate(&stream);
  cudaEvent_t from, to; cudaEventCreate(&from); cudaEventCreate(&to);
  if (cudaMalloc(&a, n * sizeof(float)) || cudaMalloc(&b, n * sizeof(float))) return 1;
  cudaMallocManaged(&m, 64 * sizeof(float));
  cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, stream);
  cudaMemset(b, 0, sizeof host);
  float f = 2.0f; cudaMemcpyToSymbol(factor, &f, sizeof f);
  cudaEventRecord(from, stream);
  scale<float><<<4, 256, 0, stream>>>(a, n);
  scale<float><<<8, 128>>>(a, n);
  add<<<4, 256, 256 * sizeof(float)>>>(Box{a, b, n});
  for (int i = 0; i < 64; ++i) m[i] = i;
  copy<<<1, 63>>>(m, m + 1);
  cudaEventRecord(to, stream);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  float ms; cudaEventElapsedTime(&ms, from, to);
  cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);
  int count; cudaMemcpyFromSymbol(&count, calls, sizeof count);
  cudaDeviceProp properties; cudaGetDeviceProperties(&properties, 0);
  bool right = count == 2 && m[0] == 0 && m[1] == 1 && ms > 0 && properties.major == 9;
  for (int i = 0; i < n; ++i) right = right && host[i] == 4.0f * i;
  cudaFree(a); cudaFree(b); cudaFree(m);
  printf(right ? "PASS\n" : "FAIL\n");
  return right ? 0 : 3;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 0) << output();
  EXPECT_EQ(output(), "PASS\n");
  EXPECT_TRUE(device.not_there().empty());
  EXPECT_TRUE(device.notes().empty());
  const LaunchedKernel* scale = launched("scale<float>");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->launches, 2U);
  EXPECT_EQ(scale->shapes.size(), 2U);
  EXPECT_EQ(scale->threads, 2048U);
  EXPECT_FALSE(scale->aliased);
  const LaunchedKernel* add = launched("add(Box)");
  ASSERT_NE(add, nullptr);
  // Both pointers stand inside of the structure.
  EXPECT_EQ(add->pointers, (std::vector<PointerArgument>{{0, 0, 0, 0}, {0, 8, 1, 0}}));
  const LaunchedKernel* copy = launched("copy");
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(copy->aliased);
  EXPECT_EQ(copy->pointers, (std::vector<PointerArgument>{{0, 0, 2, 0}, {1, 0, 2, 4}}));
  EXPECT_EQ(device.most_bytes(), 8256U);
}

TEST_F(CaptureProgramTest, LaunchesThatWouldChangeNothingAreSkipped) {
  const std::string source = std::string(kHead) + R"(
__global__ void heavy(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < 20000; ++k) x = x * 0.5f + 1.0f;
  out[i] = x + in[i];
}
__global__ void count(int* n) {
  for (int k = 0; k < 20000; ++k) atomicAdd(n + 1, k & 0);
  if (threadIdx.x == 0) ++*n;
}
int main() {
  float host[1024], *in, *out; int *n, counted;
  cudaMalloc(&in, sizeof host); cudaMalloc(&out, sizeof host); cudaMalloc(&n, 8);
  cudaMemset(n, 0, 8);
  for (int i = 0; i < 1024; ++i) host[i] = i;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  for (int round = 0; round < 50; ++round) heavy<<<4, 256>>>(in, out);
  for (int round = 0; round < 10; ++round) count<<<1, 32>>>(n);
  host[0] = 100;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  heavy<<<4, 256>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(&counted, n, 4, cudaMemcpyDeviceToHost);
  printf("%g %g %d\n", host[0], host[5], counted);
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(output(), "102 7 10\n");
  ASSERT_TRUE(launched("heavy") != nullptr && launched("count") != nullptr);
  EXPECT_EQ(launched("heavy")->launches, 51U);
  // The first finds another memory than it leaves; the second is seen to leave what it finds; the
  // last finds other values.
  EXPECT_EQ(launched("heavy")->skipped, 48U);
  EXPECT_EQ(launched("count")->launches, 10U);
  EXPECT_EQ(launched("count")->skipped, 0U);
}

// Sees launches of a kernel, and lets all be skipped but one.
class Onlooker final : public LaunchObserver {
 public:
  void before_launch(const ObservedLaunch& launch) override {
    ++seen;
    if (seen + skipped == kWanted) {
      found.resize(launch.pointers[0].content.size());
      std::ranges::copy(launch.pointers[0].content, found.begin());
    }
  }
  bool may_skip(const std::string&) override {
    if (seen + skipped + 1 == kWanted) return false;
    ++skipped;
    return true;
  }
  void after_launch(const ObservedLaunch&, std::uint64_t) override {}

  static constexpr int kWanted = 76;
  int seen = 0;
  int skipped = 0;
  std::vector<std::byte> found;
};

TEST_F(CaptureProgramTest, WhoLooksOnSeesTheLaunchesItWants) {
  const std::string source = std::string(kHead) + R"(
__global__ void grow(unsigned char* x) { x[threadIdx.x] += 1; }
int main() {
  unsigned char host[32] = {}, *x; cudaMalloc(&x, 32);
  for (int round = 0; round < 50; ++round) {
    cudaMemset(x, 3, 32);
    grow<<<1, 32>>>(x);
    grow<<<1, 32>>>(x);
    if (round % 9 == 0) cudaMemcpy(host, x, 32, cudaMemcpyDeviceToHost);
  }
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  Onlooker onlooker;
  CaptureDevice watched{{capture_facts(), 20.0, 0, &onlooker}};
  const auto end =
      capture_program({{path("main").string()}, REGRAPH_CAPTURE_RUNTIME, 60.0}, watched, never);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(onlooker.seen + onlooker.skipped, 100);
  EXPECT_GT(onlooker.skipped, 50);
  EXPECT_EQ(onlooker.found, std::vector<std::byte>(32, std::byte{4}));  // the second of its round
  EXPECT_EQ(watched.launched().at(0)->launches, 100U);
}

TEST_F(CaptureProgramTest, RegisteredMemoryOfTheProgramIsSeenByKernels) {
  const std::string source = std::string(kHead) + R"(
#include <sys/wait.h>
#include <thread>
__global__ void twice(int* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }
__global__ void beyond(int* p) { p[threadIdx.x] = 1; }
int small[8] = {1, 2, 3, 4, 5, 6, 7, 8};
int main() {
  const int n = 100000; const size_t bytes = n * sizeof(int);
  int* before = (int*)malloc(64); before[0] = 77;
  int* p = (int*)malloc(bytes); int* device;
  for (int i = 0; i < n; ++i) p[i] = i;
  if (cudaHostRegister(p, bytes, cudaHostRegisterMapped)) return 1;
  if (cudaHostRegister(p + 5, 8, 0) != cudaErrorHostMemoryAlreadyRegistered) return 2;
  if (cudaHostGetDevicePointer(&device, p, 0)) return 3;
  twice<<<(n + 255) / 256, 256>>>(device, n);
  for (int i = 0; i < n; ++i) if (p[i] != 2 * i) return 4;
  p[0] = 21;
  twice<<<1, 1>>>(device, n);
  if (p[0] != 42) return 5;
  // What a child writes is its own.
  pid_t child = fork();
  if (child == 0) { p[0] = 1; p[1] = 2; _exit(p[2] == 4 ? 0 : 1); }
  int status = 1; waitpid(child, &status, 0);
  if (status != 0 || p[0] != 42) return 6;
  if (cudaFreeHost(p) != cudaErrorInvalidValue) return 7;
  if (cudaHostUnregister(p) || cudaHostUnregister(p) != cudaErrorHostMemoryNotRegistered) return 8;
  p[3] = 5;
  if (p[0] != 42 || p[n - 1] != 2 * n - 2) return 9;
  free(p);
  // Static memory, and what lies around it.
  if (cudaHostRegister(small, sizeof small, 0)) return 10;
  if (cudaHostRegister(small - 4, 8, 0) != cudaErrorNotSupported) return 11;  // on the same page
  twice<<<1, 8>>>(small, 8);
  if (small[7] != 16 || before[0] != 77) return 12;
  if (cudaHostUnregister(small) || small[7] != 16) return 13;
  int local[4];
  if (cudaHostRegister(local, sizeof local, 0) != cudaErrorNotSupported) return 14;
  if (cudaHostRegister((void*)0x1000, 4096, 0) != cudaErrorNotSupported) return 15;
  if (cudaHostRegister((void*)~0ull, 4096, 0) != cudaErrorInvalidValue) return 16;
  std::thread other([] { sleep(1); });
  const bool refused = cudaHostRegister(small, sizeof small, 0) == cudaErrorNotSupported;
  other.join();
  if (!refused) return 17;
  cudaGetLastError();
  if (cudaHostRegister(small, sizeof small, 0)) return 18;
  beyond<<<1, 32>>>(small);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 19;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(end->signal, 0);
}

TEST_F(CaptureProgramTest, SmallFunctionsAreThere) {
  const std::string source = std::string(kHead) + R"(
#include <cstring>
__global__ void k(int* p) { __shared__ int s[1024]; s[threadIdx.x] = p[0]; p[threadIdx.x] = s[0]; }
int main() {
  cudaMemPool_t pool, own; int* p;
  if (cudaDeviceGetDefaultMemPool(&pool, 0)) return 1;
  unsigned long long threshold = ~0ull, got = 0; int reuse = -1;
  if (cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold)) return 2;
  if (cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got) || got != threshold) return 3;
  if (cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse) || reuse != 1) return 4;
  cudaMemPoolProps props = {};
  if (cudaMemPoolCreate(&own, &props) || cudaDeviceSetMemPool(0, own)) return 5;
  if (cudaMallocFromPoolAsync((void**)&p, 4096, own, 0) || cudaMemsetAsync(p, 0, 4096, 0)) return 6;
  k<<<1, 32>>>(p);
  if (cudaFreeAsync(p, 0) || cudaMemPoolTrimTo(own, 0) || cudaMemPoolDestroy(own)) return 7;
  if (cudaDeviceGetMemPool(&own, 0) || own != pool) return 8;
  size_t limit;
  if (cudaDeviceSetLimit(cudaLimitStackSize, 4096) || cudaDeviceGetLimit(&limit, cudaLimitStackSize)) return 9;
  if (limit != 4096) return 10;
  char id[32]; int device = -1;
  if (cudaDeviceGetPCIBusId(id, sizeof id, 0) || cudaDeviceGetByPCIBusId(&device, id) || device) return 11;
  if (cudaDeviceEnablePeerAccess(1, 0) != cudaErrorInvalidDevice || cudaGetLastError() == cudaSuccess) return 12;
  const char* name; if (cudaFuncGetName(&name, (const void*)k) || strcmp(name, "_Z1kPi")) return 13;
  size_t shared; if (cudaOccupancyAvailableDynamicSMemPerBlock(&shared, k, 2, 128)) return 14;
  if (shared != 116736 - 1024 - 4096) return 15;
  int blocks, threads; if (cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, k) || threads < 32) return 16;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (cudaThreadExchangeStreamCaptureMode(&mode) || mode != cudaStreamCaptureModeGlobal) return 17;
  return 0;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_TRUE(device.not_there().empty());
}

// What a program prints does not depend on what was skipped.
TEST_F(CaptureProgramTest, RoundsThatRepeatAreSkippedAndCaughtUp) {
  const std::string source = std::string(kHead) + R"(
__device__ int total;
__global__ void step(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < 3000; ++k) x = x * 0.5f + 1.0f;
  out[i] = x + in[i];
}
__global__ void grow(float* x) { x[threadIdx.x] += 1; }
__global__ void sum(const float* x) { atomicAdd(&total, (int)x[threadIdx.x]); }
const int n = 1024;
float host[n], back[n], *a, *b, *c;
void show(const char* what) {
  cudaMemcpy(back, a, sizeof back, cudaMemcpyDeviceToHost);
  float s = 0; for (float x : back) s += x;
  cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost);
  float t = 0; for (float x : back) t += x;
  int v; cudaMemcpyFromSymbol(&v, total, sizeof v);
  printf("%s %g %g %d\n", what, s, t, v);
}
int main() {
  cudaMalloc(&a, sizeof host); cudaMalloc(&b, sizeof host); cudaMalloc(&c, sizeof host);
  for (int i = 0; i < n; ++i) host[i] = i % 10;
  cudaMemcpy(c, host, sizeof host, cudaMemcpyHostToDevice);
  // Input set anew, changed in place, results copied: four pieces of work.
  for (int round = 0; round < 60; ++round) {
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    step<<<4, 256>>>(a, b);
    grow<<<1, 1024>>>(a);
    cudaMemset(b, 0, 16);
    if (round == 30) show("within");
  }
  show("set anew");
  for (int round = 0; round < 40; ++round) {
    cudaMemcpy(a, c, sizeof host, cudaMemcpyDeviceToDevice);
    step<<<4, 256>>>(a, b);
    if (round == 20) show("between");
    step<<<4, 256>>>(b, a);
    int zero = 0; cudaMemcpyToSymbol(total, &zero, sizeof zero);
    sum<<<1, 256>>>(a);
  }
  show("swapped");
  for (int round = 0; round < 40; ++round) grow<<<1, 1024>>>(a);
  show("grown");
  float* pinned; cudaMallocHost(&pinned, sizeof host);
  for (int i = 0; i < n; ++i) pinned[i] = 1;
  for (int round = 0; round < 20; ++round) { step<<<4, 256>>>(pinned, b); pinned[0] = round; }
  show("pinned");
  return 0;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  const std::string skipping = output();
  ASSERT_TRUE(launched("step") && launched("grow") && launched("sum"));
  EXPECT_EQ(launched("step")->launches, 160U);
  EXPECT_GT(launched("step")->skipped, 70U);
  EXPECT_EQ(launched("grow")->launches, 100U);
  EXPECT_GT(launched("grow")->skipped, 30U);
  EXPECT_LT(launched("grow")->skipped, 60U);

  CaptureDeviceConfig config;
  config.facts = capture_facts();
  config.launch_seconds = 20.0;
  config.skip_repeats = false;
  CaptureDevice patient(config);
  const std::string command =
      "exec '" + path("main").string() + "' > '" + path("output").string() + "'";
  const auto all =
      capture_program({{"/bin/sh", "-c", command}, REGRAPH_CAPTURE_RUNTIME, 60.0}, patient, never);
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(output(), skipping);
  EXPECT_NE(skipping.find("grown"), std::string::npos);
  for (const LaunchedKernel* kernel : patient.launched()) {
    EXPECT_EQ(kernel->skipped, 0U);
    const LaunchedKernel* other = launched(readable_name(kernel->symbol));
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(kernel->launches, other->launches);
    EXPECT_EQ(kernel->threads, other->threads);
  }
}

TEST_F(CaptureProgramTest, CopiesOfBoxes) {
  const std::string source = std::string(kHead) + R"(
__device__ char table[4][16];
__global__ void k() { table[0][0] = 1; }
int main() {
  char host[3 * 4 * 8], back[3 * 4 * 8] = {};
  for (int i = 0; i < 96; ++i) host[i] = i;
  cudaPitchedPtr box; cudaExtent extent = make_cudaExtent(8, 4, 3);
  if (cudaMalloc3D(&box, extent) || box.pitch < 8) return 1;
  if (cudaMemset3D(box, 9, extent)) return 2;
  cudaMemcpy3DParms in = {};
  in.srcPtr = make_cudaPitchedPtr(host, 8, 8, 4); in.dstPtr = box;
  in.extent = make_cudaExtent(7, 4, 3); in.kind = cudaMemcpyHostToDevice;
  if (cudaMemcpy3D(&in)) return 3;
  cudaMemcpy3DParms out = {};
  out.srcPtr = box; out.dstPtr = make_cudaPitchedPtr(back, 8, 8, 4);
  out.srcPos = make_cudaPos(0, 1, 0); out.extent = make_cudaExtent(8, 3, 3);
  if (cudaMemcpy3DAsync(&out, 0)) return 4;
  for (int z = 0; z < 3; ++z) for (int y = 0; y < 3; ++y) for (int x = 0; x < 8; ++x)
    if (back[(z * 4 + y) * 8 + x] != (x < 7 ? host[(z * 4 + y + 1) * 8 + x] : 9)) return 5;
  char* rows; size_t pitch;
  if (cudaMallocPitch(&rows, &pitch, 10, 4) || cudaMemset2DAsync(rows, pitch, 3, 10, 4, 0)) return 6;
  if (cudaMemset2D(rows, pitch, 4, pitch, 5) != cudaErrorInvalidValue) return 7;
  if (cudaMemcpy2D(rows, pitch, host, 8, 8, 4, cudaMemcpyHostToDevice)) return 8;
  void* symbol; if (cudaGetSymbolAddress(&symbol, table)) return 9;
  if (cudaMemcpy2D(symbol, 16, rows, pitch, 10, 4, cudaMemcpyDeviceToDevice)) return 10;
  char all[64]; if (cudaMemcpyFromSymbol(all, table, 64)) return 11;
  for (int y = 0; y < 4; ++y) for (int x = 0; x < 16; ++x)
    if (all[y * 16 + x] != (x < 8 ? host[y * 8 + x] : x < 10 ? 3 : 0)) return 12;
  if (cudaMemcpy2D(rows, 4, host, 8, 8, 4, cudaMemcpyHostToDevice) != cudaErrorInvalidPitchValue)
    return 13;
  // Larger than what is sent.
  size_t large = size_t(40) << 20; char *big, *from = (char*)malloc(large);
  for (size_t i = 0; i < large; ++i) from[i] = i % 251;
  if (cudaMalloc(&big, large) || cudaMemcpy(big, from, large, cudaMemcpyHostToDevice)) return 14;
  if (cudaMemcpy(back, big + large - 96, 96, cudaMemcpyDeviceToHost)) return 15;
  for (int i = 0; i < 96; ++i) if (back[i] != from[large - 96 + i]) return 16;
  if (cudaMemcpy(big, from, large + 1, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 17;
  if (cudaMemset(big + 1, 0, large) != cudaErrorInvalidValue) return 18;
  return 0;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_TRUE(device.not_there().empty());
}

TEST_F(CaptureProgramTest, AccessesWhereAGpuRoundsUpPassAndAreTold) {
  const std::string source = std::string(kHead) + R"(
__global__ void shift(const float* in, float* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = in[i + 1];
}
__global__ void clear(int* p) { p[threadIdx.x] = 0; }
__global__ void clean(int* p) { if (threadIdx.x < 100) p[threadIdx.x] = 0; }
int main() {
  float host[100], *in, *out;
  cudaMalloc(&in, sizeof host); cudaMalloc(&out, sizeof host);
  for (int i = 0; i < 100; ++i) host[i] = i;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  for (int round = 0; round < 3; ++round) shift<<<1, 128>>>(in, out, 100);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  clear<<<1, 128>>>((int*)in);
  clean<<<1, 128>>>((int*)in);
  printf("%g %g %s\n", host[0], host[98], cudaGetErrorName(cudaDeviceSynchronize()));
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(output(), "1 99 cudaSuccess\n");
  ASSERT_TRUE(launched("shift") && launched("clear") && launched("clean"));
  EXPECT_EQ(launched("shift")->slack_reads + launched("shift")->skipped, 3U);
  EXPECT_EQ(launched("shift")->slack_writes, 0U);
  EXPECT_NE(launched("shift")->first_slack.find("past the end of 'allocation 0' (400 bytes)"),
            std::string::npos)
      << launched("shift")->first_slack;
  EXPECT_EQ(launched("clear")->slack_writes, 28U);
  EXPECT_TRUE(launched("clear")->fault.empty());
  EXPECT_EQ(launched("clean")->slack_writes, 0U);
}

}  // namespace
}  // namespace regraph::capture::capture_program_test
