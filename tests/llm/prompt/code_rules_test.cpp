#include "llm/prompt/code_rules.h"

#include <gtest/gtest.h>

namespace regraph::llm::code_rules_test {
namespace {

std::string message(std::string_view code, std::string_view base = "") {
  const Status status = check_code_rules(code, base);
  if (status) return "accepted";
  EXPECT_EQ(status.error().code, ErrorCode::parse);
  return status.error().message;
}

TEST(CodeRules, AcceptsDeviceCode) {
  EXPECT_EQ(message("#include <cuda_fp16.h>\n"
                    "template <typename T> struct S { T a[2][3]; };\n"
                    "__device__ S<S<S<int>>> f(int x) { return {x < 3 ? x : 4}; }\n"
                    "__global__ void k(float* a) { _Pragma(\"unroll 4\") for (;;) a[0] += 'c'; }\n"
                    "const char* s = \"cudaMalloc asm <<< main(\"; // cudaMalloc asm\n"),
            "accepted");
}

TEST(CodeRules, BracketsMustMatch) {
  EXPECT_EQ(message("void f() { g(a[0]; }"), "line 1 of the code: '}' closes '('");
  EXPECT_EQ(message("int x;\n}"), "line 2 of the code: '}' closes nothing");
  EXPECT_EQ(message("void f() { if (x) {"),
            "2 of the brackets '([{' are never closed: the code is cut off or wrong");
  EXPECT_EQ(message("#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n"), "accepted");
  EXPECT_EQ(message(std::string(300, '(')), "line 1 of the code: brackets nest deeper than 256");
  std::string branches;
  for (int depth = 0; depth < 65; ++depth)
    branches += "#if 1\n";
  EXPECT_EQ(message(branches), "line 65 of the code: too many #if in each other");
}

TEST(CodeRules, RejectsHostCode) {
  EXPECT_EQ(message("void f() { k<<<1, 2>>>(a); }"),
            "line 1 of the code: host code: a launch <<< >>>; answer with device code only");
  for (const char* code :
       {"int main() {}", "void f() { cudaMalloc(&p, 4); }",
        "void f() { cudaLaunchKernel(f, 1, 1, 0, 0); }", "cudaStream_t s;",
        "void f() { cuLaunchKernel(f); }", "void f() { cuMemAlloc(&p, 4); }",
        "thrust::device_vector<int> v;", "#define M cudaMalloc\n", "#define L <<<\n"}) {
    EXPECT_NE(message(code).find("host code"), std::string::npos) << code;
  }
  EXPECT_EQ(message("__device__ void f() { cudaGridDependencySynchronize(); }"), "accepted");
}

TEST(CodeRules, RejectsFencesWithin) {
  EXPECT_EQ(message("int x;\n```\n"),
            "line 2 of the code: '`' is no part of CUDA C++; is a fence at the wrong place?");
  EXPECT_EQ(message("const char* s = \"`\"; // ```\n"), "accepted");
}

TEST(CodeRules, RejectsInlineAssembly) {
  for (const char* code : {"asm volatile(\"trap;\");", "asm(\"\");", "__asm__(\"\");",
                           "__asm(\"\");", "#define A asm\n", "#if 1\nasm(\"\");\n#endif\n"}) {
    EXPECT_NE(message(code).find("inline assembly"), std::string::npos) << code;
  }
}

TEST(CodeRules, TheUsersOwnAssemblyMayStay) {
  constexpr std::string_view kBase =
      "void f() { asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(x)); }";
  EXPECT_EQ(message("void f() {\n  asm volatile (\"mov.u32 %0, %laneid;\" : \"=r\"(x));\n}", kBase),
            "accepted");
  EXPECT_NE(message("void f() { asm volatile(\"mov.u32 %0, %warpid;\" : \"=r\"(x)); }", kBase),
            "accepted");
  EXPECT_EQ(message("#pragma once\n#line 7 \"k.cu\"\n", "#pragma   once\n#line 7 \"k.cu\"\n"),
            "accepted");
}

TEST(CodeRules, RejectsQueriesOfTheFileSystem) {
  for (const char* code :
       {"#if __has_include(\"/etc/passwd\")\n#endif\n", "#define H __has_include\n",
        "#if __has_include_next(<x>)\n#endif\n", "#if __has_embed(\"x\")\n#endif\n",
        "#include_next <x>\n", "#embed \"/etc/passwd\"\n", "#line 3\n",
        "#include \"/etc/passwd\"\n", "_Pragma(\"GCC poison x\")", "#define P _Pragma(\"once\")\n",
        "_Pragma", "#pragma once\n"}) {
    EXPECT_NE(message(code), "accepted") << code;
  }
}

TEST(CodeRules, RejectsDigraphs) {
  for (const char* code : {"%:include <x>\n", "int a<:3:>;", "void f() <% %>", "%:%:"}) {
    EXPECT_NE(message(code).find("digraph"), std::string::npos) << code << ": " << message(code);
  }
  EXPECT_EQ(message("int x = a % b; S<::T> s; bool y = a <b;"), "accepted");
}

}  // namespace
}  // namespace regraph::llm::code_rules_test
