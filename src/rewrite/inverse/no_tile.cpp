// no_tile: shared arrays that hold a copy of global memory go, and what was read from them
// is read where it came from:
//
//   s[ty][tx] = row < m ? a[row * k + tx] : 0;  barrier;  ... s[ty][i] ...
// becomes
//   ... (row < m ? a[row * k + i] : 0) ...
//
// Legal when the array is filled in one place that all threads reach, each thread its own element,
// from buffers that the kernel only reads; when all reads stand behind it in the same block of
// statements; and when what is copied is a function of the thread's indices and of names that have
// one value for the block, so that it can be told of any other thread. An element that nobody
// fills must not be read: in a loop, a guard around the fill needs a value for the others.
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/varying.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <array>

namespace regraph::rewrite {
namespace {

using source::Analysis;
using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Block;
using source::Branch;
using source::Builtin;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;
using source::Subscript;
using source::VariableReference;

constexpr std::array<const char*, 3> kThreadAxes = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

// How an array gets its elements.
struct Fill {
  std::vector<const Stmt*> statements;
  std::vector<std::string> axes;  // the thread index that each index is
  ExprPtr guard;                  // or null
  ExprPtr value;
  ExprPtr otherwise;  // where the guard does not hold
};

bool mentions(const ExprPtr& expr, const std::string& array) {
  bool found = false;
  source::walk(expr, [&](const Expr& node) { found = found || source::is_named(node, array); });
  return found;
}

bool is_element_of(const ExprPtr& expr, const source::Variable& array) {
  const auto* base = expr ? source::base_variable(*expr) : nullptr;
  return base != nullptr && base->name == array.name && as<Subscript>(expr) != nullptr &&
         source::indices_of(*expr).size() == array.extents.size();
}

int uses_in(const Block& block, const std::string& array) {
  int uses = 0;
  source::walk_expressions(
      block, [&](const Expr& expr) { uses += source::is_named(expr, array) ? 1 : 0; });
  return uses;
}

// The assignment to an element of the array that a statement is.
const Assignment* store_to(const StmtPtr& stmt, const source::Variable& array) {
  const auto* store = as<Assignment>(stmt);
  const bool is_store = store != nullptr && store->op == AssignmentOperator::assign &&
                        is_element_of(store->target, array) && !mentions(store->value, array.name);
  return is_store ? store : nullptr;
}

class Copies {
 public:
  Copies(const Kernel& kernel, const Analysis& analysis) : kernel_(kernel), analysis_(analysis) {
    for (const char* axis : kThreadAxes)
      varying_[axis] = varying_names(kernel, axis);
  }

  // The body without the first array that holds a copy. Error: refused, with the reason of the last
  // one that was looked at.
  Result<Block> without_one() const {
    Error reason = refuse("no shared array");
    for (const source::Variable& array : shared_arrays()) {
      auto body = without(array);
      if (body) return body;
      reason = body.error();
    }
    return reason;
  }

 private:
  std::vector<source::Variable> shared_arrays() const {
    std::vector<source::Variable> arrays;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) return;
      const source::Variable& variable = declaration->variable;
      if (variable.storage == source::Storage::shared && !variable.extents.empty())
        arrays.push_back(variable);
    });
    return arrays;
  }

  Result<Block> without(const source::Variable& array) const {
    const std::string name = "'" + array.name + "' ";
    if (!array.scalar || !is_fully_indexed(kernel_, array) || is_addressed(array))
      return refuse(name + "is used by its address");
    const Block* place = nullptr;
    bool in_loop = false;
    find_place(kernel_.body, false, array, place, in_loop);
    if (place == nullptr) return refuse(name + "is not filled where all threads come by");
    auto fill = fill_of(*place, in_loop, array);
    if (!fill) return fill.error();
    const int all = uses_in(kernel_.body, array.name);
    if (uses_in(of_fill(*fill, *place), array.name) + uses_in(behind(*fill, *place), array.name) !=
        all) {
      return refuse(name + "is used besides where it is filled and behind that");
    }
    return rewritten(array, *fill);
  }

  bool is_addressed(const source::Variable& array) const {
    bool found = false;
    source::walk_expressions(kernel_.body, [&](const Expr& expr) {
      const ExprPtr place = source::addressed(expr);
      found = found || (place && mentions(place, array.name));
    });
    return found;
  }

  static bool fills(const StmtPtr& stmt, const source::Variable& array) {
    if (store_to(stmt, array) != nullptr) return true;
    const auto* branch = as<Branch>(stmt);
    return branch != nullptr && branch->body.size() == 1 &&
           store_to(branch->body.front(), array) != nullptr;
  }

  // The block of statements that fills it: the kernel's body, or that of loops in it.
  static void find_place(const Block& block, bool loops, const source::Variable& array,
                         const Block*& place, bool& in_loop) {
    for (const StmtPtr& stmt : block) {
      if (place == nullptr && fills(stmt, array)) {
        place = &block;
        in_loop = loops;
      }
      if (const auto* loop = as<ForLoop>(stmt)) find_place(loop->body, true, array, place, in_loop);
    }
  }

  Result<Fill> fill_of(const Block& block, bool in_loop, const source::Variable& array) const {
    Fill fill;
    for (const StmtPtr& stmt : block) {
      if (!fills(stmt, array)) continue;
      fill.statements.push_back(stmt.get());
      if (const auto* store = store_to(stmt, array)) {
        if (fill.value) return refuse("'" + array.name + "' is filled several times");
        if (Status status = take_axes(*store, fill); !status) return status.error();
        fill.value = store->value;
        continue;
      }
      const auto* branch = as<Branch>(stmt);
      const auto* store = store_to(branch->body.front(), array);
      if (fill.guard) return refuse("'" + array.name + "' is filled several times");
      if (Status status = take_axes(*store, fill); !status) return status.error();
      if (branch->otherwise.size() == 1) {
        const auto* other = store_to(branch->otherwise.front(), array);
        if (other == nullptr) return refuse("the other side of the guard does more than fill");
        if (Status status = take_axes(*other, fill); !status) return status.error();
        fill.otherwise = other->value;
      } else if (!branch->otherwise.empty()) {
        return refuse("the other side of the guard does more than fill");
      } else {
        fill.otherwise = fill.value;  // what was stored before, under no guard
      }
      fill.guard = branch->condition;
      fill.value = store->value;
    }
    if (fill.guard && !fill.otherwise) {
      if (in_loop) return refuse("'" + array.name + "' may hold what an earlier round left");
      fill.otherwise = source::zero_value(array.type, array.scalar);
    }
    for (const ExprPtr& expr : {fill.value, fill.otherwise}) {
      if (expr && expr->type != array.scalar && !source::is_number(expr, 0))
        return refuse("'" + array.name + "' is of another type than what is copied");
    }
    return fill;
  }

  // Each index is a thread's index, each another one, and always the same.
  Status take_axes(const Assignment& store, Fill& fill) const {
    std::vector<std::string> axes;
    for (const ExprPtr& index : source::indices_of(*store.target)) {
      const auto polynomial = analysis_.polynomial(index);
      const auto* const axis = std::ranges::find_if(kThreadAxes, [&](const char* builtin) {
        return polynomial && *polynomial == source::Polynomial::symbol(builtin);
      });
      if (axis == kThreadAxes.end() || std::ranges::count(axes, *axis) != 0)
        return refuse("a thread does not fill the element of its own indices");
      axes.emplace_back(*axis);
    }
    if (!fill.axes.empty() && fill.axes != axes)
      return refuse("elements are filled in several ways");
    fill.axes = std::move(axes);
    return {};
  }

  static Block of_fill(const Fill& fill, const Block& block) {
    Block found;
    std::ranges::copy_if(block, std::back_inserter(found), [&](const StmtPtr& stmt) {
      return std::ranges::count(fill.statements, stmt.get()) != 0;
    });
    return found;
  }

  static Block behind(const Fill& fill, const Block& block) {
    const auto last = std::ranges::find(block, fill.statements.back(), &StmtPtr::get);
    return {last + 1, block.end()};
  }

  Result<Block> rewritten(const source::Variable& array, const Fill& fill) const {
    Status status;
    const auto without_uses = source::rewrite_expressions(
        kernel_.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (!status || !is_element_of(expr, array)) return std::nullopt;
          auto origin = origin_of(source::indices_of(*expr), fill);
          if (origin) return *origin;
          status = origin.error();
          return std::nullopt;
        });
    if (!status) return status.error();
    // The fill itself was rewritten, too: its statements are found by their place.
    return without_fill(kernel_.body, without_uses, array, fill);
  }

  // `rewritten` without what stands where `before` fills and declares the array.
  static Block without_fill(const Block& before, const Block& rewritten,
                            const source::Variable& array, const Fill& fill) {
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
      auto copy = std::make_shared<ForLoop>(source::to<ForLoop>(rewritten[i]));
      copy->body = without_fill(loop->body, source::to<ForLoop>(rewritten[i]).body, array, fill);
      kept.push_back(std::move(copy));
    }
    return kept;
  }

  // What the thread of those indices would have put there.
  Result<ExprPtr> origin_of(const std::vector<ExprPtr>& indices, const Fill& fill) const {
    auto value = as_thread(fill.value, indices, fill.axes);
    if (!value || !fill.guard) return value;
    auto guard = as_thread(fill.guard, indices, fill.axes);
    if (!guard) return guard;
    auto otherwise = as_thread(fill.otherwise, indices, fill.axes);
    if (!otherwise) return otherwise;
    return source::conditional(*guard, *value, *otherwise);
  }

  Result<ExprPtr> as_thread(const ExprPtr& expr, const std::vector<ExprPtr>& indices,
                            const std::vector<std::string>& axes) const {
    Status status;
    const ExprPtr result =
        source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
          if (!status) return std::nullopt;
          if (const auto* builtin = as<Builtin>(node)) {
            if (!builtin->name.starts_with("threadIdx")) return std::nullopt;
            const auto axis = std::ranges::find(axes, builtin->name);
            if (axis != axes.end()) return indices[static_cast<std::size_t>(axis - axes.begin())];
            status = refuse("several threads fill an element, with different values");
            return std::nullopt;
          }
          if (const auto* variable = as<VariableReference>(node))
            return local_as_thread(*variable, indices, axes, status);
          if (as<Subscript>(node) != nullptr) status = require_read_only(*node);
          return std::nullopt;
        });
    if (!status) return status.error();
    return result;
  }

  std::optional<ExprPtr> local_as_thread(const VariableReference& variable,
                                         const std::vector<ExprPtr>& indices,
                                         const std::vector<std::string>& axes,
                                         Status& status) const {
    if (analysis_.local(variable.name) == nullptr) return std::nullopt;  // a parameter
    const bool varies = std::ranges::any_of(
        varying_, [&](const auto& names) { return names.second.contains(variable.name); });
    const ExprPtr definition = analysis_.definition(variable.name);
    if (!varies && (definition || analysis_.loop(variable.name) != nullptr)) return std::nullopt;
    if (!definition || analysis_.reads_memory(definition)) {
      status = refuse("'" + variable.name + "' changes or comes from memory");
      return std::nullopt;
    }
    auto value = as_thread(definition, indices, axes);
    if (value) return *value;
    status = value.error();
    return std::nullopt;
  }

  Status require_read_only(const Expr& element) const {
    const auto* base = source::base_variable(element);
    const bool fixed = base != nullptr && analysis_.is_global_pointer(base->name) &&
                       !analysis_.is_written(base->name);
    if (fixed) return {};
    return refuse("what is copied is not of a buffer that is only read");
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::map<std::string, std::set<std::string>> varying_;  // by thread axis
};

// Barriers that order nothing any more go, too.
class BarrierRemover final : public source::Mutator {
 private:
  void append(const StmtPtr& stmt, Block& out) override {
    if (!source::is<source::Barrier>(stmt)) Mutator::append(stmt, out);
  }
};

bool needs_barriers(const Kernel& kernel, const Analysis& analysis) {
  if (analysis.has_shared()) return true;
  bool both = false;  // reads what it writes
  source::walk(kernel.body, [&](const Stmt& stmt) {
    source::walk(value_of(stmt), [&](const Expr& expr) {
      const auto* base = source::base_variable(expr);
      both = both || (base != nullptr && analysis.is_global_pointer(base->name) &&
                      analysis.is_written(base->name));
    });
  });
  return both;
}

class NoTile final : public InverseRewrite {
 public:
  std::string id() const override { return "no_tile"; }
  std::string_view undone_by() const override { return "smem_tile"; }
  std::string taken_away() const override { return "tiles in shared memory"; }

  Result<KernelState> apply(const KernelAnalysis& kernel) const override {
    if (const Status& status = kernel.transparent(); !status) return status.error();
    KernelState result = kernel.state();
    Kernel& slower = result.unit.kernel;
    for (bool changed = false;; changed = true) {
      const Kernel before = slower;
      const Analysis analysis(before);
      auto body = Copies(before, analysis).without_one();
      if (!body && !changed) return body.error();
      if (!body) break;
      slower.body = std::move(*body);
    }
    if (!needs_barriers(slower, Analysis(slower))) slower.body = BarrierRemover().run(slower.body);
    return result;
  }
};

}  // namespace

std::unique_ptr<InverseRewrite> make_no_tile() {
  return std::make_unique<NoTile>();
}

}  // namespace regraph::rewrite
