#include "llm/prompt/plain_source.h"

#include <gtest/gtest.h>

#include <chrono>

namespace regraph::llm::plain_source_test {
namespace {

std::string message(std::string_view text) {
  const auto source = plain_source(text, 1 << 20);
  if (source) return "accepted";
  EXPECT_EQ(source.error().code, ErrorCode::parse);
  return source.error().message;
}

TEST(PlainSource, AcceptsPlainCode) {
  const auto source = plain_source(
      "#define MAX(a, b) \\\n  ((a) > (b) ? \\\n   (a) : (b))\r\n/* \xc3\xbc */ int x = 'a'; // ok",
      1000);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->find('\r'), std::string::npos);
  EXPECT_EQ(source->back(), '\n');
  EXPECT_EQ(message("const char* s = R\"(raw \\ text\n)\";"), "accepted");
  EXPECT_EQ(message("int y = x ? 1 : 0; // why?? because\n"), "accepted");
  EXPECT_EQ(message("#define Q '\"'\n"), "accepted");
}

TEST(PlainSource, RejectsWhatIsNoText) {
  EXPECT_EQ(message(std::string_view("int\0x;", 6)), "line 1 of the code: a NUL byte");
  EXPECT_EQ(message("int x;\n\x0c"), "line 2 of the code: the control character 0x0c");
  EXPECT_EQ(message("a\rb"), "line 1 of the code: the control character 0x0d");
  EXPECT_EQ(message("int x;\n// \xff"), "line 2 of the code: a byte that is not UTF-8");
  EXPECT_EQ(plain_source("12345", 4).error().message,
            "the code is too long: 5 bytes, at most 4 are read");
}

TEST(PlainSource, RejectsSpellingsThatHide) {
  EXPECT_EQ(message("\?\?=include <x>"),
            "line 1 of the code: a trigraph; write the character itself");
  const std::string continued =
      "line 1 of the code: a backslash at its end; only a #define may be "
      "continued, after a blank or bracket";
  EXPECT_EQ(message("as\\\nm(\"\");"), continued);
  EXPECT_EQ(message("#inc\\\nlude <x>"), continued);
  EXPECT_EQ(message("#define A as\\\nm"), continued);
  EXPECT_EQ(message("#define A x \\ \nasm"), continued);
  EXPECT_EQ(message("// comment \\\nasm"), continued);
  EXPECT_EQ(message("/* *\\\n/ asm"), continued);
  EXPECT_EQ(message("\\u0061sm"), "line 1 of the code: a stray backslash");
  EXPECT_EQ(message("#define A \\u0061sm"), "line 1 of the code: a stray backslash");
}

TEST(PlainSource, RejectsWhatDoesNotEnd) {
  EXPECT_EQ(message("int x; /* no end"), "line 1 of the code: a comment does not end");
  EXPECT_EQ(message("s = \"no end\n;"), "line 1 of the code: a literal does not end on its line");
  EXPECT_EQ(message("s = R\"(no end\n;"), "line 1 of the code: a literal does not end on its line");
}

// The quote hides the comment from a reader that knows no character literals, so that it would
// take the next line's comment, which the compiler does not see, for one.
TEST(PlainSource, DirectivesCannotHideTheLinesBehindThem) {
  EXPECT_NE(message("#define Q '\"' /*\n// */ asm(\"\");\n"), "accepted");
  EXPECT_NE(message("#define R R\"(\" /* )\"\nasm(\"\"); /* */\n"), "accepted");
}

TEST(PlainSource, TakesLinearTime) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string_view unit :
       {"R\"", "R\"\n", "/*", "\"", "'", "\\\n", "#define A \\\n", "\?\?", "/*/", "//\\\n", " "}) {
    std::string text = "#define B \\\n";
    while (text.size() < 1 << 19)
      text += unit;
    (void)plain_source(text, 1 << 20).ok();
  }
  // Each is a few milliseconds; a quadratic reader takes minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace regraph::llm::plain_source_test
