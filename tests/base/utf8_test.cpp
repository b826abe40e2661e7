#include "base/utf8.h"

#include <gtest/gtest.h>

namespace regraph::utf8_test {
namespace {

TEST(Utf8, TellsTextFromBytes) {
  EXPECT_FALSE(find_invalid_utf8(""));
  EXPECT_FALSE(find_invalid_utf8("plain\n\x7f"));
  EXPECT_FALSE(find_invalid_utf8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xf4\x8f\xbf\xbf"));
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(find_invalid_utf8("a\xc3"), 1U);             // cut short
  EXPECT_EQ(find_invalid_utf8("\xc3("), 0U);             // no continuation
  EXPECT_EQ(find_invalid_utf8("\xc0\xaf"), 0U);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xe0\x80\xaf"), 0U);      // overlong
  EXPECT_EQ(find_invalid_utf8("\xed\xa0\x80"), 0U);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0U);  // beyond the last
  EXPECT_EQ(find_invalid_utf8("x\xe2\x82 \xac"), 1U);
  EXPECT_EQ(find_invalid_utf8("\x80"), 0U);
}

}  // namespace
}  // namespace regraph::utf8_test
