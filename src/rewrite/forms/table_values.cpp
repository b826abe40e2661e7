#include "rewrite/forms/table_values.h"

#include "rewrite/forms/small_tables.h"
#include "rewrite/forms/table_loops.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::is;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;
using source::Subscript;
using source::Variable;
using source::VariableReference;

namespace {

constexpr std::int64_t kLargestNumber = 1 << 20;

using Lists = std::map<std::string, ExprPtr>;  // by table

// Tables of which the body asks something else than elements by number.
class StrangeUses {
 public:
  StrangeUses(const Block& body, const Tables& tables) : tables_(tables) {
    source::walk(body, [&](const Stmt& stmt) {
      source::walk_own_expressions(stmt, [&](const Expr& expr) {
        source::for_each_passed_place(expr, [&](const Expr& place) { note(place); });
      });
      for (const ExprPtr& expr : {target_of(stmt), value_of(stmt)})
        if (expr) look_at(expr);
    });
  }

  std::set<std::string> names;

 private:
  void note(const Expr& place) {
    const auto* base = source::place_variable(place);
    if (base != nullptr) names.insert(base->name);
  }

  void look_at(const ExprPtr& expr) {
    if (const Variable* table = table_of(*expr, tables_)) {
      if (!element_name(*expr, *table)) names.insert(table->name);
      for (const ExprPtr& index : source::indices_of(*expr))
        look_at(index);
      return;
    }
    if (const auto* variable = as<VariableReference>(expr)) names.insert(variable->name);
    source::for_each_operand(*expr, [&](const ExprPtr& operand) {
      if (operand) look_at(operand);
    });
  }

  const Tables& tables_;
};

// What the table's elements are from the beginning to the end, by tables that nothing changes.
Lists find_lists(const Block& body, const Tables& tables) {
  Lists lists;
  source::walk(body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && declaration->value && tables.contains(declaration->variable.name))
      lists[declaration->variable.name] = declaration->value;
  });
  source::walk(body, [&](const Stmt& stmt) {
    const auto* target = target_of(stmt) ? source::place_variable(*target_of(stmt)) : nullptr;
    if (target != nullptr) lists.erase(target->name);
    source::walk_own_expressions(stmt, [&](const Expr& expr) {
      source::for_each_passed_place(expr, [&](const Expr& place) {
        const auto* base = source::place_variable(place);
        if (base != nullptr) lists.erase(base->name);
      });
    });
  });
  return lists;
}

// Elements that are numbers, as these: they may be indices of other tables.
class NumberWriter final : public source::Mutator {
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
    for (const ExprPtr& index : source::indices_of(*inner)) {
      const auto* list = value ? as<source::InitializerList>(value) : nullptr;
      const auto at = static_cast<std::size_t>(*number_of_literals(index));
      value = list != nullptr && at < list->values.size() ? list->values[at] : nullptr;
    }
    const auto number = value ? number_of_literals(value) : std::nullopt;
    const bool is_plain =
        number && *number >= 0 && *number <= kLargestNumber && table->scalar == ScalarType::i32;
    return is_plain ? source::integer(*number) : inner;
  }

  const Tables& tables_;
  const Lists& lists_;
};

// Puts variables in the place of tables whose elements are all known by number.
class ElementWriter final : public source::Mutator {
 public:
  ElementWriter(const Kernel& kernel, const Block& body, const Tables& tables) : tables_(tables) {
    std::set<std::string> taken = source::used_names(kernel);
    for (const std::string& name : source::declared_names(body))
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
    source::walk(body, [&](const Stmt& stmt) {
      const ExprPtr& target = target_of(stmt);
      const Variable* table = target ? table_of(*target, tables_) : nullptr;
      if (table != nullptr) changed_.insert(table->name);
    });
    source::walk_expressions(body, [&](const Expr& expr) {
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
      const auto* list = value ? as<source::InitializerList>(value) : nullptr;
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
    if (!given && has_values) given = source::zero_of(*table.scalar);
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
