#include "rewrite/forms/rolled_copies.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/polynomial.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Expr;
using source::ExprPtr;
using source::is;
using source::StmtPtr;
using source::to;

namespace {

constexpr std::size_t kFewestCopies = 3;
constexpr std::size_t kMostStatements = 4;  // of one copy

bool is_narrow(const ExprPtr& expr) {
  bool found = false;
  source::walk(expr, [&](const Expr& part) {
    found = found || (is<source::Cast>(part) && part.type && size_in_bytes(*part.type) < 4);
  });
  return found;
}

// What two copies have in common, as code that is each of them for one value of a counter.
class CommonCode {
 public:
  // The second is `distance` copies behind the first.
  CommonCode(const source::Analysis& analysis, std::string counter, std::int64_t distance)
      : analysis_(analysis), counter_(std::move(counter)), distance_(distance) {}

  // Nothing where they are not alike.
  std::optional<Block> of(const Block& first, const Block& second) {
    if (first.size() != second.size()) return std::nullopt;
    Block result;
    for (std::size_t at = 0; at < first.size(); ++at) {
      StmtPtr common = of(first[at], second[at]);
      if (!common) return std::nullopt;
      result.push_back(std::move(common));
    }
    return result;
  }

 private:
  StmtPtr of(const StmtPtr& first, const StmtPtr& second) {
    if (first->kind() != second->kind()) return nullptr;
    if (const auto* declaration = as<source::Declaration>(first)) {
      const auto& other = to<source::Declaration>(second);
      const source::Variable& variable = declaration->variable;
      const bool is_alike = variable.type == other.variable.type &&
                            variable.scalar == other.variable.scalar &&
                            variable.extents == other.variable.extents &&
                            variable.storage == source::Storage::automatic &&
                            other.variable.storage == variable.storage &&
                            variable.is_pointer == other.variable.is_pointer &&
                            variable.alignment == other.variable.alignment;
      if (!is_alike || !declaration->value != !other.value) return nullptr;
      const ExprPtr value = declaration->value ? of(declaration->value, other.value) : nullptr;
      if (declaration->value && !value) return nullptr;
      names_[other.variable.name] = variable.name;
      names_[variable.name] = variable.name;
      return source::declare(variable, value);
    }
    if (const auto* assignment = as<source::Assignment>(first)) {
      const auto& other = to<source::Assignment>(second);
      const ExprPtr target = of(assignment->target, other.target);
      const ExprPtr value = target ? of(assignment->value, other.value) : nullptr;
      if (!value || assignment->op != other.op) return nullptr;
      auto result = std::make_shared<source::Assignment>(target, assignment->op, value);
      result->line = first->line;
      return result;
    }
    if (const auto* evaluation = as<source::Evaluation>(first)) {
      const ExprPtr call = of(evaluation->value, to<source::Evaluation>(second).value);
      if (!call) return nullptr;
      auto result = std::make_shared<source::Evaluation>(call);
      result->line = first->line;
      return result;
    }
    if (const auto* branch = as<source::Branch>(first)) {
      const auto& other = to<source::Branch>(second);
      const ExprPtr condition = of(branch->condition, other.condition);
      auto body = condition ? of(branch->body, other.body) : std::nullopt;
      auto otherwise = body ? of(branch->otherwise, other.otherwise) : std::nullopt;
      if (!otherwise) return nullptr;
      return source::branch(condition, std::move(*body), std::move(*otherwise), branch->line);
    }
    if (const auto* scope = as<source::Scope>(first)) {
      auto body = of(scope->body, to<source::Scope>(second).body);
      return body ? source::scope(std::move(*body)) : nullptr;
    }
    return nullptr;
  }

  ExprPtr of(const ExprPtr& first, const ExprPtr& second) {
    if (first->type != second->type) return nullptr;
    if (first->type && is_integer(*first->type) && !is_narrow(first) && !is_narrow(second)) {
      const auto one = place(first);
      const auto other = place(second);
      const auto between = one && other ? (*other - *one).constant() : std::nullopt;
      if (between) return moved(first, *between);
    }
    if (first->kind() != second->kind()) return nullptr;
    if (const auto* variable = as<source::VariableReference>(first)) {
      const std::string& name = to<source::VariableReference>(second).name;
      return own_name(variable->name) == own_name(name) ? first : nullptr;
    }
    return with_common_operands(first, second);
  }

  // What copies declare has no value that both know: it stands for itself, by the first's name.
  std::optional<source::Polynomial> place(const ExprPtr& expr) const {
    const source::SymbolMeaning known = analysis_.meaning();
    return source::to_polynomial(expr,
                                 [&](const std::string& name) -> std::optional<source::Polynomial> {
                                   if (names_.contains(name))
                                     return source::Polynomial::symbol(own_name(name));
                                   auto value = known(name);
                                   return value ? value : source::Polynomial::symbol(name);
                                 });
  }

  std::string own_name(const std::string& name) const {
    const auto own = names_.find(name);
    return own != names_.end() ? own->second : name;
  }

  static bool is_integer(ScalarType type) {
    return type == ScalarType::i32 || type == ScalarType::u32 || type == ScalarType::i64 ||
           type == ScalarType::u64;
  }

  // The expression that is so much more in the second copy.
  ExprPtr moved(const ExprPtr& first, std::int64_t between) const {
    if (between == 0) return first;
    if (between % distance_ != 0) return nullptr;
    const ExprPtr steps =
        source::multiply(source::variable(counter_), source::integer(between / distance_));
    return source::with_type(source::add(first, steps), first->type);
  }

  // The first expression with what its operands have in common with the second's; null where the
  // two are different otherwise.
  ExprPtr with_common_operands(const ExprPtr& first, const ExprPtr& second) {
    std::vector<ExprPtr> others;
    std::vector<ExprPtr> own;
    for_each_operand(*first, [&](const ExprPtr& operand) { own.push_back(operand); });
    for_each_operand(*second, [&](const ExprPtr& operand) { others.push_back(operand); });
    if (own.size() != others.size() || is<source::OpaqueExpression>(first)) return nullptr;
    std::map<const Expr*, ExprPtr> common;
    for (std::size_t at = 0; at < own.size(); ++at) {
      const ExprPtr operand = of(own[at], others[at]);
      if (!operand) return nullptr;
      common[own[at].get()] = operand;
    }
    // Apart from their operands they are the same where they are so with the first's.
    const auto with = [](const ExprPtr& node, const std::vector<ExprPtr>& from,
                         const std::vector<ExprPtr>& to_use) {
      std::size_t next = 0;
      return source::rewrite_expr(node, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
        if (part == node) return std::nullopt;
        return next < from.size() ? std::optional(to_use[next++]) : std::nullopt;
      });
    };
    std::vector<ExprPtr> replaced;
    replaced.reserve(own.size());
    for (const ExprPtr& operand : own)
      replaced.push_back(common[operand.get()]);
    if (!source::equal(first, with(second, others, own))) return nullptr;
    return with(first, own, replaced);
  }

  const source::Analysis& analysis_;
  const std::string counter_;
  const std::int64_t distance_;
  std::map<std::string, std::string> names_;  // that either declares, as the first calls them
};

class CopyRoller final : public source::Mutator {
 public:
  explicit CopyRoller(const source::Kernel& kernel)
      : analysis_(kernel), taken_(source::used_names(kernel)) {}

  Block run(const Block& block) override {
    Block inner = source::Mutator::run(block);
    for (std::size_t at = 0; at + kFewestCopies <= inner.size(); ++at) {
      for (std::size_t size = 1; size <= kMostStatements; ++size) {
        if (roll(inner, at, size)) break;
      }
    }
    return inner;
  }
  using source::Mutator::run;

 private:
  using Mutator::mutate;

  // What loops repeat stays as it is.
  StmtPtr mutate(const StmtPtr& stmt, const source::ForLoop&) override { return stmt; }
  StmtPtr mutate(const StmtPtr& stmt, const source::WhileLoop&) override { return stmt; }

  // Rolls the copies of so many statements that begin at the position.
  bool roll(Block& block, std::size_t position, std::size_t size) {
    if (position + kFewestCopies * size > block.size()) return false;
    const auto copy = [&](std::size_t number) {
      const auto begin = block.begin() + static_cast<std::ptrdiff_t>(position + number * size);
      return Block(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    const Block first = copy(0);
    if (!does_something(first)) return false;
    const std::string counter = unused_name();
    Block common;
    std::size_t copies = 1;
    while (position + (copies + 1) * size <= block.size()) {
      const Block next = copy(copies);
      if (line_of_block(next) <= line_of_block(copy(copies - 1))) break;
      auto code = CommonCode(analysis_, counter, static_cast<std::int64_t>(copies)).of(first, next);
      if (!code || (copies > 1 && !source::equal(*code, common))) break;
      common = std::move(*code);
      ++copies;
    }
    if (copies < kFewestCopies || source::equal(common, first) || line_of_block(first) <= 0)
      return false;
    for (std::size_t number = 0; number < copies; ++number) {
      if (names_leave(block, position + number * size, size)) return false;
    }
    taken_.insert(counter);
    const auto begin = block.begin() + static_cast<std::ptrdiff_t>(position);
    block.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(copies * size));
    block[position] = source::counted_loop(
        counter, source::integer(0), source::integer(static_cast<std::int64_t>(copies)), 1, common);
    return true;
  }

  // Besides declaring names.
  static bool does_something(const Block& block) {
    return std::any_of(block.begin(), block.end(), [](const StmtPtr& stmt) {
      return is<source::Branch>(stmt) || is<source::Assignment>(stmt) ||
             is<source::Evaluation>(stmt) || is<source::Scope>(stmt);
    });
  }

  // Where the block stands in the user's file: the last line that is known of its statements.
  static int line_of_block(const Block& block) {
    int line = 0;
    source::walk(block, [&](const source::Stmt& stmt) { line = std::max(line, stmt.line); });
    return line;
  }

  // Whether what a copy declares is asked for elsewhere in the block.
  static bool names_leave(const Block& block, std::size_t position, std::size_t size) {
    std::set<std::string> own;
    for (std::size_t at = position; at < position + size; ++at) {
      if (const auto* declaration = as<source::Declaration>(block[at]))
        own.insert(declaration->variable.name);
    }
    if (own.empty()) return false;
    Block rest(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(position));
    rest.insert(rest.end(), block.begin() + static_cast<std::ptrdiff_t>(position + size),
                block.end());
    bool found = false;
    source::walk_expressions(rest, [&](const Expr& expr) {
      const auto* variable = as<source::VariableReference>(expr);
      found = found || (variable != nullptr && own.contains(variable->name));
    });
    return found;
  }

  std::string unused_name() const {
    std::string name = "k";
    for (int number = 2; taken_.contains(name); ++number)
      name = "k_" + std::to_string(number);
    return name;
  }

  const source::Analysis analysis_;
  std::set<std::string> taken_;
};

}  // namespace

Block with_copies_rolled(const source::Kernel& kernel) {
  return CopyRoller(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
