// smem_transpose: a store whose neighbouring threads in x write a row apart, while neighbours in y
// write next to each other, goes through a shared tile: each thread puts its value into the tile,
// and after a barrier the thread with x and y exchanged takes it out and stores it.
//
// Legal for a square block when every thread reaches the point (guards are only around the
// statement), when the store happens once, and when its index and guard are functions of thread
// indices, parameters and block indices alone, so that they can be evaluated for the exchanged
// thread.
#include "affine/block_geometry.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

namespace regraph::rewrite {
namespace {

bool mentions_thread(const ExprPtr& expr, const Analysis& analysis) {
  bool found = false;
  walk(expr, [&](const Expr& node) {
    const auto* builtin = as<Builtin>(node);
    if (builtin != nullptr && builtin->name.starts_with("threadIdx")) found = true;
    if (const auto* variable = as<VariableReference>(node)) {
      const ExprPtr definition = analysis.definition(variable->name);
      found = found || (definition && mentions_thread(definition, analysis));
    }
  });
  return found;
}

// Exchanges threadIdx.x and threadIdx.y in expressions, declaring exchanged copies of the locals
// they come through.
class Exchanger {
 public:
  Exchanger(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  Result<ExprPtr> run(const ExprPtr& expr) {
    Status status;
    const ExprPtr result = rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (is_builtin(*node, "threadIdx.x")) return source::builtin("threadIdx.y");
      if (is_builtin(*node, "threadIdx.y")) return source::builtin("threadIdx.x");
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr || analysis_.local(variable->name) == nullptr) return std::nullopt;
      const ExprPtr definition = analysis_.definition(variable->name);
      if (!definition || analysis_.reads_memory(definition)) {
        status = refuse("'" + variable->name +
                        "' in the store's index or guard changes or comes from memory");
        return std::nullopt;
      }
      if (!mentions_thread(definition, analysis_)) return std::nullopt;
      return source::variable(exchanged_name(variable->name, definition, status), node->type);
    });
    if (!status) return status.error();
    return result;
  }

  [[nodiscard]] const Block& declarations() const { return declarations_; }

 private:
  std::string exchanged_name(const std::string& name, const ExprPtr& definition, Status& status) {
    const auto found = names_.find(name);
    if (found != names_.end()) return found->second;
    const std::string exchanged = fresh_name(kernel_, name + "_t");
    names_[name] = exchanged;
    auto value = run(definition);
    if (!value) {
      status = value.error();
      return exchanged;
    }
    Variable variable = *analysis_.local(name);
    variable.name = exchanged;
    variable.is_const = true;
    declarations_.push_back(declare(variable, *value));
    return exchanged;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::map<std::string, std::string> names_;
  Block declarations_;
};

// The store, and what the exchanged thread needs to take over.
struct StorePlace {
  std::size_t position = 0;  // of its statement in the normalised kernel's body
  bool guarded = false;      // the statement is a branch that ends with the store
  Variable tile;
  ExprPtr target;      // of the exchanged thread
  ExprPtr guard;       // of the exchanged thread, null without one
  Block declarations;  // of exchanged locals
};

class SmemTranspose final : public PlacedStep<StorePlace> {
 public:
  std::string_view id() const override { return "smem_transpose"; }
  int position() const override { return 50; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Result<StorePlace> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    const Dim3& block = (*kernel.launch())->block;
    auto form = kernel.normal();
    if (!form) return form.error();
    const Block& body = (*form)->kernel.body;
    for (std::size_t position = 0; position < body.size(); ++position) {
      const StmtPtr& stmt = body[position];
      const auto* branch = as<Branch>(stmt);
      const bool guarded = branch != nullptr && branch->otherwise.empty() &&
                           !branch->body.empty() && is<Assignment>(branch->body.back());
      if (!guarded && !is<Assignment>(stmt)) continue;
      if (!is_column_store(store_of(stmt, guarded), (*form)->analysis, block)) continue;
      if (block.x != block.y || block.z != 1) {
        return refuse("the block is " + std::to_string(block.x) + "x" + std::to_string(block.y) +
                      "; the exchange needs a square block");
      }
      auto place = exchange(**form, position, guarded, block);
      if (!place) return place;
      const std::int64_t bytes = shared_bytes((*form)->kernel) + bytes_of(place->tile);
      if (Status status = require_shared_bytes(bytes, kernel, "with the tile the block needs");
          !status) {
        return status.error();
      }
      return place;
    }
    return refuse(
        "no top-level store whose neighbours in threadIdx.y are adjacent in memory; for an "
        "uncoalesced load apply coalesce_swap first, and apply this step before thread_coarsen");
  }

  KernelState rewrite(const KernelAnalysis& state, const StorePlace& place) const override {
    const Kernel& kernel = (*state.normal())->kernel;
    const StmtPtr& stmt = kernel.body[place.position];
    const ExprPtr tile = source::variable(place.tile.name, place.tile.scalar);
    const ExprPtr x = source::builtin("threadIdx.x");
    const ExprPtr y = source::builtin("threadIdx.y");
    const StmtPtr put = source::assign(element(tile, {y, x}), store_of(stmt, place.guarded).value);
    const StmtPtr take = source::assign(place.target, element(tile, {x, y}));
    KernelState result = state.state();
    result.unit.kernel = kernel;
    Block& body = result.unit.kernel.body;
    const auto position = kernel.body.begin() + static_cast<std::ptrdiff_t>(place.position);
    body.assign(kernel.body.begin(), position);
    body.insert(body.begin(), declare(place.tile, nullptr));
    if (place.guarded) {
      const auto& branch = to<Branch>(stmt);
      Block filled = branch.body;
      filled.back() = put;
      body.push_back(source::branch(branch.condition, std::move(filled), {}, stmt->line));
    } else {
      body.push_back(put);
    }
    body.push_back(barrier());
    body.insert(body.end(), place.declarations.begin(), place.declarations.end());
    body.push_back(place.guarded ? source::branch(place.guard, {take}) : take);
    body.insert(body.end(), position + 1, kernel.body.end());
    return result;
  }

 private:
  static const Assignment& store_of(const StmtPtr& stmt, bool guarded) {
    return to<Assignment>(guarded ? to<Branch>(stmt).body.back() : stmt);
  }

  // threadIdx.y moves the address by one element and threadIdx.x by more.
  static bool is_column_store(const Assignment& store, const Analysis& analysis,
                              const Dim3& block) {
    const auto* target = as<Subscript>(store.target);
    if (store.op != AssignmentOperator::assign || target == nullptr) return false;
    const auto* base = base_variable(*target);
    if (base == nullptr || !analysis.is_global_pointer(base->name)) return false;
    const auto index = analysis.polynomial(target->index);
    if (!index) return false;
    const Polynomial local = with_block_extents(*index, block);
    const auto along_x = local.coefficient("threadIdx.x");
    const auto along_y = local.coefficient("threadIdx.y");
    return along_x && along_y && along_y->constant() == 1 && !along_x->is_zero() &&
           along_x->constant() != 1;
  }

  static Result<StorePlace> exchange(const KernelForm& form, std::size_t position, bool guarded,
                                     const Dim3& block) {
    const StmtPtr& stmt = form.kernel.body[position];
    const Assignment& store = store_of(stmt, guarded);
    const auto* base = base_variable(*store.target);
    const KernelParameter* output = form.kernel.parameter(base->name);
    if (form.analysis.is_viewed(base->name))
      return refuse("'" + base->name + "' is accessed as another type too");
    if (!output->scalar)
      return refuse("'" + base->name + "' has an element type the tile cannot hold");

    StorePlace place;
    place.position = position;
    place.guarded = guarded;
    Exchanger exchanger(form.kernel, form.analysis);
    auto target = exchanger.run(store.target);
    if (!target) return target.error();
    place.target = *target;
    if (guarded) {
      auto exchanged = exchanger.run(to<Branch>(stmt).condition);
      if (!exchanged) return exchanged.error();
      place.guard = *exchanged;
    }
    place.declarations = exchanger.declarations();
    place.tile.name = fresh_name(form.kernel, base->name + "_tile");
    place.tile.type = output->type;
    place.tile.scalar = output->scalar;
    place.tile.storage = Storage::shared;
    place.tile.extents = {block.y, block.x};
    return place;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_transpose() {
  return std::make_unique<SmemTranspose>();
}

}  // namespace regraph::rewrite
