#include "llm/prompt/code_tokens.h"

#include <gtest/gtest.h>

namespace regraph::llm::code_tokens_test {
namespace {

using Tokens = std::vector<std::string_view>;

TEST(CodeTokens, TakesPreprocessorLinesApart) {
  EXPECT_EQ(code_tokens("#define A(x) \\\n  (x + 1) // one more\n#line 7 \"f.cu\"\nA(2);"),
            (Tokens{"#", "define", "A", "(", "x", ")", "(", "x", "+", "1", ")", "\n", "A", "(", "2",
                    ")", ";"}));
}

TEST(CodeTokens, WhiteSpaceAndCommentsDoNotCount) {
  EXPECT_TRUE(same_tokens("int x=1; // one\n", "int  x = 1;\n\n/* two */"));
  EXPECT_TRUE(same_tokens("#line 3\nint x;", "int x;"));
  EXPECT_FALSE(same_tokens("int x = 1;", "int x = 2;"));
  EXPECT_FALSE(same_tokens("f(\"a b\");", "f(\"a  b\");"));
  EXPECT_FALSE(same_tokens("#define A 1\n2", "#define A 1 2\n"));
}

TEST(CodeTokens, NamesAreNamesAndKeywords) {
  EXPECT_TRUE(is_name("asm"));
  EXPECT_TRUE(is_name("_x9"));
  EXPECT_FALSE(is_name("9x"));
  EXPECT_FALSE(is_name("\"asm\""));
  EXPECT_FALSE(is_name("R\"(asm)\""));
  EXPECT_FALSE(is_name(""));
}

}  // namespace
}  // namespace regraph::llm::code_tokens_test
