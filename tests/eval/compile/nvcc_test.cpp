// nvcc in the sandbox, for sources that NVRTC cannot take.
#include "base/files.h"
#include "eval/compile/compiler.h"
#include "eval/compile/same_code.h"
#include "eval/real_compiler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regraph::nvcc_test {
namespace {

using test::real_configuration;
using test::request_for;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kSort = R"cuda(
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
__global__ void k(float* p) {
  float v[4] = {p[0], p[1], p[2], p[3]};
  thrust::sort(thrust::seq, v, v + 4);
  p[threadIdx.x & 3] = v[threadIdx.x & 3];
}
)cuda";

constexpr const char* kAdd =
    "__global__ void k(const float* a, float* c) { c[threadIdx.x] += a[threadIdx.x]; }\n";

// The constants of our own headers, which NVRTC alone is given, come before the kernel.
std::string body_of(const std::string& ptx) {
  const std::string code = code_only(ptx);
  return code.substr(std::min(code.find(".visible .entry"), code.size()));
}

// The directive in an asm statement of device code that is kept.
std::string in_assembly(const std::string& directive, const std::string& path) {
  std::string text = "__device__ void f() { asm(\"" + directive;
  text += path;
  text += "\\\"\"); }\n__device__ void (*g)() = f;";
  return text;
}

// The folders that compiles have made and not removed.
std::set<std::string> folders_left() {
  std::set<std::string> left;
  std::error_code code;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::temp_directory_path(), code)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("regraph-nvcc-")) left.insert(name);
  }
  return left;
}

class Nvcc : public testing::Test {
 protected:
  void SetUp() override {
    const auto toolkit = find_cuda_toolkit();
    if (!toolkit.ok() || toolkit->nvcc.empty())
      GTEST_SKIP() << "no nvcc with a host compiler on this machine";
    // Other tests of this machine make such folders, too.
    ASSERT_TRUE(temporary_.ok());
    if (const char* const known = std::getenv("TMPDIR")) usual_ = known;
    ::setenv("TMPDIR", temporary_->path().c_str(), 1);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    // What was killed is cleaned up after by others.
    for (int i = 0; i < 100 && !folders_left().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(folders_left().empty()) << *folders_left().begin();
    if (usual_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", usual_.c_str(), 1);
    }
  }

  static std::unique_ptr<Compiler> nvcc(CompilerConfiguration given = real_configuration()) {
    return Compiler(std::move(given)).with_nvcc();
  }
  static Result<CompiledKernel> compile(const CompileRequest& request,
                                        CompilerConfiguration given = real_configuration()) {
    return nvcc(std::move(given))->compile(request, Cancellation());
  }
  static Error error_of(const CompileRequest& request,
                        CompilerConfiguration given = real_configuration()) {
    const auto result = compile(request, std::move(given));
    EXPECT_FALSE(result.ok());
    return result.ok() ? Error{} : result.error();
  }

 private:
  Result<TemporaryDirectory> temporary_ = TemporaryDirectory::create("regraph-tests-");
  std::string usual_;  // temporary directory of this machine; empty: the system's
};

TEST_F(Nvcc, PytorchsTypesHaveStandIns) {
  const auto kernel = compile(
      request_for("#include <ATen/OpMathType.h>\n#include <c10/macros/Macros.h>\n"
                  "template <typename T> C10_LAUNCH_BOUNDS_1(128) __global__ void k(T* p) {\n"
                  "  at::opmath_type<T> x = p[threadIdx.x];\n  p[threadIdx.x] = x * 2;\n}\n"
                  "template __global__ void k<c10::BFloat16>(c10::BFloat16*);\n",
                  "k<c10::BFloat16>"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_TRUE(contains(kernel->ptx, "cvt.rn.bf16.f32")) << kernel->ptx;
}

TEST_F(Nvcc, TakesWhatNvrtcRefuses) {
  for (const char* source : {
           kSort,
           "#include <bit>\n#include <vector>\n"
           "__global__ void k(float* p) { p[0] = std::popcount(7u) + sizeof(std::vector<int>); }",
           "#include <cub/cub.cuh>\n#include <unordered_map>\n"
           "__global__ void k(float* p) { p[0] = sizeof(std::unordered_map<int, int>); }",
       }) {
    const CompileRequest request = request_for(source);
    const auto refused = Compiler(real_configuration()).compile(request, Cancellation());
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(needs_nvcc(refused.error().message)) << refused.error().message;
    const auto kernel = compile(request);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    EXPECT_EQ(kernel->compiler, CudaCompiler::nvcc);
    EXPECT_TRUE(contains(kernel->ptx, ".entry " + kernel->entry));
    EXPECT_TRUE(contains(kernel->ptx, ".target sm_90"));
    EXPECT_TRUE(contains(kernel->ptx, ".loc"));
    EXPECT_GT(kernel->cubin.size(), 500u);
    EXPECT_GT(kernel->resources.registers_per_thread, 3);
    EXPECT_NE(kernel->machine_code, Hash128{});
    EXPECT_FALSE(contains(kernel->log, "without a sandbox")) << kernel->log;
  }
}

TEST_F(Nvcc, MakesTheSameOfAPlainKernelAsNvrtc) {
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    const CompileRequest request = request_for(kAdd, "k", architecture);
    const auto here = compile(request);
    const auto there = Compiler(real_configuration()).compile(request, Cancellation());
    ASSERT_TRUE(here.ok() && there.ok());
    EXPECT_EQ(body_of(here->ptx), body_of(there->ptx));
    EXPECT_EQ(here->resources.registers_per_thread, there->resources.registers_per_thread);
    EXPECT_EQ(here->entry, there->entry);
    EXPECT_EQ(there->compiler, CudaCompiler::nvrtc);
  }
}

TEST_F(Nvcc, UsualNamesAreThereWithoutBeingAskedFor) {
  const auto kernel = compile(request_for(R"cuda(
#include <helper_cuda.h>
__global__ void k(float* p, uint n, uint32_t* q, int64_t* r) {
  const uint i = threadIdx.x;
  const float x = std::max(p[i], std::numeric_limits<float>::min()) + INFINITY + (float)M_PI;
  p[i] = __shfl_down(x, 1) + std::sqrt(x) + std::min(i, n);
  q[i] = UINT_MAX;
  r[i] = INT64_MAX;
}
)cuda"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_FALSE(contains(kernel->log, "warning")) << kernel->log;
}

TEST_F(Nvcc, FindsKernelsByTheirNames) {
  constexpr const char* kSource = R"cuda(
template <typename T, int N> __global__ void __launch_bounds__(128, 2) conv(T* p) { p[threadIdx.x] *= N; }
template <> __global__ void conv<int, 1>(int* p) { p[0] = 1; }
namespace inner { extern "C" __global__ void plain(float* p) { *p = 2; } }
namespace { __global__ void hidden(float* p) { *p = 3; } }
static __global__ void internal(float* p) { *p = 4; }
__device__ void helper(float* p) { *p = 5; }
)cuda";
  for (const char* name :
       {"conv<float, 3>", "conv<int, 1>", "inner::plain", "hidden", "internal"}) {
    const auto kernel = compile(request_for(kSource, name));
    ASSERT_TRUE(kernel.ok()) << name << ": " << kernel.error().message;
    EXPECT_FALSE(contains(kernel->ptx, "regraph_")) << kernel->ptx;
    EXPECT_EQ(kernel->ptx.find(".entry " + kernel->entry),
              kernel->ptx.rfind(".entry " + kernel->entry));
  }
  for (const char* name : {"missing", "helper"}) {
    const Error error = error_of(request_for(kSource, name));
    EXPECT_EQ(error.code, ErrorCode::compile);
    EXPECT_TRUE(contains(error.message, name)) << error.message;
  }
}

TEST_F(Nvcc, NothingSaysWhereItRan) {
  const char* const source =
      "#include <thrust/sort.h>\nnamespace { __device__ int table[4]; }\n"
      "__global__ void k(int* p) { p[0] = table[threadIdx.x & 3]++; assert(p[1] == __LINE__); }";
  const auto first = compile(request_for(source));
  const auto second = compile(request_for(source));
  ASSERT_TRUE(first.ok() && second.ok()) << first.error().message;
  EXPECT_EQ(first->ptx, second->ptx);
  EXPECT_EQ(first->cubin, second->cubin);
  EXPECT_EQ(first->log, second->log);
  EXPECT_FALSE(contains(first->ptx, "regraph-nvcc"));
  EXPECT_TRUE(contains(first->ptx, "\"/kernel.cu\"")) << first->ptx;
}

TEST_F(Nvcc, ErrorsNameFileAndLineAndNoPath) {
  const Error error =
      error_of(request_for("#include <vector>\n__global__ void k(float* p) {\n  p[0] = 1\n}\n"));
  EXPECT_EQ(error.code, ErrorCode::compile);
  EXPECT_TRUE(contains(error.message, "kernel.cu:4: error")) << error.message;
  EXPECT_FALSE(contains(error.message, "/tmp")) << error.message;
}

TEST_F(Nvcc, NoFileOfThisMachineCanBeRead) {
  const auto directory = TemporaryDirectory::create("regraph-secret-");
  ASSERT_TRUE(directory.ok());
  const std::string path = (directory->path() / "secret.h").string();
  ASSERT_TRUE(write_file(path, "zanzibar 4711 secret words\n").ok());
  const std::string kernel = "\n__global__ void k(int* p) { *p = 0; }\n";
  for (const std::string& line : {
           "#include \"" + path + "\"",
           "#include <" + path + ">",
           "#define F \"" + path + "\"\n#include F",
           "#include_next \"" + path + "\"",
           "#import \"" + path + "\"",
           "#embed \"" + path + "\"",
           "#pragma GCC pch_preprocess \"" + path + "\"\n#error end",
           "#pragma GCC dependency \"" + path + "\"\n#error end",
           "__device__ char s[] = {\n#include \"" + path + "\"\n};",
           in_assembly(".incbin \\\"", path),
           in_assembly(".include \\\"", path),
           in_assembly(".file 7 \\\"", path),
           in_assembly("\\n#include \\\"", path),
           std::string("#include \"/etc/passwd\""),
           std::string("#include \"../../../../../../../../etc/passwd\""),
           std::string("#include \"/proc/self/environ\""),
           std::string("#include \"/proc/self/root/etc/passwd\""),
       }) {
    const Error error = error_of(request_for(line + kernel));
    EXPECT_EQ(error.code, ErrorCode::compile) << line << error.message;
    EXPECT_FALSE(contains(error.message, "zanzibar")) << error.message;
    EXPECT_FALSE(contains(error.message, "root:")) << error.message;
    EXPECT_FALSE(contains(error.message, "4711")) << error.message;
    EXPECT_FALSE(contains(error.message, "denied")) << error.message;
  }
}

TEST_F(Nvcc, SourcesCannotPassForTheirOwnAnswer) {
  const std::string honest = "__global__ void other(float* p) { *p = 2; }\n";
  for (const std::string& trick : {
           std::string("extern \"C\" __device__ void* regraph_kernel_entry = (void*)&other;\n"
                       "__global__ void k(float* p) { *p = 1; }\n"),
           std::string("__global__ void k(float* p) { asm volatile(\"// regraph_kernel_entryE = "
                       "_Z5otherPf;\\n\"); *p = 1; }\n"),
           std::string(
               "__global__ void k(float* p) { asm volatile(\"// .entry _Z1kPf ( \\n trap; // "
               ")\\n // ; \\n\"); *p = 1; }\n"),
       }) {
    const Error error = error_of(request_for(honest + trick));
    EXPECT_EQ(error.code, ErrorCode::compile) << error.message;
  }
}

TEST_F(Nvcc, EndlessWorkIsEndedWithinItsLimits) {
  CompilerConfiguration hasty = real_configuration();
  hasty.wall_seconds = 1.5;
  const auto began = std::chrono::steady_clock::now();
  Error error = error_of(
      request_for("template <int N, int D> struct F {\n"
                  "  static constexpr long v = F<N * 2, D - 1>::v + F<N * 2 + 1, D - 1>::v; };\n"
                  "template <int N> struct F<N, 0> { static constexpr long v = N; };\n"
                  "__global__ void k(long* p) { *p = F<1, 28>::v; }\n"),
      hasty);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(error.code, ErrorCode::resource) << error.message;
  EXPECT_TRUE(contains(error.message, "3 s")) << error.message;
  EXPECT_LT(took.count(), 10.0);

  error =
      error_of(request_for("template <int N> struct E { static constexpr int v = E<N + 1>::v; };\n"
                           "__global__ void k(int* p) { *p = E<0>::v; }\n"));
  EXPECT_TRUE(error.code == ErrorCode::compile || error.code == ErrorCode::resource);

  CompilerConfiguration small = real_configuration();
  small.memory_bytes = std::size_t{1} << 30;
  error = error_of(request_for("__device__ int a[1073741823] = {1};\n"
                               "__global__ void k(int* p) { p[1] = a[threadIdx.x]; }\n"),
                   small);
  EXPECT_EQ(error.code, ErrorCode::resource) << error.message;
}

TEST_F(Nvcc, TheFolderGoesWhenTheProgramIsKilled) {
  const pid_t program = ::fork();
  if (program == 0) {
    (void)compile(request_for(kSort));
    ::_exit(0);
  }
  for (int i = 0; i < 200 && folders_left().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(folders_left().empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // nvcc is at work
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  // TearDown looks whether it is gone.
}

TEST_F(Nvcc, ACancelledCompileEndsSoon) {
  Cancellation cancellation;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    cancellation.request();
  });
  const auto result = nvcc()->compile(request_for(kSort), cancellation);
  canceller.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST_F(Nvcc, TheCacheTellsTheTwoApart) {
  const auto directory = TemporaryDirectory::create("regraph-cache-");
  ASSERT_TRUE(directory.ok());
  Compiler nvrtc(real_configuration(directory->path()));
  const auto compiler = nvrtc.with_nvcc();
  const Cancellation never;
  for (int round = 0; round < 2; ++round) {
    const auto one = nvrtc.compile(request_for(kAdd), never);
    const auto other = compiler->compile(request_for(kAdd), never);
    ASSERT_TRUE(one.ok() && other.ok());
    EXPECT_EQ(one->compiler, CudaCompiler::nvrtc);
    EXPECT_EQ(other->compiler, CudaCompiler::nvcc);
    EXPECT_EQ(nvrtc.statistics().cache_hits, round);
    EXPECT_EQ(compiler->statistics().cache_hits, round);
  }
}

TEST(NvccMissing, IsSaid) {
  CompilerConfiguration configuration = real_configuration();
  configuration.toolkit.nvcc.clear();
  EXPECT_EQ(Compiler(configuration).with_nvcc(), nullptr);
}

TEST(NvccMissing, OnlyRefusalsThatItWouldNotShareAskForIt) {
  EXPECT_TRUE(needs_nvcc("kernel.cu:1: catastrophic error: could not open source file \"x\""));
  EXPECT_TRUE(needs_nvcc("kernel.cu:3: error: namespace \"std\" has no member \"vector\""));
  EXPECT_TRUE(needs_nvcc("x.h:3: error: #error \"not allowed in JIT mode\""));
  EXPECT_FALSE(needs_nvcc("kernel.cu:3: error: expected a \";\""));
  EXPECT_FALSE(needs_nvcc("kernel.cu:3: error: identifier \"q\" is undefined"));
}

}  // namespace
}  // namespace regraph::nvcc_test
