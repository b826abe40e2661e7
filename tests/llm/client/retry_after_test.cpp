#include "llm/client/retry_after.h"

#include <gtest/gtest.h>

namespace regraph::llm::retry_after_test {
namespace {

// 1994-11-06 08:49:37 UTC, the date of RFC 9110's examples.
constexpr std::chrono::sys_seconds kExample{std::chrono::seconds(784111777)};

TEST(RetryAfter, ReadsAllFormsOfDates) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kExample);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), kExample);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), kExample);
  EXPECT_EQ(parse_http_date("  Sun, 06 Nov 1994 08:49:37 GMT\r\n"), kExample);
}

TEST(RetryAfter, RefusesWhatIsNoDate) {
  for (const char* bad :
       {"", "soon", "Sun, 31 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 GMT and more", "06 Nov 1994", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 ovD 1994 08:49:37 GMT"})
    EXPECT_FALSE(parse_http_date(bad).has_value()) << bad;
}

TEST(RetryAfter, ReadsSeconds) {
  EXPECT_EQ(parse_retry_after("0", kExample), 0.0);
  EXPECT_EQ(parse_retry_after(" 120 ", kExample), 120.0);
  EXPECT_EQ(parse_retry_after("1.5", kExample), 1.5);
  EXPECT_EQ(parse_retry_after("99999999999999", kExample), 1e9);
}

TEST(RetryAfter, CountsDatesFromNow) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", kExample), 10.0);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:27 GMT", kExample), 0.0);
}

TEST(RetryAfter, IgnoresNonsense) {
  for (const char* bad : {"", "-1", "inf", "nan", "1e3", "0x10", "12 s", "+5", "."})
    EXPECT_FALSE(parse_retry_after(bad, kExample).has_value()) << bad;
}

}  // namespace
}  // namespace regraph::llm::retry_after_test
