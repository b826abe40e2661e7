#include "rewrite/forms/partial_sums.h"

#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::BinaryOperator;
using source::Block;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::StmtPtr;
using source::VariableReference;

namespace {

bool is_literal_zero(const ExprPtr& value) {
  const auto* floating = as<source::FloatingLiteral>(value);
  return source::is_number(value, 0) ||
         (floating != nullptr && std::strtod(floating->spelling.c_str(), nullptr) == 0.0);
}

int mentions_of(const std::string& name, const ExprPtr& value) {
  int uses = 0;
  source::walk(value, [&](const Expr& part) {
    const auto* variable = as<VariableReference>(part);
    uses += variable != nullptr && variable->name == name ? 1 : 0;
  });
  return uses;
}

int mentions_of(const std::string& name, const source::Stmt& stmt) {
  int uses = 0;
  source::walk_own_expressions(stmt, [&](const Expr& part) {
    const auto* variable = as<VariableReference>(part);
    uses += variable != nullptr && variable->name == name ? 1 : 0;
  });
  return uses;
}

int mentions_of(const std::string& name, const Block& block) {
  int uses = 0;
  source::walk(block, [&](const source::Stmt& stmt) { uses += mentions_of(name, stmt); });
  return uses;
}

// Whether the statement does nothing with the variable but to add to it.
bool adds_to(const std::string& name, const source::Stmt& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || !source::is_named(assignment->target, name)) return false;
  const ExprPtr& value = assignment->value;
  if (assignment->op == AssignmentOperator::add) return mentions_of(name, value) == 0;
  if (assignment->op != AssignmentOperator::assign || mentions_of(name, value) != 1) return false;
  const auto itself = source::named(name);
  return matches(value, source::sum(itself, source::any())) ||
         matches(value, source::sum(source::any(), itself)) ||
         matches(value, source::called("fmaf", source::any(), source::any(), itself)) ||
         matches(value, source::called("fma", source::any(), source::any(), itself));
}

// The variables that are added up, and nothing else; false for anything else.
bool collect_sum(const ExprPtr& value, std::vector<std::string>& names) {
  if (const auto* variable = as<VariableReference>(value)) {
    names.push_back(variable->name);
    return true;
  }
  const auto* sum = source::as_binary(value, BinaryOperator::add);
  return sum != nullptr && collect_sum(sum->left, names) && collect_sum(sum->right, names);
}

// Partial sums of one block, and where they are added up.
class SumGroup {
 public:
  SumGroup(const Block& block, const Block& kernel) : block_(block), kernel_(kernel) {}

  // The block with one sum for those that `total` adds up; itself where that cannot be.
  Block merged(const ExprPtr& total) {
    if (!collect_sum(total, names_) || names_.size() < 2) return block_;
    const std::set<std::string> distinct(names_.begin(), names_.end());
    if (distinct.size() != names_.size()) return block_;
    for (const std::string& name : names_)
      if (!is_partial_sum(name)) return block_;
    std::string kept = names_.front();
    std::size_t reader = block_.size();  // a statement of the block that takes all of the sum
    for (std::size_t at = 0; at < block_.size(); ++at) {
      const ExprPtr& value = value_of(*block_[at]);
      if (value && value == total) reader = at;
    }
    Block result = block_;
    if (reader < block_.size()) kept = takes_over(reader, result);
    if (kept.empty()) return block_;
    return with_one(result, kept, total);
  }

 private:
  // Declared in the block with zero, else only added to, but for one use.
  bool is_partial_sum(const std::string& name) {
    const Declaration* found = nullptr;
    for (const StmtPtr& stmt : block_) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.name == name) found = declaration;
    }
    if (found == nullptr || !found->value || !is_literal_zero(found->value) ||
        !found->variable.scalar || !found->variable.extents.empty() ||
        (type_ && type_ != found->variable.scalar)) {
      return false;
    }
    type_ = found->variable.scalar;
    int adding = 0;
    int uses = 0;
    source::walk(kernel_, [&](const source::Stmt& stmt) {
      const int here = mentions_of(name, stmt);
      uses += here;
      if (here > 0 && adds_to(name, stmt)) adding += here;
    });
    return uses == adding + 1;
  }

  // Lets the variable that gets the total, or is added to, be the sum itself. Which one it is; the
  // first of the partial sums where the total is only read.
  std::string takes_over(std::size_t reader, Block& result) const {
    const StmtPtr& stmt = block_[reader];
    const Block after(block_.begin() + static_cast<std::ptrdiff_t>(reader) + 1, block_.end());
    const bool is_last = std::all_of(names_.begin(), names_.end(), [&](const std::string& name) {
      return mentions_of(name, after) == 0;
    });
    if (!is_last) return names_.front();
    if (const auto* declaration = as<Declaration>(stmt)) {
      if (declaration->variable.scalar != type_ || declaration->variable.is_pointer ||
          !declaration->variable.extents.empty()) {
        return names_.front();
      }
      result.erase(result.begin() + static_cast<std::ptrdiff_t>(reader));
      const auto rename = source::replace_variable(declaration->variable.name,
                                                   source::variable(names_.front(), type_));
      for (std::size_t at = reader; at < result.size(); ++at)
        result[at] = source::rewrite_expressions({result[at]}, rename).front();
      return names_.front();
    }
    const auto* assignment = as<Assignment>(stmt);
    const auto* target =
        assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
    if (target == nullptr || assignment->op != AssignmentOperator::add || target->type != type_)
      return names_.front();
    // The target must be there before the sums are, and nobody may look at it in between.
    std::size_t first = reader;
    bool is_declared = false;
    for (std::size_t at = 0; at < reader; ++at) {
      const auto* declaration = as<Declaration>(block_[at]);
      if (declaration == nullptr) continue;
      const std::string& name = declaration->variable.name;
      is_declared = is_declared || name == target->name;
      if (first == reader && std::find(names_.begin(), names_.end(), name) != names_.end())
        first = at;
    }
    const Block between(block_.begin() + static_cast<std::ptrdiff_t>(first),
                        block_.begin() + static_cast<std::ptrdiff_t>(reader));
    const bool is_free =
        is_declared && std::none_of(between.begin(), between.end(), [&](const StmtPtr& other) {
          return mentions_of(target->name, {other}) > 0;
        });
    if (!is_free) return names_.front();
    std::vector<StmtPtr> moved;
    // Its declaration may come after theirs.
    for (std::size_t at = first; at < reader; ++at) {
      const auto* declaration = as<Declaration>(block_[at]);
      if (declaration == nullptr || declaration->variable.name != target->name) continue;
      if (!is_literal_zero(declaration->value)) return names_.front();
      moved.push_back(block_[at]);
    }
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(reader));
    for (const StmtPtr& declared : moved) {
      result.erase(std::find(result.begin(), result.end(), declared));
      result.insert(result.begin() + static_cast<std::ptrdiff_t>(first), declared);
    }
    return target->name;
  }

  // Adds to `kept` what was added to the others.
  Block with_one(const Block& block, const std::string& kept, const ExprPtr& total) const {
    const ExprPtr sum = source::variable(kept, type_);
    Block result;
    for (const StmtPtr& stmt : block) {
      const auto* declaration = as<Declaration>(stmt);
      const bool goes =
          declaration != nullptr && declaration->variable.name != kept &&
          std::find(names_.begin(), names_.end(), declaration->variable.name) != names_.end();
      if (!goes) result.push_back(stmt);
    }
    return source::rewrite_expressions(result, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (expr == total) return sum;
      const auto* variable = as<VariableReference>(expr);
      const bool is_part = variable != nullptr &&
                           std::find(names_.begin(), names_.end(), variable->name) != names_.end();
      return is_part ? std::optional(sum) : std::nullopt;
    });
  }

  const Block& block_;
  const Block& kernel_;
  std::vector<std::string> names_;
  std::optional<ScalarType> type_;
};

// The sums of at least two variables in the value, the largest of each.
void collect_totals(const ExprPtr& value, std::vector<ExprPtr>& out) {
  std::vector<std::string> names;
  if (collect_sum(value, names) && names.size() >= 2) {
    out.push_back(value);
    return;
  }
  source::for_each_operand(*value, [&](const ExprPtr& operand) { collect_totals(operand, out); });
}

std::vector<ExprPtr> totals_in(const Block& block) {
  std::vector<ExprPtr> result;
  source::walk(block, [&](const source::Stmt& stmt) {
    if (const ExprPtr& value = value_of(stmt)) collect_totals(value, result);
  });
  return result;
}

class SumMerger final : public source::Mutator {
 public:
  explicit SumMerger(const source::Kernel& kernel) : kernel_(kernel) {}

  Block run(const Block& block) override {
    Block result = source::Mutator::run(block);
    const bool begins = std::any_of(result.begin(), result.end(), [](const StmtPtr& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      return declaration != nullptr && declaration->value && is_literal_zero(declaration->value);
    });
    if (!begins) return result;
    for (const ExprPtr& total : totals_in(result))
      result = SumGroup(result, kernel_.body).merged(total);
    return result;
  }
  using source::Mutator::run;

 private:
  const source::Kernel& kernel_;
};

}  // namespace

Block with_partial_sums_merged(const source::Kernel& kernel) {
  return SumMerger(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
