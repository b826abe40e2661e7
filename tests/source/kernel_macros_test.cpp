#include "source/kernel_macros.h"

#include "base/random.h"
#include "source/lexer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::source::kernel_macros_test {
namespace {

// What follows the directives.
std::string written(const std::string& text) {
  const std::string result = write_out_kernel_macros(text).text;
  for (const Token& token : tokenize(result)) {
    if (token.kind != TokenKind::directive) return result.substr(token.begin);
  }
  return "";
}

constexpr const char* kDefine =
    "#define DEFINE(name, op) \\\n  __global__ void name##_kernel(float* a) { \\\n"
    "    a[0] = a[1] op 2; \\\n  }\n";

TEST(KernelMacros, AreWrittenOut) {
  EXPECT_EQ(written(std::string(kDefine) + "DEFINE(add, +)\nint x;\n"),
            "__global__ void add_kernel(float* a) { a[0] = a[1] + 2; }\nint x;\n");
  const auto both = write_out_kernel_macros(std::string(kDefine) + "DEFINE(a, +) DEFINE(b, *)\n");
  EXPECT_EQ(both.macros, std::vector<std::string>{"DEFINE"});
  EXPECT_NE(both.text.find("b_kernel(float* a) { a[0] = a[1] * 2; }"), std::string::npos);
}

TEST(KernelMacros, LinesKeepTheirNumbers) {
  const std::string text =
      write_out_kernel_macros(std::string(kDefine) + "DEFINE(add,\n       +)\nint x;\n").text;
  const std::string before = text.substr(0, text.find("int x;"));
  EXPECT_EQ(std::count(before.begin(), before.end(), '\n'), 6);
}

TEST(KernelMacros, ThoseThatAreGivenToOthersAreWrittenOut) {
  const std::string text =
      written(std::string(kDefine) + "#define ALL(X) X(add, +) X(mul, *)\nALL(DEFINE)\n");
  EXPECT_NE(text.find("add_kernel"), std::string::npos) << text;
  EXPECT_NE(text.find("mul_kernel"), std::string::npos) << text;
  EXPECT_EQ(text.find("DEFINE"), std::string::npos) << text;
}

TEST(KernelMacros, NamesArePastedAsTheCompilerPastesThem) {
  const std::string text = written(
      "#define PASTE_(a, b) a##b\n#define PASTE(a, b) PASTE_(a, b)\n#define TYPE f32\n"
      "#define WIDTH 4\n#define TEXT(x) #x\n"
      "#define K(name, ...) __global__ void PASTE(name, TYPE)(__VA_ARGS__) "
      "{ use(WIDTH, TEXT(name \"s\")); log(#name); }\n"
      "K(scale_, float* a, int n)\n");
  EXPECT_NE(text.find("void scale_f32(float* a, int n)"), std::string::npos) << text;
  // What the compiler can do as well stays as it is written.
  EXPECT_NE(text.find("use(WIDTH, TEXT(scale_ \"s\"))"), std::string::npos) << text;
  EXPECT_NE(text.find("log(\"scale_\")"), std::string::npos) << text;
}

TEST(KernelMacros, AMacroMayBeTheBeginningOfAKernel) {
  EXPECT_EQ(written("#define BOUNDS(n) __global__ void __launch_bounds__(n)\n"
                    "BOUNDS(64) k(float* a) { a[0] = 1; }\n"),
            "__global__ void __launch_bounds__(64) k(float* a) { a[0] = 1; }\n");
}

TEST(KernelMacros, OtherTextsStayAsTheyAre) {
  for (const std::string& text : std::vector<std::string>{
           std::string("#define KERNEL __global__ void\nKERNEL k(float* a) { a[0] = 1; }\n"),
           std::string("#define SQUARE(x) ((x) * (x))\n__global__ void k(float* a) { a[0] = "
                       "SQUARE(2); }\n"),
           std::string(kDefine) + "int DEFINE;\n",    // no use
           std::string(kDefine) + "DEFINE(add)\n",    // too few
           std::string(kDefine) + "DEFINE(add, +\n",  // no end
           std::string(kDefine) + "#undef DEFINE\nDEFINE(a, +)\n",
       }) {
    const auto result = write_out_kernel_macros(text);
    EXPECT_EQ(result.text, text);
    EXPECT_TRUE(result.macros.empty());
  }
}

TEST(KernelMacros, EndWhereMacrosCallThemselves) {
  const std::string text =
      "#define A(x) __global__ B(x)\n#define B(x) A(x) A(x) B(x)\nA(1)\nB(A(2))\n";
  EXPECT_LT(write_out_kernel_macros(text).text.size(), std::size_t{1} << 20);
  std::string doubling = "#define M0(x) __global__ x x\n";
  for (int i = 1; i < 40; ++i) {
    const std::string below = "M" + std::to_string(i - 1) + "(x)";
    doubling += "#define M" + std::to_string(i) + "(x) " + below + " " + below + "\n";
  }
  doubling += "M39(a)\n";
  EXPECT_LT(write_out_kernel_macros(doubling).text.size(), std::size_t{3} << 20);
}

TEST(KernelMacros, SurviveAnything) {
  const std::string source = std::string(kDefine) +
                             "#define ALL(X, ...) X(add, +) X(mul, *) #__VA_ARGS__\n"
                             "#define V(...) __global__ __VA_ARGS__ ## x\n"
                             "ALL(DEFINE, 1)\nV()\nV(a, b)\n";
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::string text = source;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::size_t at = random_bits(seed, 1, i) % text.size();
      const std::size_t length = random_bits(seed, 2, i) % 10;
      if (i % 2 == 0) {
        text.erase(at, length);
      } else {
        text.insert(at, source.substr(random_bits(seed, 3, i) % source.size(), length));
      }
    }
    EXPECT_LT(write_out_kernel_macros(text).text.size(), std::size_t{1} << 20);
  }
}

TEST(KernelMacros, OneThatIsNotUsedIsNamed) {
  EXPECT_EQ(macro_with_kernel(kDefine), "DEFINE");
  EXPECT_EQ(macro_with_kernel("#define N 4\n__global__ void k() {}\n"), "");
}

}  // namespace
}  // namespace regraph::source::kernel_macros_test
