#include "kernel/expression.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

namespace regraph::expression_test {
namespace {

std::int64_t value(std::string_view text, const Symbols& symbols = {}) {
  const Result<IntegerExpression> expression = IntegerExpression::parse(text);
  EXPECT_TRUE(expression.ok()) << text << ": " << expression.error().message;
  const Result<std::int64_t> result = expression->evaluate(symbols);
  EXPECT_TRUE(result.ok()) << text << ": " << result.error().message;
  return result.ok() ? *result : -999;
}

std::string canonical(std::string_view text) {
  const Result<IntegerExpression> expression = IntegerExpression::parse(text);
  return expression.ok() ? expression->text() : expression.error().message;
}

TEST(Expression, EvaluatesWithUsualPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("100 / 7 % 5"), 4);
  EXPECT_EQ(value("-2 * -3"), 6);
  EXPECT_EQ(value("- -5"), 5);
  EXPECT_EQ(value("cdiv(10, 4) + min(3, 8) + max(3, 8)"), 14);
  EXPECT_EQ(value("cdiv(N, bx)", {{"N", 4097}, {"bx", 256}}), 17);
  EXPECT_EQ(value("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value("cdiv(9223372036854775807, 2)"), 4611686018427387904);
}

TEST(Expression, ReportsWhatIsWrong) {
  for (const char* text : {"", "1 +", "(1", "1)", "N M", "3N", "foo(1, 2)", "cdiv(1)", "cdiv 1, 2)",
                           "1 & 2", "9223372036854775808", "\xff", "N,"}) {
    EXPECT_FALSE(IntegerExpression::parse(text).ok()) << text;
  }
  const auto error = IntegerExpression::parse("N + * 2").error();
  EXPECT_EQ(error.code, ErrorCode::parse);
  EXPECT_NE(error.message.find("column 5"), std::string::npos) << error.message;
}

TEST(Expression, LimitsNestingAndLength) {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '(') + "N" +
           std::string(static_cast<std::size_t>(levels), ')');
  };
  EXPECT_TRUE(IntegerExpression::parse(nested(199)).ok());
  EXPECT_FALSE(IntegerExpression::parse(nested(201)).ok());
  EXPECT_FALSE(IntegerExpression::parse(std::string(100000, '(')).ok());
  EXPECT_FALSE(IntegerExpression::parse(std::string(100000, '-') + "1").ok());
}

TEST(Expression, EvaluationErrorsAreValues) {
  const auto fails = [](std::string_view text, const Symbols& symbols) {
    const auto expression = IntegerExpression::parse(text);
    EXPECT_TRUE(expression.ok()) << text;
    const auto result = expression->evaluate(symbols);
    EXPECT_FALSE(result.ok()) << text;
    return result.ok() ? Error{} : result.error();
  };
  EXPECT_EQ(fails("N * M", {{"N", 1}}).code, ErrorCode::not_found);
  EXPECT_NE(fails("N * M", {{"N", 1}}).message.find("'M'"), std::string::npos);
  EXPECT_NE(fails("N * N", {{"N", std::int64_t{1} << 40}}).message.find("overflow"),
            std::string::npos);
  EXPECT_NE(fails("N + 9223372036854775807", {{"N", 1}}).message.find("overflow"),
            std::string::npos);
  EXPECT_NE(fails("1 / N", {{"N", 0}}).message.find("zero"), std::string::npos);
  EXPECT_NE(fails("N % 4", {{"N", -1}}).message.find("non-negative"), std::string::npos);
  fails("9223372036854775807 * 2", {});
  fails("1 / 0", {});
}

TEST(Expression, CanonicalTextDoesNotDependOnHowItWasBuilt) {
  EXPECT_EQ(canonical("cdiv(cdiv(N, bx), 4)"), "cdiv(N, 4 * bx)");
  EXPECT_EQ(canonical("cdiv(N, bx * 4)"), "cdiv(N, 4 * bx)");
  EXPECT_EQ(canonical("cdiv(N, 1)"), "N");
  EXPECT_EQ(canonical("2 + N + 3"), "N + 5");
  EXPECT_EQ(canonical("N - 1"), "N - 1");
  EXPECT_EQ(canonical("N * 1 + 0"), "N");
  EXPECT_EQ(canonical("((M)*(K))"), "M * K");
  EXPECT_EQ(canonical("M - (N - K)"), "M - (N - K)");
  EXPECT_EQ(canonical("(M + N) * K"), "(M + N) * K");
  EXPECT_EQ(canonical("M / (N * K)"), "M / (N * K)");
  const auto n = IntegerExpression::symbol("N");
  EXPECT_EQ(IntegerExpression::ceil_divide(IntegerExpression::ceil_divide(n, 8), 4).text(),
            "cdiv(N, 32)");
  EXPECT_EQ(IntegerExpression::add(n, -1), *IntegerExpression::parse("N - 1"));
}

TEST(Expression, SubstitutesSimultaneously) {
  const auto expression = *IntegerExpression::parse("cdiv(N, bx) + by");
  const auto swapped = expression.substitute(
      {{"bx", IntegerExpression::symbol("by")}, {"by", IntegerExpression::symbol("bx")}});
  EXPECT_EQ(swapped.text(), "cdiv(N, by) + bx");
  EXPECT_EQ(expression.substitute({{"bx", 1}, {"by", 0}}).text(), "N");
  EXPECT_EQ(expression.symbols(), (std::set<std::string>{"N", "bx", "by"}));
  EXPECT_TRUE(IntegerExpression::parse("3 * 4")->is_constant());
  EXPECT_FALSE(expression.is_constant());
}

TEST(Expression, SaysWhatDividesIt) {
  const auto is_multiple = [](const char* text, std::int64_t number) {
    return IntegerExpression::parse(text)->is_multiple_of(number);
  };
  for (const char* text : {"96", "0", "96 * N", "8 * (N + 1)", "16 * N + 8 * M", "min(8 * N, 16)"})
    EXPECT_TRUE(is_multiple(text, 8)) << text;
  for (const char* text :
       {"97", "N", "12 * N", "8 * N + 1", "cdiv(8 * N, 3)", "8 * N / 3", "8 * N % 3"})
    EXPECT_FALSE(is_multiple(text, 8)) << text;
}

// A random expression with its value computed by plain arithmetic while it is written, as an
// independent check on parser, simplifier and printer. No value: the reference arithmetic refused.
struct Sample {
  std::string text;
  std::optional<std::int64_t> value;
};

class SampleMaker {
 public:
  explicit SampleMaker(std::uint64_t seed) : seed_(seed) {}

  Sample make(int depth) {
    if (depth == 0 || draw(4) == 0) {
      if (draw(2) == 0) {
        const auto constant = static_cast<std::int64_t>(draw(10));
        return {std::to_string(constant), constant};
      }
      static const char* const kNames[] = {"N", "M", "bx"};
      static constexpr std::int64_t kValues[] = {37, 5, 8};
      const std::size_t which = draw(3);
      return {kNames[which], kValues[which]};
    }
    const Sample a = make(depth - 1);
    const Sample b = make(depth - 1);
    const bool defined = a.value && b.value;
    const bool divides = defined && *a.value >= 0 && *b.value > 0;
    const std::int64_t x = a.value.value_or(0);
    const std::int64_t y = b.value.value_or(0);
    std::optional<std::int64_t> none;
    switch (draw(8)) {
      case 0:
        return {"(" + a.text + ")+" + "(" + b.text + ")", defined ? std::optional(x + y) : none};
      case 1:
        return {"(" + a.text + ")-(" + b.text + ")", defined ? std::optional(x - y) : none};
      case 2:
        return {"(" + a.text + ")*(" + b.text + ")", defined ? std::optional(x * y) : none};
      case 3:
        return {"(" + a.text + ")/(" + b.text + ")", divides ? std::optional(x / y) : none};
      case 4:
        return {"(" + a.text + ")%(" + b.text + ")", divides ? std::optional(x % y) : none};
      case 5:
        return {"cdiv(" + a.text + "," + b.text + ")",
                divides ? std::optional((x + y - 1) / y) : none};
      case 6:
        return {"min(" + a.text + "," + b.text + ")",
                defined ? std::optional(std::min(x, y)) : none};
      default:
        return {"-(" + a.text + ")", a.value ? std::optional(-x) : none};
    }
  }

 private:
  std::size_t draw(std::size_t limit) { return random_bits(seed_, counter_++) % limit; }
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

TEST(Expression, RandomExpressionsKeepTheirValueAndText) {
  const Symbols symbols = {{"N", 37}, {"M", 5}, {"bx", 8}};
  int defined = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Sample sample = SampleMaker(seed).make(5);
    const auto expression = IntegerExpression::parse(sample.text);
    ASSERT_TRUE(expression.ok()) << sample.text << ": " << expression.error().message;
    const auto again = IntegerExpression::parse(expression->text());
    ASSERT_TRUE(again.ok()) << expression->text();
    EXPECT_EQ(again->text(), expression->text()) << sample.text;
    EXPECT_EQ(expression->substitute({}).text(), expression->text()) << sample.text;
    if (!sample.value) continue;
    ++defined;
    const auto value = expression->evaluate(symbols);
    ASSERT_TRUE(value.ok()) << sample.text << ": " << value.error().message;
    EXPECT_EQ(*value, *sample.value) << sample.text << " as " << expression->text();
    EXPECT_EQ(*again->evaluate(symbols), *sample.value);
  }
  EXPECT_GT(defined, 500);
}

TEST(Expression, SurvivesGarbage) {
  const std::string seed_text = "cdiv(N * (M + 3), bx) - min(4, by % 7) / 2";
  static constexpr char kBytes[] = "()+-*/%,0123456789NMbxcdivmina \t\xff\x01";
  for (std::uint64_t round = 0; round < 20000; ++round) {
    std::string text = seed_text;
    for (std::uint64_t edit = 0; edit < 1 + round % 6; ++edit) {
      const std::size_t place = random_bits(round, edit, 1) % text.size();
      text[place] = kBytes[random_bits(round, edit, 2) % (sizeof(kBytes) - 1)];
    }
    const auto expression = IntegerExpression::parse(text);
    if (!expression.ok()) continue;
    EXPECT_TRUE(IntegerExpression::parse(expression->text()).ok()) << text;
    (void)expression->evaluate({{"N", 3}, {"M", 4}, {"bx", 0}, {"by", -1}});
  }
}

}  // namespace
}  // namespace regraph::expression_test
