// The IR's tools: operators, patterns, visitors and mutators.
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/printer.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <gtest/gtest.h>

namespace regraph::source::ir_test {
namespace {

TEST(Operators, SpellingsAreReadBack) {
  for (int i = 0; i <= static_cast<int>(BinaryOperator::logical_or); ++i) {
    const auto op = static_cast<BinaryOperator>(i);
    EXPECT_EQ(binary_operator(spelling(op)), op) << spelling(op);
  }
  for (int i = 0; i <= static_cast<int>(AssignmentOperator::bit_xor); ++i) {
    const auto op = static_cast<AssignmentOperator>(i);
    EXPECT_EQ(assignment_operator(spelling(op)), op) << spelling(op);
    const auto operation = operation_of(op);
    EXPECT_EQ(operation.has_value(), op != AssignmentOperator::assign);
    if (!operation) continue;
    EXPECT_EQ(compound(*operation), op) << spelling(op);
  }
  for (int i = 0; i <= static_cast<int>(UnaryOperator::address_of); ++i) {
    const auto op = static_cast<UnaryOperator>(i);
    EXPECT_EQ(unary_operator(spelling(op)), op) << spelling(op);
  }
  EXPECT_EQ(binary_operator("<=>"), std::nullopt);
}

TEST(Operators, ParenthesesFollowPrecedence) {
  const ExprPtr a = variable("a");
  const ExprPtr b = variable("b");
  EXPECT_EQ(print(multiply(add(a, b), a)), "(a + b) * a");
  EXPECT_EQ(print(subtract(a, subtract(b, a))), "a - (b - a)");
  EXPECT_EQ(print(both(less(a, b), equals(a, b))), "a < b && a == b");
  EXPECT_EQ(print(unary(UnaryOperator::minus, unary(UnaryOperator::minus, a))), "- -a");
}

TEST(Negate, TurnsIntegerComparisonsRoundAndWrapFloatingOnes) {
  const ExprPtr i = variable("i");
  const ExprPtr x = variable("x", ScalarType::f32);
  EXPECT_EQ(print(negate(less(i, integer(4)))), "i >= 4");
  EXPECT_EQ(print(negate(both(less(i, integer(4)), equals(i, i)))), "i >= 4 || i != i");
  EXPECT_EQ(print(negate(less(x, x))), "!(x < x)");
  EXPECT_EQ(print(negate(negate(less(x, x)))), "x < x");
}

TEST(Match, BindsPartsOfNestedPatterns) {
  ExprPtr a;
  ExprPtr b;
  const ExprPtr fused = call("fmaf", {variable("p"), integer(2), variable("s")});
  EXPECT_TRUE(matches(fused, called("fmaf", any(a), any(b), named("s"))));
  EXPECT_EQ(print(a) + print(b), "p2");
  EXPECT_FALSE(matches(fused, called("fmaf", any(a), any(b), named("p"))));
  EXPECT_FALSE(matches(fused, called("fmaf", any(a), any(b))));

  std::string table;
  ExprPtr index;
  const ExprPtr place = address(element(variable("bins"), {add(variable("i"), integer(1))}));
  EXPECT_TRUE(matches(place, address_of(subscript(some_variable(table), any(index)))));
  EXPECT_EQ(table, "bins");
  EXPECT_TRUE(matches(index, sum(same(variable("i")), number(1))));
  EXPECT_FALSE(matches(index, quotient(any(), any())));
}

TEST(Visitor, GoesThroughHeadersBranchesAndOperands) {
  class Names final : public Visitor {
   public:
    std::string found;

   private:
    void visit(const VariableReference& expr) override { found += expr.name; }
    void visit(const Barrier&) override { found += '|'; }
  };
  const Block body = {counted_loop(
      "k", variable("a"), variable("b"), 1,
      {branch(less(variable("c"), integer(1)),
              {assign(element(variable("d"), {variable("e")}), variable("f"))}, {barrier()})})};
  Names names;
  names.go(body);
  EXPECT_EQ(names.found, "akbkcdef|");
}

TEST(Mutator, SharesWhatItDoesNotChange) {
  class Rename final : public Mutator {
    using Mutator::mutate;
    ExprPtr mutate(const ExprPtr& expr, const VariableReference& name) override {
      return name.name == "old" ? variable("new", expr->type) : expr;
    }
  };
  const Block block = {assign(variable("a"), variable("old")), assign(variable("b"), integer(1)),
                       scope({assign(variable("c"), add(variable("old"), integer(2)))})};
  const Block renamed = Rename().run(block);
  EXPECT_EQ(print(renamed), "a = new;\nb = 1;\n{\n  c = new + 2;\n}\n");
  EXPECT_EQ(renamed[1], block[1]);
  EXPECT_NE(renamed[0], block[0]);
  EXPECT_EQ(Rename().run(Block{renamed[2]})[0], renamed[2]);
  EXPECT_EQ(print(block), "a = old;\nb = 1;\n{\n  c = old + 2;\n}\n");
}

TEST(Mutator, MayReplaceAStatementBySeveralOrNone) {
  class Doubled final : public Mutator {
    void append(const StmtPtr& stmt, Block& out) override {
      if (is<Barrier>(stmt)) return;
      out.insert(out.end(), {run(stmt), run(stmt)});
    }
  };
  const Block block = {barrier(), scope({assign(variable("a"), integer(0)), barrier()})};
  EXPECT_EQ(print(Doubled().run(block)), "{\n  a = 0;\n  a = 0;\n}\n{\n  a = 0;\n  a = 0;\n}\n");
}

TEST(CountedLoop, IsOneOnlyWhereNothingElseChangesTheCounter) {
  const Block plain = {assign(variable("s"), AssignmentOperator::add, variable("k"))};
  const auto loop = counted_loop("k", integer(2), integer(9), 3, plain);
  const auto counted = counted_loop_of(*loop);
  ASSERT_TRUE(counted.has_value());
  EXPECT_EQ(counted->trip_count(), 3);
  EXPECT_FALSE(counted->starts_at_zero());
  EXPECT_FALSE(counted_loop_of(
      *counted_loop("k", integer(0), integer(9), 1, {assign(variable("k"), integer(3))})));
  EXPECT_FALSE(counted_loop_of(*counted_loop("k", integer(0), integer(9), 1,
                                             {evaluate(call("f", {address(variable("k"))}))})));
  EXPECT_FALSE(counted_loop_of(*counted_loop("k", integer(0), variable("k"), 1, {})));
}

}  // namespace
}  // namespace regraph::source::ir_test
