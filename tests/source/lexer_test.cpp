#include "source/lexer.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::lexer_test {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (const Token& token : tokenize(text))
    result.emplace_back(token.in(text));
  return result;
}

TEST(Lexer, CutsWordsNumbersAndSigns) {
  EXPECT_EQ(words("a=b+1.5e-3f;"), (std::vector<std::string>{"a", "=", "b", "+", "1.5e-3f", ";"}));
  EXPECT_EQ(words("k<<<g, 1'000>>>(p->x, std::y)"),
            (std::vector<std::string>{"k", "<<<", "g", ",", "1'000", ">>>", "(", "p", "->", "x",
                                      ",", "std", "::", "y", ")"}));
}

TEST(Lexer, LeavesCommentsOutAndKeepsLiteralsWhole) {
  EXPECT_EQ(words("a /* } */ b // }\nc"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(words("f(\"} \\\" {\", '}')"),
            (std::vector<std::string>{"f", "(", "\"} \\\" {\"", ",", "'}'", ")"}));
  EXPECT_EQ(words("x = R\"x(} \" )x\" ;"),
            (std::vector<std::string>{"x", "=", "R\"x(} \" )x\"", ";"}));
}

TEST(Lexer, TakesADirectiveWithItsContinuations) {
  const std::string text = "#define A(x) \\\n  do { x \\\n  } while (0) // }\nint b;";
  const auto tokens = tokenize(text);
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].kind, TokenKind::directive);
  EXPECT_EQ(tokens[1].in(text), "int");
  EXPECT_EQ(tokens[1].line, 4u);
}

TEST(Lexer, ACommentInADirectiveMayGoOn) {
  const std::string text = "#define A 1 /* more\n text */\nint b;";
  const auto tokens = tokenize(text);
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[1].line, 3u);
}

TEST(Lexer, AHashInsideALineIsNoDirective) {
  EXPECT_EQ(tokenize("a # b")[1].kind, TokenKind::punctuation);
}

// Any text ends, and tokens are in order and inside it.
TEST(Lexer, SurvivesAnything) {
  constexpr std::string_view kPieces[] = {"/*", "*/", "//", "\"", "'",  "R\"(", ")\"", "\\\n",
                                          "\n", "#",  "{",  "a",  "1.", "\\",   "\0",  "<<<"};
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::string text;
    for (std::uint64_t i = 0; i < 12; ++i)
      text += kPieces[random_bits(seed, 1, i) % std::size(kPieces)];
    std::uint32_t end = 0;
    for (const Token& token : tokenize(text)) {
      ASSERT_LE(end, token.begin) << text;
      ASSERT_LT(token.begin, token.end) << text;
      end = token.end;
    }
    ASSERT_LE(end, text.size());
  }
}

}  // namespace
}  // namespace regraph::source::lexer_test
