#include "source/clang_frontend.h"

#include "base/files.h"
#include "source/analysis.h"
#include "source/printer.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace regraph::source::clang_frontend_test {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::string(REGRAPH_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<ParsedKernel> parse(const std::string& source, const std::string& kernel = "") {
  auto configuration = default_front_end(test::cuda_root(), "sm_90");
  if (!configuration) return configuration.error();
  return parse_kernel(source, "kernel.cu", kernel, *configuration);
}

TEST(ClangFrontEnd, ReadsTheExamples) {
  for (const char* name : {"sgemm", "transpose", "reduction", "vecadd"}) {
    const std::string path = std::string("examples/") + name + "/" + name + ".cu";
    const auto parsed = parse(read(path));
    ASSERT_TRUE(parsed.ok()) << path << ": " << parsed.error().message;
    ASSERT_TRUE(parsed->unit.has_value()) << path << ": " << parsed->opaque_reason;
  }
}

// The kernel's text as it is printed.
std::string printed(const std::string& source) {
  const auto parsed = parse(source);
  EXPECT_TRUE(parsed.ok() && parsed->unit)
      << (parsed.ok() ? parsed->opaque_reason : parsed.error().message);
  return parsed.ok() && parsed->unit ? print(*parsed->unit) : "";
}

TEST(ClangFrontEnd, EnumeratorsKeepTheirNamesWhereTheirTypeMatters) {
  const std::string text = printed(
      "namespace modes { enum Mode { none, twice }; enum class Kind { a, b }; }\n"
      "enum { kTile = 16 };\nenum Size { kRow = 8 };\n"
      "__device__ float f(float x, modes::Mode m) { return m == modes::twice ? x * 2 : x; }\n"
      "#define USE(m) f(1.0f, m)\n"
      "__global__ void k(float* a, int n) {\n"
      "  modes::Kind kind = n > 2 ? modes::Kind::a : modes::Kind::b;\n"
      "  if (kind == modes::Kind::b) a[kTile * kRow] = f(a[0], modes::twice) + USE(modes::none);\n"
      "  a[(int)modes::Kind::b] = 0;\n}\n");
  EXPECT_NE(text.find("? modes::Kind::a : modes::Kind::b"), std::string::npos) << text;
  EXPECT_NE(text.find("kind == modes::Kind::b"), std::string::npos) << text;
  EXPECT_NE(text.find("f(a[0], modes::twice) + f(1.0f, modes::none)"), std::string::npos) << text;
  // Numbers are numbers.
  EXPECT_NE(text.find("a[16 * 8]"), std::string::npos) << text;
  EXPECT_EQ(text.find("(int)modes"), std::string::npos) << text;
}

TEST(ClangFrontEnd, KernelsAreFoundByEitherName) {
  const std::string source =
      "namespace a { inline namespace v1 { __global__ void k(float* p) {} } }\n";
  for (const char* name : {"", "k", "a::k"}) {
    const auto parsed = parse(source, name);
    ASSERT_TRUE(parsed.ok()) << name << parsed.error().message;
    EXPECT_EQ(parsed->signature.name, "a::k");
  }
  EXPECT_FALSE(parse(source, "b::k").ok());
}

TEST(ClangFrontEnd, DeducedTypesKeepTheirNamespaces) {
  const std::string text = printed(
      "namespace ops { struct One { float x; }; template <typename T> struct Pair { T a; };\n"
      "__device__ Pair<One> make(); }\n"
      "__global__ void k(float* a, unsigned n) {\n"
      "  auto pair = ops::make();\n  auto count = n;\n  a[count] = pair.a.x;\n}\n");
  EXPECT_NE(text.find("ops::Pair<ops::One> pair"), std::string::npos) << text;
  EXPECT_NE(text.find("unsigned int count"), std::string::npos) << text;
}

TEST(ClangFrontEnd, SharedMemoryThatIsNotTheKernelsOwnIsNotLookedInto) {
  const std::string source =
      "__shared__ float t[8];\n__device__ void f() { t[0] = 1; }\n"
      "__global__ void k(float* a) { f(); a[0] = t[0]; }\n";
  const auto parsed = parse(source);
  ASSERT_TRUE(parsed.ok() && parsed->unit);
  EXPECT_TRUE(Analysis(parsed->unit->kernel).opaque().has_value());
}

TEST(ClangFrontEnd, PytorchsTypesAreNarrowFloats) {
  const auto parsed = parse(
      "#include <c10/util/BFloat16.h>\n#include <c10/util/Half.h>\n"
      "__global__ void k(const c10::BFloat16* a, c10::Half* b) { b[0] = static_cast<float>(a[0]); "
      "}\n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_EQ(parsed->signature.parameters.size(), 2u);
  EXPECT_EQ(parsed->signature.parameters[0].type, ScalarType::bf16);
  EXPECT_EQ(parsed->signature.parameters[1].type, ScalarType::f16);
}

TEST(ClangFrontEnd, PrintingIsAFixedPoint) {
  for (const char* name : {"sgemm", "transpose", "reduction", "vecadd"}) {
    const auto first = parse(read(std::string("examples/") + name + "/" + name + ".cu"));
    ASSERT_TRUE(first.ok());
    const std::string once = print(*first->unit);
    const auto second = parse(once);
    ASSERT_TRUE(second.ok()) << second.error().message << "\n" << once;
    ASSERT_TRUE(second->unit.has_value()) << second->opaque_reason;
    EXPECT_EQ(once, print(*second->unit));
  }
}

// Macros make more of a text than it shows.
TEST(ClangFrontEnd, LivesThroughDeepTrees) {
  std::string macros = "#define A0 x[0]+x[1]+x[2]+x[3]+x[4]+x[5]+x[6]+x[7]+x[8]+x[9]\n";
  for (int i = 0; i < 4; ++i) {
    const std::string below = "A" + std::to_string(i);
    macros += "#define A" + std::to_string(i + 1);
    for (int copy = 0; copy < 10; ++copy)
      macros += (copy == 0 ? " " : "+") + below;
    macros += "\n";
  }
  const auto kernel = [&](const std::string& sum) {
    return macros + "__global__ void k(const float* x, float* y) { y[threadIdx.x] = " + sum +
           "; }\n";
  };
  const auto deep = parse(kernel("A3+A3+A3"));  // 30,000 terms
  ASSERT_TRUE(deep.ok()) << deep.error().message;
  EXPECT_FALSE(deep->unit.has_value());
  EXPECT_NE(deep->opaque_reason.find("levels deep"), std::string::npos) << deep->opaque_reason;
  const auto usual = parse(kernel("A2"));  // 1,000
  ASSERT_TRUE(usual.ok()) << usual.error().message;
  EXPECT_TRUE(usual->unit.has_value()) << usual->opaque_reason;
}

// NVIDIA's wheels hold no cuRAND, and Clang's wrapper includes a header of it.
TEST(ClangFrontEnd, AToolkitWithoutCurandWillDo) {
  const std::filesystem::path real = std::filesystem::path(test::cuda_root()) / "include";
  auto directory = TemporaryDirectory::create("regraph-toolkit-");
  ASSERT_TRUE(directory.ok());
  const std::filesystem::path include = directory->path() / "include";
  // Without these Clang takes it for no toolkit at all.
  for (const char* folder : {"include", "bin", "lib64", "nvvm/libdevice"})
    std::filesystem::create_directories(directory->path() / folder);
  for (const auto& entry : std::filesystem::directory_iterator(real)) {
    const std::string name = entry.path().filename();
    if (entry.is_regular_file() && !name.starts_with("curand"))
      std::filesystem::copy_file(entry.path(), include / name);
  }
  std::filesystem::copy(real / "crt", include / "crt", std::filesystem::copy_options::recursive);
  const auto configuration = default_front_end(directory->path(), "sm_90");
  ASSERT_TRUE(configuration.ok()) << configuration.error().message;
  const auto parsed =
      parse_kernel("__global__ void f(float* a) { a[threadIdx.x] = rsqrtf(a[threadIdx.x]); }",
                   "kernel.cu", "", *configuration);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_TRUE(parsed->unit.has_value()) << parsed->opaque_reason;
}

TEST(ClangFrontEnd, ReadsTheSignature) {
  const auto parsed = parse(
      "__global__ void f(const float* a, double* __restrict__ b, unsigned n, long long m, bool "
      "flag) {}");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const auto& parameters = parsed->signature.parameters;
  ASSERT_EQ(parameters.size(), 5u);
  EXPECT_TRUE(parameters[0].is_pointer && parameters[0].points_to_const);
  EXPECT_EQ(parameters[0].type, ScalarType::f32);
  EXPECT_TRUE(parameters[1].is_pointer && !parameters[1].points_to_const);
  EXPECT_EQ(parameters[1].type, ScalarType::f64);
  EXPECT_EQ(parameters[2].type, ScalarType::u32);
  EXPECT_EQ(parameters[3].type, ScalarType::i64);
  EXPECT_EQ(parameters[4].type, ScalarType::boolean);
  EXPECT_TRUE(parsed->unit->kernel.parameters[1].is_restrict);
}

TEST(ClangFrontEnd, KeepsTheTextAroundTheKernel) {
  const auto parsed = parse(
      "#define SCALE 3\n__device__ float twice(float x) { return 2 * x; }\n"
      "extern \"C\" __global__ void __launch_bounds__(128, 2) f(float* a) {\n"
      "  a[threadIdx.x] = twice(a[threadIdx.x]) * SCALE;\n}\n// the end\n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_TRUE(parsed->unit.has_value()) << parsed->opaque_reason;
  EXPECT_NE(parsed->unit->before.find("twice"), std::string::npos);
  EXPECT_EQ(parsed->unit->before.find("__global__"), std::string::npos);
  EXPECT_EQ(parsed->unit->after, "\n// the end\n");
  EXPECT_TRUE(parsed->unit->kernel.extern_c);
  EXPECT_EQ(parsed->unit->kernel.launch_bounds_threads, 128);
  EXPECT_EQ(parsed->unit->kernel.launch_bounds_min_blocks, 2);
}

TEST(ClangFrontEnd, VariablesOfNamespacesKeepTheirQualifiers) {
  const auto parsed = parse(
      "namespace a { __device__ const float table[4] = {1, 2, 3, 4}; }\n"
      "__global__ void f(float* p) { p[threadIdx.x] = a::table[threadIdx.x & 3]; }");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_TRUE(parsed->unit.has_value()) << parsed->opaque_reason;
  EXPECT_NE(print(*parsed->unit).find("a::table"), std::string::npos) << print(*parsed->unit);
}

// Headers that only nvcc takes are read, too: their launches by <<< >>> are host code.
TEST(ClangFrontEnd, ReadsThrustWhole) {
  const auto parsed = parse(
      "#include <thrust/execution_policy.h>\n#include <thrust/reduce.h>\n"
      "__global__ void f(float* p) { p[0] = thrust::reduce(thrust::seq, p, p + 4); }");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_TRUE(parsed->unit.has_value()) << parsed->opaque_reason;
}

TEST(ClangFrontEnd, GivesEveryNameOneMeaning) {
  const auto parsed = parse(
      "__global__ void f(float* a, int n, int m) {\n"
      "  for (int i = 0; i < n; ++i) a[i] = 0;\n"
      "  for (int i = 0; i < m; ++i) a[i] += 1;\n"
      "  for (int i = 0; i < n; ++i) a[i] += 2;\n}\n");
  ASSERT_TRUE(parsed.ok() && parsed->unit.has_value());
  const Block& body = parsed->unit->kernel.body;
  ASSERT_EQ(body.size(), 3u);
  EXPECT_EQ(to<ForLoop>(body[0]).declaration()->variable.name, "i");
  EXPECT_EQ(to<ForLoop>(body[1]).declaration()->variable.name, "i_2");
  EXPECT_EQ(to<ForLoop>(body[2]).declaration()->variable.name, "i");
}

TEST(ClangFrontEnd, ParsesForTheArchitecture) {
  const std::string source =
      "#if __CUDA_ARCH__ >= 900\n#define KEPT 9\n#elif __CUDA_ARCH__ == 860\n#define KEPT "
      "8\n#else\n"
      "#define KEPT 0\n#endif\n__global__ void f(float* a) { a[KEPT] = 1.0f; }\n";
  // The last is newer than this Clang.
  for (const auto& [architecture, kept] :
       {std::pair("sm_80", 0), {"sm_86", 8}, {"sm_90", 9}, {"sm_100", 9}}) {
    const auto configuration = default_front_end(test::cuda_root(), architecture);
    ASSERT_TRUE(configuration.ok());
    const auto parsed = parse_kernel(source, "kernel.cu", "", *configuration);
    ASSERT_TRUE(parsed.ok()) << architecture << ": " << parsed.error().message;
    ASSERT_TRUE(parsed->unit.has_value()) << architecture << ": " << parsed->opaque_reason;
    EXPECT_NE(print(parsed->unit->kernel).find("a[" + std::to_string(kept) + "]"),
              std::string::npos)
        << architecture << print(parsed->unit->kernel);
  }
}

TEST(ClangFrontEnd, KeepsWhatItCannotExpressAsOpaqueText) {
  const auto parsed = parse(
      "__global__ void f(float* a) {\n"
      "  int i = 0;\n  do { if (i == 2) continue; a[i] = 1.0f; } while (++i < 4);\n}\n");
  ASSERT_TRUE(parsed.ok() && parsed->unit.has_value());
  const Stmt& loop = *parsed->unit->kernel.body.back();
  ASSERT_TRUE(is<OpaqueStatement>(loop)) << print(parsed->unit->kernel);
  const std::string& text = to<OpaqueStatement>(loop).text;
  EXPECT_TRUE(text.starts_with("do {")) << text;
}

TEST(ClangFrontEnd, VectorsAndArraysHaveComponents) {
  const auto parsed = parse(
      "__global__ void f(const float4* p, int (*q)[3][2], float* a) { a[0] = p[0].x + q[0][0][1]; "
      "}\n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const auto& parameters = parsed->signature.parameters;
  EXPECT_EQ(parameters[0].type, ScalarType::f32);
  EXPECT_EQ(parameters[0].components, 4);
  EXPECT_EQ(parameters[1].type, ScalarType::i32);
  EXPECT_EQ(parameters[1].components, 6);
  EXPECT_EQ(parameters[2].components, 1);
}

TEST(ClangFrontEnd, StructuresHaveFieldsAndPointersOfTheirOwn) {
  const auto parsed = parse(
      "struct Point { float x, y; };\n"
      "struct Part { Point at; int kind; unsigned flags : 3; };\n"
      "struct Table { const float* values; int n; double* out[2]; };\n"
      "__global__ void f(Table t, Part* parts, const Point* points) {\n"
      "  parts[0].kind = t.n; t.out[0][0] = t.values[0] + points[0].x;\n}\n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const auto& parameters = parsed->signature.parameters;
  ASSERT_EQ(parameters.size(), 6u);
  EXPECT_EQ(parameters[0].record_bytes, 32);
  EXPECT_FALSE(parameters[0].is_pointer);
  EXPECT_EQ(parameters[1].record_bytes, 16);
  EXPECT_EQ(parameters[1].components, 16);
  ASSERT_EQ(parameters[1].fields.size(), 4u);
  EXPECT_EQ(parameters[1].fields[1].name, "at.y");
  EXPECT_EQ(parameters[1].fields[1].byte, 4);
  EXPECT_EQ(parameters[1].fields[2].type, ScalarType::i32);
  // Two floats are two floats.
  EXPECT_EQ(parameters[2].record_bytes, 0);
  EXPECT_EQ(parameters[2].type, ScalarType::f32);
  EXPECT_EQ(parameters[2].components, 2);
  EXPECT_EQ(parameters[3].name, "t.values");
  EXPECT_TRUE(parameters[3].points_to_const && !parameters[3].is_passed());
  EXPECT_EQ(parameters[4].name, "t.out[0]");
  EXPECT_EQ(parameters[4].inside_byte, 16);
  EXPECT_EQ(parameters[5].inside_byte, 24);
  EXPECT_EQ(parameters[5].type, ScalarType::f64);
}

TEST(ClangFrontEnd, RefusesParametersThatCannotBePassed) {
  for (const char* type : {"struct P { float* x; };", "struct P { virtual void g(); float x; };"}) {
    const auto parsed =
        parse(std::string(type) + "\n__global__ void f(P* p, float* a) { a[0] = 1; }\n");
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.error().code, ErrorCode::unsupported);
    EXPECT_NE(parsed.error().message.find("'p'"), std::string::npos) << parsed.error().message;
  }
}

TEST(ClangFrontEnd, ConstantVariablesThatHostCodeFillsAreInputs) {
  const char* kernel = "__global__ void f(float* a) { a[0] = w[threadIdx.x][0]; }\n";
  const auto constant = parse(std::string("__constant__ float w[4][2];\n") + kernel);
  ASSERT_TRUE(constant.ok()) << constant.error().message;
  ASSERT_EQ(constant->signature.parameters.size(), 2u);
  const Parameter& symbol = constant->signature.parameters[1];
  EXPECT_TRUE(symbol.is_symbol && symbol.points_to_const);
  EXPECT_EQ(symbol.name, "w");
  EXPECT_EQ(symbol.symbol_elements, 8);
  const auto structure = parse(std::string("struct S { int a; };\n__constant__ S w[4];\n") +
                               "__global__ void f(int* a) { a[0] = w[0].a; }\n");
  ASSERT_FALSE(structure.ok());
  EXPECT_NE(structure.error().message.find("kernel.cu:2: __constant__ 'w'"), std::string::npos)
      << structure.error().message;
}

// What only Clang would include was never seen by the sandboxed compiler.
TEST(ClangFrontEnd, OpensNoFilesOfOthers) {
  const auto directory = TemporaryDirectory::create("regraph-front-end-");
  ASSERT_TRUE(directory.ok());
  const std::string secret = (directory->path() / "secret.txt").string();
  ASSERT_TRUE(write_file(secret, "leaked_word and more\n").ok());
  ASSERT_EQ(mkfifo((directory->path() / "fifo").c_str(), 0600), 0);
  const std::string through_a_folder =
      (test::cuda_root() / "include").string() + "/../../../../../../.." + secret;
  for (const std::string& name :
       {secret, through_a_folder, (directory->path() / "fifo").string()}) {
    for (const std::string& directive :
         {"#include <" + name + ">", "#include \"" + name + "\"", "#include_next <" + name + ">",
          "#import <" + name + ">", "%:include <" + name + ">"}) {
      const auto parsed = parse("__global__ void f(float* a) {\n#ifdef __clang__\n" + directive +
                                "\n#endif\n  a[0] = 1;\n}\n");
      const std::string text = parsed.ok() ? parsed->opaque_reason : parsed.error().message;
      EXPECT_NE(text, "") << directive;
      EXPECT_EQ(text.find("leaked_word"), std::string::npos) << text;
    }
  }
}

TEST(ClangFrontEnd, RefusesVariablesThatKeepState) {
  const char* kernel = "__global__ void f(float* a) { a[0] = w[threadIdx.x]; }\n";
  const auto state = parse(
      "__device__ float w[4] = {1, 2, 3, 4};\n"
      "__global__ void f(float* a) { a[0] = w[threadIdx.x]; w[0] = 2; }\n");
  ASSERT_FALSE(state.ok());
  EXPECT_NE(state.error().message.find("state"), std::string::npos) << state.error().message;
  EXPECT_TRUE(parse(std::string("__device__ float w[4] = {1, 2, 3, 4};\n") + kernel).ok());
  EXPECT_TRUE(parse(std::string("__constant__ float w[4] = {1, 2, 3, 4};\n") + kernel).ok());
  EXPECT_TRUE(parse(std::string("__device__ const float w[4] = {1, 2, 3, 4};\n") + kernel).ok());
}

TEST(ClangFrontEnd, NamesTheKernelsItFound) {
  const auto none = parse("__device__ int f() { return 1; }");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  const auto several = parse("__global__ void f() {}\n__global__ void g() {}\n");
  ASSERT_FALSE(several.ok());
  EXPECT_NE(several.error().message.find("f, g"), std::string::npos);
  EXPECT_TRUE(parse("__global__ void f() {}\n__global__ void g() {}\n", "g").ok());
  const auto missing = parse("__global__ void f() {}", "h");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("'h'"), std::string::npos);
}

TEST(ClangFrontEnd, AnErrorMakesTheKernelOpaqueAndSaysWhere) {
  const auto parsed = parse("__global__ void f(float* a) {\n  a[0] = undefined_name;\n}\n");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->unit.has_value());
  EXPECT_NE(parsed->opaque_reason.find("kernel.cu:2"), std::string::npos) << parsed->opaque_reason;
}

}  // namespace
}  // namespace regraph::source::clang_frontend_test
