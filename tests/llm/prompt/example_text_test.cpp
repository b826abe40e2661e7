#include "llm/prompt/example_text.h"

#include "llm/prompt/prompt_text.h"
#include "llm/prompt/sample.h"

#include <gtest/gtest.h>

namespace regraph::llm::example_text_test {
namespace {

std::string lines(int first, int last) {
  std::string text;
  for (int line = first; line <= last; ++line)
    text += "  out[" + std::to_string(line) + "] = in[" + std::to_string(line) + "];\n";
  return text;
}

// What stands in the only fence of `text`.
std::string inside(const std::string& text) {
  const std::size_t begin = text.find("]\n") + 2;
  return text.substr(begin, text.rfind("[end ") - begin);
}

TEST(ExampleText, ShortOnesAreWhole) {
  const std::string text = change_text(sample::kExampleBefore, sample::kExampleAfter, {});
  EXPECT_EQ(text, fenced("before", sample::kExampleBefore, 1 << 20) + "\n" +
                      fenced("after", sample::kExampleAfter, 1 << 20));
}

TEST(ExampleText, LongOnesAreCutToWhatChanged) {
  const std::string before = lines(1, 200);
  const std::string after = lines(1, 99) + "  __syncthreads();\n" + lines(101, 200);
  const std::string text = change_text(before, after, {});
  EXPECT_TRUE(text.starts_with("[begin change "));
  EXPECT_EQ(inside(text), "--- before\n+++ after\n@@ -97,7 +97,7 @@\n" +
                              std::string("   out[97] = in[97];\n   out[98] = in[98];\n"
                                          "   out[99] = in[99];\n-  out[100] = in[100];\n"
                                          "+  __syncthreads();\n   out[101] = in[101];\n"
                                          "   out[102] = in[102];\n   out[103] = in[103];\n"));
  EXPECT_EQ(text, change_text(before, after, {}));
}

TEST(ExampleText, TheLimitIsTheirSum) {
  const std::string before = lines(1, 20);
  const std::string after = "int x;\n" + lines(1, 20);
  PromptLimits limits;
  limits.whole_example = before.size() + after.size();
  EXPECT_TRUE(change_text(before, after, limits).starts_with("[begin before "));
  --limits.whole_example;
  EXPECT_TRUE(change_text(before, after, limits).starts_with("[begin change "));
}

TEST(ExampleText, ADiffThatIsNoShorterIsNotShown) {
  EXPECT_TRUE(change_text(lines(1, 100), lines(101, 200), {}).starts_with("[begin before "));
  EXPECT_TRUE(change_text(lines(1, 100), lines(1, 100), {}).starts_with("[begin before "));
  EXPECT_TRUE(change_text("", "", {}).starts_with("[begin before "));
}

TEST(ExampleText, IsCleanAndBounded) {
  const std::string before = "#line 3 \"/home/user/x.cu\"\n" + lines(1, 4000);
  std::string after = "#line 9 \"/home/user/x.cu\"\n" + lines(1, 4000) + "\x01// \xff";
  EXPECT_EQ(inside(change_text(before, after, {})),
            "--- before\n+++ after\n@@ -3998,3 +3998,4 @@\n   out[3998] = in[3998];\n"
            "   out[3999] = in[3999];\n   out[4000] = in[4000];\n+// ?\n");
  std::string other;
  for (int line = 1; line <= 4000; ++line)
    other += line % 2 == 0 ? lines(line, line) : "x\n";
  EXPECT_LT(change_text(before, other, {}).size(), 13000U);
}

}  // namespace
}  // namespace regraph::llm::example_text_test
