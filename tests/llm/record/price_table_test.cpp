#include "llm/record/price_table.h"

#include <gtest/gtest.h>

namespace regraph::llm::price_table_test {
namespace {

constexpr const char* kTable = R"(format: regraph-prices/1
prices:
  - {model: exact, prompt: 2, cached: 0.5, completion: 8}
  - {model: "family-*", prompt: 1, completion: 4}
  - {model: "*", prompt: 0, completion: 0}
)";

TEST(PriceTable, FindsTheFirstThatFits) {
  const auto table = PriceTable::parse(kTable, "p.yaml");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->find("exact")->completion, 8.0);
  EXPECT_EQ(table->find("family-large")->prompt, 1.0);
  EXPECT_EQ(table->find("family-large")->cached, 1.0);  // as others, where nothing is said
  EXPECT_EQ(table->find("anything")->prompt, 0.0);
  const auto strict = PriceTable::parse("format: regraph-prices/1\nprices: []\n", "p.yaml");
  EXPECT_FALSE(strict->find("exact"));
}

TEST(PriceTable, CostsWhatTheTokensCost) {
  TokenUsage usage;
  usage.prompt_tokens = 1'000'000;
  usage.cached_tokens = 400'000;
  usage.completion_tokens = 250'000;
  EXPECT_DOUBLE_EQ((Price{2.0, 0.5, 8.0}.cost(usage)), 0.6 * 2 + 0.4 * 0.5 + 0.25 * 8);
}

TEST(PriceTable, SaysWhatIsWrongAndWhere) {
  const auto message = [](const std::string& text) {
    const auto table = PriceTable::parse(text, "p.yaml");
    return table ? std::string("fine") : table.error().message;
  };
  EXPECT_NE(message("prices: []").find("p.yaml:1:"), std::string::npos);
  EXPECT_NE(message("[").find("not valid YAML"), std::string::npos);
  const std::string head = "format: regraph-prices/1\nprices:\n";
  EXPECT_NE(message(head + "  - {model: a, prompt: -1}\n").find("p.yaml:3:"), std::string::npos);
  EXPECT_NE(message(head + "  - {model: a, prompt: .nan}\n").find("p.yaml:3:"), std::string::npos);
  EXPECT_NE(message(head + "  - {prompt: 1}\n").find("needs a 'model'"), std::string::npos);
  EXPECT_NE(message(head + "  - {model: a, promt: 1}\n").find("unknown key 'promt'"),
            std::string::npos);
  EXPECT_NE(message("format: regraph-prices/1\nprices: 3\n").find("must be a list"),
            std::string::npos);
}

TEST(FitsPattern, StarsStandForAnything) {
  EXPECT_TRUE(fits_pattern("", ""));
  EXPECT_TRUE(fits_pattern("", "**"));
  EXPECT_TRUE(fits_pattern("abcabc", "a*c"));
  EXPECT_TRUE(fits_pattern("abcabd", "*ab*d"));
  EXPECT_FALSE(fits_pattern("abc", "ab"));
  EXPECT_FALSE(fits_pattern("ab", "abc"));
  EXPECT_FALSE(fits_pattern("abc", "*b"));
  // No exponential time.
  EXPECT_FALSE(fits_pattern(std::string(2000, 'a'), "*a*a*a*a*a*a*a*a*a*a*b"));
}

}  // namespace
}  // namespace regraph::llm::price_table_test
