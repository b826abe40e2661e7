#include "source/top_level.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::top_level_test {
namespace {

struct Split {
  std::string text;
  std::vector<Token> tokens;
  std::vector<TopLevelDeclaration> declarations;

  explicit Split(std::string source)
      : text(std::move(source)),
        tokens(tokenize(text)),
        declarations(split_top_level(text, tokens)) {}

  [[nodiscard]] const TopLevelDeclaration& declaring(const std::string& name) const {
    for (const TopLevelDeclaration& declaration : declarations) {
      for (const std::string& one : declaration.names) {
        if (one == name) return declaration;
      }
    }
    ADD_FAILURE() << "nothing declares " << name;
    return declarations.front();
  }
};

TEST(TopLevel, TellsDeclarationsApart) {
  const Split split(
      "#include <cstdio>\n"
      "using namespace std;\n"
      "typedef float real;\n"
      "struct Point { float x, y; };\n"
      "enum Mode { fast, slow };\n"
      "static const int kCount = f(3);\n"
      "__constant__ float table[4] = {1, 2, 3, 4};\n"
      "template <typename T, int N = (3 > 2)> __device__ T twice(T x) { return 2 * x; }\n"
      "extern \"C\" __global__ void __launch_bounds__(256, 2) kernel(float* a) { a[0] = 1; }\n"
      "int main() { return 0; }\n");
  EXPECT_EQ(split.declarations[0].kind, DeclarationKind::directive);
  EXPECT_EQ(split.declarations[1].kind, DeclarationKind::using_directive);
  EXPECT_EQ(split.declaring("real").kind, DeclarationKind::alias);
  EXPECT_EQ(split.declaring("Point").kind, DeclarationKind::type);
  EXPECT_EQ(split.declaring("slow").kind, DeclarationKind::type);
  EXPECT_EQ(split.declaring("kCount").kind, DeclarationKind::variable);
  EXPECT_TRUE(split.declaring("table").is_constant_memory);
  EXPECT_TRUE(split.declaring("twice").is_device);
  EXPECT_TRUE(split.declaring("twice").template_closer.has_value());
  EXPECT_TRUE(split.declaring("kernel").is_kernel());
  EXPECT_EQ(split.declaring("main").kind, DeclarationKind::function);
  EXPECT_FALSE(split.declaring("main").is_device);
}

TEST(TopLevel, FindsSpecifiersBehindMacros) {
  const Split split("#define KERNEL extern \"C\" __global__\nKERNEL void f(int* a) { *a = 1; }\n");
  EXPECT_TRUE(split.declaring("f").is_kernel());
}

TEST(TopLevel, AFunctionThatReturnsAStructIsAFunction) {
  const Split split("struct S f(int a) { return S(); }\nstruct __align__(16) T { int a; };\n");
  EXPECT_EQ(split.declaring("f").kind, DeclarationKind::function);
  EXPECT_EQ(split.declaring("T").kind, DeclarationKind::type);
}

TEST(TopLevel, OperatorsAreFunctions) {
  const Split split(
      "struct V { float x; };\n__device__ V operator-(V& a) { return a; }\n"
      "__device__ bool operator==(V a, V b) { return a.x == b.x; }\nint after;\n");
  ASSERT_EQ(split.declarations.size(), 4U);
  EXPECT_EQ(split.declarations[1].names, std::vector<std::string>{"operator"});
  EXPECT_TRUE(split.declarations[1].body.has_value());
  EXPECT_EQ(split.declarations[2].kind, DeclarationKind::function);
}

TEST(TopLevel, AUsingDeclarationDeclaresItsLastName) {
  const Split split("using std::max;\nusing real = float;\n");
  EXPECT_EQ(split.declaring("max").kind, DeclarationKind::alias);
  EXPECT_EQ(split.declaring("real").kind, DeclarationKind::alias);
}

TEST(TopLevel, ASpecialisationHasItsTemplatesName) {
  const Split split("template <int n> struct Log { };\ntemplate <> struct Log<1> { int a; };\n");
  ASSERT_EQ(split.declarations.size(), 2U);
  EXPECT_EQ(split.declarations[1].names, std::vector<std::string>{"Log"});
}

TEST(TopLevel, OpensNamespacesUp) {
  const Split split("namespace a::b {\n__global__ void k() {}\n}\nint main() {}\n");
  EXPECT_TRUE(split.declaring("k").is_kernel());
  EXPECT_EQ(split.declarations.front().kind, DeclarationKind::scope);
}

// Both branches of a conditional open the same brace.
TEST(TopLevel, AlternativeBranchesCountOnce) {
  const Split split(
      "int main(int c) {\n#ifdef A\n  if (c > 1) {\n#else\n  if (c > 2) {\n#endif\n  }\n}\n"
      "__global__ void k() {}\n");
  EXPECT_TRUE(split.declaring("k").is_kernel());
  EXPECT_EQ(split.declarations.size(), 2u);
}

TEST(TopLevel, DeclarationsCoverAllTokens) {
  const Split split("a b; } ; struct { int x; } y; f(); template class A<int>; using X = int;");
  std::size_t next = 0;
  for (const TopLevelDeclaration& declaration : split.declarations) {
    EXPECT_EQ(declaration.first, next);
    EXPECT_GT(declaration.last, declaration.first);
    next = declaration.last;
  }
  EXPECT_EQ(next, split.tokens.size());
}

TEST(TopLevel, NamesDirectives) {
  EXPECT_EQ(directive_name("#  define A"), "define");
  EXPECT_EQ(directive_name("#"), "");
}

}  // namespace
}  // namespace regraph::source::top_level_test
