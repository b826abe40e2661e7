#include "llm/prompt/directive_rules.h"

#include <gtest/gtest.h>

namespace regraph::llm::directive_rules_test {
namespace {

std::string message(std::string_view directive) {
  const Status status = check_directive(directive);
  return status ? "accepted" : status.error().message;
}

TEST(DirectiveRules, AcceptsWhatKernelsNeed) {
  for (const char* line :
       {"#include <cuda_fp16.h>", "#include \"mma.h\" // tensor cores", "# include <cstdint>",
        "#include <cooperative_groups.h>", "#include <cuda_pipeline.h>", "#define TILE 32",
        "#define AT(i, j) a[(i) * n + \\\n (j)]", "#undef TILE", "#ifdef TILE", "#if TILE > 16",
        "#elif 1", "#else", "#endif // TILE", "#pragma unroll", "#pragma unroll 4",
        "#pragma nounroll", "#error no"}) {
    EXPECT_EQ(message(line), "accepted") << line;
  }
}

TEST(DirectiveRules, RejectsOtherHeaders) {
  for (const char* line :
       {"#include </etc/passwd>", "#include \"../x.h\"", "#include <cuda_fp16.h/../../x>",
        "#include <fstream>", "#include <thrust/sort.h>", "#include HEADER", "#include",
        "#include /**/ <cstdint>", "#include <cstdint", "#include <cstdint> <x>"}) {
    EXPECT_NE(message(line), "accepted") << line;
  }
  EXPECT_EQ(message("#include </etc/passwd>"), "#include of '/etc/passwd' is not accepted");
}

TEST(DirectiveRules, RejectsOtherLines) {
  for (const char* line :
       {"#include_next <x>", "#embed \"x\"", "#line 3", "#pragma once", "#pragma GCC poison x",
        "#pragma", "#import <x>", "#", "#/**/include <x>", "#ident \"x\"", "# 3 \"file\""}) {
    EXPECT_NE(message(line), "accepted") << line;
  }
}

TEST(DirectiveRules, MacrosMustNotChangeMeanings) {
  for (const char* line :
       {"#define float double", "#define __global__", "#define _Pragma(x)", "#undef __CUDA_ARCH__",
        "#define threadIdx blockIdx", "#define if while", "#define GLUE(a, b) a##b",
        "#define GLUE(a, b) a # # b", "#define", "#define 3", "#define A(x) %:x"}) {
    EXPECT_NE(message(line), "accepted") << line;
  }
}

}  // namespace
}  // namespace regraph::llm::directive_rules_test
