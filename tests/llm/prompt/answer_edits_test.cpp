#include "llm/prompt/answer_edits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace regraph::llm::answer_edits_test {
namespace {

const std::string kShown =
    "#define TILE 16\n"
    "__global__ void f(float* a, int n) {\n"
    "  int i = blockIdx.x * TILE + threadIdx.x;\n"
    "  if (i < n) {\n"
    "    a[i] = 2 * a[i];\n"
    "  }\n"
    "}\n";

std::string block(const std::string& search, const std::string& replace) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

// What becomes of the shown code, or the reason why nothing does.
std::string edited(const std::string& answer, const std::string& shown = kShown) {
  const auto read = read_edits(answer);
  if (!read) {
    EXPECT_EQ(read.error().code, ErrorCode::parse);
    return read.error().message;
  }
  const auto out = apply_edits(shown, read->edits);
  if (out) return *out;
  EXPECT_EQ(out.error().code, ErrorCode::parse);
  return out.error().message;
}

std::string with(std::string text, const std::string& old, const std::string& now) {
  text.replace(text.find(old), old.size(), now);
  return text;
}

TEST(AnswerEdits, AreToldFromOtherText) {
  EXPECT_TRUE(holds_edits("Here.\n```cuda\n<<<<<<< SEARCH\n"));
  EXPECT_TRUE(holds_edits("<<<<<<< SEARCH"));
  EXPECT_TRUE(holds_edits("  <<<<<<<search\r\n"));
  EXPECT_FALSE(holds_edits("f<<<<<<< SEARCH\n"));
  EXPECT_FALSE(holds_edits("<<<<<<< HEAD\n<<<1, 2>>>\n=======\n"));
  EXPECT_FALSE(holds_edits(""));
}

TEST(AnswerEdits, ReplaceLines) {
  EXPECT_EQ(edited(block("    a[i] = 2 * a[i];\n", "    a[i] += a[i];\n")),
            with(kShown, "a[i] = 2 * a[i]", "a[i] += a[i]"));
}

TEST(AnswerEdits, OfOneAnswerAreAllLocatedInWhatWasShown) {
  // The second looks for what the first puts in as well, and stands in front of it.
  const std::string answer = "First the store:\n" +
                             block("    a[i] = 2 * a[i];\n", "#define TILE 16\n") + "then\n" +
                             block("#define TILE 16\n", "#define TILE 32\n") + "Done.\n";
  EXPECT_EQ(edited(answer), with(with(kShown, "#define TILE 16", "#define TILE 32"),
                                 "    a[i] = 2 * a[i];", "#define TILE 16"));
  EXPECT_EQ(read_edits(answer)->rest, "First the store:\nthen\nDone.\n");
}

TEST(AnswerEdits, AnEmptyReplacementDeletes) {
  EXPECT_EQ(edited(block("#define TILE 16\n", "")), with(kShown, "#define TILE 16\n", ""));
  EXPECT_EQ(edited(block(kShown, "")), "");
}

TEST(AnswerEdits, TrailingBlanksAndLineEndingsDoNotMatter) {
  std::string answer = block("  if (i < n) {  \n    a[i] = 2 * a[i];\t\n", "  if (i < n) {\n");
  const std::string wanted = with(kShown, "    a[i] = 2 * a[i];\n", "");
  EXPECT_EQ(edited(answer), wanted);
  std::string crlf;
  for (const char c : answer)
    crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(edited(crlf), wanted);
  // Lines that no edit touches stay as they are.
  EXPECT_EQ(edited(block("int b;\n", "int c;\n"), "int a;  \r\nint b; \nint d;"),
            "int a;  \r\nint c;\nint d;");
}

TEST(AnswerEdits, BlankLinesCount) {
  EXPECT_EQ(edited(block("int a;\n\nint b;\n", "int b;\n"), "int a;\n  \nint b;\n"), "int b;\n");
  EXPECT_NE(edited(block("int a;\nint b;\n", "int b;\n"), "int a;\n\nint b;\n").find("found 0"),
            std::string::npos);
}

TEST(AnswerEdits, TheLastLineNeedsNoBreak) {
  EXPECT_EQ(edited(block("int b;\n", "int c;\n"), "int a;\nint b;"), "int a;\nint c;\n");
  EXPECT_EQ(edited("<<<<<<< SEARCH\nint b;\n=======\nint c;\n>>>>>>> REPLACE", "int b;\n"),
            "int c;\n");
}

// ---- one reason each --------------------------------------------------------------------------

TEST(AnswerEdits, SayWhatIsNotFound) {
  EXPECT_EQ(edited(block("  int j;\n", "")),
            "search-and-replace block 1, \"int j;\", was found 0 times: its line \"int j;\" does "
            "not stand in the code that was shown; repeat lines exactly as they stand there");
  EXPECT_EQ(edited(block("#define TILE 16\n", "") + block("  if (i < n) {\n  }\n", "")),
            "search-and-replace block 2, \"if (i < n) {\", was found 0 times: its lines stand in "
            "the code that was shown, but not one directly after the other; leave none out");
}

TEST(AnswerEdits, NameTheLineThatDiffersInWhiteSpace) {
  EXPECT_EQ(edited(block("  if (i < n) {\n  a[i] = 2*a[i];\n", "")),
            "search-and-replace block 1, \"if (i < n) {\", was found 0 times: its line \"  a[i] = "
            "2*a[i];\" differs in white space from the line \"    a[i] = 2 * a[i];\" of the code; "
            "repeat lines exactly");
}

TEST(AnswerEdits, SayHowOftenTheyWereFound) {
  EXPECT_EQ(edited(block("x;\n", "y;\n"), "x;\nz;\nx;\nx;\n"),
            "search-and-replace block 1, \"x;\", was found 3 times in the code that was shown, "
            "first on lines 1 and 3; take in lines around it until it stands there once");
  // Places may overlap.
  EXPECT_NE(edited(block("x;\nx;\n", "y;\n"), "x;\nx;\nx;\n").find("found 2 times"),
            std::string::npos);
}

TEST(AnswerEdits, MustNotOverlap) {
  EXPECT_EQ(edited(block("  if (i < n) {\n    a[i] = 2 * a[i];\n", "") +
                   block("    a[i] = 2 * a[i];\n  }\n", "")),
            "search-and-replace block 1, \"if (i < n) {\", and block 2 overlap: both change line 5 "
            "of the code that was shown; make one of them");
  const std::string twice = block("  if (i < n) {\n", "  if (i >= n) {\n");
  EXPECT_NE(edited(twice + twice).find("overlap"), std::string::npos);
  // Neighbours do not.
  EXPECT_EQ(edited(block("x;\n", "1;\n") + block("y;\n", "2;\n"), "x;\ny;\n"), "1;\n2;\n");
}

TEST(AnswerEdits, MustSearchAndChange) {
  for (const char* nothing : {"", "\n", "  \n\t\n"}) {
    EXPECT_NE(edited(block(nothing, "int a;\n")).find("block 1 has nothing to search for"),
              std::string::npos);
  }
  EXPECT_EQ(edited(block("  }\n", "  } \n")),
            "search-and-replace block 1, \"}\", replaces its lines by the same lines");
}

TEST(AnswerEdits, MustEnd) {
  EXPECT_EQ(edited("<<<<<<< SEARCH\n  }\n"),
            "search-and-replace block 1, \"}\", does not end: the line '=======', and then "
            "'>>>>>>> REPLACE' is missing");
  EXPECT_EQ(edited(block("  }\n", "") + "<<<<<<< SEARCH\n  if (i < n) {\n=======\n"),
            "search-and-replace block 2, \"if (i < n) {\", does not end: the line '>>>>>>> "
            "REPLACE' is missing");
}

TEST(AnswerEdits, MarkersStandAloneAndInOrder) {
  const std::string whole = block("  }\n", "  };\n");
  for (const char* line :
       {"<<<<<<< SEARCH\n", "  <<<<<<< HEAD\n", ">>>>>>> REPLACE\n", ">>>>>>> UPDATED\n"}) {
    EXPECT_NE(edited("<<<<<<< SEARCH\n  }\n" + std::string(line) + "=======\n>>>>>>> REPLACE\n")
                  .find("where it cannot stand"),
              std::string::npos)
        << line;
  }
  for (const char* line : {"<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE ```\n"}) {
    EXPECT_NE(edited("<<<<<<< SEARCH\n  }\n=======\n" + std::string(line) + ">>>>>>> REPLACE\n")
                  .find("where it cannot stand"),
              std::string::npos)
        << line;
  }
  EXPECT_NE(edited(whole + ">>>>>>> REPLACE\n").find("without its '<<<<<<< SEARCH'"),
            std::string::npos);
  EXPECT_EQ(edited("  <<<<<<< SEARCH\n  }\n=======\n>>>>>>> REPLACE\n"),
            "search-and-replace block 1 begins with \"<<<<<<< SEARCH\"; the line must be '<<<<<<< "
            "SEARCH' and nothing else");
  EXPECT_NE(edited(whole + "<<<<<<< Search: 2\n").find("block 2 begins with"), std::string::npos);
  // A heading in Markdown, longer lines in a comment.
  EXPECT_EQ(edited("Edits\n=======\n" + whole), with(kShown, "  }\n", "  };\n"));
  EXPECT_EQ(edited(block("========\n", "x\n"), "/*\n========\n*/\n"), "/*\nx\n*/\n");
}

TEST(AnswerEdits, AreNotTooMany) {
  std::string shown;
  std::string answer;
  for (int edit = 0; edit < 65; ++edit) {
    const std::string line = "int a" + std::to_string(edit) + ";\n";
    if (edit < 64) answer += block(line, "");
    shown += line;
  }
  EXPECT_EQ(edited(answer, shown), "int a64;\n");
  EXPECT_EQ(edited(answer + block("int a64;\n", ""), shown),
            "more than 64 search-and-replace blocks; give the whole device code");
  EXPECT_EQ(edited("nothing", shown), "the answer holds no search-and-replace block");
}

// ---- properties -------------------------------------------------------------------------------

// Edits that are made from two texts lead from one to the other, in whatever order they come.
TEST(AnswerEdits, LeadFromOneTextToTheOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::size_t count = 1 + random() % 60;
    std::vector<std::string> lines;
    for (std::size_t line = 0; line < count; ++line)
      lines.push_back(std::string(random() % 4, ' ') + "line " + std::to_string(line) + "\n");
    std::string shown;
    for (const std::string& line : lines)
      shown += line;
    std::string wanted;
    std::vector<std::string> blocks;
    for (std::size_t at = 0; at < count;) {
      const std::size_t length = std::min<std::size_t>(1 + random() % 4, count - at);
      std::string old;
      for (std::size_t line = at; line < at + length; ++line)
        old += lines[line];
      at += length;
      if (random() % 3 != 0 || blocks.size() == 64) {
        wanted += old;
        continue;
      }
      std::string now;
      for (std::size_t line = random() % 3; line > 0; --line)
        now += "new " + std::to_string(random() % 5) + "\n";
      wanted += now;
      blocks.push_back(block(old, now));
    }
    std::ranges::shuffle(blocks, random);
    std::string answer = "Prose.\n";
    for (const std::string& one : blocks)
      answer += one + "```\n";
    if (blocks.empty()) continue;
    EXPECT_EQ(edited(answer, shown), wanted) << round;
  }
}

TEST(AnswerEdits, TakeLinearTimeOnHostileAnswers) {
  const auto begin = std::chrono::steady_clock::now();
  std::string same;
  while (same.size() < 120 << 10)
    same += "a\n";
  std::string most;
  for (int edit = 0; edit < 64; ++edit)
    most += block(same.substr(0, 6000) + "a" + std::to_string(edit) + "\n", "b\n");
  (void)edited(most, same + "a0\n");
  (void)edited(block(same + "b\n", ""), same);
  (void)edited(block(same, "b\n"), same);
  for (const char* unit : {"<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "<", "\n", " \n",
                           "<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE\n"}) {
    std::string text;
    while (text.size() < 500 << 10)
      text += unit;
    (void)holds_edits(text);
    (void)edited(text, same);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace regraph::llm::answer_edits_test
