#include "rewrite/transform/online_loop.h"

#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <functional>
#include <string>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::Kernel;
using source::StmtPtr;

namespace {

class OnlineWriter {
 public:
  OnlineWriter(const Kernel& kernel, const OnlineLoops& loops)
      : kernel_(kernel),
        loops_(loops),
        names_(kernel),
        maximum_(source::variable(loops.maximum.variable, loops.maximum.scalar)) {}

  Block run() {
    return source::rewrite_statements(kernel_.body,
                                      [&](const StmtPtr& stmt) -> std::optional<Block> {
                                        if (stmt == loops_.maximum_loop) return Block{};
                                        if (stmt != loops_.sum_loop) return std::nullopt;
                                        Block result = {source::with_blocks(stmt, body(), {})};
                                        if (loops_.may_be_infinite) result.push_back(spoil());
                                        return result;
                                      });
  }

 private:
  Block body() {
    const auto position = static_cast<std::ptrdiff_t>(loops_.position);
    Block result(loops_.body.begin(), loops_.body.begin() + position);
    ExprPtr value = loops_.value;
    if (!source::is<source::VariableReference>(value)) {
      value = declared(loops_.maximum.variable + "_candidate", value, result);
    }
    Block grow;
    const ExprPtr scale =
        declared(loops_.maximum.variable + "_scale",
                 source::call(loops_.exponential, {source::subtract(maximum_, value)}), grow);
    for_each_element(
        [&](const ExprPtr& element) {
          return source::assign(element, source::AssignmentOperator::multiply, scale);
        },
        grow);
    result.push_back(
        source::branch(source::binary(source::BinaryOperator::greater, value, maximum_), grow));
    result.push_back(loops_.maximum.combine(maximum_, value));
    ExprPtr reference = maximum_;
    if (loops_.may_be_infinite) {
      // exp(-inf - -inf) is no number; while there are no other values, weights are exp(-inf) = 0.
      const ExprPtr zero = source::zero_of(loops_.maximum.scalar);
      reference = declared(loops_.maximum.variable + "_finite",
                           source::conditional(is_infinite(), zero, maximum_), result);
    }
    const Block rest(loops_.body.begin() + position, loops_.body.end());
    const Block weighted =
        source::rewrite_expressions(rest, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (!is_weight(expr, loops_.maximum.variable)) return std::nullopt;
          return source::with_type(
              source::call(loops_.exponential, {source::subtract(value, reference)}), expr->type);
        });
    result.insert(result.end(), weighted.begin(), weighted.end());
    return result;
  }

  ExprPtr is_infinite() const {
    return source::equals(maximum_, source::unary(source::UnaryOperator::minus,
                                                  std::make_shared<source::FloatingLiteral>(
                                                      "INFINITY", loops_.maximum.scalar)));
  }

  ExprPtr declared(const std::string& stem, const ExprPtr& value, Block& out) {
    const std::string name = names_.fresh(stem);
    source::Variable variable =
        source::local_variable(name, loops_.maximum.type, loops_.maximum.scalar);
    variable.is_const = true;
    out.push_back(source::declare(variable, value));
    return source::variable(name, loops_.maximum.scalar);
  }

  // Sums of exp(-inf - -inf) are no numbers, if there was anything to add up.
  StmtPtr spoil() {
    Block spoilt;
    for_each_element(
        [&](const ExprPtr& element) {
          return source::assign(element, source::subtract(maximum_, maximum_));
        },
        spoilt);
    ExprPtr condition = is_infinite();
    if (loops_.runs) condition = source::both(loops_.runs, condition);
    return source::branch(condition, spoilt);
  }

  void for_each_element(const std::function<StmtPtr(const ExprPtr&)>& act, Block& out) {
    for (const source::Variable& sum : loops_.accumulators) {
      std::vector<std::string> counters;
      std::vector<ExprPtr> indices;
      for (std::size_t axis = 0; axis < sum.extents.size(); ++axis) {
        counters.push_back(counter(axis));
        indices.push_back(source::variable(counters.back()));
      }
      const ExprPtr whole = source::variable(sum.name, sum.scalar);
      StmtPtr stmt = act(
          indices.empty() ? whole : source::with_type(source::element(whole, indices), sum.scalar));
      for (std::size_t axis = sum.extents.size(); axis-- > 0;) {
        stmt = source::counted_loop(counters[axis], source::integer(0),
                                    source::integer(sum.extents[axis]), 1, {stmt},
                                    source::kUnrollFully);
      }
      out.push_back(stmt);
    }
  }

  // One name an axis: loops apart may share it.
  const std::string& counter(std::size_t axis) {
    while (counters_.size() <= axis)
      counters_.push_back(names_.fresh("element"));
    return counters_[axis];
  }

  const Kernel& kernel_;
  const OnlineLoops& loops_;
  Names names_;
  std::vector<std::string> counters_;
  ExprPtr maximum_;
};

}  // namespace

Block with_online_loop(const Kernel& kernel, const OnlineLoops& loops) {
  return OnlineWriter(kernel, loops).run();
}

}  // namespace regraph::rewrite
