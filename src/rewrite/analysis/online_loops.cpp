#include "rewrite/analysis/online_loops.h"

#include "rewrite/analysis/loop_starts.h"
#include "rewrite/analysis/loop_value.h"
#include "rewrite/analysis/maximum_loop.h"
#include "rewrite/analysis/mentions.h"
#include "rewrite/analysis/online_order.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/analysis/weighted_sums.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Call;
using source::CountedLoop;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::is_named;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;
using source::to;

namespace {

// Functions with f(a + b) = f(a) * f(b).
constexpr std::array<std::string_view, 7> kExponentials = {"expf", "exp",    "__expf",  "exp2f",
                                                           "exp2", "exp10f", "__exp10f"};

class PairFinder {
 public:
  PairFinder(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  Result<OnlineLoops> run() {
    if (auto found = search(kernel_.body)) return std::move(*found);
    return reason_ ? *reason_
                   : refuse(
                         "no loop finds the largest of some values that another loop weights by "
                         "exponentials");
  }

 private:
  std::optional<OnlineLoops> search(const Block& block) {
    for (std::size_t first = 0; first < block.size(); ++first) {
      const auto maximum = maximum_loop_of(block[first], analysis_);
      if (!maximum) continue;
      for (std::size_t second = first + 1; second < block.size(); ++second) {
        if (!is_mentioned(Block{block[second]}, maximum->maximum.variable)) continue;
        if (!is<ForLoop>(block[second])) break;
        auto found = pair(block, first, second, *maximum);
        if (found) return std::move(*found);
        if (!reason_) reason_ = refuse(loop_named(*block[second]) + found.error().message);
        break;
      }
    }
    for (const StmtPtr& stmt : block) {
      for (const Block* below : {&body_of(*stmt), &otherwise_of(*stmt)}) {
        if (auto found = search(*below)) return found;
      }
    }
    return std::nullopt;
  }

  Result<OnlineLoops> pair(const Block& block, std::size_t first, std::size_t second,
                           const MaximumLoop& maximum) const {
    const std::string& name = maximum.maximum.variable;
    OnlineLoops result;
    result.maximum_loop = block[first];
    result.sum_loop = block[second];
    result.maximum = maximum.maximum;
    const auto counted = source::counted_loop_of(*block[second]);
    if (!counted) return refuse("it does not count up to a limit");
    result.body = with_differences(body_of(*block[second]), name);
    if (Status status = find_weights(result); !status) return status.error();

    const LoopValue compared = loop_value(body_of(*maximum.loop), maximum.update, maximum.value,
                                          maximum.counted.name, analysis_);
    const LoopValue weighted =
        loop_value(result.body, result.position, result.value, counted->name, analysis_);
    if (!equal(compared, weighted))
      return refuse("what it weights is not what '" + name + "' is the largest of");
    if (result.value->type && *result.value->type != maximum.maximum.scalar)
      return refuse("'" + name + "' is of another type than the values");

    auto sums = weighted_sums(result.body, analysis_,
                              [&](const ExprPtr& expr) { return is_weight(expr, name); });
    if (!sums) return sums.error();
    result.accumulators = sums->accumulators;
    if (Status status = require_unchanged(block, first, second, compared, weighted, analysis_);
        !status)
      return status.error();
    for (const source::Variable& accumulator : result.accumulators) {
      if (!starts_from_zero(block, second, accumulator))
        return refuse("'" + accumulator.name + "' does not start from zero");
    }
    const ExprPtr start = start_of(block, first, name);
    if (Status status =
            require_same_iterations(block, first, second, maximum, *counted, compared, start);
        !status) {
      return status.error();
    }
    result.may_be_infinite = !start || !is_finite_number(start);
    if (result.may_be_infinite && !sums->are_added_always) {
      return refuse("a sum is added to under a condition, and '" + name +
                    "' may be minus infinity, as it does not start from a finite number");
    }
    const auto trips = counted->trip_count();
    if (!trips || *trips < 1) result.runs = source::less(counted->first, counted->limit);
    return result;
  }

  // Names for differences from the maximum written out: `float d = x - m; s += expf(d);`
  Block with_differences(const Block& body, const std::string& name) const {
    std::map<std::string, ExprPtr> differences;
    source::walk(body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      const auto* difference = declaration != nullptr
                                   ? source::as_binary(declaration->value, BinaryOperator::subtract)
                                   : nullptr;
      if (difference != nullptr && is_named(difference->right, name) &&
          declaration->value->type == declaration->variable.scalar &&
          analysis_.is_single_definition(declaration->variable.name)) {
        differences.emplace(declaration->variable.name, declaration->value);
      }
    });
    if (differences.empty()) return body;
    const Block kept =
        source::rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* declaration = as<Declaration>(stmt);
          const bool drops =
              declaration != nullptr && differences.contains(declaration->variable.name);
          return drops ? std::optional(Block{}) : std::nullopt;
        });
    return source::rewrite_expressions(kept, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<source::VariableReference>(node);
      const auto found = variable != nullptr ? differences.find(variable->name) : differences.end();
      return found == differences.end() ? std::nullopt : std::optional(found->second);
    });
  }

  // All places of the maximum, which must be in weights of one value.
  static Status find_weights(OnlineLoops& loops) {
    const std::string& name = loops.maximum.variable;
    std::size_t places = 0;
    source::walk_expressions(loops.body, [&](const Expr& node) {
      if (is_named(node, name)) ++places;
    });
    std::size_t in_weights = 0;
    bool is_one = true;
    for (std::size_t at = 0; at < loops.body.size(); ++at) {
      (void)source::rewrite_expressions(
          {loops.body[at]}, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
            if (!is_weight(expr, name)) return std::nullopt;
            const auto& call = to<Call>(expr);
            const ExprPtr& value = to<Binary>(call.arguments[0]).left;
            if (in_weights++ == 0) {
              loops.value = value;
              loops.exponential = call.function;
              loops.position = at;
            }
            is_one =
                is_one && source::equal(value, loops.value) && call.function == loops.exponential;
            return expr;
          });
    }
    if (in_weights == 0 || in_weights != places)
      return refuse("'" + name + "' is used otherwise than in exponentials of a value less it");
    if (!is_one) return refuse("it weights by exponentials of different values");
    return {};
  }

  // The same bounds; or the first iteration is what the maximum starts from.
  Status require_same_iterations(const Block& block, std::size_t first, std::size_t second,
                                 const MaximumLoop& maximum, const CountedLoop& counted,
                                 const LoopValue& value, const ExprPtr& start) const {
    const CountedLoop& compared = maximum.counted;
    const std::string differ =
        "it does not run over what '" + maximum.maximum.variable + "' is the largest of";
    if (compared.stride != counted.stride || !is_same_bound(compared.limit, counted.limit))
      return refuse(differ);
    if (is_same_bound(compared.first, counted.first)) return {};
    const ExprPtr next = source::add(counted.first, source::integer(counted.stride));
    if (!start || !value.statements.empty() || !is_same_bound(compared.first, next))
      return refuse(differ);
    const ExprPtr at_first =
        source::rewrite_expr(value.value, source::replace_variable("#counter", counted.first));
    // Memory must be as it was when the maximum was given its first value.
    const bool is_fixed = !writes_memory(block, second, analysis_);
    if (!is_fixed || !is_same_value(start, at_first, analysis_)) return refuse(differ);
    (void)first;
    return {};
  }

  bool is_same_bound(const ExprPtr& a, const ExprPtr& b) const {
    const auto left = analysis_.polynomial(a);
    const auto right = analysis_.polynomial(b);
    return left && right && *left == *right;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::optional<Error> reason_;
};

}  // namespace

bool is_weight(const ExprPtr& expr, const std::string& maximum) {
  const auto* call = as<Call>(expr);
  if (call == nullptr || call->arguments.size() != 1 ||
      std::find(kExponentials.begin(), kExponentials.end(), call->function) ==
          kExponentials.end()) {
    return false;
  }
  const auto* difference = source::as_binary(call->arguments[0], BinaryOperator::subtract);
  return difference != nullptr && is_named(difference->right, maximum) &&
         !is_mentioned(difference->left, maximum);
}

Result<OnlineLoops> online_loops(const Kernel& kernel, const Analysis& analysis) {
  return PairFinder(kernel, analysis).run();
}

}  // namespace regraph::rewrite
