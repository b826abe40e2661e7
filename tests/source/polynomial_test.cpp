#include "source/polynomial.h"

#include "source/build.h"

#include <gtest/gtest.h>

namespace regraph::source::polynomial_test {
namespace {

std::optional<Polynomial> plain(const ExprPtr& expr) {
  return to_polynomial(expr, [](const std::string& name) { return Polynomial::symbol(name); });
}

const ExprPtr kIndex = variable("i");
const ExprPtr kWidth = variable("w");
const ExprPtr kHeight = variable("h");

TEST(Polynomial, QuotientAndRemainderMakeTheDividendAgain) {
  const ExprPtr again = add(multiply(divide(kIndex, kWidth), kWidth), remainder(kIndex, kWidth));
  EXPECT_EQ(plain(again), Polynomial::symbol("i"));
  // Three levels: planes, rows, columns.
  const ExprPtr plane = divide(kIndex, multiply(kWidth, kHeight));
  const ExprPtr row = remainder(divide(kIndex, kWidth), kHeight);
  const ExprPtr column = remainder(kIndex, kWidth);
  const ExprPtr element = add(multiply(add(multiply(plane, kHeight), row), kWidth), column);
  EXPECT_EQ(plain(element), Polynomial::symbol("i"));
}

TEST(Polynomial, QuotientsThatStayAreNone) {
  EXPECT_EQ(plain(divide(kIndex, kWidth)), std::nullopt);
  EXPECT_EQ(plain(remainder(kIndex, kWidth)), std::nullopt);
  const ExprPtr turned = add(multiply(remainder(kIndex, kWidth), kHeight), divide(kIndex, kWidth));
  EXPECT_EQ(plain(turned), std::nullopt);
  const ExprPtr other = add(multiply(divide(kIndex, kWidth), kWidth), remainder(kIndex, kHeight));
  EXPECT_EQ(plain(other), std::nullopt);
  EXPECT_EQ(plain(divide(kIndex, unary(UnaryOperator::minus, kWidth))), std::nullopt);
}

TEST(Polynomial, WhatDividesWithoutRemainderIsDivided) {
  EXPECT_EQ(plain(divide(multiply(kIndex, integer(8)), integer(4))),
            Polynomial(2) * Polynomial::symbol("i"));
  EXPECT_EQ(plain(remainder(multiply(kIndex, kWidth), kWidth)), Polynomial());
  EXPECT_EQ(plain(divide(multiply(kIndex, integer(3)), integer(2))), std::nullopt);
}

TEST(Polynomial, BitsOfAnIndexMakeItAgain) {
  const ExprPtr high = binary(BinaryOperator::shift_right, kIndex, integer(5));
  const ExprPtr low = binary(BinaryOperator::bit_and, kIndex, integer(31));
  EXPECT_EQ(plain(add(multiply(high, integer(32)), low)), Polynomial::symbol("i"));
  // Rounded down and towards zero differ where i is negative.
  EXPECT_EQ(plain(add(multiply(divide(kIndex, integer(32)), integer(32)), low)), std::nullopt);
  const ExprPtr thread = builtin("threadIdx.x");
  const ExprPtr lane = binary(BinaryOperator::bit_and, thread, integer(31));
  EXPECT_EQ(plain(add(multiply(divide(thread, integer(32)), integer(32)), lane)),
            Polynomial::symbol("threadIdx.x"));
}

TEST(Polynomial, DividesExactlyOrNotAtAll) {
  const auto symbol = [](const char* name) { return Polynomial::symbol(name); };
  const Polynomial height = symbol("h") - symbol("k") + Polynomial(1);
  const Polynomial width = symbol("w") - Polynomial(2) * symbol("k");
  const Polynomial image = height * width * symbol("c");
  EXPECT_EQ(exact_quotient(image, width), height * symbol("c"));
  EXPECT_EQ(exact_quotient(image, height * width), symbol("c"));
  EXPECT_EQ(exact_quotient(image, image), Polynomial(1));
  EXPECT_EQ(exact_quotient(Polynomial(), image), Polynomial());
  EXPECT_EQ(exact_quotient(image + Polynomial(1), width), std::nullopt);
  EXPECT_EQ(exact_quotient(width, image), std::nullopt);
  EXPECT_EQ(exact_quotient(image, Polynomial()), std::nullopt);
  EXPECT_EQ(exact_quotient(Polynomial(6) * symbol("a"), Polynomial(4)), std::nullopt);
  EXPECT_EQ(exact_quotient(symbol("a") * symbol("a") - symbol("b") * symbol("b"),
                           symbol("a") - symbol("b")),
            symbol("a") + symbol("b"));
}

TEST(Polynomial, QuotientsOfOtherPeoplesSymbolsStay) {
  const auto named = [](const char* symbol) {
    return [symbol](const std::string& name) {
      return Polynomial::symbol(name == "i" ? symbol : name);
    };
  };
  const ExprPtr whole = add(multiply(divide(kIndex, kWidth), kWidth), remainder(kIndex, kWidth));
  for (const char* symbol : {"(h / p)", "(h / 2)", "(h / 2 * p)", "(h / )", "(h / 2*)"}) {
    EXPECT_EQ(to_polynomial(whole, named(symbol)), std::nullopt) << symbol;
    EXPECT_TRUE(to_polynomial_with_quotients(divide(kIndex, kWidth), named(symbol))) << symbol;
  }
}

TEST(Polynomial, QuotientsOfQuotientsEnd) {
  // Each level names the one below twice.
  ExprPtr index = kIndex;
  for (int level = 0; level < 40; ++level)
    index = remainder(index, kWidth);
  const auto unknown = [](const std::string& name) { return Polynomial::symbol(name); };
  EXPECT_TRUE(to_polynomial_with_quotients(remainder(remainder(kIndex, kWidth), kHeight), unknown));
  EXPECT_EQ(to_polynomial_with_quotients(index, unknown), std::nullopt);
}

}  // namespace
}  // namespace regraph::source::polynomial_test
