#include "llm/client/server_dialect.h"

#include <gtest/gtest.h>

namespace regraph::llm::server_dialect_test {
namespace {

TEST(ServerDialect, LeavesOutWhatIsRefused) {
  const ServerDialect all;
  EXPECT_FALSE(without(all, RequestParameter::temperature, false)->temperature);
  EXPECT_FALSE(without(all, RequestParameter::seed, false)->seed);
  EXPECT_FALSE(without(all, RequestParameter::n, false)->several_choices);
  EXPECT_TRUE(without(all, RequestParameter::seed, false)->temperature);
}

TEST(ServerDialect, SwapsTheNamesOfTheLimitOnce) {
  const auto swapped = without({}, RequestParameter::max_tokens, false);
  ASSERT_TRUE(swapped.has_value());
  EXPECT_EQ(swapped->token_limit, TokenLimitField::max_completion_tokens);
  const auto neither = without(*swapped, RequestParameter::max_completion_tokens, true);
  ASSERT_TRUE(neither.has_value());
  EXPECT_EQ(neither->token_limit, TokenLimitField::none);
}

TEST(ServerDialect, WeakensTheFormatInSteps) {
  const auto object = without({}, RequestParameter::response_format, false);
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->json_format, JsonFormat::json_object);
  const auto none = without(*object, RequestParameter::response_format, false);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->json_format, JsonFormat::none);
  EXPECT_FALSE(without(*none, RequestParameter::response_format, false).has_value());
}

TEST(ServerDialect, CannotLeaveOutWhatIsNotSent) {
  EXPECT_FALSE(without({}, RequestParameter::max_completion_tokens, false).has_value());
  ServerDialect plain;
  plain.seed = false;
  EXPECT_FALSE(without(plain, RequestParameter::seed, false).has_value());
}

}  // namespace
}  // namespace regraph::llm::server_dialect_test
