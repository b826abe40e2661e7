#include "rewrite/forms/table_values.h"

#include "affine/index_range.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/simplify.h"
#include "rewrite/forms/small_tables.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Short loops that go through small arrays of indices, written out.

constexpr std::size_t kMostRounds = 16;

bool is_integer(const std::optional<ScalarType>& type) {
  return type && !is_floating(*type);
}

// Writes out the loops that ask the tables by their counters.
class LoopWriter final : public Mutator {
 public:
  LoopWriter(const Kernel& kernel, const Tables& tables) : tables_(tables), names_(kernel, "_") {}
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
      ExprPtr number = integer(round);
      if (counter.scalar != ScalarType::i32)
        number = with_type(cast(counter.type, number), counter.scalar);
      for (StmtPtr& copied : rewrite_expressions(names_.renamed(loop->body),
                                                 replace_variable(counter.name, number))) {
        out.push_back(std::move(copied));
      }
    }
  }

  // What the counter is in every round; nothing where that is not known, or takes many.
  static std::optional<std::vector<std::int64_t>> rounds_of(const ForLoop& loop) {
    const Declaration* init = loop.declaration();
    const Assignment* step = loop.advance();
    const auto* order = as<Binary>(loop.condition);
    if (init == nullptr || !init->value || step == nullptr || order == nullptr ||
        !is_named(step->target, init->variable.name) ||
        !is_named(order->left, init->variable.name) || !is_index_type(init->variable.scalar)) {
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
      const auto goes_on = comparison(order->op, at, *limit);
      if (!goes_on) return std::nullopt;
      if (!*goes_on) return rounds;
      if (rounds.size() == kMostRounds) return std::nullopt;
      rounds.push_back(at);
    }
  }

  // Whether the loop asks a table by its counter, and does nothing but to change integers of the
  // thread's own by values that are not from memory.
  bool is_index_arithmetic(const ForLoop& loop) const {
    const std::string& counter = loop.declaration()->variable.name;
    bool asks = false;
    bool is_plain = true;
    walk(loop.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      const auto* assignment = as<Assignment>(stmt);
      is_plain = is_plain && (is<Branch>(stmt) || is<Scope>(stmt) || assignment != nullptr ||
                              declaration != nullptr);
      if (declaration != nullptr) {
        is_plain = is_plain && declaration->variable.extents.empty() &&
                   is_integer(declaration->variable.scalar) && !declaration->variable.is_pointer;
      }
      if (assignment != nullptr) {
        const ExprPtr& target = assignment->target;
        is_plain = is_plain && !is_named(target, counter) && is_integer(target->type) &&
                   (is<VariableReference>(target) || table_of(*target, tables_) != nullptr);
      }
      walk_own_expressions(stmt, [&](const Expr& expr) {
        if (table_of(expr, tables_) != nullptr) {
          for (const ExprPtr& index : indices_of(expr))
            asks = asks || variables_of(index).contains(counter);
        } else if (is<Subscript>(expr)) {
          is_plain = is_plain && is_part_of_table(expr);
        }
        is_plain = is_plain && !is<Call>(expr) && !is<OpaqueExpression>(expr);
        for_each_passed_place(expr, [&](const Expr&) { is_plain = false; });
      });
    });
    return asks && is_plain;
  }

  // A row of a table, or an array in what the kernel was passed by value.
  bool is_part_of_table(const Expr& expr) const {
    const auto* base = base_variable(expr);
    if (base != nullptr) return tables_.contains(base->name);
    const Expr* inner = &expr;
    while (const auto* element = as<Subscript>(*inner))
      inner = element->base.get();
    const auto* member = as<Member>(*inner);
    return member != nullptr && is<VariableReference>(member->object);
  }

  const Tables& tables_;
  Names names_;
};

// Returns the kernel's body with a copy for each iteration of loops of constant length that ask a
// table by their counter and do nothing but index arithmetic: they change integers of the thread,
// elements of tables among them, and read no memory.
Block with_table_loops_written(const Kernel& kernel, const Tables& tables) {
  return LoopWriter(kernel, tables).run(kernel.body);
}

constexpr std::int64_t kLargestNumber = 1 << 20;

using Lists = std::map<std::string, ExprPtr>;  // by table

// Tables of which the body asks something else than elements by number.
class StrangeUses {
 public:
  StrangeUses(const Block& body, const Tables& tables) : tables_(tables) {
    walk_expressions(body, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) {
        if (const auto* base = place_variable(place)) names.insert(base->name);
      });
    });
    walk(body, [&](const Stmt& stmt) {
      for (const ExprPtr& expr : {target_of(stmt), value_of(stmt)})
        if (expr) look_at(expr);
    });
  }

  std::set<std::string> names;

 private:
  void look_at(const ExprPtr& expr) {
    if (const Variable* table = table_of(*expr, tables_)) {
      if (!element_name(*expr, *table)) names.insert(table->name);
      for (const ExprPtr& index : indices_of(*expr))
        look_at(index);
      return;
    }
    if (const auto* variable = as<VariableReference>(expr)) names.insert(variable->name);
    for_each_operand(*expr, [&](const ExprPtr& operand) {
      if (operand) look_at(operand);
    });
  }

  const Tables& tables_;
};

// What the table's elements are from the beginning to the end, by tables that nothing changes.
Lists find_lists(const Block& body, const Tables& tables) {
  Lists lists;
  walk(body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && declaration->value && tables.contains(declaration->variable.name))
      lists[declaration->variable.name] = declaration->value;
  });
  for (const std::string& name : changed_names(body))
    lists.erase(name);
  return lists;
}

// Elements that are numbers, as these: they may be indices of other tables.
class NumberWriter final : public Mutator {
 public:
  NumberWriter(const Tables& tables, const Lists& lists) : tables_(tables), lists_(lists) {}
  using Mutator::run;

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    ExprPtr inner = Mutator::mutate(expr, access);
    const Variable* table = table_of(*inner, tables_);
    const auto found = table != nullptr ? lists_.find(table->name) : lists_.end();
    if (found == lists_.end() || !element_name(*inner, *table)) return inner;
    ExprPtr value = found->second;
    for (const ExprPtr& index : indices_of(*inner)) {
      const auto* list = value ? as<InitializerList>(value) : nullptr;
      const auto at = static_cast<std::size_t>(*number_of_literals(index));
      value = list != nullptr && at < list->values.size() ? list->values[at] : nullptr;
    }
    const auto number = value ? number_of_literals(value) : std::nullopt;
    const bool is_plain =
        number && *number >= 0 && *number <= kLargestNumber && table->scalar == ScalarType::i32;
    return is_plain ? integer(*number) : inner;
  }

  const Tables& tables_;
  const Lists& lists_;
};

// Puts variables in the place of tables whose elements are all known by number.
class ElementWriter final : public Mutator {
 public:
  ElementWriter(const Kernel& kernel, const Block& body, const Tables& tables) : tables_(tables) {
    std::set<std::string> taken = used_names(kernel);
    for (const std::string& name : declared_names(body))
      taken.insert(name);
    for (const auto& entry : tables) {
      const std::string& name = entry.first;
      std::string stem = name;
      const auto is_taken = [&] {
        return std::any_of(taken.begin(), taken.end(), [&](const std::string& one) {
          return one != name && (one == stem || one.starts_with(stem + "_"));
        });
      };
      for (int number = 2; is_taken(); ++number)
        stem = name + "_" + std::to_string(number);
      stems_[name] = stem;
      taken.insert(stem);
    }
    walk(body, [&](const Stmt& stmt) {
      const ExprPtr& target = target_of(stmt);
      const Variable* table = target ? table_of(*target, tables_) : nullptr;
      if (table != nullptr) changed_.insert(table->name);
    });
    walk_expressions(body, [&](const Expr& expr) {
      if (const Variable* asked = table_of(expr, tables_))
        asked_.insert(*element_name(expr, *asked));
    });
  }
  using Mutator::run;

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    const Variable* table = table_of(access, tables_);
    if (table == nullptr) return Mutator::mutate(expr, access);
    return source::variable(name_of(*table, *element_name(access, *table)), table->scalar);
  }

  std::string name_of(const Variable& table, const std::string& element) const {
    return stems_.at(table.name) + element.substr(table.name.size());
  }

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* declaration = as<Declaration>(stmt);
    const auto table =
        declaration != nullptr ? tables_.find(declaration->variable.name) : tables_.end();
    if (table == tables_.end()) {
      out.push_back(run(stmt));
      return;
    }
    declare(table->second, table->second.name, 0, declaration->value, declaration->value != nullptr,
            out);
  }

  // `value`: a list or an element, null where the list says nothing: then it is zero if the table
  // `has_values`.
  void declare(const Variable& table, const std::string& element, std::size_t dimension,
               const ExprPtr& value, bool has_values, Block& out) {
    if (dimension < table.extents.size()) {
      const auto* list = value ? as<InitializerList>(value) : nullptr;
      for (std::int64_t at = 0; at < table.extents[dimension]; ++at) {
        const bool is_given = list != nullptr && static_cast<std::size_t>(at) < list->values.size();
        declare(table, element + "_" + std::to_string(at), dimension + 1,
                is_given ? list->values[static_cast<std::size_t>(at)] : nullptr, has_values, out);
      }
      return;
    }
    if (!asked_.contains(element) && (!value || is_number(value))) return;
    Variable variable = table;
    variable.name = name_of(table, element);
    variable.extents.clear();
    variable.is_const = has_values && !changed_.contains(table.name);
    ExprPtr given = value ? run(value) : nullptr;
    if (!given && has_values) given = zero_of(*table.scalar);
    out.push_back(source::declare(variable, given));
  }

  const Tables& tables_;
  static bool is_number(const ExprPtr& value) {
    return is<VariableReference>(value) || number_of_literals(value).has_value();
  }

  std::map<std::string, std::string> stems_;
  std::set<std::string> changed_;
  std::set<std::string> asked_;  // elements
};

}  // namespace

Block with_table_values(const Kernel& kernel) {
  Tables tables = find_tables(kernel.body);
  while (!tables.empty()) {
    const Lists lists = find_lists(kernel.body, tables);
    const Block loops = with_table_loops_written(kernel, tables);
    const Block written = NumberWriter(tables, lists).run(loops);
    const StrangeUses strange(written, tables);
    const std::size_t before = tables.size();
    for (const std::string& name : strange.names)
      tables.erase(name);
    if (tables.size() == before) return ElementWriter(kernel, written, tables).run(written);
  }
  return kernel.body;
}

}  // namespace regraph::rewrite
