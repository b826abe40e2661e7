#include "rewrite/transform/quotient_nests.h"

#include "affine/global_index.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/split_index.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

class NestMaker final : public Mutator {
 public:
  explicit NestMaker(const Kernel& kernel) : kernel_(kernel), analysis_(kernel), names_(kernel) {}
  using Mutator::run;

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    const auto counted = counted_loop_of(*stmt);
    const bool is_plain = counted && counted->stride == 1 && counted->starts_at_zero() &&
                          loop.declaration()->variable.scalar == ScalarType::i32 &&
                          analysis_.loop(counted->name) != nullptr;
    const auto limit = is_plain ? analysis_.polynomial(counted->limit) : std::nullopt;
    const ExprPtr divisor = limit ? divisor_in(loop.body, counted->name) : nullptr;
    const auto columns = divisor ? analysis_.polynomial(divisor) : std::nullopt;
    const auto rows = columns ? exact_quotient(*limit, *columns) : std::nullopt;
    if (!rows || rows->constant() == 1) return Mutator::mutate(stmt, loop);
    const ExprPtr row = variable(names_.fresh(counted->name + "_row"));
    const ExprPtr column = variable(names_.fresh(counted->name + "_column"));
    const ExprPtr width = to_expression(*columns);
    const Block body =
        rewrite_expressions(loop.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          const auto* part = as<Binary>(expr);
          if (part != nullptr && is_part(*part, counted->name) &&
              analysis_.polynomial(part->right) == columns) {
            return in_type_of(*expr, part->op == BinaryOperator::divide ? row : column);
          }
          if (!is_named(expr, counted->name)) return std::nullopt;
          return add(multiply(row, width), column);
        });
    const auto counter_of = [](const ExprPtr& name) { return to<VariableReference>(name).name; };
    auto inner = std::make_shared<ForLoop>(to<ForLoop>(
        counted_loop(counter_of(column), integer(0), width, 1, run(body), loop.unroll)));
    inner->line = loop.line;
    auto outer = std::make_shared<ForLoop>(to<ForLoop>(
        counted_loop(counter_of(row), integer(0), to_expression(*rows), 1, {std::move(inner)})));
    outer->line = loop.line;
    return outer;
  }

  static bool is_part(const Binary& part, const std::string& counter) {
    return (part.op == BinaryOperator::divide || part.op == BinaryOperator::remainder) &&
           is_named(part.left, counter);
  }

  // What the counter is divided by first; null where that is no size.
  ExprPtr divisor_in(const Block& body, const std::string& counter) const {
    ExprPtr divisor;
    walk_expressions(body, [&](const Expr& expr) {
      const auto* part = as<Binary>(expr);
      if (part == nullptr || divisor || !is_part(*part, counter)) return;
      const auto size = analysis_.polynomial(part->right);
      const bool is_size = size && size->terms().size() == 1 && size->terms().begin()->second > 0 &&
                           std::ranges::all_of(size->symbols(), [&](const std::string& name) {
                             const KernelParameter* parameter = kernel_.parameter(name);
                             return parameter != nullptr && !parameter->is_pointer;
                           });
      if (is_size) divisor = part->right;
    });
    return divisor;
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  Names names_;
};

}  // namespace

Block with_quotient_nests(const Kernel& kernel) {
  return NestMaker(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
