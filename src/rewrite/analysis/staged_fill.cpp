#include "rewrite/analysis/staged_fill.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/mentions.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Block;
using source::Branch;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::Kernel;
using source::Polynomial;
using source::Stmt;
using source::StmtPtr;
using source::Subscript;
using source::Variable;

bool is_element_of(const ExprPtr& expr, const Variable& array) {
  const auto* base = expr ? source::base_variable(*expr) : nullptr;
  return base != nullptr && base->name == array.name && as<Subscript>(expr) != nullptr &&
         source::indices_of(*expr).size() == array.extents.size();
}

namespace {

int uses_in(const Block& block, const std::string& array) {
  int uses = 0;
  source::walk_expressions(
      block, [&](const Expr& expr) { uses += source::is_named(expr, array) ? 1 : 0; });
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

class FillFinder {
 public:
  FillFinder(const Kernel& kernel, const Analysis& analysis, const Variable& array,
             const Dim3& block)
      : kernel_(kernel),
        analysis_(analysis),
        array_(array),
        name_("'" + array.name + "' "),
        block_(block) {}

  Result<StagedFill> find() {
    const bool is_plain = array_.scalar || source::zero_value(array_.type, array_.scalar);
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
    source::walk_expressions(kernel_.body, [&](const Expr& expr) {
      source::for_each_passed_place(expr, [&](const Expr& place) {
        source::walk(
            std::shared_ptr<const Expr>(std::shared_ptr<const Expr>(), &place),
            [&](const Expr& part) { found = found || source::is_named(part, array_.name); });
      });
    });
    return found;
  }

  // The kernel's body, or that of loops in it.
  void find_place(const Block& block, bool in_loop) {
    for (const StmtPtr& stmt : block) {
      if (fill_.place == nullptr && fills(stmt, array_)) {
        fill_.place = &block;
        fill_.in_loop = in_loop;
      }
      if (const auto* loop = as<ForLoop>(stmt)) find_place(loop->body, true);
    }
  }

  Status find_fill() {
    for (const StmtPtr& stmt : *fill_.place) {
      if (!fills(stmt, array_)) continue;
      fill_.statements.push_back(stmt.get());
      const auto* store = store_to(stmt, array_);
      Status status = store != nullptr ? take_store(*store) : take_branch(*as<Branch>(stmt));
      if (!status) return status;
    }
    if (fill_.guard && !fill_.otherwise) {
      // Where it never holds nobody fills the element, and nobody may read it.
      if (fill_.in_loop && changes_in_loops(fill_.guard))
        return refuse(name_ + "may hold what an earlier round left");
      fill_.otherwise = source::zero_value(array_.type, array_.scalar);
    }
    for (ExprPtr* expr : {&fill_.value, &fill_.otherwise}) {
      if (!*expr) continue;
      *expr = chosen_value(*expr);
      if ((*expr)->type != array_.scalar && !source::is_number(*expr, 0))
        return refuse(name_ + "is of another type than what is copied");
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

  // Indices whose digits are the thread's indices, each once, and always the same.
  Status take_indices(const Assignment& store) {
    std::vector<FillIndex> indices;
    std::vector<std::string> axes;
    for (const ExprPtr& index : source::indices_of(*store.target)) {
      auto found = index_of(index);
      if (!found) return refuse("a thread does not fill the element of its own indices");
      for (const FillDigit& digit : found->digits) {
        if (std::ranges::count(axes, digit.axis) != 0)
          return refuse("a thread does not fill the element of its own indices");
        axes.push_back(digit.axis);
      }
      indices.push_back(std::move(*found));
    }
    const auto is_same = [](const FillIndex& one, const FillIndex& other) {
      return one.offset == other.offset &&
             std::ranges::equal(one.digits, other.digits,
                                [](const FillDigit& a, const FillDigit& b) {
                                  return a.axis == b.axis && a.pitch == b.pitch;
                                });
    };
    if (!fill_.indices.empty() && !std::ranges::equal(fill_.indices, indices, is_same))
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
      if (monomial.size() != 1 || !monomial.front().starts_with("threadIdx.") || factor < 1)
        return std::nullopt;
      const int axis = monomial.front().back() - 'x';
      result.digits.push_back({monomial.front(), factor, std::int64_t{extent(block_, axis)}});
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
    for (const std::string& name : source::variables_of(expr)) {
      if (analysis_.local(name) == nullptr) continue;
      const ExprPtr definition = analysis_.definition(name);
      if (!definition || analysis_.loop(name) != nullptr || changes_in_loops(definition))
        return true;
    }
    return analysis_.reads_memory(expr);
  }

  // float v = 0; if (row < m) v = a[row]; s[tx] = v;   ->   row < m ? a[row] : 0
  ExprPtr chosen_value(const ExprPtr& value) const {
    const auto* variable = as<source::VariableReference>(value);
    if (variable == nullptr) return value;
    const auto first_fill =
        std::ranges::find(*fill_.place, fill_.statements.front(), &StmtPtr::get);
    const Declaration* declared = nullptr;
    const Branch* choice = nullptr;
    for (auto stmt = fill_.place->begin(); stmt != first_fill; ++stmt) {
      const auto* declaration = as<Declaration>(*stmt);
      if (declaration != nullptr && declaration->variable.name == variable->name)
        declared = declaration;
      const auto* branch = as<Branch>(*stmt);
      const bool chooses = branch != nullptr && branch->otherwise.empty() &&
                           branch->body.size() == 1 &&
                           source::is_named(target_of(*branch->body.front()), variable->name);
      if (chooses && declared != nullptr) choice = branch;
    }
    int changes = 0;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      changes += source::is_named(target_of(stmt), variable->name) ? 1 : 0;
    });
    if (choice == nullptr || !declared->value || changes != 1) return value;
    const auto& assignment = source::to<Assignment>(choice->body.front());
    if (assignment.op != AssignmentOperator::assign) return value;
    return source::with_type(
        source::conditional(choice->condition, assignment.value, declared->value), value->type);
  }

  Block of_fill() const {
    Block found;
    std::ranges::copy_if(*fill_.place, std::back_inserter(found), [&](const StmtPtr& stmt) {
      return std::ranges::count(fill_.statements, stmt.get()) != 0;
    });
    return found;
  }

  Status require_reads_behind() const {
    const auto last = std::ranges::find(*fill_.place, fill_.statements.back(), &StmtPtr::get);
    const int inside = uses_in(of_fill(), array_.name);
    const Block rest(last + 1, fill_.place->end());
    const int behind = uses_in(rest, array_.name);
    bool is_changed = false;
    source::walk(rest, [&](const Stmt& stmt) {
      const auto* base = target_of(stmt) ? source::place_variable(*target_of(stmt)) : nullptr;
      is_changed = is_changed || (base != nullptr && base->name == array_.name);
    });
    if (is_changed) return refuse(name_ + "is changed behind where it is filled");
    if (inside + behind == uses_in(kernel_.body, array_.name)) return {};
    return refuse(name_ + "is used besides where it is filled and behind that");
  }

  // What a thread filled itself it may read without.
  bool is_own(const Expr& element) const {
    const std::vector<ExprPtr> indices = source::indices_of(element);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = index_of(indices[i]);
      if (!index || index->offset != fill_.indices[i].offset ||
          !std::ranges::equal(index->digits, fill_.indices[i].digits,
                              [](const FillDigit& a, const FillDigit& b) {
                                return a.axis == b.axis && a.pitch == b.pitch;
                              }))
        return false;
    }
    return true;
  }

  bool reads_of_others(const StmtPtr& stmt) const {
    bool found = false;
    source::walk_expressions({stmt}, [&](const Expr& expr) {
      const ExprPtr shared(ExprPtr(), &expr);
      found = found || (is_element_of(shared, array_) && !is_own(expr));
    });
    return found;
  }

  Status require_barriers() const {
    const Block& place = *fill_.place;
    const auto first = std::ranges::find(place, fill_.statements.front(), &StmtPtr::get);
    const auto last = std::ranges::find(place, fill_.statements.back(), &StmtPtr::get);
    const auto is_barrier = [](const StmtPtr& stmt) { return source::is<source::Barrier>(stmt); };
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
  StagedFill fill_;
};

}  // namespace

Result<StagedFill> find_staged_fill(const Kernel& kernel, const Analysis& analysis,
                                    const Variable& array, const Dim3& block) {
  return FillFinder(kernel, analysis, array, block).find();
}

}  // namespace regraph::rewrite
