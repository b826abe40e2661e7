#include "source/relevant_part.h"

#include "source/code_items.h"
#include "source/extract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace regraph::source::relevant_part_test {
namespace {

RelevantPart part_of(std::string_view source,
                     const std::vector<std::string>& kernels = {"wanted"}) {
  return relevant_part(source, kernels);
}

bool holds(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

std::string with(std::string text, std::string_view old, std::string_view now) {
  text.replace(text.find(old), old.size(), now);
  return text;
}

// The items of a text in tokens, with the scopes around them; scopes themselves and remarks without
// a word left out.
std::multiset<std::string> declarations_of(std::string_view text) {
  const auto items = code_items(text);
  EXPECT_TRUE(items) << text;
  std::multiset<std::string> found;
  if (!items) return found;
  const auto own = [&](const CodeItem& item) {
    return joined_tokens(text.substr(item.begin, item.end - item.begin));
  };
  for (const CodeItem& item : *items) {
    if (item.kind == CodeItem::Kind::scope_begin || item.kind == CodeItem::Kind::scope_end)
      continue;
    std::string path;
    for (auto scope = item.scope; scope; scope = (*items)[*scope].scope)
      path.insert(0, own((*items)[*scope]));
    if (!item.words.empty()) found.insert(path + own(item));
  }
  return found;
}

const std::string kFile = R"cuda(/*
 * Copyright (c) Somebody.
 * SPDX-License-Identifier: MIT
 */
#include <cuda_fp16.h>

// What the whole file is about.

#define BLOCK 256
#define WARP 32
#define WARPS (BLOCK / WARP)
#define UNUSED_MACRO(x) ((x) + UNUSED_DETAIL)
#define UNUSED_DETAIL 7

// Used by the wanted kernel.
struct Pair {
  float a, b;
  __device__ float sum() const { return a + b; }  // of both
};
struct Unused { int x; };

using real = float;
__constant__ real factor[2] = {1.0f, 2.0f};  // set by the host
__constant__ float other_factor[2];

__device__ float late(float x);

template <typename T>
__device__ T twice(T x) {
  // Stays within.
  return x + x;
}

// ---- reductions ----

__device__ float unused_helper(float x) { return x * UNUSED_DETAIL; }

extern "C" __global__ void first(float* out) { out[0] = unused_helper(other_factor[0]); }
__global__ void second(float* out, int n) {
  if (n > BLOCK) out[0] = twice(1.0f);
}

/* One thread an element. */
__global__ void __launch_bounds__(BLOCK) wanted(real* out, const Pair* in, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) out[i] = late(twice(in[i].sum()) * factor[0]) + WARPS;
}

// Not wanted.
__global__ void __launch_bounds__(BLOCK) third(float* out) { out[0] = "}{"[0]; }

__device__ float late(float x) { return x - 1.0f; }
__global__ void fourth(Unused* out) { out->x = 1; }
)cuda";

TEST(RelevantPart, ShowsWhatTheKernelReaches) {
  EXPECT_EQ(part_of(kFile).shown, R"cuda(#include <cuda_fp16.h>

#define BLOCK 256
#define WARP 32
#define WARPS (BLOCK / WARP)

// Used by the wanted kernel.
struct Pair {
  float a, b;
  __device__ float sum() const { return a + b; }  // of both
};

using real = float;
__constant__ real factor[2] = {1.0f, 2.0f};  // set by the host

__device__ float late(float x);

template <typename T>
__device__ T twice(T x) {
  // Stays within.
  return x + x;
}

/* One thread an element. */
__global__ void __launch_bounds__(BLOCK) wanted(real* out, const Pair* in, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) out[i] = late(twice(in[i].sum()) * factor[0]) + WARPS;
}

__device__ float late(float x) { return x - 1.0f; }
)cuda");
}

TEST(RelevantPart, PutsBackWhatWasShownUnchanged) {
  const RelevantPart part = part_of(kFile);
  EXPECT_FALSE(part.is_whole());
  EXPECT_EQ(put_back(part, part.shown), kFile);
  EXPECT_EQ(put_back(part, "// Another comment.\n" + part.shown), kFile);
}

TEST(RelevantPart, PutsBackTheRestBehindAnAnswer) {
  const RelevantPart part = part_of(kFile);
  const std::string answer =
      with(with(part.shown, "int i =", "const int i ="), "/* One", "#define TILE 8\n/* One");
  const auto whole = put_back(part, answer);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->starts_with("/*\n * Copyright"));
  EXPECT_TRUE(holds(*whole, "\n// Not wanted.\n__global__"));
  auto wanted = declarations_of(with(kFile, "int i =", "const int i ="));
  wanted.insert("# define TILE 8 \n");
  EXPECT_EQ(declarations_of(*whole), wanted);
  EXPECT_LT(whole->find("unused_helper(float x)"), whole->find("void first"));
  EXPECT_LT(whole->find("wanted("), whole->find("void first"));
}

TEST(RelevantPart, IsNotPutBackWhereItMayMeanSomethingElse) {
  const RelevantPart part = part_of(kFile);
  const std::string changed = with(part.shown, "int i =", "const int i =");
  ASSERT_TRUE(put_back(part, changed));
  // A name that was left out, as a function, a macro and a type.
  for (const char* taken : {"__device__ float unused_helper(float x) { return x; }\n",
                            "#define first 1\n", "struct Unused;\n", "enum { UNUSED_DETAIL };\n"})
    EXPECT_FALSE(put_back(part, taken + changed)) << taken;
  // What is used is gone, or another: directly, and through a macro.
  EXPECT_FALSE(put_back(part, with(changed, "#define BLOCK 256", "#define BLOCK 128")));
  EXPECT_FALSE(put_back(part, with(changed, "T twice(T x)", "T doubled(T x)")));
  EXPECT_FALSE(put_back(part, with(changed, "return x + x", "return 2 * x")));
  EXPECT_FALSE(put_back(part, with(changed, "#include <cuda_fp16.h>\n", "")));
  EXPECT_FALSE(put_back(part, changed + "}"));
  EXPECT_FALSE(put_back(part, changed + "/*"));
  // What is not used may change.
  EXPECT_TRUE(put_back(part, with(changed, "#define WARP 32", "#define WARP 64")));
  EXPECT_TRUE(put_back(part, with(changed, "return x - 1.0f", "return x - 2.0f")));
  EXPECT_TRUE(put_back(part, "#include <mma.h>\n" + changed));
}

TEST(RelevantPart, SeveralKernelsAreShownTogether) {
  const RelevantPart part = part_of(kFile, {"wanted", "first"});
  for (const char* needed : {"void first", "unused_helper", "other_factor[2]", "UNUSED_DETAIL 7"})
    EXPECT_TRUE(holds(part.shown, needed)) << needed;
  EXPECT_FALSE(holds(part.shown, "void second"));
}

TEST(RelevantPart, AFileOfWhichAllMattersStaysAsItIs) {
  for (const char* source :
       {"// One thread an element.\n__global__ void wanted(float* a) {\n  a[0] = 1;\n}\n",
        "#define N 4  // of them\n\n\n/* x */ __global__ void wanted(int* a) { a[0] = N; } // y\n",
        "namespace a {\n\n__global__ void wanted(int* a) { a[0] = 1; }\n\n}  // namespace a\n"}) {
    const RelevantPart part = part_of(source);
    EXPECT_EQ(part.shown, source);
    EXPECT_TRUE(part.is_whole());
    EXPECT_EQ(put_back(part, "int x;"), "int x;");
  }
}

TEST(RelevantPart, LineDirectivesAreNotShown) {
  const RelevantPart part =
      part_of("#line 7 \"x.cu\"\n__global__ void wanted() {}\n#line 9 \"x.cu\"\nint after;\n");
  EXPECT_EQ(part.shown, "__global__ void wanted() {}\n");
  EXPECT_EQ(put_back(part, "__global__ void wanted() { return; }"),
            "__global__ void wanted() { return; }\n\nint after;\n");
}

TEST(RelevantPart, KeepsScopesAsFarAsNeeded) {
  const RelevantPart part = part_of(
      "namespace a {\n"
      "namespace {\n"
      "__device__ int helper() { return 1; }\n"
      "__device__ int other() { return 2; }\n"
      "}  // namespace\n"
      "__global__ void wanted(int* x) { *x = helper(); }\n"
      "__global__ void second(int* x) { *x = other(); }\n"
      "}  // namespace a\n"
      "namespace b {\n"
      "__global__ void third() {}\n"
      "}  // namespace b\n"
      "extern \"C\" {\n"
      "__global__ void fourth() {}\n"
      "}\n");
  EXPECT_EQ(part.shown,
            "namespace a {\nnamespace {\n__device__ int helper() { return 1; }\n}  // namespace\n"
            "__global__ void wanted(int* x) { *x = helper(); }\n}  // namespace a\n");
  const std::string answer = with(part.shown, "*x = helper()", "*x = 1 + helper()");
  const auto whole = put_back(part, answer);
  ASSERT_TRUE(whole);
  EXPECT_EQ(declarations_of(*whole),
            declarations_of(with(part.whole, "*x = helper()", "*x = 1 + helper()")));
  // The same name in another scope is another thing.
  EXPECT_FALSE(put_back(part_of("namespace a { __device__ int f(); }\n"
                                "__global__ void wanted() { a::f(); }\n"
                                "__global__ void second() { a::f(); }\n"),
                        "namespace b { __device__ int f(); }\n"
                        "__global__ void wanted() { b::f(); }\n"));
}

TEST(RelevantPart, OtherBlocksOfANamespaceAreNotShown) {
  EXPECT_EQ(part_of("namespace a { int x; }\nnamespace a { int f(); }\nnamespace a { int y; }\n"
                    "__global__ void wanted() { a::f(); }\n")
                .shown,
            "namespace a { int f(); }\n__global__ void wanted() { a::f(); }\n");
}

TEST(RelevantPart, NamespacesThatAreUsedAsAWholeStay) {
  const RelevantPart part = part_of(
      "namespace a { __device__ int x; }\nusing namespace a;\n"
      "__global__ void wanted() {}\n__device__ int y;\n");
  EXPECT_TRUE(holds(part.shown, "namespace a {"));
  EXPECT_TRUE(holds(part.shown, "using namespace a;"));
  EXPECT_FALSE(holds(part.shown, "int x"));
  EXPECT_FALSE(holds(part.shown, "int y"));
}

TEST(RelevantPart, ConditionalsStayOrGoAsAWhole) {
  const std::string source =
      "#ifdef FAST\n__device__ float f(float x) { return x; }\n#else\n"
      "__device__ float f(float x) { return 2 * x; }\n#endif\n"
      "#ifndef SIZE\n#define SIZE 4\n#endif\n"
      "#ifdef OLD\n__global__ void second() {\n#if SIZE > 2\n  f(1);\n#endif\n}\n#endif\n"
      "__global__ void wanted(float* a) { a[0] = f(a[1]); }\n";
  const RelevantPart part = part_of(source);
  EXPECT_EQ(part.shown,
            "#ifdef FAST\n__device__ float f(float x) { return x; }\n#else\n"
            "__device__ float f(float x) { return 2 * x; }\n#endif\n"
            "__global__ void wanted(float* a) { a[0] = f(a[1]); }\n");
  EXPECT_EQ(put_back(part, part.shown), source);
  EXPECT_TRUE(put_back(part, with(part.shown, "f(a[1])", "f(a[2])")));
  EXPECT_FALSE(put_back(part, "#define OLD\n" + part.shown));
}

TEST(RelevantPart, MembersOutsideOfTheirClassBelongToIt) {
  const RelevantPart part = part_of(
      "struct P { int x, y; __device__ P(int a); __device__ int sum() const; };\n"
      "__device__ P::P(int a) : x(a), y(a) {}\n"
      "__device__ int P::sum() const { return x + y; }\n"
      "__device__ P operator+(P a, P b) { return P(a.x + b.y); }\n"
      "__global__ void wanted(int* o) { *o = (P(1) + P(2)).sum(); }\n");
  EXPECT_TRUE(part.is_whole()) << part.shown;
}

TEST(RelevantPart, RemarksStayWithWhatTheySpeakOf) {
  const RelevantPart part = part_of(
      "const int kSize = 4;\nconst int kOther = 5;\n"
      "static_assert(kSize == 4, \"\");\nstatic_assert(kOther == 5, \"\");\n"
      "template <typename T> __global__ void wanted(T* a) { a[0] = kSize; }\n"
      "template __global__ void wanted<float>(float*);\n;\n");
  EXPECT_TRUE(holds(part.shown, "static_assert(kSize"));
  EXPECT_TRUE(holds(part.shown, "wanted<float>"));
  EXPECT_FALSE(holds(part.shown, "kOther"));
}

TEST(RelevantPart, KernelsThatAreMentionedAreShown) {
  EXPECT_TRUE(part_of("__global__ void child() {}\n"
                      "__global__ void wanted() { (void)&child; }\n")
                  .is_whole());
}

TEST(RelevantPart, EverythingIsShownWhereItIsNotUnderstood) {
  const std::string kernels = "__global__ void other() {}\n__global__ void wanted() {}\n";
  ASSERT_FALSE(part_of(kernels).is_whole());
  for (const std::string& source : {
           "#ifdef A\n" + kernels,
           "#endif\n" + kernels,
           kernels + "#if 1\nnamespace a {\n#endif\nint x;\n}\n",
           "#if 1\n__device__ int f()\n#else\n__device__ long f()\n#endif\n{ return 1; }\n" +
               kernels,
           kernels + "}\n",
           kernels + "namespace a {\n",
           kernels + "void f( { }\n",
           kernels + "/* no end\n",
           kernels + "int x",
           kernels + "const char* text = \"no end\n;\n",
           kernels + "int a; // goes on \\\nint b;\n",
           // Macros that mean different things, or anything.
           "#define N 1\n__global__ void other() { N; }\n#undef N\n#define N 2\n" + kernels,
           "#define HELPER(x) int x() { return 1; }\nHELPER(f)\n" + kernels,
           "#define HELPER(x) int x() { return 1; }\n#define TWO(x) HELPER(x) int y;\nTWO(f)\n" +
               kernels,
           std::string(
               "#define CAT(a, b) a##b\nint f1() { return 1; }\n__global__ void other() {}\n"
               "__global__ void wanted() { CAT(f, 1)(); }\n"),
       }) {
    const RelevantPart part = part_of(source);
    EXPECT_TRUE(part.is_whole()) << part.shown;
    EXPECT_EQ(put_back(part, "anything {"), "anything {");
  }
  EXPECT_TRUE(part_of(kernels, {"nobody"}).is_whole());
  EXPECT_TRUE(part_of(kernels, {}).is_whole());
  EXPECT_TRUE(part_of("").is_whole());
}

TEST(RelevantPart, TakesLittleTimeOnHostileTexts) {
  const auto begin = std::chrono::steady_clock::now();
  std::string names = "enum { a0";
  for (int name = 1; name < 8000; ++name)
    names += ", a" + std::to_string(name);
  names += "};\n";
  for (const std::string& unit :
       {std::string("namespace a {\n"), std::string("namespace a { int x; }\n"), names,
        std::string("/* c */\n"), std::string("#if 1\n"), std::string("#define A A B\n"),
        std::string("__global__ void wanted() {}\n"), std::string("int a; int b(int c);"),
        std::string("template <"), std::string("operator"), std::string("f<g(h[")}) {
    std::string text = "__global__ void wanted() {}\n";
    while (text.size() < 120 << 10)
      text += unit;
    const RelevantPart part = part_of(text);
    (void)put_back(part, text);
    const RelevantPart other = part_of("int y;\n__global__ void wanted() {}\n");
    (void)put_back(other, text);
  }
  std::string deep;
  for (int scope = 0; scope < 15; ++scope)
    deep += "namespace " + std::string(4000, 'a') + " {\n";
  for (int item = 0; item < 4000; ++item)
    deep += "int i" + std::to_string(item) + ";\n";
  deep += std::string(15, '}') + "\n__global__ void wanted() {}\n";
  const RelevantPart part = part_of(deep);
  EXPECT_FALSE(part.is_whole());
  EXPECT_TRUE(put_back(part, "__global__ void wanted() { return; }\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

// ---- properties -------------------------------------------------------------------------------

// What holds for any source and kernel of it.
void expect_guarantees(const std::string& source, const std::string& kernel) {
  const RelevantPart part = part_of(source, {kernel});
  SCOPED_TRACE(part.shown);
  EXPECT_EQ(part.shown, part_of(source, {kernel}).shown);
  const auto again = put_back(part, part.shown);
  ASSERT_TRUE(again);
  EXPECT_EQ(joined_tokens(*again), joined_tokens(source));
  // What is shown needs nothing else.
  if (part.is_whole()) return;
  EXPECT_EQ(joined_tokens(part_of(part.shown, {kernel}).shown), joined_tokens(part.shown));
  const std::string answer = part.shown + "__device__ int brand_new_name;\n";
  const auto whole = put_back(part, answer);
  ASSERT_TRUE(whole);
  std::multiset<std::string> wanted = declarations_of(source);
  wanted.insert("__device__ int brand_new_name ; ");
  EXPECT_EQ(declarations_of(*whole), wanted);
}

TEST(RelevantPart, KeepsItsPromisesForTheFilesOfTheTests) {
  int files = 0;
  for (const char* folder : {"tests/cli/styles", "examples"}) {
    const auto place = std::filesystem::path(REGRAPH_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
      if (entry.path().extension() != ".cu") continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      SCOPED_TRACE(entry.path().string());
      const std::string source = without_line_directives(text.str());
      for (const std::string_view word : {"__global__ void "}) {
        for (std::size_t at = source.find(word); at != std::string::npos;
             at = source.find(word, at + 1)) {
          const std::size_t name = at + word.size();
          expect_guarantees(source, source.substr(name, source.find('(', name) - name));
        }
      }
      ++files;
    }
  }
  EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace regraph::source::relevant_part_test
