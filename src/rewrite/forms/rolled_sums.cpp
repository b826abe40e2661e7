#include "rewrite/forms/rolled_sums.h"

#include "rewrite/forms/common_code.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Shorter ones are records and stencils, which other steps know by their single elements.
constexpr std::size_t kFewestTerms = 8;

// sum + a + b + ..., or fmaf(.., fmaf(.., sum)): what is added to, and each round of adding to
// `hole`, the first to be done first.
struct SumChain {
  ExprPtr start;
  std::vector<ExprPtr> rounds;
};

bool adds(const ExprPtr& expr) {
  return as_binary(expr, BinaryOperator::add) != nullptr || as_multiply_add(expr) != nullptr;
}

// One round of adding to `hole` the way that `like` does, of what begins the sum; null where it
// begins with something else.
ExprPtr first_round(const ExprPtr& start, const ExprPtr& like, const ExprPtr& hole) {
  const Call* fused = as_multiply_add(like);
  if (fused == nullptr) {
    return with_type(source::add(hole, start), like->type);
  }
  const auto* product = as_binary(start, BinaryOperator::multiply);
  if (product == nullptr) return nullptr;
  auto call = std::make_shared<Call>(*fused);
  call->arguments = {product->left, product->right, hole};
  return call;
}

SumChain chain_of(ExprPtr expr, const ExprPtr& hole) {
  SumChain result;
  const std::optional<ScalarType> type = expr->type;
  while (expr->type == type && adds(expr)) {
    ExprPtr inner;
    if (const auto* sum = as<Binary>(expr)) {
      const bool is_left = !adds(sum->right) || adds(sum->left);
      inner = is_left ? sum->left : sum->right;
      result.rounds.push_back(first_round(is_left ? sum->right : sum->left, expr, hole));
    } else {
      auto call = std::make_shared<Call>(to<Call>(*expr));
      inner = call->arguments[2];
      call->arguments[2] = hole;
      result.rounds.push_back(std::move(call));
    }
    if (inner->type != type) return {};
    expr = std::move(inner);
  }
  result.start = std::move(expr);
  std::reverse(result.rounds.begin(), result.rounds.end());
  return result;
}

bool holds_element(const ExprPtr& expr) {
  return any_expression(expr, [&](const Expr& part) { return is<Subscript>(part); });
}

// A value whose place in straight code does not matter as long as nothing is written.
bool is_plain_value(const ExprPtr& expr) {
  bool is_plain = true;
  walk(expr, [&](const Expr& part) {
    const auto* call = as<Call>(part);
    if (call != nullptr) is_plain = is_plain && is_pure(*call);
  });
  return is_plain;
}

class SumRoller final : public Mutator {
 public:
  explicit SumRoller(const Kernel& kernel) : analysis_(kernel), taken_(used_names(kernel)) {
    walk_expressions(kernel.body, [&](const Expr& expr) {
      if (const auto* variable = as<VariableReference>(expr)) ++uses_[variable->name];
    });
    walk(kernel.body, [&](const Stmt& stmt) {
      if (const auto* declaration = as<Declaration>(stmt))
        ++declarations_[declaration->variable.name];
    });
  }

  Block run(const Block& block) override {
    Block inner = Mutator::run(block);
    for (std::size_t at = inner.size(); at > 0; --at) {
      if (at <= inner.size()) roll(inner, at - 1);
    }
    return inner;
  }
  using Mutator::run;

 private:
  using Mutator::mutate;

  // What loops repeat stays as it is.
  StmtPtr mutate(const StmtPtr& stmt, const ForLoop&) override { return stmt; }
  StmtPtr mutate(const StmtPtr& stmt, const WhileLoop&) override { return stmt; }

  // Rolls the sum in the value of that statement, with the names in front of it that it is made of.
  void roll(Block& block, std::size_t at) {
    const StmtPtr stmt = block[at];
    const auto* declaration = as<Declaration>(stmt);
    const auto* assignment = as<Assignment>(stmt);
    if (stmt->line <= 0 || (declaration == nullptr && assignment == nullptr)) return;
    if (declaration != nullptr && seen_.contains(declaration->variable.name)) return;
    const ExprPtr value = value_of(*stmt);
    if (!value || !is_plain_value(value)) return;
    std::set<std::string> named;
    const ExprPtr whole = written_out(value, values_before(block, at), named);
    seen_.insert(named.begin(), named.end());

    Block rolled;
    const bool is_own = declaration != nullptr && whole->type == declaration->variable.scalar &&
                        declarations_[declaration->variable.name] == 1;
    if (is_own && roll_whole(whole, declaration->variable.name, rolled)) {
      // The declared name is that of the sum.
    } else {
      const ExprPtr rest = with_sum(whole, rolled);
      if (!rest) return;
      rolled.push_back(with_value(stmt, rest));
    }
    const auto is_gone = [&](const StmtPtr& other) {
      const auto* name = as<Declaration>(other);
      return name != nullptr && named.contains(name->variable.name);
    };
    const auto place = block.begin() + static_cast<std::ptrdiff_t>(at);
    const auto kept = std::remove_if(block.begin(), place, is_gone);
    const auto behind = block.erase(kept, place + 1);
    block.insert(behind, rolled.begin(), rolled.end());
  }

  static StmtPtr with_value(const StmtPtr& stmt, const ExprPtr& value) {
    if (const auto* declaration = as<Declaration>(stmt)) {
      auto result = std::make_shared<Declaration>(*declaration);
      result->value = value;
      return result;
    }
    auto result = std::make_shared<Assignment>(to<Assignment>(stmt));
    result->value = value;
    return result;
  }

  // Floating point values with a name that is used once, declared right before the statement.
  std::map<std::string, ExprPtr> values_before(const Block& block, std::size_t at) const {
    std::map<std::string, ExprPtr> result;
    while (at-- > 0) {
      const auto* declaration = as<Declaration>(block[at]);
      if (declaration == nullptr || !declaration->value || !is_plain_value(declaration->value))
        break;
      const Variable& variable = declaration->variable;
      const auto uses = uses_.find(variable.name);
      const bool is_single = uses != uses_.end() && uses->second == 1;
      if (is_single && variable.extents.empty() && !variable.is_pointer && variable.scalar &&
          is_floating(*variable.scalar) && declaration->value->type == variable.scalar) {
        result.emplace(variable.name, declaration->value);
      }
    }
    return result;
  }

  static ExprPtr written_out(const ExprPtr& expr, const std::map<std::string, ExprPtr>& values,
                             std::set<std::string>& named) {
    return rewrite_expr(expr, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(part);
      const auto value = variable != nullptr ? values.find(variable->name) : values.end();
      if (value == values.end()) return std::nullopt;
      named.insert(variable->name);
      return written_out(value->second, values, named);
    });
  }

  // The expression with the name of a sum in it that `before` makes; null where it holds none that
  // is always computed.
  ExprPtr with_sum(const ExprPtr& expr, Block& before) {
    const std::string name = unused_name("sum");
    if (roll_whole(expr, name, before)) {
      taken_.insert(name);
      return source::variable(name, expr->type);
    }
    const auto* binary = as<Binary>(expr);
    const bool is_logical = binary != nullptr && (binary->op == BinaryOperator::logical_and ||
                                                  binary->op == BinaryOperator::logical_or);
    if (is_logical || is<Conditional>(expr) || is<Subscript>(expr)) return nullptr;
    bool is_found = false;
    const ExprPtr result = rewrite_expr(expr, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
      if (part == expr) return std::nullopt;
      const ExprPtr with = is_found ? nullptr : with_sum(part, before);
      is_found = is_found || with != nullptr;
      return with ? with : part;
    });
    return is_found ? result : nullptr;
  }

  // Whether the expression is such a sum, which `before` then makes under that name.
  bool roll_whole(const ExprPtr& expr, const std::string& name, Block& before) {
    if (!expr->type || !is_floating(*expr->type) || !adds(expr)) return false;
    const ExprPtr hole = source::variable(name, expr->type);
    SumChain chain = chain_of(expr, hole);
    if (chain.rounds.size() + 1 < kFewestTerms) return false;
    if (roll_chain(chain, hole, name, before)) return true;
    // Of the first two terms, either may be the first.
    const auto* sum = as_binary(chain.rounds.front(), BinaryOperator::add);
    if (sum == nullptr) return false;
    const ExprPtr second = sum->right;
    chain.rounds.front() = first_round(chain.start, chain.rounds.front(), hole);
    chain.start = second;
    return roll_chain(std::move(chain), hole, name, before);
  }

  bool roll_chain(SumChain chain, const ExprPtr& hole, const std::string& name, Block& before) {
    const ScalarType type = *hole->type;
    ExprPtr zero = neutral(type);
    const ExprPtr first = first_round(chain.start, chain.rounds.front(), hole);
    const std::string counter = unused_name("k");
    const auto common_of = [&](const ExprPtr& one, const ExprPtr& other, std::size_t distance) {
      return CommonCode(analysis_, counter, static_cast<std::int64_t>(distance)).of(one, other);
    };
    if (zero && first && common_of(first, chain.rounds.front(), 1)) {
      chain.rounds.insert(chain.rounds.begin(), first);
      chain.start = std::move(zero);
    }
    ExprPtr common;
    std::size_t alike = 1;
    for (; alike < chain.rounds.size(); ++alike) {
      ExprPtr next = common_of(chain.rounds.front(), chain.rounds[alike], alike);
      if (!next || (common && !equal(next, common))) break;
      common = std::move(next);
    }
    if (alike < kFewestTerms || !holds_element(common) || equal(common, chain.rounds.front())) {
      return false;
    }
    taken_.insert(counter);
    before.push_back(
        declare(local_variable(name, std::string(cuda_name(type)), type), chain.start));
    before.push_back(counted_loop(counter, integer(0), integer(static_cast<std::int64_t>(alike)), 1,
                                  {round(hole, common)}));
    for (; alike < chain.rounds.size(); ++alike)
      before.push_back(round(hole, chain.rounds[alike]));
    return true;
  }

  static StmtPtr round(const ExprPtr& sum, const ExprPtr& value) {
    const auto* added = as_binary(value, BinaryOperator::add);
    if (added == nullptr) return assign(sum, value);
    return assign(sum, AssignmentOperator::add, added->right);
  }

  // What a sum begins with that changes nothing, zeros of either sign included.
  static ExprPtr neutral(ScalarType type) {
    if (type == ScalarType::f32) return floating("-0.0f");
    if (type == ScalarType::f64) return floating("-0.0");
    return nullptr;
  }

  std::string unused_name(const std::string& stem) const {
    std::string name = stem;
    for (int number = 2; taken_.contains(name); ++number)
      name = stem + "_" + std::to_string(number);
    return name;
  }

  const Analysis analysis_;
  std::set<std::string> taken_;
  std::map<std::string, int> uses_;
  std::map<std::string, int> declarations_;
  std::set<std::string> seen_;  // names in sums that were looked at
};

}  // namespace

Block with_sums_rolled(const Kernel& kernel) {
  return SumRoller(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
