#include "eval/compile/compiler.h"

#include "base/files.h"
#include "eval/real_compiler.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <thread>
#include <vector>

namespace regraph::compiler_test {
namespace {

using test::real_configuration;
using test::request_for;

constexpr const char* kAdd = R"cuda(
__global__ void k(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
)cuda";

Result<CompiledKernel> compile(const CompileRequest& request,
                               CompilerConfiguration configuration = real_configuration()) {
  Compiler compiler(std::move(configuration));
  const Cancellation never;
  return compiler.compile(request, never);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Error error_of(const CompileRequest& request,
               CompilerConfiguration configuration = real_configuration()) {
  const auto result = compile(request, std::move(configuration));
  EXPECT_FALSE(result.ok());
  return result.ok() ? Error{} : result.error();
}

TEST(Compiler, CompilesForSeveralArchitectures) {
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    const auto kernel = compile(request_for(kAdd, "k", architecture));
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    EXPECT_TRUE(contains(kernel->ptx, std::string(".target ") + architecture));
    EXPECT_TRUE(contains(kernel->ptx, ".entry " + kernel->entry));
    EXPECT_TRUE(contains(kernel->ptx, ".loc"));  // the line table faults are reported with
    EXPECT_GT(kernel->cubin.size(), 500u);
    EXPECT_GT(kernel->resources.registers_per_thread, 3);
    EXPECT_LT(kernel->resources.registers_per_thread, 64);
    EXPECT_EQ(kernel->resources.spill_store_bytes, 0);
    EXPECT_NE(kernel->machine_code, Hash128{});
    EXPECT_FALSE(contains(kernel->log, "without a sandbox")) << kernel->log;
  }
}

TEST(Compiler, PtxAloneIsEnoughWhenAskedFor) {
  CompileRequest request = request_for(kAdd);
  request.want_cubin = false;
  const auto kernel = compile(request);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_TRUE(contains(kernel->ptx, ".target sm_90"));
  EXPECT_TRUE(kernel->cubin.empty());
}

TEST(Compiler, TemplateInstancesAndExternC) {
  const auto instance = compile(request_for(
      "template <typename T, int N> __global__ void conv(T* p) { p[threadIdx.x] *= N; }",
      "conv<float, 3>"));
  ASSERT_TRUE(instance.ok()) << instance.error().message;
  EXPECT_TRUE(contains(instance->entry, "conv"));
  const auto plain = compile(request_for("extern \"C\" __global__ void k(float* p) { *p = 1; }"));
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(plain->entry, "k");
}

TEST(Compiler, UsualHeadersAndNamesWork) {
  const auto kernel = compile(request_for(R"cuda(
#include <cuda_runtime.h>
#include <cuda.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cstdint>
#include <cmath>
#include <limits.h>
#include <float.h>
#include <iostream>
#include <vector>
#include <assert.h>
__device__ float helper(float x) { return x == INFINITY ? FLT_MAX : fmaxf(x, (float)M_PI); }
int untagged(int x) { return x + INT_MAX; }
__global__ void k(float* p, uint n, uint32_t* q, int64_t* r, size_t m) {
  const uint i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < 100000u);
  if (i < n && i < m) { p[i] = helper(p[i]) + NAN; q[i] = UINT_MAX; r[i] = INT64_MAX; }
}
)cuda"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_FALSE(contains(kernel->log, "warning")) << kernel->log;
}

// All of the stand-ins.
constexpr const char* kOfPytorch = R"cuda(
#include <ATen/AccumulateType.h>
#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/DeviceUtils.cuh>
#include <ATen/cuda/detail/KernelUtils.h>
#include <ATen/native/cuda/MemoryAccess.cuh>
#include <c10/cuda/CUDAMathCompat.h>
#include <c10/macros/Macros.h>
#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"
static_assert(sizeof(at::Half) == 2 && alignof(torch::BFloat16) == 2);
template <typename A, typename B> constexpr bool same = false;
template <typename A> constexpr bool same<A, A> = true;
static_assert(same<at::opmath_type<c10::Half>, float> && same<at::opmath_type<double>, double>);
static_assert(same<at::acc_type<at::BFloat16, true>, float> && same<at::acc_type<float, false>, double>);
static_assert(same<decltype(c10::Half() + c10::Half()), c10::Half>);
static_assert(same<decltype(c10::Half() * 2.0f), float> && same<decltype(2.0 / c10::BFloat16()), double>);
static_assert(same<decltype(c10::BFloat16() - 1), c10::BFloat16>);
static_assert(std::numeric_limits<c10::BFloat16>::lowest().x == 0xff7f);
template <typename T>
__device__ float use(T* p, int n) {
  CUDA_KERNEL_ASSERT(n > 0);
  T t = __ldg(p);
  t += p[1] * t;
  t = -t / static_cast<T>(3.5f);
  float f = 1.0f;
  f += t;
  gpuAtomicAdd(p + 2, t);
  t = WARP_SHFL_XOR(t, 1);
  if (t > p[3] || at::_isnan(t)) t = std::numeric_limits<T>::infinity();
  p[4] = t;
  return f + c10::cuda::compat::exp(static_cast<at::opmath_type<T>>(t));
}
C10_LAUNCH_BOUNDS_1(256)
__global__ void k(c10::Half* h, at::BFloat16* b, int n, torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> a) {
  CUDA_KERNEL_LOOP(i, n) {
    at::native::memory::aligned_vector<float, 4> v;
    v.val[0] = use(h + i, n) + use(b + i, n) + at::ceil_div(n, 3);
    a[i][a.size(1) - 1] = WARP_SHFL_DOWN(v.val[0], 1) + a.stride(0);
    b[i] = __float2bfloat16(2.0f);
    __half plain = h[i];
    h[i] = plain;
  }
}
)cuda";

// Code asks for the version, and takes another path, or ends with #error, where it finds none.
TEST(Compiler, ToolkitsVersionIsThere) {
  const auto kernel = compile(request_for(R"cuda(
#if !defined(CUDART_VERSION) || CUDART_VERSION < 12000 || CUDA_VERSION != CUDART_VERSION
#error no version
#endif
__global__ void k(int* a) { a[0] = CUDART_VERSION; })cuda"));
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
}

TEST(Compiler, PytorchsTypesHaveStandIns) {
  const auto kernel = compile(request_for(kOfPytorch));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_FALSE(contains(kernel->log, "warning")) << kernel->log;
  // To nearest even.
  const auto convert = compile(request_for(
      "#include <c10/util/BFloat16.h>\n#include <c10/util/Half.h>\n"
      "__global__ void k(c10::BFloat16* b, c10::Half* h, float x) { *b = x; *h = x; }\n"));
  ASSERT_TRUE(convert.ok()) << convert.error().message;
  EXPECT_TRUE(contains(convert->ptx, "cvt.rn.bf16.f32")) << convert->ptx;
  EXPECT_TRUE(contains(convert->ptx, "cvt.rn.f16.f32")) << convert->ptx;
}

TEST(Compiler, TheStandardLibraryOfDeviceCodeIsThere) {
  const auto kernel = compile(request_for(R"cuda(
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
static_assert(std::numeric_limits<int>::min() == -2147483647 - 1);
static_assert(std::numeric_limits<unsigned char>::max() == 255);
static_assert(std::numeric_limits<long long>::max() == 9223372036854775807ll);
static_assert(std::numeric_limits<double>::digits == 53 && std::numeric_limits<short>::digits == 15);
static_assert(std::is_same_v<std::decay_t<const int[3]>, const int*>);
static_assert(std::is_same_v<std::decay_t<int(int)>, int (*)(int)>);
static_assert(std::is_same_v<std::common_type_t<int, float>, float>);
static_assert(std::is_same_v<std::make_unsigned_t<int>, unsigned>);
static_assert(std::is_same_v<std::remove_cvref_t<const float&>, float>);
static_assert(std::is_unsigned_v<std::uint32_t> && std::is_pointer_v<int* const>);
static_assert(std::is_function_v<int()> && !std::is_function_v<int> && !std::is_integral_v<float>);
template <class T>
__device__ std::enable_if_t<std::is_same<T, float>::value, T> f(T x) {
  return std::isinf(x) ? std::numeric_limits<T>::max() : std::sqrt(x);
}
__global__ void k(float* a, int n) {
  std::array<float, 3> v = {1.f, 2.f, 3.f};
  auto [x, y] = std::make_pair(1.f, 2);
  const float q = std::max(a[0], std::min(a[1], std::numeric_limits<float>::infinity()));
  std::swap(a[2], a[3]);
  a[4] = f(a[n]) + v[1] + x + y + q + std::max({1, 2, n}) + std::plus<>()(y, n);
  // Ambiguous but for the overloads for integers.
  a[5] = sqrt(n) + std::pow(2, n) + floor(n / 2) + fmax(a[1], 1);
  using namespace std;
  a[6] = sqrt(a[2]) + abs(n) + abs(a[1]) + max(a[1], 2.f) + min(n, 4) + pow(a[1], 2.f);
}
)cuda"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_FALSE(contains(kernel->log, "warning")) << kernel->log;
}

TEST(Compiler, LargeStandardHeadersLeadToTheToolkit) {
  const auto kernel = compile(request_for(R"cuda(
#include <complex>
#include <cub/block/block_reduce.cuh>
#include <cuda/atomic>
#include <thrust/complex.h>
#include <tuple>
__global__ void k(float* a) {
  using Reduce = cub::BlockReduce<float, 64>;
  __shared__ Reduce::TempStorage storage;
  const std::complex<float> c(a[0], a[1]);
  const thrust::complex<float> d(a[0], a[1]);
  const auto [one, two] = std::make_tuple(1, 2.f);
  a[2] = Reduce(storage).Sum(std::abs(c * c) + thrust::abs(d) + one + two);
}
)cuda"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
}

TEST(Compiler, LargeCudaHeadersGoWithThePrelude) {
  const auto kernel = compile(request_for(R"cuda(
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/cmath>
__global__ void k(__half* p) {
  auto block = cooperative_groups::this_thread_block();
  block.sync();
  p[threadIdx.x] = __hadd(p[threadIdx.x], p[0]);
}
)cuda"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_FALSE(contains(kernel->log, "redefinition")) << kernel->log;
}

TEST(Compiler, ASyntaxErrorNamesFileAndLine) {
  const Error error = error_of(request_for("__global__ void k(float* p) {\n  p[0] = 1\n}\n"));
  EXPECT_EQ(error.code, ErrorCode::compile);
  EXPECT_TRUE(contains(error.message, "kernel.cu:3: error")) << error.message;
  EXPECT_FALSE(contains(error.message, "/work")) << error.message;
  EXPECT_FALSE(contains(error.message, "/usr")) << error.message;
}

TEST(Compiler, InlineHeadersOfHalfPrecisionMayBeNamed) {
  const auto kernel = compile(request_for(R"cuda(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp16.hpp>
#include <cuda_bf16.hpp>
__global__ void k(__half* p) { p[threadIdx.x] = __hadd(p[threadIdx.x], p[0]); }
)cuda"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
}

TEST(Compiler, AnUnknownKernelNameIsACompileError) {
  const Error error = error_of(request_for(kAdd, "missing"));
  EXPECT_EQ(error.code, ErrorCode::compile);
  EXPECT_TRUE(contains(error.message, "missing")) << error.message;
}

TEST(Compiler, ErrorsInHeadersDoNotShowThisMachinesPaths) {
  const Error error = error_of(
      request_for("#define __half2 )\n#include <cuda_fp16.h>\n__global__ void k(float* p) {}\n"));
  EXPECT_EQ(error.code, ErrorCode::compile);
  EXPECT_LE(error.message.size(), std::size_t{8} << 10);
  EXPECT_FALSE(contains(error.message, "/include")) << error.message;
  EXPECT_TRUE(contains(error.message, "cuda_fp16.h")) << error.message;
}

TEST(Compiler, NoFileOfThisMachineCanBeRead) {
  const auto directory = TemporaryDirectory::create("regraph-secret-");
  ASSERT_TRUE(directory.ok());
  const std::string path = (directory->path() / "secret.h").string();
  ASSERT_TRUE(write_file(path, "zanzibar 4711 secret words\n").ok());
  const std::string kernel = "\n__global__ void k(int* p) { *p = 0; }\n";
  for (const std::string& include : {
           "#include \"" + path + "\"",
           "#include <" + path + ">",
           "#define F \"" + path + "\"\n#include F",
           "#inc\\\nlude \"" + path + "\"",
           "%:include \"" + path + "\"",
           "__device__ int a[] = {\n#include \"" + path + "\"\n};",
           std::string("#include \"/etc/passwd\""),
           std::string("#include \"../../../../../../../../etc/passwd\""),
       }) {
    const Error error = error_of(request_for(include + kernel));
    EXPECT_EQ(error.code, ErrorCode::compile) << include;
    EXPECT_FALSE(contains(error.message, "zanzibar")) << error.message;
    EXPECT_FALSE(contains(error.message, "root")) << error.message;
    EXPECT_FALSE(contains(error.message, "4711")) << error.message;
  }
}

TEST(Compiler, AFifoDoesNotHang) {
  const auto directory = TemporaryDirectory::create("regraph-fifo-");
  ASSERT_TRUE(directory.ok());
  const std::string path = (directory->path() / "fifo.h").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  const Error error =
      error_of(request_for("#include \"" + path + "\"\n__global__ void k(int* p) { *p = 0; }\n"));
  EXPECT_EQ(error.code, ErrorCode::compile) << error.message;
}

TEST(Compiler, SourcesThatHangOrExhaustTheCompilerAreResourceErrors) {
  CompilerConfiguration hasty = real_configuration();
  hasty.wall_seconds = 2.0;
  // A million statements out of seven lines.
  std::string macro_bomb = "#define A x = x * 1.0001f + p[1000]; p[3] = x;\n";
  for (char c = 'B'; c <= 'G'; ++c) {
    macro_bomb += std::string("#define ") + c;
    for (int i = 0; i < 10; ++i)
      macro_bomb += std::string(" ") + static_cast<char>(c - 1);
    macro_bomb += "\n";
  }
  Error error = error_of(
      request_for(macro_bomb + "__global__ void k(float* p) { float x = p[0]; G p[1] = x; }\n"),
      hasty);
  EXPECT_EQ(error.code, ErrorCode::resource) << error.message;
  EXPECT_TRUE(contains(error.message, "2 s")) << error.message;

  CompilerConfiguration small = real_configuration();
  small.memory_bytes = std::size_t{1} << 30;
  error = error_of(request_for("__device__ int a[1073741823] = {1};\n"
                               "__global__ void k(int* p) { p[1] = a[threadIdx.x]; }\n"),
                   small);
  EXPECT_EQ(error.code, ErrorCode::resource) << error.message;
  EXPECT_TRUE(contains(error.message, "1024 MiB")) << error.message;

  error = error_of(request_for(std::string(300 << 10, ' ')));
  EXPECT_EQ(error.code, ErrorCode::resource) << error.message;
}

TEST(Compiler, DeepNestingEndsInBoundedTime) {
  CompilerConfiguration configuration = real_configuration();
  configuration.wall_seconds = 3.0;
  configuration.source_limit_bytes = 1 << 20;
  const auto repeat = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i)
      out += text;
    return out;
  };
  for (const std::string& body : {
           "*p = " + repeat("(", 200000) + "1" + repeat(")", 200000) + ";",
           repeat("{", 200000) + repeat("}", 200000),
           "*p = " + repeat("(", 200000),
           "*p = " + repeat("p[", 100000) + "0" + repeat("]", 100000) + ";",
       }) {
    const auto result =
        compile(request_for("__global__ void k(int* p) { " + body + " }"), configuration);
    // Newer compilers survive some of these; what counts is that we do, and say which it was.
    if (result.ok()) continue;
    EXPECT_TRUE(result.error().code == ErrorCode::resource ||
                result.error().code == ErrorCode::compile)
        << result.error().message;
    EXPECT_LE(result.error().message.size(), std::size_t{8} << 10);
  }
}

TEST(Compiler, ACrashOfTheWorkerIsAResourceError) {
  const auto directory = TemporaryDirectory::create("regraph-crash-");
  ASSERT_TRUE(directory.ok());
  CompilerConfiguration configuration = real_configuration();
  configuration.worker = directory->path() / "worker";
  for (const auto& [signal, word] :
       {std::pair{"SEGV", "crashed"}, {"ABRT", "memory"}, {"XCPU", "time"}}) {
    ASSERT_TRUE(
        write_file(configuration.worker, std::string("#!/bin/sh\nkill -") + signal + " $$\n").ok());
    std::filesystem::permissions(configuration.worker, std::filesystem::perms::owner_all);
    const Error error = error_of(request_for(kAdd), configuration);
    EXPECT_EQ(error.code, ErrorCode::resource) << error.message;
    EXPECT_TRUE(contains(error.message, word)) << error.message;
  }
}

TEST(Compiler, CancellationStopsACompile) {
  Compiler compiler(real_configuration());
  Cancellation cancellation;
  cancellation.request();
  const auto result = compiler.compile(request_for(kAdd), cancellation);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST(Compiler, BadRequestsAreErrors) {
  EXPECT_EQ(error_of(request_for(kAdd, "k", "sm_90; rm -rf")).code, ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(request_for(kAdd, "k", "sm_10")).code, ErrorCode::compile);
  CompileRequest request = request_for(kAdd);
  request.options = {"--no-such-option"};
  EXPECT_EQ(error_of(request).code, ErrorCode::compile);
  CompilerConfiguration configuration = real_configuration();
  configuration.worker = "/nonexistent/worker";
  EXPECT_EQ(error_of(request_for(kAdd), configuration).code, ErrorCode::io);
  configuration.worker = "/bin/true";
  EXPECT_EQ(error_of(request_for(kAdd), configuration).code, ErrorCode::io);
  EXPECT_EQ(error_of(request_for(std::string("a\0b", 3))).code, ErrorCode::compile);
}

TEST(Compiler, ReportsRegistersSharedMemoryAndSpills) {
  const auto kernel = compile(request_for(R"cuda(
__global__ void __launch_bounds__(1024, 2) k(const float* a, float* b) {
  __shared__ float tile[1000];
  float r[96];
  for (int i = 0; i < 96; ++i) r[i] = a[i * 1024 + threadIdx.x];
  tile[threadIdx.x % 1000] = r[0];
  __syncthreads();
  for (int k = 0; k < 50; ++k) {
#pragma unroll
    for (int i = 0; i < 96; ++i) r[i] = r[i] * r[(i + 17) % 96] + tile[(i + k) % 1000];
  }
#pragma unroll
  for (int i = 0; i < 96; ++i) b[i * 1024 + threadIdx.x] = r[i];
}
)cuda"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_EQ(kernel->resources.registers_per_thread, 32);
  EXPECT_GT(kernel->resources.spill_store_bytes, 0);
  EXPECT_GT(kernel->resources.spill_load_bytes, 0);
  EXPECT_GT(kernel->resources.stack_bytes, 0);
  EXPECT_EQ(kernel->resources.static_shared_bytes, 4000);
}

TEST(Compiler, MachineCodeIgnoresNamesAndFormattingButNotMeaning) {
  const auto code = [](const std::string& source, const std::string& kernel,
                       std::vector<std::string> options = {}) {
    CompileRequest request = request_for(source, kernel);
    request.options = std::move(options);
    const auto result = compile(request);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? result->machine_code : Hash128{};
  };
  const std::string renamed =
      "// a comment\n\n\n__global__ void other_name(const float* x, const float* y, float* z, int "
      "m)\n"
      "{ int j = blockIdx.x * blockDim.x + threadIdx.x;\n  if (j < m)\n    z[j] = x[j] + y[j]; }\n";
  const Hash128 original = code(kAdd, "k");
  EXPECT_EQ(original, code(renamed, "other_name"));
  EXPECT_EQ(original,
            code(std::string(kAdd) + "__global__ void unrelated(int* p) { *p = 7; }", "k"));
  EXPECT_NE(original, code("__global__ void k(const float* a, const float* b, float* c, int n) {\n"
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "  if (i < n) c[i] = a[i] - b[i];\n}\n",
                           "k"));
  // The difference is in constant data only.
  const auto table = [](const std::string& values) {
    return "__constant__ float t[4] = {" + values +
           "};\n"
           "__global__ void k(float* p) { p[threadIdx.x] = t[threadIdx.x & 3]; }\n";
  };
  EXPECT_NE(code(table("1, 2, 3, 4"), "k"), code(table("1, 2, 3, 5"), "k"));
  // A function that is not inlined.
  const auto call = [](const std::string& body) {
    return "__noinline__ __device__ float f(float x) { return " + body +
           "; }\n"
           "__global__ void k(float* p) { p[threadIdx.x] = f(p[threadIdx.x]); }\n";
  };
  EXPECT_NE(code(call("x * 2.0f"), "k"), code(call("x * 3.0f"), "k"));
  EXPECT_EQ(code(call("x * 2.0f"), "k"), code(call("2.0f * x"), "k"));
}

TEST(Compiler, TheLineTableIsThereAndDoesNotChangeMachineCode) {
  const auto plain = compile(request_for(kAdd));
  // Elsewhere in the file: every line number differs.
  const auto moved =
      compile(request_for("\n\n\n\n\n\n#line 500 \"moved.cu\"\n" + std::string(kAdd)));
  ASSERT_TRUE(plain.ok() && moved.ok());
  EXPECT_TRUE(contains(plain->ptx, ".loc"));
  EXPECT_FALSE(plain->cubin == moved->cubin);
  EXPECT_EQ(plain->machine_code, moved->machine_code);
  // The line table must not say where on this machine the compiler ran.
  const std::string binary(reinterpret_cast<const char*>(plain->cubin.data()), plain->cubin.size());
  const std::string here = std::filesystem::current_path().string();
  EXPECT_FALSE(contains(binary, here));
  EXPECT_FALSE(contains(plain->ptx, here));
}

TEST(Compiler, TheSecondCompileComesFromDisk) {
  const auto directory = TemporaryDirectory::create("regraph-cache-");
  ASSERT_TRUE(directory.ok());
  const Cancellation never;
  CompiledKernel first;
  {
    Compiler compiler(real_configuration(directory->path()));
    const auto result = compiler.compile(request_for(kAdd), never);
    ASSERT_TRUE(result.ok()) << result.error().message;
    first = *result;
    EXPECT_EQ(compiler.statistics().compiled, 1);
    EXPECT_EQ(compiler.statistics().cache_hits, 0);
    EXPECT_GT(compiler.statistics().compile_seconds, 0.0);
  }
  Compiler compiler(real_configuration(directory->path()));
  const auto second = compiler.compile(request_for(kAdd), never);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(compiler.statistics().compiled, 0);
  EXPECT_EQ(compiler.statistics().cache_hits, 1);
  EXPECT_EQ(second->ptx, first.ptx);
  EXPECT_EQ(second->cubin, first.cubin);
  EXPECT_EQ(second->entry, first.entry);
  EXPECT_EQ(second->log, first.log);
  EXPECT_EQ(second->machine_code, first.machine_code);
  EXPECT_EQ(second->resources.registers_per_thread, first.resources.registers_per_thread);

  // Another option, architecture or source is another entry.
  CompileRequest request = request_for(kAdd);
  request.options = {"-DX=1"};
  EXPECT_TRUE(compiler.compile(request, never).ok());
  EXPECT_TRUE(compiler.compile(request_for(kAdd, "k", "sm_80"), never).ok());
  EXPECT_EQ(compiler.statistics().compiled, 2);

  // A refusal is remembered too.
  const CompileRequest wrong = request_for("__global__ void k(int* p) { q; }");
  const auto refused = compiler.compile(wrong, never);
  const auto again = compiler.compile(wrong, never);
  ASSERT_FALSE(refused.ok());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, refused.error().message);
  EXPECT_EQ(again.error().code, ErrorCode::compile);
  EXPECT_EQ(compiler.statistics().cache_hits, 2);
}

TEST(Compiler, DamagedEntriesAreReplaced) {
  const auto directory = TemporaryDirectory::create("regraph-cache-");
  ASSERT_TRUE(directory.ok());
  const Cancellation never;
  Compiler compiler(real_configuration(directory->path()));
  ASSERT_TRUE(compiler.compile(request_for(kAdd), never).ok());
  std::filesystem::path entry;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory->path())) {
    if (file.is_regular_file()) entry = file.path();
  }
  const std::string content = read_file(entry, 1 << 24).value();
  std::string flipped = content;
  flipped[content.size() / 2] = static_cast<char>(flipped[content.size() / 2] ^ 1);
  for (const std::string& damaged :
       {std::string(), content.substr(0, content.size() / 2), flipped}) {
    ASSERT_TRUE(write_file(entry, damaged).ok());
    const int before = compiler.statistics().compiled;
    ASSERT_TRUE(compiler.compile(request_for(kAdd), never).ok());
    EXPECT_EQ(compiler.statistics().compiled, before + 1);
    EXPECT_TRUE(read_file(entry, 1 << 24).value() == content);
  }
}

TEST(Compiler, ManyThreadsShareOneCompilerAndCache) {
  const auto directory = TemporaryDirectory::create("regraph-cache-");
  ASSERT_TRUE(directory.ok());
  Compiler compiler(real_configuration(directory->path()));
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      const Cancellation never;
      for (int i = 0; i < 4; ++i) {
        CompileRequest request = request_for(kAdd);
        request.options = {"-DVARIANT=" + std::to_string(i % 2)};
        if (compiler.compile(request, never).ok()) ++good[t];
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const int count : good)
    EXPECT_EQ(count, 4);
  EXPECT_EQ(compiler.statistics().compiled + compiler.statistics().cache_hits, 16);
  EXPECT_GT(compiler.statistics().cache_hits, 0);
}

}  // namespace
}  // namespace regraph::compiler_test
