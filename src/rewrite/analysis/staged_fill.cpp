#include "rewrite/analysis/staged_fill.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/simplify.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

int uses_in(const Block& block, const std::string& array) {
  int uses = 0;
  walk_expressions(block, [&](const Expr& expr) { uses += is_named(expr, array) ? 1 : 0; });
  return uses;
}

// The assignment to an element of the array that a statement is.
const Assignment* store_to(const StmtPtr& stmt, const Variable& array) {
  const auto* store = as<Assignment>(stmt);
  const bool is_store = store != nullptr && store->op == AssignmentOperator::assign &&
                        is_element_of(store->target, array) &&
                        !is_mentioned(store->value, array.name);
  return is_store ? store : nullptr;
}

bool fills(const StmtPtr& stmt, const Variable& array) {
  if (store_to(stmt, array) != nullptr) return true;
  const auto* branch = as<Branch>(stmt);
  return branch != nullptr && branch->body.size() == 1 &&
         store_to(branch->body.front(), array) != nullptr;
}

// What stands in a loop that fills arrays, element by element.
struct FillLoop {
  std::string counter;
  std::int64_t rounds = 0;
  const Block* body = nullptr;
};

// A loop of a known number of rounds with nothing in it but declarations, stores to elements of
// arrays that are no buffers, and loops of this kind.
std::optional<FillLoop> fill_loop_of(const StmtPtr& stmt, const Analysis& analysis) {
  const auto* loop = as<ForLoop>(stmt);
  const auto counted = loop != nullptr ? counted_loop_of(*loop) : std::nullopt;
  const auto rounds = counted ? counted->trips_from_zero() : std::nullopt;
  if (!rounds || loop->declaration() == nullptr) return std::nullopt;
  const auto is_store = [&](const StmtPtr& part) {
    const auto* base = is<Assignment>(part) ? base_variable(*target_of(*part)) : nullptr;
    if (base == nullptr) return false;
    const Variable* local = analysis.local(base->name);
    const bool is_array = local != nullptr && !local->is_pointer && !local->extents.empty();
    return analysis.is_shared(base->name) || (is_array && is<Subscript>(target_of(*part)));
  };
  // if (row < m) s[ty][k] = ..; else if (tx == 0) s[ty][k] = 0;
  const auto is_store_of_some = [&](const StmtPtr& part) {
    const auto* branch = as<Branch>(part);
    return is_store(part) || (branch != nullptr && branch->otherwise.empty() &&
                              std::ranges::all_of(branch->body, is_store));
  };
  const bool only_fills = std::ranges::all_of(loop->body, [&](const StmtPtr& part) {
    if (const auto* branch = as<Branch>(part)) {
      return std::ranges::all_of(branch->body, is_store) &&
             std::ranges::all_of(branch->otherwise, is_store_of_some);
    }
    return is<Declaration>(part) || is_store(part) || fill_loop_of(part, analysis).has_value();
  });
  if (!only_fills) return std::nullopt;
  return FillLoop{counted->name, *rounds, &loop->body};
}

class FillFinder {
 public:
  FillFinder(const Kernel& kernel, const Analysis& analysis, const Variable& array,
             const Dim3& block)
      : kernel_(kernel),
        analysis_(analysis),
        array_(array),
        name_("'" + array.name + "' "),
        block_(block) {}

  // The only place where the array is filled. What is read of it stands behind that in the same
  // block of statements, with a barrier in between, and another before the next round's fill,
  // wherever threads read more than they filled. `analysis` is of the kernel. Error: refused.
  Result<StagedFill> find() {
    const bool is_plain = array_.scalar || zero_value(array_.type, array_.scalar);
    if (!is_plain || !is_fully_indexed(kernel_, array_) || is_addressed())
      return refuse(name_ + "is used by its address");
    find_place(kernel_.body, false);
    if (fill_.place == nullptr) return refuse(name_ + "is not filled where all threads come by");
    if (is_private() && !begins_without_values())
      return refuse(name_ + "has values before it is filled");
    Status status = find_fill();
    if (status) status = require_reads_behind();
    if (status && !is_private()) status = require_barriers();
    if (!status) return status.error();
    return std::move(fill_);
  }

 private:
  bool is_addressed() const {
    bool found = false;
    walk_expressions(kernel_.body, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) {
        walk(std::shared_ptr<const Expr>(std::shared_ptr<const Expr>(), &place),
             [&](const Expr& part) { found = found || is_named(part, array_.name); });
      });
    });
    return found;
  }

  // Of the thread's own: nobody else fills it or reads it.
  bool is_private() const { return array_.storage == Storage::automatic; }

  // Whether the array is declared with no values, or with zeros, which is what is taken for those
  // of elements that are not filled.
  bool begins_without_values() const {
    bool begins = true;
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declared = as<Declaration>(stmt);
      if (declared == nullptr || declared->variable.name != array_.name || !declared->value) return;
      const auto* list = as<InitializerList>(declared->value);
      begins = list != nullptr && std::ranges::all_of(list->values, [](const ExprPtr& value) {
                 return source::is_zero(value);
               });
    });
    return begins;
  }

  // The kernel's body, or that of loops in it.
  void find_place(const Block& block, bool in_loop) {
    for (const StmtPtr& stmt : block) {
      const bool fills_here =
          fills(stmt, array_) || (fills_in_loop(stmt) && !(is_private() && reads_in_loop(stmt)));
      if (fill_.place == nullptr && fills_here) {
        fill_.place = &block;
        fill_.in_loop = in_loop;
      }
      const auto* loop = as<ForLoop>(stmt);
      if (loop != nullptr && !fills_here) find_place(loop->body, true);
    }
  }

  bool fills_in_loop(const StmtPtr& stmt) const {
    const auto loop = fill_loop_of(stmt, analysis_);
    return loop && std::ranges::any_of(*loop->body, [&](const StmtPtr& part) {
             return fills(part, array_) || fills_in_loop(part);
           });
  }

  // Whether the loop reads the array besides filling it.
  bool reads_in_loop(const StmtPtr& stmt) const {
    int filled = 0;
    walk({stmt}, [&](const Stmt& part) {
      const ExprPtr& target = target_of(part);
      filled += target && is_element_of(target, array_) ? 1 : 0;
    });
    return uses_in({stmt}, array_.name) != filled;
  }

  Status find_fill() {
    for (const StmtPtr& stmt : *fill_.place) {
      const std::size_t before = fill_.statements.size();
      if (Status status = take(stmt); !status) return status;
      if (fill_.statements.size() > before) fill_.roots.push_back(stmt.get());
    }
    if (fill_.guard && !fill_.otherwise) {
      // Where it never holds nobody fills the element, and nobody may read it.
      if (fill_.in_loop && changes_in_loops(fill_.guard))
        return refuse(name_ + "may hold what an earlier round left");
      fill_.otherwise = zero_value(array_.type, array_.scalar);
    }
    for (ExprPtr* expr : {&fill_.value, &fill_.otherwise}) {
      if (!*expr) continue;
      *expr = chosen_value(*expr);
      if ((*expr)->type != array_.scalar && !source::is_number(*expr, 0))
        return refuse(name_ + "is of another type than what is copied");
    }
    return {};
  }

  // The fills that the statement is or holds.
  Status take(const StmtPtr& stmt) {
    if (fills(stmt, array_)) {
      fill_.statements.push_back(stmt.get());
      const auto* store = store_to(stmt, array_);
      return store != nullptr ? take_store(*store) : take_branch(*as<Branch>(stmt));
    }
    if (!fills_in_loop(stmt)) return {};
    const FillLoop loop = *fill_loop_of(stmt, analysis_);
    if (!rounds_.emplace(loop.counter, loop.rounds).second)
      return refuse(name_ + "is filled several times");
    fill_.loop_names.insert(loop.counter);
    for (const StmtPtr& part : *loop.body) {
      if (const auto* declaration = as<Declaration>(part))
        fill_.loop_names.insert(declaration->variable.name);
      if (Status status = take(part); !status) return status;
    }
    return {};
  }

  Status take_store(const Assignment& store) {
    if (fill_.value) return refuse(name_ + "is filled several times");
    fill_.value = store.value;
    return take_indices(store);
  }

  Status take_branch(const Branch& branch) {
    const Assignment& store = *store_to(branch.body.front(), array_);
    if (fill_.guard) return refuse(name_ + "is filled several times");
    if (Status status = take_indices(store); !status) return status;
    const ExprPtr guard = without_choice_of_threads(branch.condition);
    if (!guard) {
      // Some of several threads fill what all of them would.
      if (!branch.otherwise.empty())
        return refuse("the other side of the guard does more than fill");
      if (fill_.value) return refuse(name_ + "is filled several times");
      fill_.value = store.value;
      return {};
    }
    if (branch.otherwise.size() == 1) {
      const Assignment* other = other_store(branch.otherwise.front());
      if (other == nullptr) return refuse("the other side of the guard does more than fill");
      if (Status status = take_indices(*other); !status) return status;
      fill_.otherwise = other->value;
    } else if (!branch.otherwise.empty()) {
      return refuse("the other side of the guard does more than fill");
    } else {
      fill_.otherwise = fill_.value;  // what was stored before, under no guard
    }
    fill_.guard = guard;
    fill_.value = store.value;
    return {};
  }

  // What is stored where the guard does not hold, by all threads or by some of those that fill the
  // same element.
  const Assignment* other_store(const StmtPtr& stmt) {
    const auto* branch = as<Branch>(stmt);
    if (branch == nullptr) return store_to(stmt, array_);
    if (branch->body.size() != 1 || !branch->otherwise.empty() ||
        without_choice_of_threads(branch->condition))
      return nullptr;
    return store_to(branch->body.front(), array_);
  }

  // The condition without what only chooses among the threads that fill the same element, and is
  // met by the first of them; null where nothing is left. The indices are known.
  ExprPtr without_choice_of_threads(const ExprPtr& condition) {
    std::vector<ExprPtr> kept;
    for (const ExprPtr& part : conjuncts(condition)) {
      if (is_private() || !is_met_by_first(part)) kept.push_back(part);
    }
    if (kept.size() == conjuncts(condition).size()) return condition;
    by_some_ = true;
    return conjunction(kept);
  }

  bool is_met_by_first(const ExprPtr& condition) const {
    const auto* compared = as<Binary>(condition);
    if (compared == nullptr) return false;
    std::vector<std::int64_t> sides;
    for (const ExprPtr& side : {compared->left, compared->right}) {
      const auto polynomial = analysis_.polynomial(side);
      if (!polynomial) return false;
      Polynomial at_first = with_block_extents(*polynomial, block_);
      for (const std::string& symbol : at_first.symbols()) {
        if (!symbol.starts_with("threadIdx.") || is_digit(symbol)) return false;
        at_first = at_first.substitute(symbol, Polynomial());
      }
      sides.push_back(*at_first.constant());
    }
    return comparison(compared->op, sides[0], sides[1]).value_or(false);
  }

  bool is_digit(const std::string& axis) const {
    return std::ranges::any_of(fill_.indices, [&](const FillIndex& index) {
      return std::ranges::any_of(index.digits,
                                 [&](const FillDigit& digit) { return digit.axis == axis; });
    });
  }

  // Indices whose digits are the thread's indices and loops' counters, each once, and always the
  // same.
  Status take_indices(const Assignment& store) {
    std::vector<FillIndex> indices;
    std::vector<std::string> axes;
    for (const ExprPtr& index : indices_of(*store.target)) {
      auto found = index_of(index);
      if (!found) return refuse("a thread does not fill the element of its own indices");
      for (const FillDigit& digit : found->digits) {
        if (std::ranges::count(axes, digit.axis) != 0)
          return refuse("a thread does not fill the element of its own indices");
        axes.push_back(digit.axis);
      }
      indices.push_back(std::move(*found));
    }
    if (!fill_.indices.empty() && fill_.indices != indices)
      return refuse("elements are filled in several ways");
    fill_.indices = std::move(indices);
    return {};
  }

  std::optional<FillIndex> index_of(const ExprPtr& index) const {
    const auto polynomial = analysis_.polynomial(index);
    if (!polynomial) return std::nullopt;
    FillIndex result;
    const Polynomial by_threads = with_block_extents(*polynomial, block_);
    for (const auto& [monomial, factor] : by_threads.terms()) {
      if (monomial.empty()) {
        result.offset = factor;
        continue;
      }
      if (monomial.size() != 1 || factor < 1) return std::nullopt;
      const std::string& axis = monomial.front();
      const auto rounds = rounds_.find(axis);
      if (rounds != rounds_.end()) {
        result.digits.push_back({axis, factor, rounds->second});
      } else if (axis.starts_with("threadIdx.") && !is_private()) {
        result.digits.push_back({axis, factor, std::int64_t{extent(block_, axis.back() - 'x')}});
      } else {
        return std::nullopt;
      }
    }
    std::ranges::sort(result.digits, std::ranges::greater(), &FillDigit::pitch);
    std::int64_t below = 1;  // how many numbers the smaller digits make
    for (auto digit = result.digits.rbegin(); digit != result.digits.rend(); ++digit) {
      if (digit->pitch < below || (below == 1 && digit->pitch != 1)) return std::nullopt;
      below = digit->pitch * digit->extent;
    }
    return result;
  }

  // Whether rounds of a loop may see different values.
  bool changes_in_loops(const ExprPtr& expr) const {
    for (const std::string& name : variables_of(expr)) {
      if (analysis_.local(name) == nullptr) continue;
      const ExprPtr definition = analysis_.definition(name);
      if (!definition || analysis_.loop(name) != nullptr || changes_in_loops(definition))
        return true;
    }
    return analysis_.reads_memory(expr);
  }

  // float v = 0; if (row < m) v = a[row]; s[tx] = v;   ->   row < m ? a[row] : 0
  ExprPtr chosen_value(const ExprPtr& value) const {
    const auto* variable = as<VariableReference>(value);
    if (variable == nullptr) return value;
    const auto first_fill =
        std::ranges::find(*fill_.place, fill_.statements.front(), &StmtPtr::get);
    if (first_fill == fill_.place->end()) return value;  // in a loop
    const Declaration* declared = nullptr;
    const Branch* choice = nullptr;
    for (auto stmt = fill_.place->begin(); stmt != first_fill; ++stmt) {
      const auto* declaration = as<Declaration>(*stmt);
      if (declaration != nullptr && declaration->variable.name == variable->name)
        declared = declaration;
      const auto* branch = as<Branch>(*stmt);
      const bool chooses = branch != nullptr && branch->otherwise.empty() &&
                           branch->body.size() == 1 &&
                           is_named(target_of(*branch->body.front()), variable->name);
      if (chooses && declared != nullptr) choice = branch;
    }
    int changes = 0;
    walk(kernel_.body,
         [&](const Stmt& stmt) { changes += is_named(target_of(stmt), variable->name) ? 1 : 0; });
    if (choice == nullptr || !declared->value || changes != 1) return value;
    const auto& assignment = to<Assignment>(choice->body.front());
    if (assignment.op != AssignmentOperator::assign) return value;
    return with_type(conditional(choice->condition, assignment.value, declared->value),
                     value->type);
  }

  Block of_fill() const {
    Block found;
    std::ranges::copy_if(*fill_.place, std::back_inserter(found), [&](const StmtPtr& stmt) {
      return std::ranges::count(fill_.roots, stmt.get()) != 0;
    });
    return found;
  }

  Status require_reads_behind() const {
    const auto last = std::ranges::find(*fill_.place, fill_.roots.back(), &StmtPtr::get);
    const int inside = uses_in(of_fill(), array_.name);
    Block fills;
    for (const Stmt* statement : fill_.statements)
      fills.emplace_back(StmtPtr(), statement);
    // In a loop that fills, an element may be read before its round.
    if (inside != uses_in(fills, array_.name)) return refuse(name_ + "is read where it is filled");
    const Block rest(last + 1, fill_.place->end());
    const int behind = uses_in(rest, array_.name);
    const bool is_changed = any_statement(rest, [&](const Stmt& stmt) {
      const auto* base = target_of(stmt) ? place_variable(*target_of(stmt)) : nullptr;
      return base != nullptr && base->name == array_.name;
    });
    if (is_changed) return refuse(name_ + "is changed behind where it is filled");
    if (inside + behind == uses_in(kernel_.body, array_.name)) return {};
    return refuse(name_ + "is used besides where it is filled and behind that");
  }

  // What a thread filled itself it may read without.
  bool is_own(const Expr& element) const {
    if (by_some_) return false;
    const std::vector<ExprPtr> indices = indices_of(element);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (index_of(indices[i]) != fill_.indices[i]) return false;
    }
    return true;
  }

  bool reads_of_others(const StmtPtr& stmt) const {
    return any_expression({stmt}, [&](const Expr& expr) {
      const ExprPtr shared(ExprPtr(), &expr);
      return is_element_of(shared, array_) && !is_own(expr);
    });
  }

  Status require_barriers() const {
    const Block& place = *fill_.place;
    const auto first = std::ranges::find(place, fill_.roots.front(), &StmtPtr::get);
    const auto last = std::ranges::find(place, fill_.roots.back(), &StmtPtr::get);
    const auto is_barrier = [](const StmtPtr& stmt) { return is<Barrier>(stmt); };
    const auto reads = [&](const StmtPtr& stmt) { return reads_of_others(stmt); };
    const auto first_read = std::find_if(last + 1, place.end(), reads);
    if (first_read == place.end()) return {};
    if (std::none_of(last + 1, first_read, is_barrier))
      return refuse(name_ + "is read without a barrier behind where it is filled");
    const auto last_read = std::find_if(place.rbegin(), place.rend(), reads).base();
    const bool is_safe = !fill_.in_loop || std::any_of(place.begin(), first, is_barrier) ||
                         std::any_of(last_read, place.end(), is_barrier);
    if (!is_safe) return refuse(name_ + "is filled again without a barrier behind its reads");
    return {};
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Variable& array_;
  const std::string name_;
  const Dim3& block_;
  std::map<std::string, std::int64_t> rounds_;  // of loops that fill, by counter
  bool by_some_ = false;                        // of the threads that an element's place allows
  StagedFill fill_;
};

}  // namespace

bool is_element_of(const ExprPtr& expr, const Variable& array) {
  const auto* base = expr ? base_variable(*expr) : nullptr;
  return base != nullptr && base->name == array.name && as<Subscript>(expr) != nullptr &&
         indices_of(*expr).size() == array.extents.size();
}

Result<StagedFill> find_staged_fill(const Kernel& kernel, const Analysis& analysis,
                                    const Variable& array, const Dim3& block) {
  return FillFinder(kernel, analysis, array, block).find();
}

}  // namespace regraph::rewrite
