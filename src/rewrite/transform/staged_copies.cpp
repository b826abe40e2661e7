#include "rewrite/transform/staged_copies.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "affine/varying.h"
#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "rewrite/transform/redundant_barriers.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// How a shared array gets its elements where each thread puts one of its own there, or those that
// loops of its own count.
//
//   s[ty][tx] = row < m ? a[row * k + tx] : 0;                  by two indices
//   s[ty * 16 + tx] = ...                                       by one
//   if (row < m) s[ty][tx] = a[..]; else s[ty][tx] = 0;         by a branch
//   for (i = 0; i < 8; ++i) s[ty][i] = a[row * k + i];          by a loop

// A thread's index along an axis, or a loop's counter, is what an array's index holds `pitch`
// times.
struct FillDigit {
  std::string axis;  // "threadIdx.x", or the counter
  std::int64_t pitch = 1;
  std::int64_t extent = 1;  // of the block along the axis, or the loop's rounds
  bool operator==(const FillDigit&) const = default;
};

// An index of the array: the sum of its digits, largest pitch first, and the offset.
struct FillIndex {
  std::vector<FillDigit> digits;
  std::int64_t offset = 0;
  bool operator==(const FillIndex&) const = default;
};

struct StagedFill {
  const Block* place = nullptr;  // the block of statements it stands in
  bool in_loop = false;
  std::vector<const Stmt*> statements;
  std::vector<const Stmt*> roots;    // of `place`: these statements, or the loops around them
  std::set<std::string> loop_names;  // what such loops count and declare
  std::vector<FillIndex> indices;
  ExprPtr guard;  // or null
  ExprPtr value;
  ExprPtr otherwise;  // where the guard does not hold
};

// Whether the expression is an element of the array, with all its indices.
bool is_element_of(const ExprPtr& expr, const Variable& array) {
  const auto* base = expr ? base_variable(*expr) : nullptr;
  return base != nullptr && base->name == array.name && as<Subscript>(expr) != nullptr &&
         indices_of(*expr).size() == array.extents.size();
}

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

// A loop of a known number of rounds with nothing in it but declarations, stores to shared arrays
// and loops of this kind.
std::optional<FillLoop> fill_loop_of(const StmtPtr& stmt, const Analysis& analysis) {
  const auto* loop = as<ForLoop>(stmt);
  const auto counted = loop != nullptr ? counted_loop_of(*loop) : std::nullopt;
  const auto rounds = counted ? counted->trips_from_zero() : std::nullopt;
  if (!rounds || loop->declaration() == nullptr) return std::nullopt;
  const auto is_store = [&](const StmtPtr& part) {
    const auto* base = is<Assignment>(part) ? base_variable(*target_of(*part)) : nullptr;
    return base != nullptr && analysis.is_shared(base->name);
  };
  const bool only_fills = std::ranges::all_of(loop->body, [&](const StmtPtr& part) {
    if (const auto* branch = as<Branch>(part)) {
      return std::ranges::all_of(branch->body, is_store) &&
             std::ranges::all_of(branch->otherwise, is_store);
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
    Status status = find_fill();
    if (status) status = require_reads_behind();
    if (status) status = require_barriers();
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

  // The kernel's body, or that of loops in it.
  void find_place(const Block& block, bool in_loop) {
    for (const StmtPtr& stmt : block) {
      const bool fills_here = fills(stmt, array_) || fills_in_loop(stmt);
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
    if (branch.otherwise.size() == 1) {
      const Assignment* other = store_to(branch.otherwise.front(), array_);
      if (other == nullptr) return refuse("the other side of the guard does more than fill");
      if (Status status = take_indices(*other); !status) return status;
      fill_.otherwise = other->value;
    } else if (!branch.otherwise.empty()) {
      return refuse("the other side of the guard does more than fill");
    } else {
      fill_.otherwise = fill_.value;  // what was stored before, under no guard
    }
    fill_.guard = branch.condition;
    fill_.value = store.value;
    return {};
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
      } else if (axis.starts_with("threadIdx.")) {
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
  StagedFill fill_;
};

// By thread axis and counter: the index of the thread that filled an element, and its round.
using Filler = std::map<std::string, ExprPtr>;

std::vector<Variable> shared_arrays(const Kernel& kernel) {
  std::vector<Variable> arrays;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || declaration->variable.extents.empty()) return;
    if (declaration->variable.storage != Storage::automatic)
      arrays.push_back(declaration->variable);
  });
  return arrays;
}

class CopyRemover {
 public:
  CopyRemover(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), analysis_(analysis), block_(block) {
    for (const char* axis : kAxes) {
      const std::string builtin = std::string("threadIdx.") + axis;
      varying_[builtin] = varying_names(kernel, builtin);
    }
    walk(kernel.body, [&](const Stmt& stmt) {
      if (const auto* target = as<VariableReference>(target_of(stmt)))
        assigned_.insert(target->name);
    });
  }

  Result<Block> without(const Variable& array) const {
    auto fill = FillFinder(kernel_, analysis_, array, block_).find();
    if (!fill) return fill.error();
    Status status;
    const auto without_reads =
        rewrite_expressions(kernel_.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (!status || !is_element_of(expr, array)) return std::nullopt;
          auto origin = origin_of(*expr, array, *fill);
          if (origin) return *origin;
          status = origin.error();
          return std::nullopt;
        });
    if (!status) return status.error();
    // The fill itself was rewritten, too: its statements are found by their place.
    return without_fill(kernel_.body, without_reads, array, *fill);
  }

 private:
  // `rewritten` without what stands where `before` fills and declares the array.
  static Block without_fill(const Block& before, const Block& rewritten, const Variable& array,
                            const StagedFill& fill) {
    Block kept;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto* declaration = as<Declaration>(before[i]);
      if (declaration != nullptr && declaration->variable.name == array.name) continue;
      if (std::ranges::count(fill.statements, before[i].get()) != 0) continue;
      const auto* loop = as<ForLoop>(before[i]);
      if (loop == nullptr) {
        kept.push_back(rewritten[i]);
        continue;
      }
      auto copy = std::make_shared<ForLoop>(to<ForLoop>(rewritten[i]));
      copy->body = without_fill(loop->body, to<ForLoop>(rewritten[i]).body, array, fill);
      const bool is_left = !std::ranges::all_of(
          copy->body, [](const StmtPtr& part) { return is<Declaration>(part); });
      if (is_left || !holds_fill(loop->body, fill)) kept.push_back(std::move(copy));
    }
    return kept;
  }

  static bool holds_fill(const Block& block, const StagedFill& fill) {
    return any_statement(
        block, [&](const Stmt& stmt) { return std::ranges::count(fill.statements, &stmt) != 0; });
  }

  // What the thread that filled the element has put there.
  Result<ExprPtr> origin_of(const Expr& element, const Variable& array,
                            const StagedFill& fill) const {
    Filler filler;
    const std::vector<ExprPtr> indices = indices_of(element);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (!find_filler(indices[i], fill.indices[i], filler))
        return refuse("an element of '" + array.name + "' may be read that no thread fills");
    }
    auto value = as_thread(fill.value, filler, fill.loop_names);
    if (!value || !fill.guard) return value;
    auto guard = as_thread(fill.guard, filler, fill.loop_names);
    if (!guard) return guard;
    auto otherwise = as_thread(fill.otherwise, filler, fill.loop_names);
    if (!otherwise) return otherwise;
    return with_type(conditional(*guard, *value, *otherwise), fill.value->type);
  }

  // Takes an index apart into the digits that it is filled by.
  bool find_filler(const ExprPtr& index, const FillIndex& filled, Filler& filler) const {
    const auto polynomial = analysis_.polynomial(index);
    if (filled.digits.size() == 1 && filled.offset == 0 && is_within(index, filled.digits[0])) {
      const std::string& axis = filled.digits[0].axis;
      filler[axis] = polynomial && is_own_index(*polynomial, axis) ? source::builtin(axis) : index;
      return true;
    }
    if (!polynomial) return false;
    Polynomial rest = with_block_extents(*polynomial, block_) - Polynomial(filled.offset);
    for (const FillDigit& digit : filled.digits) {
      Polynomial quotient;
      Polynomial remainder;
      for (const auto& [monomial, factor] : rest.terms()) {
        Polynomial term(1);
        for (const std::string& name : monomial)
          term = term * Polynomial::symbol(name);
        const bool is_number = monomial.empty() && factor >= 0;
        if (factor % digit.pitch != 0 && !is_number) {
          remainder = remainder + Polynomial(factor) * term;
        } else {
          quotient = quotient + Polynomial(factor / digit.pitch) * term;
          remainder = remainder + Polynomial(factor % digit.pitch) * term;
        }
      }
      const ExprPtr value = is_own_index(quotient, digit.axis) ? source::builtin(digit.axis)
                                                               : to_expression(quotient);
      if (!is_within(value, digit)) return false;
      filler[digit.axis] = value;
      rest = remainder;
    }
    return rest.is_zero();
  }

  static bool is_own_index(const Polynomial& index, const std::string& axis) {
    return axis.starts_with("threadIdx.") && index == Polynomial::symbol(axis);
  }

  bool is_within(const ExprPtr& index, const FillDigit& digit) const {
    const auto range = range_of(index, analysis_, block_);
    return range && range->low >= 0 && range->high < digit.extent;
  }

  // The expression as the filler computes it, where another thread asks. Names of loops that fill
  // mean nothing there.
  Result<ExprPtr> as_thread(const ExprPtr& expr, const Filler& filler,
                            const std::set<std::string>& loop_names) const {
    Status status;
    const ExprPtr result = rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (!status) return std::nullopt;
      if (const auto* builtin = as<Builtin>(node)) return index_of_thread(*builtin, filler, status);
      if (const auto* variable = as<VariableReference>(node))
        return local_as_thread(*variable, filler, loop_names, status);
      if (as<Subscript>(node) != nullptr) status = require_read_only(*node);
      const auto* call = as<Call>(node);
      const bool is_pure =
          call == nullptr || source::is_pure(*call) || call->function.starts_with("make_");
      if (!is_pure || is<OpaqueExpression>(node))
        status = refuse("what is copied is the result of a call");
      return std::nullopt;
    });
    if (!status) return status.error();
    return result;
  }

  std::optional<ExprPtr> index_of_thread(const Builtin& builtin, const Filler& filler,
                                         Status& status) const {
    if (!builtin.name.starts_with("threadIdx")) return std::nullopt;
    const auto index = filler.find(builtin.name);
    if (index != filler.end()) {
      if (is_builtin(*index->second, builtin.name)) return std::nullopt;
      return in_type_of(builtin, index->second);
    }
    if (extent(block_, builtin.name.back() - 'x') > 1)
      status = refuse("several threads fill an element, with different values");
    return std::nullopt;
  }

  std::optional<ExprPtr> local_as_thread(const VariableReference& variable, const Filler& filler,
                                         const std::set<std::string>& loop_names,
                                         Status& status) const {
    const bool is_of_loop = loop_names.contains(variable.name);
    if (const auto round = filler.find(variable.name); is_of_loop && round != filler.end())
      return as_type(round->second, variable.type);
    if (analysis_.local(variable.name) == nullptr) {  // a parameter
      if (assigned_.contains(variable.name))
        status = refuse("'" + variable.name + "' changes in the kernel");
      return std::nullopt;
    }
    // By an axis along which the other thread has the same index, its value is the same.
    const bool varies = std::ranges::any_of(varying_, [&](const auto& names) {
      const auto index = filler.find(names.first);
      const bool keeps_index = index != filler.end() && is_builtin(*index->second, names.first);
      return !keeps_index && names.second.contains(variable.name);
    });
    const ExprPtr definition = analysis_.definition(variable.name);
    const bool is_same = !varies && !is_of_loop;
    if (is_same && (definition || analysis_.loop(variable.name) != nullptr)) return std::nullopt;
    if (!definition || analysis_.loop(variable.name) != nullptr) {
      status = refuse("'" + variable.name + "' changes or comes from memory");
      return std::nullopt;
    }
    auto value = as_thread(definition, filler, loop_names);
    if (!value) {
      status = value.error();
      return std::nullopt;
    }
    return as_type(*value, variable.type);
  }

  // The value in the type, without casts there and back between integers of one size.
  static ExprPtr as_type(const ExprPtr& value, const ScalarHint& type) {
    if (value->type == type || !type) return value;
    const auto* cast = as<Cast>(value);
    const bool returns = cast != nullptr && cast->operand->type == type && value->type &&
                         size_in_bytes(*value->type) == size_in_bytes(*type) &&
                         !is_floating(*value->type) && !is_floating(*type);
    if (returns) return cast->operand;
    return with_type(source::cast(std::string(cuda_name(*type)), value), type);
  }

  Status require_read_only(const Expr& element) const {
    const auto* base = base_variable(element);
    const bool is_fixed = base != nullptr && analysis_.is_global_pointer(base->name) &&
                          !analysis_.is_written(base->name) && !assigned_.contains(base->name);
    if (is_fixed) return {};
    return refuse("what is copied is not of a buffer that is only read");
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3& block_;
  std::map<std::string, std::set<std::string>> varying_;  // by thread axis
  std::set<std::string> assigned_;
};

}  // namespace

Result<Block> without_staged_copy(const Kernel& kernel, const Analysis& analysis,
                                  const Dim3& block) {
  const CopyRemover remover(kernel, analysis, block);
  Error reason = refuse("no shared array");
  for (const Variable& array : shared_arrays(kernel)) {
    auto body = remover.without(array);
    if (body) return body;
    reason = body.error();
  }
  return reason;
}

Result<Kernel> without_staged_copies(const Kernel& kernel, const Dim3& block) {
  Kernel result = kernel;
  for (bool changed = false;; changed = true) {
    const Kernel before = result;
    const Analysis analysis(before);
    auto body = without_staged_copy(before, analysis, block);
    if (!body && !changed) return body.error();
    if (!body) break;
    result.body = std::move(*body);
  }
  result.body = without_redundant_barriers(result);
  return result;
}

}  // namespace regraph::rewrite
