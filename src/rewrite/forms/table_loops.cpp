#include "rewrite/forms/table_loops.h"

#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;
using source::Subscript;
using source::Variable;
using source::VariableReference;

namespace {

constexpr std::size_t kMostRounds = 16;

bool is_integer(const std::optional<ScalarType>& type) {
  return type && !is_floating(*type);
}

// The copies of a loop's body, with the counter as a number and names of their own.
class CopyWriter final : public source::Mutator {
 public:
  CopyWriter(std::string counter, ExprPtr number, std::map<std::string, std::string> names)
      : counter_(std::move(counter)), number_(std::move(number)), names_(std::move(names)) {}
  using Mutator::run;

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    if (variable.name == counter_) return number_;
    const auto name = names_.find(variable.name);
    return name != names_.end() ? source::variable(name->second, variable.type) : expr;
  }

  StmtPtr mutate(const StmtPtr& stmt, const Declaration& declaration) override {
    StmtPtr inner = Mutator::mutate(stmt, declaration);
    const auto name = names_.find(declaration.variable.name);
    if (name == names_.end()) return inner;
    auto copy = std::make_shared<Declaration>(source::to<Declaration>(inner));
    copy->variable.name = name->second;
    return copy;
  }

  const std::string counter_;
  const ExprPtr number_;
  const std::map<std::string, std::string> names_;
};

// Writes out the loops that ask the tables by their counters.
class LoopWriter final : public source::Mutator {
 public:
  LoopWriter(const Kernel& kernel, const Tables& tables)
      : tables_(tables), taken_(source::used_names(kernel)) {}
  using Mutator::run;

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    // Loops inside first.
    const StmtPtr inner = run(stmt);
    const auto* loop = as<ForLoop>(inner);
    const auto rounds = loop != nullptr ? rounds_of(*loop) : std::nullopt;
    if (!rounds || !is_index_arithmetic(*loop)) {
      out.push_back(inner);
      return;
    }
    const Variable& counter = loop->declaration()->variable;
    for (const std::int64_t round : *rounds) {
      ExprPtr number = source::integer(round);
      if (counter.scalar != ScalarType::i32)
        number = source::with_type(source::cast(counter.type, number), counter.scalar);
      for (StmtPtr& copied : CopyWriter(counter.name, number, fresh_names(*loop)).run(loop->body))
        out.push_back(std::move(copied));
    }
  }

  // What the counter is in every round; nothing where that is not known, or takes many.
  static std::optional<std::vector<std::int64_t>> rounds_of(const ForLoop& loop) {
    const Declaration* init = loop.declaration();
    const Assignment* step = loop.advance();
    const auto* order = as<Binary>(loop.condition);
    if (init == nullptr || !init->value || step == nullptr || order == nullptr ||
        !source::is_named(step->target, init->variable.name) ||
        !source::is_named(order->left, init->variable.name) || !is_integer(init->variable.scalar) ||
        size_in_bytes(*init->variable.scalar) < sizeof(std::int32_t)) {
      return std::nullopt;
    }
    const auto first = number_of_literals(init->value);
    const auto limit = number_of_literals(order->right);
    auto pace = number_of_literals(step->value);
    const bool is_down = step->op == AssignmentOperator::subtract;
    if (!first || !limit || !pace || (!is_down && step->op != AssignmentOperator::add))
      return std::nullopt;
    if (is_down) pace = -*pace;
    std::vector<std::int64_t> rounds;
    for (std::int64_t at = *first;; at += *pace) {
      // As a number without a sign it would be a large one.
      const bool is_signed =
          init->variable.scalar == ScalarType::i32 && order->right->type == ScalarType::i32;
      if (at < 0 && !is_signed) return std::nullopt;
      const auto goes_on = holds(order->op, at, *limit);
      if (!goes_on) return std::nullopt;
      if (!*goes_on) return rounds;
      if (rounds.size() == kMostRounds) return std::nullopt;
      rounds.push_back(at);
    }
  }

  static std::optional<bool> holds(BinaryOperator op, std::int64_t left, std::int64_t right) {
    switch (op) {
      case BinaryOperator::less:
        return left < right;
      case BinaryOperator::less_equal:
        return left <= right;
      case BinaryOperator::greater:
        return left > right;
      case BinaryOperator::greater_equal:
        return left >= right;
      case BinaryOperator::not_equal:
        return left != right;
      default:
        return std::nullopt;
    }
  }

  // Whether the loop asks a table by its counter, and does nothing but to change integers of the
  // thread's own by values that are not from memory.
  bool is_index_arithmetic(const ForLoop& loop) const {
    const std::string& counter = loop.declaration()->variable.name;
    bool asks = false;
    bool is_plain = true;
    source::walk(loop.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      const auto* assignment = as<Assignment>(stmt);
      is_plain = is_plain && (is<source::Branch>(stmt) || is<source::Scope>(stmt) ||
                              assignment != nullptr || declaration != nullptr);
      if (declaration != nullptr) {
        is_plain = is_plain && declaration->variable.extents.empty() &&
                   is_integer(declaration->variable.scalar) && !declaration->variable.is_pointer;
      }
      if (assignment != nullptr) {
        const ExprPtr& target = assignment->target;
        is_plain = is_plain && !source::is_named(target, counter) && is_integer(target->type) &&
                   (is<VariableReference>(target) || table_of(*target, tables_) != nullptr);
      }
      source::walk_own_expressions(stmt, [&](const Expr& expr) {
        if (table_of(expr, tables_) != nullptr) {
          for (const ExprPtr& index : source::indices_of(expr))
            asks = asks || source::variables_of(index).contains(counter);
        } else if (is<Subscript>(expr)) {
          is_plain = is_plain && is_part_of_table(expr);
        }
        is_plain = is_plain && !is<source::Call>(expr) && !is<source::OpaqueExpression>(expr);
        source::for_each_passed_place(expr, [&](const Expr&) { is_plain = false; });
      });
    });
    return asks && is_plain;
  }

  // A row of a table, or an array in what the kernel was passed by value.
  bool is_part_of_table(const Expr& expr) const {
    const auto* base = source::base_variable(expr);
    if (base != nullptr) return tables_.contains(base->name);
    const Expr* inner = &expr;
    while (const auto* element = as<Subscript>(*inner))
      inner = element->base.get();
    const auto* member = as<source::Member>(*inner);
    return member != nullptr && is<VariableReference>(member->object);
  }

  std::map<std::string, std::string> fresh_names(const ForLoop& loop) {
    std::map<std::string, std::string> names;
    for (const std::string& name : source::declared_names(loop.body)) {
      std::string fresh;
      for (int number = 2; fresh.empty() || !taken_.insert(fresh).second; ++number)
        fresh = name + "_" + std::to_string(number);
      names[name] = std::move(fresh);
    }
    return names;
  }

  const Tables& tables_;
  std::set<std::string> taken_;
};

}  // namespace

Block with_table_loops_written(const Kernel& kernel, const Tables& tables) {
  return LoopWriter(kernel, tables).run(kernel.body);
}

}  // namespace regraph::rewrite
