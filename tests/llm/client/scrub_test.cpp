#include "llm/client/scrub.h"

#include "base/utf8.h"

#include <gtest/gtest.h>

namespace regraph::llm::scrub_test {
namespace {

TEST(Scrub, RemovesTheKeyEverywhere) {
  EXPECT_EQ(scrub("a sk-secret b sk-secret", "sk-secret"), "a [key] b [key]");
  EXPECT_EQ(scrub("sk-secretsk-secret", "sk-secret"), "[key][key]");
  EXPECT_EQ(scrub("nothing here", "sk-secret"), "nothing here");
}

TEST(Scrub, RemovesOtherFormsOfTheKey) {
  EXPECT_EQ(scrub(R"("abc\/def+")", "abc/def+"), "\"[key]\"");
  EXPECT_EQ(scrub("?k=abc%2Fdef%2B&", "abc/def+"), "?k=[key]&");
  EXPECT_EQ(scrub("?k=abc%2fdef%2b&", "abc/def+"), "?k=[key]&");
}

TEST(Scrub, RemovesBeginningsOfALongKey) {
  const std::string key = "sk-0123456789abcdefghij";
  EXPECT_EQ(scrub("cut: " + key.substr(0, 15), key), "cut: [key]");
  EXPECT_EQ(scrub("masked: " + key.substr(0, 14) + "***", key), "masked: [key]***");
  EXPECT_EQ(scrub("sk-0123 is public", key), "sk-0123 is public");
}

TEST(Scrub, LeavesPlaceholdersAlone) {
  EXPECT_EQ(scrub("x + EMPTY", "x"), "x + EMPTY");
  EXPECT_EQ(scrub("x + EMPTY", "EMPTY"), "x + EMPTY");
  EXPECT_EQ(scrub("x", ""), "x");
}

TEST(Excerpt, IsOneLineOfUtf8) {
  EXPECT_EQ(excerpt("a\r\n\tb\x01\x7F c", 100), "a b c");
  EXPECT_EQ(excerpt("  a  ", 100), "a");
  EXPECT_EQ(excerpt("a\xFF\xFE"
                    "b",
                    100),
            "a b");
  EXPECT_EQ(excerpt("", 100), "");
}

TEST(Excerpt, IsCutBetweenCharacters) {
  const std::string umlauts = "\xC3\xA4\xC3\xA4\xC3\xA4";
  EXPECT_EQ(excerpt(umlauts, 3), "\xC3\xA4...");
  EXPECT_EQ(excerpt(umlauts, 6), umlauts);
  const std::string longer = excerpt(std::string(100000, 'x'), 40);
  EXPECT_EQ(longer, std::string(40, 'x') + "...");
  EXPECT_FALSE(find_invalid_utf8(excerpt("\xF0\x9F\x98\x80\xF0\x9F\x98\x80", 5)).has_value());
}

}  // namespace
}  // namespace regraph::llm::scrub_test
