#include "source/extract.h"

#include "base/random.h"
#include "source/library_headers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::source::extract_test {
namespace {

Result<DeviceCode> extract(const std::string& source, std::vector<std::string> kernels = {}) {
  ExtractionRequest request;
  request.file_name = "file.cu";
  request.kernels = std::move(kernels);
  return extract_device_code(source, request);
}

constexpr const char* kProgram = R"cuda(#include <iostream>
#include <cuda_runtime.h>
#define BLOCK 64
#define CHECK(x) do { if ((x) != 0) exit(1); } while (0)
#define HALF(v) (factor() * (v))
using namespace std;

struct Unused { int a; };
class Timer { cudaEvent_t begin; };
float host_table[4];

// Half of it.
__device__ float factor() { return 0.5f; }
__device__ float unrelated() { return 1.0f; }

__global__ void halve(float* a, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) a[i] = HALF(a[i]);
}

int main() {
  float* a;
  CHECK(cudaMalloc(&a, 4096));
  halve<<<16, BLOCK>>>(a, 1024);
  cout << "}" << endl;
}
)cuda";

TEST(Extract, KeepsWhatTheKernelMentions) {
  const auto code = extract(kProgram);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(without_line_directives(code->text), R"cuda(#include <cuda_runtime.h>
#define BLOCK 64
#define HALF(v) (factor() * (v))
// Half of it.
__device__ float factor() { return 0.5f; }
__global__ void halve(float* a, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) a[i] = HALF(a[i]);
}
)cuda");
  EXPECT_EQ(code->kernels, std::vector<std::string>{"halve"});
  ASSERT_EQ(code->notes.size(), 1u);
}

TEST(Extract, LinesKeepTheirNumbers) {
  const auto code = extract(kProgram);
  ASSERT_TRUE(code.ok());
  EXPECT_NE(code->text.find("#line 16 \"file.cu\"\n__global__ void halve"), std::string::npos)
      << code->text;
}

TEST(Extract, LeavesAPureDeviceFileAlone) {
  const std::string source =
      "// A kernel.\n#include <cmath>\n\n__device__ float unused() { return 0; }\n"
      "__global__ void k(float* a) {\n  a[0] = 1;  // one\n}\n";
  const auto code = extract(source);
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(code->text, source);
  EXPECT_TRUE(code->notes.empty());
}

TEST(Extract, ChoosesAmongKernels) {
  const std::string source = "__global__ void a() {}\n__global__ void b() {}\n";
  const auto none = extract(source);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("several kernels (a, b)"), std::string::npos);
  EXPECT_TRUE(extract(source, {"b"}).ok());
  const auto unknown = extract(source, {"c"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("the file defines: a, b"), std::string::npos);
  const auto nothing = extract("int main() {}\n");
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().message.find("no __global__ function"), std::string::npos);
}

TEST(Extract, InlineNamespacesMayBeLeftOut) {
  const std::string source =
      "namespace ops {\ninline namespace v1 {\n__global__ void k() {}\n}\n}\n"
      "namespace other {\n__global__ void k() {}\n}\n";
  for (const char* name : {"ops::k", "ops::v1::k", "v1::k"}) {
    const auto code = extract(source, {name});
    ASSERT_TRUE(code.ok()) << code.error().message;
    EXPECT_EQ(code->qualified_kernels.front(), "ops::v1::k") << name;
  }
  EXPECT_FALSE(extract(source, {"v1::ops::k"}).ok());
  EXPECT_FALSE(extract(source, {"k"}).ok());
}

TEST(Extract, RefusesTextures) {
  const auto code =
      extract("texture<float, 1> t;\n__global__ void k(float* a) { a[0] = tex1Dfetch(t, 0); }\n");
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.error().message.find("file.cu:1: "), 0u) << code.error().message;
}

TEST(Extract, MakesAnInstanceOfATemplate) {
  const std::string source =
      "template <typename T, int N = 2>\n__global__ void k(T* a) { a[N] = T(1); }\n";
  const auto code = extract(source, {"k<double, 4>"});
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(code->text,
            "using T = double; constexpr int N = 4; \n__global__ void k(T* a) { a[N] = T(1); }\n");
  const auto standard = extract(source, {"k<float>"});
  ASSERT_TRUE(standard.ok());
  EXPECT_EQ(standard->text.find("using T = float; constexpr int N = 2; "), 0u);
  EXPECT_FALSE(extract(source, {"k<float, 1, 2>"}).ok());
  EXPECT_FALSE(extract("__global__ void k() {}\n", {"k<float>"}).ok());
}

TEST(Extract, DeclaresTheFunctionThatATemplateIsBoundTo) {
  const std::string source =
      "template <typename T, T (*F)(const T&)> __global__ void act(T* a) { a[0] = F(a[0]); }\n"
      "template <typename T> __device__ T twice(const T& x) { return x + x; }\n"
      "int main() { act<float, twice><<<1, 1>>>(0); }\n";
  ExtractionRequest request;
  request.file_name = "file.cu";
  request.undefined = {"twice"};
  const auto code = extract_device_code(source, request);
  ASSERT_TRUE(code.ok()) << code.error().message;
  const std::size_t declared = code->text.find("__device__ T twice(const T& x);");
  const std::size_t bound = code->text.find("= twice");
  ASSERT_NE(declared, std::string::npos) << code->text;
  ASSERT_NE(bound, std::string::npos) << code->text;
  EXPECT_LT(declared, bound) << code->text;
}

TEST(Extract, TypesThatAMacroOfOnesOwnDispatchesAreUsualOnes) {
  const auto code = extract(
      "template <typename T, typename U> __global__ void k(const T* a, U* b) { b[0] = U(a[0]); }\n"
      "void run(int type, void* a, void* b) {\n"
      "  MY_DISPATCH_IN_OUT(type, [&] { using accscalar_t = acc<scalar_t_in>;\n"
      "    k<scalar_t_in, accscalar_t><<<1, 1>>>((scalar_t_in*)a, (accscalar_t*)b); });\n}\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(code->text.find("using T = float; using U = "), std::string::npos) << code->text;
  EXPECT_EQ(code->text.find("scalar_t"), std::string::npos) << code->text;
}

TEST(Extract, LeavesOutMembersThatNeedMembersOfTheHost) {
  const auto code = extract(
      "#include <string>\n"
      "struct Log {\n"
      "  std::string prefix = \"p\";\n"
      "  std::string name(int level) { return prefix; }\n"
      "  void set(int level) { level_ = level; print(name(level).c_str()); }\n"
      "  void reset() { set(0); }\n"
      "  __device__ bool above(int level) const { return level > level_; }\n"
      "  int level_ = 0;\n"
      "};\n"
      "__global__ void k(float* a) { Log log; a[0] = log.above(1); }\n"
      "int main() { k<<<1, 1>>>(0); }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  for (const char* gone : {"prefix", "name(int", "void set", "void reset"})
    EXPECT_EQ(code->text.find(gone), std::string::npos) << gone << " in " << code->text;
  for (const char* kept : {"bool above", "int level_ = 0"})
    EXPECT_NE(code->text.find(kept), std::string::npos) << kept << " in " << code->text;
}

// Through macros, too: what they lead to is no longer there.
TEST(Extract, LeavesOutMembersThatMacrosLeadToTheHost) {
  const auto code = extract(R"cuda(
#include <cstdio>
struct Logger {
  static Logger& get() { thread_local Logger instance; return instance; }
  int level() const { return 0; }
};
inline void fail_with(const char* text) { throw text; }
#define LOG(text) do { if (Logger::get().level() > 0) printf(text); } while (0)
#define LOG_TWICE(text) LOG(text); LOG(text)
#define CHECK(condition) if (!(condition)) fail_with(#condition)
struct Tensor {
  float* data;
  int size() const { return 4; }
  template <typename T> T* pointer() const { LOG_TWICE("pointer"); return (T*)data; }
  float first() const { CHECK(data != nullptr); return data[0]; }
  void save(FILE* file) const;
  __device__ float at(int i) const { return data[i]; }
};
__global__ void copy(float* to, Tensor from) { to[threadIdx.x] = from.at(threadIdx.x); }
int main() { Tensor t; LOG("begin"); copy<<<1, t.size()>>>(nullptr, t); }
)cuda");
  ASSERT_TRUE(code.ok()) << code.error().message;
  for (const char* gone : {"pointer()", "first()", "FILE"})
    EXPECT_EQ(code->text.find(gone), std::string::npos) << gone << " in " << code->text;
  EXPECT_NE(code->text.find("float at(int i)"), std::string::npos) << code->text;
  EXPECT_NE(code->text.find("int size() const"), std::string::npos) << code->text;
}

TEST(Extract, TemplatesTakeFunctionsAndTemplates) {
  const std::string source = R"cuda(
__device__ float twice(const float& x) { return 2.0f * x; }
template <typename T> struct Square { static __device__ T of(T x) { return x * x; } };
template <typename T, float (*F)(const float&), template <typename> class G>
__global__ void apply(T* x) { x[threadIdx.x] = G<T>::of(F(x[threadIdx.x])); }
)cuda";
  const auto code = extract(source, {"apply<float, twice, Square>"});
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(code->text.find("constexpr float(*F)(const float&) = twice;"), std::string::npos)
      << code->text;
  EXPECT_NE(code->text.find("using G = Square<Arguments...>;"), std::string::npos) << code->text;
  const auto unsaid = extract(source, {"apply"});
  ASSERT_FALSE(unsaid.ok());
  EXPECT_NE(unsaid.error().message.find("nothing says which function its parameter 'F' is"),
            std::string::npos)
      << unsaid.error().message;
}

TEST(Extract, KeepsTypesByTheirEnumerators) {
  const auto code = extract(
      "typedef enum Kind { kPlain, kScaled = 3, kLast } Kind;\n"
      "__global__ void k(float* a, int kind) { a[0] = kind == kLast ? 1 : kind == kScaled; }\n"
      "int main() { k<<<1, 1>>>(0, 1); }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(code->text.find("typedef enum Kind"), std::string::npos) << code->text;
}

TEST(Extract, LeavesOutAStorageClassThatNoLongerIs) {
  const auto code = extract(
      "__global__ void k(float* a) { register float register_ = a[0]; a[1] = register_; }\n"
      "int main() { k<<<1, 1>>>(0); }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(code->text.find("{          float register_ = a[0];"), std::string::npos) << code->text;
}

TEST(Extract, TakesTheUsualInstanceOfATemplateWhereNothingSaysOne) {
  const auto code = extract(
      "enum class Mode { plain, scaled };\n"
      "template <typename T, typename index_t, int BLOCK_THREADS, int VEC, bool kCausal, Mode M>\n"
      "__global__ void k(T* a) { a[BLOCK_THREADS] = T(VEC); }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(
      code->text.find("using T = float; using index_t = int; constexpr int BLOCK_THREADS = 256; "
                      "constexpr int VEC = 4; constexpr bool kCausal = false; "
                      "constexpr Mode M = static_cast<Mode>(0);"),
      std::string::npos)
      << code->text;
  const bool said = std::ranges::any_of(code->notes, [](const std::string& note) {
    return note.find(
               "nothing says what instance is used, so that 'T' is float, 'index_t' is int, "
               "'BLOCK_THREADS' is 256") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

TEST(Extract, KernelsOfOneNameAreToldApartByTheirNamespaces) {
  const std::string source =
      "namespace v1 {\n__global__ void run(float* a) { a[0] = 1; }\n}\n"
      "namespace v2 { namespace fast {\n__global__ void run(float* a) { a[0] = 2; }\n} }\n";
  const auto second = extract(source, {"v2::fast::run"});
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_NE(second->text.find("a[0] = 2"), std::string::npos);
  EXPECT_EQ(second->text.find("a[0] = 1"), std::string::npos) << second->text;
  EXPECT_NE(extract(source, {"fast::run"})->text.find("a[0] = 2"), std::string::npos);
  EXPECT_NE(extract(source, {"::v1::run"})->text.find("a[0] = 1"), std::string::npos);
  const auto either = extract(source, {"run"});
  ASSERT_FALSE(either.ok());
  EXPECT_NE(either.error().message.find("v1::run, v2::fast::run"), std::string::npos)
      << either.error().message;
  EXPECT_FALSE(extract(source, {"v3::run"}).ok());
}

TEST(Extract, KernelsGetANameToTheOutside) {
  const auto hidden = extract("static inline __global__ void k(float* a) { a[0] = 1; }\n");
  ASSERT_TRUE(hidden.ok()) << hidden.error().message;
  EXPECT_EQ(hidden->text.find("static"), std::string::npos) << hidden->text;
  EXPECT_EQ(hidden->text.find("inline"), std::string::npos) << hidden->text;
  const auto nameless = extract(
      "namespace {\n__device__ float two() { return 2; }\n"
      "__global__ void k(float* a) { a[0] = two(); }\n}\n");
  ASSERT_TRUE(nameless.ok()) << nameless.error().message;
  EXPECT_NE(nameless->text.find("inline namespace file_scope {"), std::string::npos)
      << nameless->text;
}

TEST(Extract, WhatATemplateIsSpecialisedToCountsForTheseArgumentsAlone) {
  const std::string source =
      "template <typename T, int N = 2>\n__global__ void k(T* a) { a[N] = T(1); }\n"
      "template <>\n__global__ void k<unsigned int, 3>(unsigned int* a) { a[3] = 7; }\n";
  const auto plain = extract(source, {"k<float>"});
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_NE(plain->text.find("a[N] = T(1)"), std::string::npos) << plain->text;
  EXPECT_EQ(plain->text.find("a[3] = 7"), std::string::npos) << plain->text;
  const auto special = extract(source, {"k<unsigned int, 3>"});
  ASSERT_TRUE(special.ok()) << special.error().message;
  EXPECT_EQ(special->text.find("T(1)"), std::string::npos) << special->text;
  EXPECT_EQ(special->text.find("template"), std::string::npos) << special->text;
  EXPECT_NE(special->text.find("__global__ void k(unsigned int* a) { a[3] = 7; }"),
            std::string::npos)
      << special->text;
}

TEST(Extract, TakesTheInstanceThatTheFileUses) {
  const std::string source =
      "template <class T> __global__ void k(T* a) { a[0] = T(1); }\n"
      "template __global__ void k<int>(int*);\n";
  const auto code = extract(source);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(code->text.find("using T = int; "), 0u) << code->text;
  EXPECT_EQ(code->text.find("template"), std::string::npos) << code->text;
  const auto several = extract(source + "template __global__ void k<float>(float*);\n");
  ASSERT_FALSE(several.ok());
  EXPECT_NE(several.error().message.find("k<float>, k<int>"), std::string::npos);
}

TEST(Extract, ArgumentsAreThoseOfTheCaller) {
  const std::string kernel =
      "template <typename T, int N> __global__ void fill(T* a) { a[threadIdx.x] = N; }\n";
  const auto text_of = [&](const std::string& host) {
    const auto code = extract(kernel + host);
    return code.ok() ? code->text : code.error().message;
  };
  EXPECT_NE(text_of("void run(float* a) { using T = float; const int size = 2 * 64;\n"
                    "  fill<T, size><<<1, 32>>>(a); }\n")
                .find("using T = float; constexpr int N = (2*64);"),
            std::string::npos);
  EXPECT_NE(text_of("void run(float* a) { constexpr int one = 1, two = one + one;\n"
                    "  using Two = Pair<float, float>; fill<Two, one><<<1, 32>>>(a); }\n")
                .find("using T = Pair<float,float>; constexpr int N = 1;"),
            std::string::npos);
  EXPECT_EQ(text_of("template <typename T, int N> __global__ void fill(T* a);\n"
                    "void run(float* a) { fill<float, 4><<<1, 32>>>(a); }\n")
                .find("fill(T* a);"),
            std::string::npos);
  EXPECT_NE(text_of("template <class U> void run(U* a) { fill<U, 4><<<1, 32>>>(a); }\n"
                    "int main() { run<double>(nullptr); }\n")
                .find("using T = double; constexpr int N = 4;"),
            std::string::npos);
  EXPECT_NE(text_of("template <class U> void run(U* a) { fill<U, 4><<<1, 32>>>(a); }\n"
                    "int main() { run((float*)0); }\n")
                .find("using T = float; constexpr int N = 4;"),
            std::string::npos);
  // Who calls it says nothing either.
  EXPECT_NE(text_of("template <class U> void run(U* a) { fill<U, 4><<<1, 32>>>(a); }\n"
                    "int main() { run(somewhere()); }\n")
                .find("using T = float; constexpr int N = 4;"),
            std::string::npos);
  EXPECT_NE(text_of("template <class U> void run(U* a) { fill<U, 4><<<1, 32>>>(a); fill<U, 8><<<1, "
                    "32>>>(a); }\n")
                .find("(fill<float, 4>, fill<float, 8>)"),
            std::string::npos);
}

TEST(Extract, KeepsWhatATemplateArgumentMentions) {
  const auto code = extract(
      "constexpr int N = 8;\nconstexpr int kWidth = 4;\nstruct Item { float v; };\n"
      "template <class T, int N, int M> __global__ void f(T* a) { a[N].v = M; }\n"
      "void run(Item* a) { f<Item, N, kWidth><<<1, 1>>>(a); }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(code->text.find("struct Item"), std::string::npos);
  EXPECT_NE(code->text.find("constexpr int kWidth = 4;"), std::string::npos);
  EXPECT_NE(code->text.find("using T = Item; constexpr int M = kWidth;"), std::string::npos);
}

TEST(Extract, IncludesWhatTheCodeNames) {
  const auto code = extract(
      "#include <cub/cub.cuh>\n#include <thrust/host_vector.h>\n#include <vector>\n"
      "using namespace std;\nusing namespace std::chrono;\nusing std::vector;\n"
      "__global__ void f(float* a) {\n"
      "  using Reduce = cub::BlockReduce<float, 64>;\n"
      "  a[0] = numeric_limits<float>::max() + std::min(a[1], cuda::std::tie(a));\n}\n"
      "int main() { thrust::host_vector<int> v; }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(without_line_directives(code->text).substr(0, 97),
            "#include <algorithm>\n#include <cub/block/block_reduce.cuh>\n#include <limits>\n"
            "using namespace std;");
  EXPECT_EQ(code->text.find("chrono"), std::string::npos);
  EXPECT_EQ(code->text.find("vector"), std::string::npos);
  EXPECT_EQ(code->text.find("tuple"), std::string::npos);
}

TEST(Extract, KeepsTheHeadersOfLibrariesWhereTheCompilerTakesThem) {
  ExtractionRequest request;
  request.file_name = "k.cu";
  request.keep_library_headers = true;
  const auto code = extract_device_code(
      "#include <thrust/sort.h>\n#include <vector>\n#include <unordered_map>\n#include "
      "<cuda/std/span>\n"
      "#include <unistd.h>\n#include <opencv2/core.hpp>\n#include \"../thrust/own.h\"\n"
      "__global__ void f(float* a) { thrust::sort(thrust::seq, a, a + 4); }\n"
      "int main() { std::vector<int> v; }\n",
      request);
  ASSERT_TRUE(code.ok()) << code.error().message;
  for (const char* kept : {"<thrust/sort.h>", "<vector>", "<unordered_map>", "<cuda/std/span>"})
    EXPECT_NE(code->text.find(kept), std::string::npos) << kept;
  for (const char* left_out : {"unistd", "opencv", "own.h", "main"})
    EXPECT_EQ(code->text.find(left_out), std::string::npos) << left_out;
}

TEST(Extract, LeavesOutNamesOfNamespaceStdThatTheFileHasItself) {
  const auto code = extract(
      "#include <iostream>\nusing namespace std;\n"
      "__device__ void swap(float& a, float& b) { float c = a; a = b; b = c; }\n"
      "__global__ void f(float* a) { swap(a[0], a[1]); }\nint main() {}\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(code->text.find("using namespace"), std::string::npos);
}

TEST(Extract, LeavesOutMembersOfTheHost) {
  const auto code = extract(
      "#define HOST __host__\n"
      "struct Pair {\n  float a;\n public:\n  HOST Pair(int n);\n"
      "  __host__ __device__ Pair() : a(0) {}\n"
      "  friend std::ostream& operator<<(std::ostream& out, const Pair& p) { return out << p.a; }\n"
      "  float sum() const { return a; }\n};\n"
      "__global__ void f(float* a) { Pair p; a[0] = p.sum(); }\nint main() {}\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(code->text.find("Pair(int"), std::string::npos);
  EXPECT_EQ(code->text.find("ostream"), std::string::npos);
  EXPECT_NE(code->text.find("public:"), std::string::npos);
  EXPECT_NE(code->text.find("Pair() : a(0) {}"), std::string::npos);
  EXPECT_NE(code->text.find("float sum() const"), std::string::npos);
  // Lines keep their numbers.
  EXPECT_NE(code->text.find("\n  \n  float sum()"), std::string::npos);
}

TEST(Extract, AMacroMayEndWithAContinuedBlankLine) {
  const auto code = extract(
      "#define HALF(x) ((x) / 2) \\\n\nint host_function();\n"
      "__global__ void f(float* a) { a[0] = HALF(a[1]); }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(code->text.find("\\\n\n#line"), std::string::npos) << code->text;
}

TEST(Extract, ConditionalsInsideWhatIsLeftOutStay) {
  const auto code = extract(
      "#ifndef GUARD\n#define GUARD\nBROKEN_MACRO\n#endif\nint host_function();\n"
      "__global__ void f(float* a) { a[0] = 1; }\n");
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_NE(code->text.find("#endif"), std::string::npos);
}

TEST(Extract, DefinesMacrosInFront) {
  ExtractionRequest request;
  request.file_name = "file.cu";
  request.defines = {{"N", "4"}};
  const auto code = extract_device_code("__global__ void k(int* a) { a[N] = N; }\n", request);
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(code->text,
            "#define N 4\n#line 1 \"file.cu\"\n__global__ void k(int* a) { a[N] = N; }\n");
}

// What includes of the text there are, one after the other.
std::string includes_of(const Result<DeviceCode>& code) {
  EXPECT_TRUE(code.ok()) << code.error().message;
  std::string found;
  const std::string text = code.ok() ? code->text : "";
  for (std::size_t at = text.find("#include "); at != std::string::npos;
       at = text.find("#include ", at + 1))
    found += text.substr(at + 9, text.find('\n', at) - at - 9);
  return found;
}

TEST(Extract, WhatCameThroughAHostsHeaderHasAHeader) {
  EXPECT_EQ(
      includes_of(extract("#include <cublas_v2.h>\n__global__ void k(__nv_bfloat16* a) {}\n")),
      "<cuda_bf16.h>");
  EXPECT_EQ(includes_of(extract("#include <cub/cub.cuh>\n"
                                "__global__ void k(float* a) { *a = -FLT_MAX; }\n")),
            "<cfloat>");
  EXPECT_EQ(
      includes_of(extract("#include \"host.h\"\n__global__ void k(float* a) {\n"
                          "  namespace cg = cooperative_groups;\n"
                          "  *a = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), "
                          "__half2float(__half(1)), cg::plus<float>());\n}\n")),
      "<cooperative_groups.h><cooperative_groups/reduce.h><cuda_fp16.h>");
  // What the file declares or includes itself is its own, and so are words that say nothing.
  EXPECT_EQ(includes_of(extract("#include <cuda_fp16.h>\n#define FLT_MAX 3.4e38f\n"
                                "struct cuComplex { float x; };\n"
                                "__global__ void k(__half* a, cuComplex c, float half) {\n"
                                "  *a = FLT_MAX * c.x * half;\n}\n")),
            "<cuda_fp16.h>");
}

TEST(Extract, PytorchsTypesHaveTheirHeaders) {
  const std::string source =
      "#include <torch/extension.h>\n"
      "template <typename T>\nC10_LAUNCH_BOUNDS_1(256) __global__ void k(T* out, const T* in) {\n"
      "  CUDA_KERNEL_LOOP(i, 4) out[i] = in[i] * static_cast<at::opmath_type<T>>(2);\n}\n"
      "void run(at::Tensor x) {\n"
      "  k<c10::BFloat16><<<1, 1>>>(x.data_ptr<c10::BFloat16>(), "
      "x.data_ptr<c10::BFloat16>());\n}\n";
  EXPECT_EQ(includes_of(extract(source)),
            "<ATen/OpMathType.h><ATen/cuda/detail/KernelUtils.h><c10/macros/Macros.h>"
            "<c10/util/BFloat16.h>");
  // Their own spelling of an include stays.
  EXPECT_EQ(includes_of(extract("#include <ATen/ATen.h>\n#include <c10/util/Half.h>\n"
                                "__global__ void k(at::Half* a) {}\n")),
            "<c10/util/Half.h>");
}

TEST(Extract, NamespacesOfHeadersThatAreLeftOutAreNone) {
  const auto text = [](const std::string& source) {
    const auto code = extract(source);
    EXPECT_TRUE(code.ok()) << code.error().message;
    return code.ok() ? code->text : "";
  };
  EXPECT_EQ(text("using namespace torch;\nusing namespace cute::x;\n"
                 "__global__ void k(float* a) {}\n")
                .find("using namespace"),
            std::string::npos);
  const std::string kept = text(
      "namespace own { namespace inner {} }\nusing namespace own::inner;\n"
      "using namespace at;\nusing namespace nvcuda;\n"
      "__global__ void k(at::Half* a) {}\n");
  EXPECT_NE(kept.find("using namespace own::inner;\nusing namespace at;\nusing namespace nvcuda;"),
            std::string::npos)
      << kept;
  EXPECT_EQ(unknown_names_of_pytorch("at::Half a; c10::complex<float> b; torch::x::y c; x.at::z;"
                                     "int at = 2; c10::cuda::compat::exp(c10::complex<float>());"),
            (std::vector<std::string>{"c10::complex", "torch::x::y", "at::z"}));
}

TEST(Extract, TypesThatAMacroDispatchesAreOneOfThem) {
  const auto instance = [](const std::string& macro) {
    const auto code = extract(
        "template <typename T> __global__ void k(T* a) { a[0] = T(1); }\n"
        "void run(at::Tensor x) {\n  " +
        macro +
        "(x.scalar_type(), \"k\", [&] { k<scalar_t><<<1, 1>>>(x.data_ptr<scalar_t>()); });\n}\n");
    EXPECT_TRUE(code.ok()) << code.error().message;
    return code.ok() ? code->template_arguments.at(0) : "";
  };
  EXPECT_EQ(instance("AT_DISPATCH_FLOATING_TYPES"), "float");
  EXPECT_EQ(instance("AT_DISPATCH_REDUCED_FLOATING_TYPES"), "c10::BFloat16");
  EXPECT_EQ(instance("AT_DISPATCH_INTEGRAL_TYPES"), "int");
  EXPECT_EQ(instance("OUR_DISPATCH_HALF_TYPES"), "float");
}

TEST(Extract, WhatTheCompilerDidNotKnowIsDeclaredInFront) {
  ExtractionRequest request;
  request.file_name = "file.cu";
  const std::string source =
      "#include \"host.h\"\nusing function = float (*)(float, float);\n"
      "constexpr function chosen = sum;\n"
      "__global__ void k(float* a, half* b) { Pair p; a[0] = chosen(a[1], 2) + use(&p); }\n"
      "__device__ inline float sum(float x, float y = 1.0f) { return x + y; }\n"
      "struct Pair { float a, b; };\nint host();\n";
  EXPECT_EQ(extract_device_code(source, request)->text.find("cuda_fp16"), std::string::npos);
  request.undefined = {"sum", "half", "Pair", "nothing"};
  const auto code = extract_device_code(source, request);
  ASSERT_TRUE(code.ok()) << code.error().message;
  const std::string text = without_line_directives(code->text);
  EXPECT_EQ(text.find("#include <cuda_fp16.h>\n"), 0u) << text;
  EXPECT_NE(text.find("__device__ inline float sum(float x, float y);\nconstexpr function chosen"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("struct Pair;\n__global__"), std::string::npos) << text;
}

TEST(Extract, ADeclarationIsPutIntoItsOwnNamespace) {
  ExtractionRequest request;
  request.undefined = {"f"};
  const auto text = [&](const std::string& source) {
    const auto code = extract_device_code(source, request);
    EXPECT_TRUE(code.ok());
    return code.ok() ? without_line_directives(code->text) : "";
  };
  EXPECT_NE(text("namespace a {\n__global__ void k(float* p) { *p = f(); }\n"
                 "__device__ float f() { return 1; }\n}\n")
                .find("{\n__device__ float f();\n__global__"),
            std::string::npos);
  EXPECT_EQ(text("__global__ void k(float* p) { *p = f(); }\n"
                 "namespace a {\n__device__ float f() { return 1; }\n}\n")
                .find("f();\n__global__"),
            std::string::npos);
}

TEST(Extract, SharedMemoryOfTheFileIsTheKernelsOwn) {
  const auto text = [](const std::string& source) {
    const auto code = extract(source, {"k"});
    EXPECT_TRUE(code.ok()) << code.error().message;
    return code.ok() ? without_line_directives(code->text) : "";
  };
  EXPECT_EQ(text("extern __shared__ float s[];\nstatic __shared__ int t[2], u;\nint host();\n"
                 "__global__ void k(float* a) {\n  s[0] = a[t[0]];\n}\n"),
            "__global__ void k(float* a) { extern __shared__ float s[]; __shared__ int t[2], u;\n"
            "  s[0] = a[t[0]];\n}\n");
  // A macro leads to it, a parameter of a function is another.
  const std::string by_macro = text(
      "__shared__ float s[8];\n#define SLOT(i) s[(i)]\n"
      "__device__ float first(const float* s) { return s[0]; }\n"
      "template <typename T>\n__global__ void k(T* a) { SLOT(0) = first(a); }\n"
      "template __global__ void k<float>(float*);\n");
  EXPECT_NE(by_macro.find("{ __shared__ float s[8]; SLOT(0)"), std::string::npos) << by_macro;
  EXPECT_EQ(by_macro.find("__shared__"), by_macro.rfind("__shared__")) << by_macro;
  // What a function uses as well is the file's; memory whose length a launch says is one.
  const std::string both = text(
      "extern __shared__ float s[];\n__shared__ float t[8];\n"
      "__device__ float sum() { return s[0] + t[0]; }\n"
      "__global__ void k(float* a) { s[0] = t[0] = 1; a[0] = sum(); }\n");
  EXPECT_NE(both.find("k(float* a) { extern __shared__ float s[]; s[0]"), std::string::npos)
      << both;
  EXPECT_EQ(both.find("extern __shared__ float s[];\n__shared__ float t[8];"), 0u) << both;
  // Under another condition, of another name.
  const std::string other = text(
      "#ifdef X\n__shared__ float s[8];\n#endif\n__shared__ float t[4];\n"
      "__global__ void k(float* a) { float t = s[0]; a[0] = t; }\n");
  EXPECT_NE(other.find("k(float* a) { float t"), std::string::npos) << other;
}

TEST(Extract, KernelsHaveTheNamesOfTheirNamespaces) {
  const auto code = extract("namespace a { namespace {\n__global__ void k(float* p) {}\n} }\n");
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(code->kernels, std::vector<std::string>{"k"});
  EXPECT_EQ(code->qualified_kernels, std::vector<std::string>{"a::k"});
}

TEST(Extract, WritesOutMacrosThatMakeKernels) {
  const std::string source =
      "#define DEFINE(name) __global__ void name(float* a) { a[0] = 1; }\nDEFINE(one)\n";
  const auto code = extract(source, {"one"});
  ASSERT_TRUE(code.ok()) << code.error().message;
  ASSERT_FALSE(code->notes.empty());
  EXPECT_NE(code->notes.front().find("DEFINE"), std::string::npos);
  const auto none = extract("#define DEFINE(name) __global__ void name() {}\nint main() {}\n");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("the macro 'DEFINE'"), std::string::npos);
}

TEST(Extract, SurvivesAnything) {
  const std::string source = kProgram;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::string text = source;
    for (std::uint64_t i = 0; i < 6; ++i) {
      const std::size_t at = random_bits(seed, 1, i) % text.size();
      const std::size_t length = random_bits(seed, 2, i) % 20;
      if (i % 2 == 0) {
        text.erase(at, length);
      } else {
        text.insert(at, source.substr(random_bits(seed, 3, i) % source.size(), length));
      }
    }
    const auto code = extract(text);
    if (code.ok()) {
      EXPECT_FALSE(code->kernels.empty());
    }
  }
}

}  // namespace
}  // namespace regraph::source::extract_test
