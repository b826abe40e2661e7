#include "handback/hand_back.h"

#include "base/child_process.h"
#include "base/files.h"
#include "eval/compile/compiler.h"
#include "handback/handback_support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::handback::hand_back_test {
namespace {

using test::kSums;
using test::replaced;
using test::SearchedSums;
using test::text_of;
using test::why_not;

const std::string kFast = std::string("// Faster.\n") + test::kFastSums + "\n";

constexpr const char* kTop = R"cuda(// A program.
#include <cstdio>

// Doubles.
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;  // sums
}

/* The slow one. */
)cuda";

constexpr const char* kHost = R"cuda(
// Launches.
void run(float* a, float* b, int m, int n) {
  dim3 block(128), grid((m + 127) / 128);
  sums<<<grid, block>>>(a, b, m, n);
  twice<<<grid, block>>>(b, m);
}

int main() { run(nullptr, nullptr, 4, 5); }
)cuda";

TEST(HandBack, ReplacesTheKernelAndItsLaunchAlone) {
  const std::string file = kTop + kSums + kHost;
  SearchedSums searched(file);
  searched.win_with_launch();
  std::string wanted = replaced(file, kSums, kFast);
  wanted = replaced(wanted, "sums<<<grid, block>>>",
                    "sums<<<(unsigned)(((long long)m + 7) / 8), 256>>>");
  const auto handed = searched.into(file);
  EXPECT_EQ(text_of(handed), wanted);
  ASSERT_EQ(handed->launches.size(), 1u);
  EXPECT_EQ(handed->launches[0].before, "grid, block");
  EXPECT_EQ(handed->launches[0].line, 22);
  EXPECT_TRUE(handed->notes.empty());
}

TEST(HandBack, SharedMemoryOfTheFileIsNoOtherKernel) {
  const std::string body = replaced(kSums, "float sum = 0.0f;", "s[0] = t[1]; float sum = 0.0f;");
  const std::string file = "extern __shared__ float s[];\nstatic __shared__ float t[32], u;\n" +
                           body +
                           "void launch(const float* a, float* b, int rows, int columns) {\n"
                           "  sums<<<(rows + 127) / 128, 128>>>(a, b, rows, columns);\n}\n";
  SearchedSums searched(file);
  EXPECT_NE(
      searched.problem.source.find("{ extern __shared__ float s[]; __shared__ float t[32], u;"),
      std::string::npos)
      << searched.problem.source;
  searched.win();
  const std::string text = text_of(searched.into(file));
  EXPECT_EQ(text.find("extern __shared__"), 0u);
  EXPECT_NE(text.find("fast();"), std::string::npos) << text;
  // With another array the kernel is another.
  EXPECT_NE(why_not(searched.into(replaced(file, "t[32]", "t[64]"))).find("another there"),
            std::string::npos);
}

TEST(HandBack, ALaunchThatStaysRightIsLeftAlone) {
  const std::string file = kTop + kSums + kHost;
  SearchedSums searched(file);
  searched.win();
  EXPECT_EQ(text_of(searched.into(file)), replaced(file, kSums, kFast));
}

TEST(HandBack, KeepsLineEndsIndentationAndAMissingLastNewline) {
  std::string file = "namespace mine {\n\t" + kSums + "}\nvoid f(float* a, int n) { " +
                     "mine::sums<<<(n + 127) / 128, 128>>>(a, a + 1, n, n); }";
  for (std::size_t at = 0; (at = file.find('\n', at)) != std::string::npos; at += 2)
    file.replace(at, 1, "\r\n");
  SearchedSums searched(file);
  const std::size_t begin = searched.winner.source.find("__global__");
  const std::size_t end = searched.winner.source.find("\n}", begin) + 2;
  searched.winner.source.replace(begin, end - begin, "__global__ void sums(\n    int n) {\n}");
  const std::string text = text_of(searched.into(file));
  EXPECT_EQ(text.find("namespace mine {\r\n\t// Faster.\r\n\t__global__ void sums(\r\n\t    int n) "
                      "{\r\n\t}\r\n}\r\nvoid f"),
            0u)
      << text;
  EXPECT_TRUE(text.ends_with("n, n); }"));
}

TEST(HandBack, WhatTheWinnerNewlyNeedsStandsInFrontOfIt) {
  const std::string file = kTop + kSums + kHost;
  SearchedSums searched(file);
  searched.win();
  searched.winner.source = "#include <cooperative_groups.h>\n" + searched.winner.source;
  searched.winner.source = replaced(searched.winner.source, "__global__ void sums(",
                                    "__device__ float half_of(float x) { return x / 2; }\n"
                                    "__global__ void sums(");
  const std::string text = text_of(searched.into(file));
  EXPECT_NE(text.find("#include <cstdio>\n#include <cooperative_groups.h>\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("/* The slow one. */\n__device__ float half_of(float x) { return x / 2; "
                      "}\n\n// Faster.\n__global__"),
            std::string::npos)
      << text;
  // A name that the file has already.
  const std::string own = file + "void half_of(int);\n";
  EXPECT_NE(why_not(searched.into(own)).find("half_of"), std::string::npos);
}

TEST(HandBack, WhatIsDeclaredFirstIsDefinedSo) {
  const std::string declared =
      "__global__ void sums(const float* in, float* out, int, int columns);\n";
  const std::string body = replaced(kSums, "const float* in", "float* in");
  const std::string file = replaced(declared, "const ", "") + kHost + body;
  SearchedSums searched(file);
  const std::size_t begin = searched.winner.source.rfind("__global__");
  searched.winner.source.replace(begin, std::string::npos, std::string(test::kFastSums) + "\n");
  const std::string text = text_of(searched.into(file));
  EXPECT_NE(text.find("__global__ void sums(\n    const float* __restrict__ in,"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("float* in, float* out, int, int columns"), std::string::npos) << text;
}

TEST(HandBack, AHeadersKernelIsPatchedThereAndItsLaunchWhereItIs) {
  const std::string header = "#pragma once\nstatic " + kSums;
  const std::string main = std::string("#include \"sums.cuh\"\n") + kHost;
  SearchedSums searched(header + main);
  searched.win_with_launch();
  const auto handed = searched.into(std::vector<UserFile>{{"main.cu", main}, {"sums.cuh", header}});
  EXPECT_EQ(text_of(handed, 1),
            "#pragma once\n// Faster.\nstatic " + std::string(test::kFastSums) + "\n");
  EXPECT_NE(text_of(handed).find("/ 8), 256>>>(a, b, m, n);"), std::string::npos);
}

TEST(HandBack, LaunchesThatCannotBeEditedStay) {
  const std::string macro =
      "#define RUN sums<<<g, 128>>>(a, b, m, n)\nvoid f(float* a, float* b, int m, int n) { RUN; "
      "}\n";
  const std::string address =
      "void f(void** v) { cudaLaunchKernel((void*)sums, dim3(1), dim3(1), v, 0, 0); }\n";
  for (const std::string& host : {macro, address}) {
    SearchedSums searched(kSums + host);
    searched.win();
    const auto handed = searched.into(kSums + host);
    EXPECT_EQ(text_of(handed), kFast + host);
    ASSERT_EQ(handed->notes.size(), 1u);
  }
  for (const std::string& host : {macro, address, std::string("int f();\n")}) {
    SearchedSums searched(kSums + host);
    searched.win_with_launch();
    EXPECT_NE(why_not(searched.into(kSums + host)), "");
  }
  // Asking about a kernel launches nothing.
  const std::string asking = "void g() { cudaFuncSetAttribute(sums, 8, 0); }\n";
  SearchedSums searched(kSums + asking + kHost);
  searched.win_with_launch();
  EXPECT_NE(text_of(searched.into(kSums + asking + kHost)), "");
}

TEST(HandBack, WhatTheWinnerReliesOnMustHoldAtTheLaunch) {
  const std::string host =
      "void f(float* a, int m) { sums<<<(m + 127) / 128, 128>>>(a, a + m, m, 1); }\n";
  SearchedSums searched(kSums + host);
  searched.win();
  EXPECT_TRUE(searched.into(kSums + host).ok());
  searched.winner.assumptions = {"buffers do not overlap"};
  EXPECT_NE(why_not(searched.into(kSums + host)).find("two arguments point into 'a'"),
            std::string::npos);
  searched.winner.assumptions = {"buffers are aligned to 16 bytes"};
  EXPECT_NE(why_not(searched.into(kSums + host)).find("'a + m' need not be aligned"),
            std::string::npos);
}

TEST(HandBack, DifferentBuffersAreNotTakenForOne) {
  for (const char* arguments :
       {"(float*)a, (float*)b", "x[0], x[i + 1]", "raw(v.data()), raw(w.data())", "s->a, s->b"}) {
    const std::string host =
        std::string("void f(int m) { sums<<<(m + 127) / 128, 128>>>(") + arguments + ", m, 1); }\n";
    SearchedSums searched(kSums + host);
    searched.win();
    searched.winner.assumptions = {"buffers are aligned to 16 bytes", "buffers do not overlap"};
    EXPECT_NE(text_of(searched.into(kSums + host)), "") << arguments;
  }
  for (const char* arguments : {"a, (float*)a", "&a[0], &a[m]", "x[1], x[1]", "s->a + 4, s->b"}) {
    const std::string host =
        std::string("void f(int m) { sums<<<(m + 127) / 128, 128>>>(") + arguments + ", m, 1); }\n";
    SearchedSums searched(kSums + host);
    searched.win();
    searched.winner.assumptions = {"buffers are aligned to 16 bytes", "buffers do not overlap"};
    EXPECT_NE(why_not(searched.into(kSums + host)), "") << arguments;
  }
}

// Files are whatever stands in them.
TEST(HandBack, SurvivesAnyPartOfAFile) {
  const std::string file = "template <typename T, int N>\n" + kSums + kTop + kHost;
  SearchedSums searched(file, "sums<float, 4>");
  searched.win_with_launch();
  for (std::size_t length = 0; length <= file.size(); ++length) {
    (void)searched.into(file.substr(0, length));
    (void)searched.into(file.substr(length));
    (void)searched.into(file.substr(0, length) + file.substr(std::min(file.size(), length + 5)));
  }
}

TEST(HandBack, SaysWhyItIsToBeDoneByHand) {
  const std::string file = kTop + kSums + kHost;
  SearchedSums searched(file);
  searched.win_with_launch();
  const std::string edited = replaced(file, "float sum = 0.0f;", "float sum = 1.0f;");
  EXPECT_NE(why_not(searched.into(edited)).find("has changed since"), std::string::npos);
  EXPECT_NE(why_not(searched.into(file + kSums)).find("more than once"), std::string::npos);
  EXPECT_NE(why_not(searched.into("int main() {}")).find("does not define"), std::string::npos);
  searched.winner.plan.launches.push_back(searched.winner.plan.launches.front());
  EXPECT_NE(why_not(searched.into(file)).find("2 launches"), std::string::npos);
}

TEST(HandBack, AHelperThatChangedIsNotTheKernelAlone) {
  const std::string helper = "__device__ float id(float x) { return x; }\n";
  const std::string kernel =
      replaced(kSums, "sum += in[row * columns + i]", "sum += id(in[row * columns + i])");
  const std::string file = helper + kernel + kHost;
  SearchedSums searched(file);
  searched.win();
  searched.winner.source = replaced(searched.winner.source, "return x;", "return x + 0;");
  EXPECT_NE(why_not(searched.into(file)).find("changes 'id'"), std::string::npos);
}

TEST(HandBack, SaysWhatWasDefinedForTheSearchAlone) {
  const std::string file = kSums + kHost;
  SearchedSums searched(file);
  searched.win();
  searched.problem.source = "#define TILE 16\n" + searched.problem.source;
  searched.winner.source = "#define TILE 16\n" + searched.winner.source;
  const auto handed = searched.into(file);
  ASSERT_TRUE(handed.ok());
  ASSERT_EQ(handed->notes.size(), 1u);
  EXPECT_NE(handed->notes[0].find("#define TILE 16"), std::string::npos);
}

// The template stays; the winner is its instance for these arguments.
TEST(HandBack, AnInstanceBecomesASpecialisation) {
  const std::string kernel =
      "template <typename T, int WIDTH = 8>\n" + replaced(kSums, "float* in", "T* in");
  const std::string host =
      "void f(float* a, float* b, double* c, int m) {\n"
      "  sums<float, 4><<<(m + 127) / 128, 128>>>(a, b, m, 1);\n"
      "  sums<double, 4><<<m, 64>>>(c, b, m, 1);\n"
      "}\n";
  SearchedSums searched(kernel + host, "sums<float, 4>");
  searched.win(replaced(test::kFastSums, "const float*", "const T*"));
  searched.set_launch({256, 1, 1}, "cdiv(rows, 8)");
  const std::string special =
      "\n// Faster.\ntemplate <>\n__global__ void sums<float, 4>(\n    const float* in_argument,\n"
      "    float* out_argument,\n    int rows,\n    int columns) {\n  using T = float;\n"
      "  constexpr int WIDTH = 4;\n  const float* __restrict__ in = in_argument;\n"
      "  float* __restrict__ out = out_argument;\n  fast();\n}\n";
  EXPECT_EQ(text_of(searched.into(kernel + host)),
            kernel + special +
                replaced(host, "(m + 127) / 128, 128", "(unsigned)(((long long)m + 7) / 8), 256"));
  // Which instance this is depends on the arguments' types.
  const std::string deduced = replaced(host, "sums<float, 4>", "sums");
  EXPECT_NE(why_not(searched.into(kernel + deduced)).find("sums<float, 4> cannot be told"),
            std::string::npos);
  searched.set_launch({128, 1, 1}, "cdiv(rows, bx)");
  EXPECT_EQ(text_of(searched.into(kernel + deduced)), kernel + special + deduced);
  // Before the specialisation the template would be taken.
  const std::string first =
      "template <typename T, int WIDTH> __global__ void sums(const T* in, "
      "float* out, int rows, int columns);\n";
  EXPECT_NE(why_not(searched.into(first + host + kernel)).find("before it is defined"),
            std::string::npos);
}

// A specialisation's parameters are the template's, to the last qualifier.
TEST(HandBack, NvccTakesASpecialisationWhoseWinnerPromisesMore) {
  const auto toolkit = find_cuda_toolkit();
  if (!toolkit.ok() || toolkit->nvcc.empty()) GTEST_SKIP() << "no nvcc with a host compiler";
  const std::string kernel =
      "template <typename T>\n" + replaced(kSums, "float* in", "T* __restrict__ in");
  const std::string host =
      "void f(float* a, float* b, int m) { sums<float><<<(m + 127) / 128, 128>>>(a, b, m, 1); }\n";
  SearchedSums searched(kernel + host, "sums<float>");
  searched.win(replaced(replaced(test::kFastSums, "int columns", "const int columns"), "fast();",
                        "for (int i = threadIdx.x; i < rows; i += 128) out[i] = in[i];"));
  searched.set_launch({128, 1, 1}, "cdiv(rows, bx)");
  const std::string text = text_of(searched.into(kernel + host));
  EXPECT_NE(text.find("    const float* __restrict__ in,\n"
                      "    float* out_argument,\n"
                      "    int rows,\n"
                      "    int columns_argument) {\n"
                      "  using T = float;\n"
                      "  float* __restrict__ out = out_argument;\n"
                      "  const int columns = columns_argument;\n"),
            std::string::npos)
      << text;
  const auto folder = *TemporaryDirectory::create("regraph-handback-");
  ASSERT_TRUE(write_file(folder.path() / "k.cu", text).ok());
  ChildRequest request;
  request.program = toolkit->nvcc;
  request.arguments = {"-c", "k.cu", "-o", "k.o"};
  request.environment = {"PATH=/usr/bin:/bin"};
  request.working_directory = folder.path();
  const auto done = run_child(request, Cancellation{});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(done->succeeded()) << done->output << text;
  // The promise holds for variables, too.
  request.arguments = {"-ptx", "k.cu", "-o", "k.ptx"};
  ASSERT_TRUE(run_child(request, Cancellation{}).ok());
  const auto ptx = read_file(folder.path() / "k.ptx", 1 << 20);
  ASSERT_TRUE(ptx.ok()) << ptx.error().message;
  EXPECT_NE(ptx->find("ld.global.nc"), std::string::npos) << *ptx;
}

TEST(HandBack, ASpecialisationsParametersAreReadWhateverTheyLookLike) {
  const std::string kernel =
      "template <typename T>\n"
      "__global__ void sums(const T in[], float* out,  // n = rows, of course\n"
      "                     int rows, int columns = 1 /* of (in) */) {\n"
      "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (row >= rows) return;\n"
      "  float sum = 0.0f;  // of the row\n"
      "  for (int i = 0; i < columns; ++i) sum += in[row * columns + i];\n"
      "  out[row] = sum;\n"
      "}\n";
  const std::string host =
      "void f(float* a, float* b, int m) { sums<float><<<(m + 127) / 128, 128>>>(a, b, m, 1); }\n";
  SearchedSums searched(kernel + host, "sums<float>");
  searched.win(replaced(test::kFastSums, "fast();", "int in_argument = 0; fast();"));
  searched.set_launch({128, 1, 1}, "cdiv(rows, bx)");
  const std::string text = text_of(searched.into(kernel + host));
  EXPECT_NE(text.find("void sums<float>(\n    const float in_argument_[],\n"
                      "    float* out_argument,\n    int rows,\n    int columns) {\n"
                      "  using T = float;\n"
                      "  const float* __restrict__ in = in_argument_;\n"
                      "  float* __restrict__ out = out_argument;\n"),
            std::string::npos)
      << text;
}

// PyTorch's types are told from others, and from those of CUDA that hold the same numbers.
TEST(HandBack, InstancesOfPytorchsTypesAreToldApart) {
  const std::string kernel = "template <typename T>\n" + replaced(kSums, "float* in", "T* in");
  const std::string host =
      "void f(c10::BFloat16* a, float* b, float* c, __nv_bfloat16* d, int m) {\n"
      "  sums<at::BFloat16><<<(m + 127) / 128, 128>>>(a, b, m, 1);\n"
      "  sums<float><<<(m + 127) / 128, 128>>>(c, b, m, 1);\n"
      "  sums<__nv_bfloat16><<<(m + 127) / 128, 128>>>(d, b, m, 1);\n"
      "}\n";
  SearchedSums searched(kernel + host, "sums<c10::BFloat16>");
  searched.win(replaced(test::kFastSums, "const float*", "const T*"));
  searched.set_launch({256, 1, 1}, "cdiv(rows, 8)");
  const std::string text = text_of(searched.into(kernel + host));
  EXPECT_NE(text.find("template <>\n__global__ void sums<c10::BFloat16>("), std::string::npos)
      << text;
  EXPECT_NE(text.find("sums<at::BFloat16><<<(unsigned)(((long long)m + 7) / 8), 256>>>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("sums<float><<<(m + 127) / 128, 128>>>"), std::string::npos) << text;
  EXPECT_NE(text.find("sums<__nv_bfloat16><<<(m + 127) / 128, 128>>>"), std::string::npos) << text;
}

}  // namespace
}  // namespace regraph::handback::hand_back_test
