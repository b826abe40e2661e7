#include "rewrite/forms/named_values.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::Block;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::is;
using source::StmtPtr;
using source::Subscript;

namespace {

bool changes_nothing(const ExprPtr& value) {
  bool result = true;
  source::walk(value, [&](const Expr& expr) {
    const auto* call = as<source::Call>(expr);
    const auto* unary = as<source::Unary>(expr);
    result = result && (call == nullptr || source::is_pure(*call)) &&
             !is<source::OpaqueExpression>(expr) && !is<source::InitializerList>(expr) &&
             (unary == nullptr || unary->op != source::UnaryOperator::address_of);
  });
  return result;
}

Element accessed_element(const Expr& access, const Analysis& analysis) {
  const auto* base = source::base_variable(access);
  if (base == nullptr) return {};
  const source::Variable* local = analysis.local(base->name);
  const bool is_array = local != nullptr ? !local->extents.empty() && !local->is_pointer
                                         : analysis.is_global_pointer(base->name);
  if (!is_array) return {};
  return {base->name, source::indices_of(access)};
}

void add_reads(const ExprPtr& value, const Analysis& analysis, MemoryUse& use) {
  source::walk(value, [&](const Expr& expr) {
    if (const auto* variable = as<source::VariableReference>(expr)) use.read.insert(variable->name);
    if (is<Subscript>(expr)) use.loads.push_back(accessed_element(expr, analysis));
  });
}

void add_use(const source::Stmt& stmt, const Analysis& analysis, MemoryUse& use) {
  if (const auto* assignment = as<Assignment>(stmt)) {
    add_reads(assignment->value, analysis, use);
    // `s += v` reads what it writes: the writing says enough.
    const ExprPtr& target = assignment->target;
    if (const auto* variable = as<source::VariableReference>(target)) {
      use.written.insert(variable->name);
    } else {
      source::for_each_operand(*target,
                               [&](const ExprPtr& operand) { add_reads(operand, analysis, use); });
      const auto* place = source::place_variable(*target);
      const bool is_object = place != nullptr && analysis.local(place->name) != nullptr &&
                             is<source::Member>(target) &&
                             analysis.local(place->name)->extents.empty() &&
                             !analysis.local(place->name)->is_pointer;
      if (is_object) {
        use.written.insert(place->name);
      } else {
        use.stores.push_back(is<Subscript>(target) ? accessed_element(*target, analysis)
                                                   : Element{});
      }
    }
  } else if (const auto* branch = as<source::Branch>(stmt)) {
    add_reads(branch->condition, analysis, use);
  }
}

bool differ_by_a_number(const ExprPtr& a, const ExprPtr& b, const Analysis& analysis) {
  const auto polynomial_of = [&](const ExprPtr& expr) {
    const source::SymbolMeaning known = analysis.meaning();
    return source::to_polynomial(expr, [&](const std::string& name) {
      const auto value = known(name);
      return value ? value : std::optional(source::Polynomial::symbol(name));
    });
  };
  const auto first = polynomial_of(a);
  const auto second = first ? polynomial_of(b) : std::nullopt;
  if (!second) return false;
  const auto distance = (*first - *second).constant();
  return distance && *distance != 0;
}

bool is_understood(const StmtPtr& stmt) {
  const auto all = [](const Block& block) {
    return std::all_of(block.begin(), block.end(), [](const StmtPtr& inner) {
      return !is<Declaration>(inner) && is_understood(inner);
    });
  };
  if (const auto* assignment = as<Assignment>(stmt))
    return changes_nothing(assignment->target) && changes_nothing(assignment->value);
  if (const auto* declaration = as<Declaration>(stmt))
    return declaration->value && changes_nothing(declaration->value);
  const auto* branch = as<source::Branch>(stmt);
  return branch != nullptr && changes_nothing(branch->condition) && all(branch->body) &&
         all(branch->otherwise);
}

}  // namespace

MemoryUse memory_use_of(const StmtPtr& stmt, const Analysis& analysis) {
  MemoryUse use;
  source::walk(Block{stmt}, [&](const source::Stmt& inner) { add_use(inner, analysis, use); });
  return use;
}

bool are_apart(const Element& a, const Element& b, const Analysis& analysis, bool distinct_buffers,
               bool& needs_distinct) {
  if (a.array.empty() || b.array.empty()) return false;
  if (a.array != b.array) {
    if (analysis.is_global_pointer(a.array) && analysis.is_global_pointer(b.array)) {
      needs_distinct = needs_distinct || distinct_buffers;
      return distinct_buffers;
    }
    return true;
  }
  // Of a row and an element, what both say.
  for (std::size_t i = 0; i < std::min(a.indices.size(), b.indices.size()); ++i)
    if (differ_by_a_number(a.indices[i], b.indices[i], analysis)) return true;
  return false;
}

bool NamedValues::name(const Declaration& declaration) {
  const source::Variable& variable = declaration.variable;
  if (variable.is_pointer || !variable.extents.empty() ||
      variable.storage != source::Storage::automatic) {
    return false;
  }
  ExprPtr value =
      source::to<Declaration>(replaced(source::declare(variable, declaration.value))).value;
  if (value->type != variable.scalar) {
    if (!variable.scalar) return false;
    value = source::with_type(source::cast(variable.type, value), variable.scalar);
  }
  Named named{value, {}, false};
  add_reads(value, analysis_, named.use);
  values_.emplace_back(variable.name, std::move(named));
  return true;
}

StmtPtr NamedValues::replaced(const StmtPtr& stmt) {
  const Block result =
      source::rewrite_expressions({stmt}, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        const auto* variable = as<source::VariableReference>(expr);
        if (variable == nullptr) return std::nullopt;
        const auto found = std::find_if(values_.begin(), values_.end(), [&](const auto& entry) {
          return entry.first == variable->name;
        });
        if (found == values_.end()) return std::nullopt;
        is_lost_ = is_lost_ || found->second.is_stale;
        return found->second.value;
      });
  return result.front();
}

// Whether a name for a value gets another.
bool NamedValues::gives_named(const MemoryUse& use) const {
  return std::any_of(values_.begin(), values_.end(),
                     [&](const auto& entry) { return use.written.contains(entry.first); });
}

void NamedValues::forget_what_changes(const MemoryUse& use) {
  for (auto& [name, named] : values_) {
    for (const std::string& written : use.written)
      named.is_stale = named.is_stale || named.use.read.contains(written);
    for (const Element& store : use.stores) {
      for (const Element& load : named.use.loads) {
        if (!are_apart(store, load, analysis_, distinct_buffers_, needs_distinct_))
          named.is_stale = true;
      }
    }
  }
}

std::optional<NamedValues::Result> NamedValues::written_out(const Block& block) {
  Result result;
  for (const StmtPtr& stmt : block) {
    if (!is_understood(stmt)) return std::nullopt;
    if (const auto* declaration = as<Declaration>(stmt)) {
      if (!name(*declaration) || is_lost_) return std::nullopt;
      continue;
    }
    if (gives_named(memory_use_of(stmt, analysis_))) return std::nullopt;
    // A statement reads before it writes.
    StmtPtr statement = replaced(stmt);
    if (is_lost_) return std::nullopt;
    forget_what_changes(memory_use_of(statement, analysis_));
    result.statements.push_back(std::move(statement));
  }
  result.needs_distinct_buffers = needs_distinct_;
  return result;
}

}  // namespace regraph::rewrite
