#include "rewrite/forms/unrolled_copies.h"

#include "rewrite/forms/common_code.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// What statements do to variables and memory, without the names that they give to values.

// An element of an array, by its indices.
struct Element {
  std::string array;  // "" where it is not known
  std::vector<ExprPtr> indices;
};

// What a statement uses, blocks below it included.
struct MemoryUse {
  std::set<std::string> read;     // variables
  std::set<std::string> written;  // scalars
  std::vector<Element> loads;
  std::vector<Element> stores;
};

bool changes_nothing(const ExprPtr& value) {
  bool result = is_computation(value);
  walk(value, [&](const Expr& expr) {
    result = result && !is<OpaqueExpression>(expr) && !is<InitializerList>(expr) &&
             as_unary(expr, UnaryOperator::address_of) == nullptr;
  });
  return result;
}

Element accessed_element(const Expr& access, const Analysis& analysis) {
  const auto* base = base_variable(access);
  if (base == nullptr) return {};
  const Variable* local = analysis.local(base->name);
  const bool is_array = local != nullptr ? !local->extents.empty() && !local->is_pointer
                                         : analysis.is_global_pointer(base->name);
  if (!is_array) return {};
  return {base->name, indices_of(access)};
}

void add_reads(const ExprPtr& value, const Analysis& analysis, MemoryUse& use) {
  walk(value, [&](const Expr& expr) {
    if (const auto* variable = as<VariableReference>(expr)) use.read.insert(variable->name);
    if (is<Subscript>(expr)) use.loads.push_back(accessed_element(expr, analysis));
  });
}

void add_use(const Stmt& stmt, const Analysis& analysis, MemoryUse& use) {
  if (const auto* assignment = as<Assignment>(stmt)) {
    add_reads(assignment->value, analysis, use);
    // `s += v` reads what it writes: the writing says enough.
    const ExprPtr& target = assignment->target;
    if (const auto* variable = as<VariableReference>(target)) {
      use.written.insert(variable->name);
    } else {
      source::for_each_operand(*target,
                               [&](const ExprPtr& operand) { add_reads(operand, analysis, use); });
      const auto* place = place_variable(*target);
      const bool is_object = place != nullptr && analysis.local(place->name) != nullptr &&
                             is<Member>(target) && analysis.local(place->name)->extents.empty() &&
                             !analysis.local(place->name)->is_pointer;
      if (is_object) {
        use.written.insert(place->name);
      } else {
        use.stores.push_back(is<Subscript>(target) ? accessed_element(*target, analysis)
                                                   : Element{});
      }
    }
  } else if (const auto* branch = as<Branch>(stmt)) {
    add_reads(branch->condition, analysis, use);
  }
}

bool differ_by_a_number(const ExprPtr& a, const ExprPtr& b, const Analysis& analysis) {
  const auto first = place_polynomial(a, "", analysis);
  const auto second = first ? place_polynomial(b, "", analysis) : std::nullopt;
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
  const auto* branch = as<Branch>(stmt);
  return branch != nullptr && changes_nothing(branch->condition) && all(branch->body) &&
         all(branch->otherwise);
}

MemoryUse memory_use_of(const StmtPtr& stmt, const Analysis& analysis) {
  MemoryUse use;
  walk(Block{stmt}, [&](const Stmt& inner) { add_use(inner, analysis, use); });
  return use;
}

// Whether the elements are of different places. Different buffers count where they may be relied on
// to be distinct, which is noted in `needs_distinct`.
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

// const float t = a[i]; s += t * t;   ->   s += a[i] * a[i];
//
// For blocks of declarations, assignments and branches that call nothing but pure functions.
class NamedValues {
 public:
  struct Result {
    Block statements;  // none is a declaration
    bool needs_distinct_buffers = false;
  };

  NamedValues(const Analysis& analysis, bool distinct_buffers)
      : analysis_(analysis), distinct_buffers_(distinct_buffers) {}

  // Nothing for other blocks, and where a value is used after what it is made of has changed.
  [[nodiscard]] std::optional<Result> written_out(const Block& block) {
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

 private:
  struct Named {
    ExprPtr value;
    MemoryUse use;
    bool is_stale = false;
  };

  bool name(const Declaration& declaration) {
    const Variable& variable = declaration.variable;
    if (variable.is_pointer || !variable.extents.empty() ||
        variable.storage != Storage::automatic) {
      return false;
    }
    ExprPtr value = source::to<Declaration>(replaced(declare(variable, declaration.value))).value;
    if (value->type != variable.scalar) {
      if (!variable.scalar) return false;
      value = with_type(source::cast(variable.type, value), variable.scalar);
    }
    Named named{value, {}, false};
    add_reads(value, analysis_, named.use);
    values_.emplace_back(variable.name, std::move(named));
    return true;
  }

  StmtPtr replaced(const StmtPtr& stmt) {
    const Block result =
        rewrite_expressions({stmt}, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          const auto* variable = as<VariableReference>(expr);
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
  bool gives_named(const MemoryUse& use) const {
    return std::any_of(values_.begin(), values_.end(),
                       [&](const auto& entry) { return use.written.contains(entry.first); });
  }

  void forget_what_changes(const MemoryUse& use) {
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

  const Analysis& analysis_;
  bool distinct_buffers_;
  bool needs_distinct_ = false;
  bool is_lost_ = false;
  std::vector<std::pair<std::string, Named>> values_;
};

// Compares what the several do with what the one does at a place.
class Comparison {
 public:
  Comparison(const CopyPlaces& places, const Analysis& analysis)
      : places_(places), analysis_(analysis) {}

  void set_copy(int copy) { here_ = places_.first + places_.distance * Polynomial(copy); }

  [[nodiscard]] bool same(const StmtPtr& done, const StmtPtr& expected) const {
    if (done->kind() != expected->kind()) return false;
    if (const auto* assignment = as<Assignment>(done)) {
      const auto& other = source::to<Assignment>(expected);
      return assignment->op == other.op && same(assignment->target, other.target) &&
             same(assignment->value, other.value);
    }
    const auto* branch = as<Branch>(done);
    if (branch == nullptr) return false;
    const auto& other = source::to<Branch>(expected);
    return same(branch->condition, other.condition) && same(branch->body, other.body) &&
           same(branch->otherwise, other.otherwise);
  }

 private:
  [[nodiscard]] bool same(const Block& done, const Block& expected) const {
    return std::equal(done.begin(), done.end(), expected.begin(), expected.end(),
                      [this](const StmtPtr& a, const StmtPtr& b) { return same(a, b); });
  }

  [[nodiscard]] bool same(const ExprPtr& done, const ExprPtr& expected) const {
    if (is_integral(done) && is_integral(expected) && !is_narrow(done) && !is_narrow(expected)) {
      const auto a = place_polynomial(done, places_.counter, analysis_);
      const auto b = place_polynomial(expected, places_.counter, analysis_);
      if (a && b) return *a == b->substitute(places_.counter, here_);
    }
    return done->type == expected->type && !is_named(done, places_.counter) &&
           same_but_operands(done, expected) &&
           std::ranges::equal(operands_of(*done), operands_of(*expected),
                              [this](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
  }

  const CopyPlaces& places_;
  const Analysis& analysis_;
  Polynomial here_;
};

// s = s + v as s += v.
StmtPtr as_update(const StmtPtr& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  const bool is_sum = assignment != nullptr && assignment->op == AssignmentOperator::assign &&
                      as_binary(assignment->value, BinaryOperator::add) != nullptr &&
                      assignment->target->type == assignment->value->type;
  const auto added = is_sum ? added_term(*assignment) : std::nullopt;
  return added ? source::assign(assignment->target, AssignmentOperator::add, added->term) : stmt;
}

// The scalar that the statement adds to; null for others.
const VariableReference* added_to(const StmtPtr& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || assignment->op != AssignmentOperator::add) return nullptr;
  const auto* target = as<VariableReference>(assignment->target);
  return target != nullptr && !variables_of(assignment->value).contains(target->name) ? target
                                                                                      : nullptr;
}

void add_terms(const ExprPtr& value, ScalarType type, std::vector<ExprPtr>& out) {
  const auto* sum = as_binary(value, BinaryOperator::add);
  if (sum == nullptr || value->type != type) {
    out.push_back(value);
    return;
  }
  add_terms(sum->left, type, out);
  add_terms(sum->right, type, out);
}

// s += a + b   ->   s += a; s += b
Block with_terms_apart(const Block& block) {
  Block result;
  for (const StmtPtr& stmt : block) {
    const auto* target = added_to(stmt);
    if (target == nullptr || !target->type) {
      result.push_back(stmt);
      continue;
    }
    std::vector<ExprPtr> terms;
    const auto& assignment = source::to<Assignment>(stmt);
    add_terms(assignment.value, *target->type, terms);
    for (const ExprPtr& term : terms)
      result.push_back(source::assign(assignment.target, AssignmentOperator::add, term));
  }
  return result;
}

// Whether the first of two statements may as well come after the second.
class StatementSwap {
 public:
  StatementSwap(const Analysis& analysis, const CopyLicence& licence)
      : analysis_(analysis), licence_(licence) {}

  CopyLicence relied_on;

  bool can_swap(const StmtPtr& a, const StmtPtr& b) {
    const MemoryUse one = memory_use_of(a, analysis_);
    const MemoryUse other = memory_use_of(b, analysis_);
    std::set<std::string> apart;
    const auto* target = added_to(a);
    const auto* second = added_to(b);
    if (target != nullptr && second != nullptr && target->name == second->name && target->type) {
      if (is_floating(*target->type)) {
        if (!licence_.reordered_sums) return false;
        relied_on.reordered_sums = true;
      }
      apart.insert(target->name);
    }
    return can_pass(one, other, apart) && can_pass(other, one, apart);
  }

 private:
  // Whether what `writer` writes is nothing to the other, apart from some scalars.
  bool can_pass(const MemoryUse& writer, const MemoryUse& other,
                const std::set<std::string>& apart) {
    for (const std::string& name : writer.written) {
      if (!apart.contains(name) && (other.read.contains(name) || other.written.contains(name)))
        return false;
    }
    for (const Element& store : writer.stores) {
      for (const auto* elements : {&other.loads, &other.stores}) {
        for (const Element& element : *elements) {
          if (!are_apart(store, element, analysis_, licence_.distinct_buffers,
                         relied_on.distinct_buffers)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  const Analysis& analysis_;
  const CopyLicence& licence_;
};

// The statements without names for values, all of one shape.
std::optional<NamedValues::Result> statements_of(const Block& block, const Analysis& analysis,
                                                 const CopyLicence& licence) {
  auto result = NamedValues(analysis, licence.distinct_buffers).written_out(block);
  if (!result) return std::nullopt;
  for (StmtPtr& stmt : result->statements)
    stmt = as_update(stmt);
  return result;
}

class CopyFinder {
 public:
  CopyFinder(const CopyPlaces& places, const Analysis& analysis, const CopyLicence& licence)
      : places_(places), comparison_(places, analysis), swap_(analysis, licence) {}

  // Takes the done statements for expected ones, one after the other.
  std::optional<CopyLicence> find(const Block& done, const Block& one) {
    if (one.empty() || done.size() != one.size() * static_cast<std::size_t>(places_.copies))
      return std::nullopt;
    std::vector<Expected> open;
    for (int copy = 0; copy < places_.copies; ++copy) {
      for (const StmtPtr& stmt : one)
        open.push_back({stmt, copy, nullptr});
    }
    // What each of the expected is called in the several.
    std::vector<bool> is_taken(done.size());
    std::vector<std::size_t> order;  // of the done ones, the place among the expected
    for (const StmtPtr& stmt : done) {
      const std::size_t at = place_of(stmt, open, is_taken);
      if (at == open.size()) return std::nullopt;
      is_taken[at] = true;
      open[at].done = stmt;
      order.push_back(at);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t k = i + 1; k < order.size(); ++k) {
        if (order[k] < order[i] && !swap_.can_swap(open[order[i]].done, open[order[k]].done))
          return std::nullopt;
      }
    }
    return swap_.relied_on;
  }

 private:
  struct Expected {
    StmtPtr stmt;
    int copy = 0;
    StmtPtr done;
  };

  std::size_t place_of(const StmtPtr& stmt, const std::vector<Expected>& open,
                       const std::vector<bool>& is_taken) {
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (is_taken[at]) continue;
      comparison_.set_copy(open[at].copy);
      if (comparison_.same(stmt, open[at].stmt)) return at;
    }
    return open.size();
  }

  const CopyPlaces& places_;
  Comparison comparison_;
  StatementSwap swap_;
};

}  // namespace

std::optional<Polynomial> place_polynomial(const ExprPtr& expr, const std::string& counter,
                                           const Analysis& analysis) {
  const SymbolMeaning known = analysis.meaning();
  return to_polynomial(expr, [&](const std::string& name) -> std::optional<Polynomial> {
    if (name != counter) {
      if (auto value = known(name)) return value;
    }
    return Polynomial::symbol(name);
  });
}

std::optional<CopyLicence> relied_on_by_copies(const Block& several, const Block& one,
                                               const CopyPlaces& places, const Analysis& analysis,
                                               const CopyLicence& licence) {
  const auto done = statements_of(several, analysis, licence);
  const auto single = done ? statements_of(one, analysis, licence) : std::nullopt;
  if (!single) return std::nullopt;
  auto result = CopyFinder(places, analysis, licence).find(done->statements, single->statements);
  if (!result && licence.reordered_sums) {
    result = CopyFinder(places, analysis, licence)
                 .find(with_terms_apart(done->statements), with_terms_apart(single->statements));
    if (result) result->reordered_sums = true;
  }
  if (result && (done->needs_distinct_buffers || single->needs_distinct_buffers))
    result->distinct_buffers = true;
  return result;
}

}  // namespace regraph::rewrite
