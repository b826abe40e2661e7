// atomic_privatize: atomic updates of a small table in global memory go to a copy of the table in
// the block's shared memory, which is merged into the table at the end.
//
//   if (i < n) atomicAdd(&bins[data[i]], 1);
// becomes
//   clear bins_of_block; barrier; if (i < n) atomicAdd(&bins_of_block[data[i]], 1); barrier;
//   for each bin: atomicAdd(&bins[bin], bins_of_block[bin])
//
// With "rounds" the block first gets the work of several blocks, as in grid_stride, and its threads
// load by vectors where vectorize_global applies, which gains nothing while atomics meet in global
// memory. Several copies are put together before they are merged.
//
// Legal when the kernel does nothing with the table but one kind of atomic whose result is not
// used, the operation can be done in any order (floating sums: with the problem's leave), and the
// table's length is known and fits. Indices are within the table, or the original would be wrong.
// Where the length is not made of the kernel's parameters, the host knows it, and the kernel asks
// how much dynamic shared memory it was launched with.
#include "affine/block_geometry.h"
#include "affine/size_expression.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/atomic_table.h"
#include "rewrite/analysis/atomic_updates.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

// Atomic updates of a table in global memory, collected in the block's shared memory.

// Emits the kernel with the block's copies of the table.
class Privatizer {
 public:
  Privatizer(const Kernel& kernel, const AtomicTable& table, int copies, const Dim3& block)
      : kernel_(kernel),
        table_(table),
        names_(kernel),
        copies_(copies),
        block_(block),
        scalar_(*table.parameter->scalar),
        local_(names_.fresh(table.parameter->name + "_of_block")),
        thread_(names_.fresh("thread")),
        length_(table.length_in_kernel) {}

  Block run() {
    Block result = {declare(copies_variable(), nullptr)};
    if (!length_) declare_length(result);
    result.push_back(declare_integer(thread_, linear_thread(block_)));
    result.push_back(clear());
    result.push_back(barrier());
    const Block body = with_local_updates();
    result.insert(result.end(), body.begin(), body.end());
    result.push_back(barrier());
    result.push_back(merge());
    return result;
  }

 private:
  Variable copies_variable() const {
    const auto* length = length_ ? as<IntegerLiteral>(length_) : nullptr;
    Variable array = local_variable(local_, table_.parameter->type, scalar_,
                                    {length != nullptr ? length->value * copies_ : 0});
    array.storage = length != nullptr ? Storage::shared : Storage::dynamic_shared;
    return array;
  }

  void declare_length(Block& out) {
    const std::string bytes = names_.fresh(table_.parameter->name + "_bytes");
    out.push_back(declare(local_variable(bytes, "unsigned int", ScalarType::u32), nullptr));
    CodeLines asked;
    asked.line("asm(\"mov.u32 %0, %%dynamic_smem_size;\" : \"=r\"({}));", bytes);
    const Block lines = asked.block();
    out.insert(out.end(), lines.begin(), lines.end());
    const std::string length = names_.fresh(table_.parameter->name + "_length");
    const auto size = static_cast<std::int64_t>(size_in_bytes(scalar_));
    out.push_back(declare_integer(
        length, with_type(source::cast("int", divide(variable(bytes, ScalarType::u32),
                                                     integer(size * copies_))),
                          ScalarType::i32)));
    length_ = variable(length, ScalarType::i32);
  }

  ExprPtr local_slot(const ExprPtr& index) const {
    return element(variable(local_, scalar_), {index});
  }

  // The block's threads go through `count` numbers in turn.
  StmtPtr for_all(const std::string& name, const ExprPtr& count, Block body) const {
    return counted_loop(name, variable(thread_), count, static_cast<std::int64_t>(block_.count()),
                        std::move(body));
  }

  StmtPtr clear() {
    const std::string slot = names_.fresh(table_.parameter->name + "_slot");
    return for_all(slot, source::multiply(length_, integer(copies_)),
                   {assign(local_slot(variable(slot)), neutral_value(table_.function, scalar_))});
  }

  Block with_local_updates() const {
    // Neighbouring warps use different copies, so that they meet less often.
    const ExprPtr warp = divide(variable(thread_), integer(kWarpLanes));
    const ExprPtr copy_start = source::multiply(remainder(warp, integer(copies_)), length_);
    return rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto update = atomic_update_of(*stmt);
      if (!update || update->table != table_.parameter->name) return std::nullopt;
      const ExprPtr index = copies_ > 1 ? add(copy_start, update->index) : update->index;
      auto local = std::make_shared<source::Evaluation>(
          call(table_.function, {address(local_slot(index)), update->value}));
      local->line = stmt->line;
      return Block{local};
    });
  }

  StmtPtr merge() {
    const std::string merged = names_.fresh(table_.parameter->name + "_bin");
    const ExprPtr bin = variable(merged);
    const ExprPtr global = element(variable(table_.parameter->name, scalar_), {bin});
    // What was subtracted from a copy of zeros is negative already.
    const std::string function = table_.function == "atomicSub" ? "atomicAdd" : table_.function;
    const auto slot_of = [&](int copy) {
      return local_slot(copy == 0 ? bin : add(bin, source::multiply(length_, integer(copy))));
    };
    const auto update = [&](const ExprPtr& value) {
      return evaluate(call(function, {address(global), value}));
    };
    Block merges;
    if (function == "atomicAdd") {
      ExprPtr sum = slot_of(0);
      for (int copy = 1; copy < copies_; ++copy)
        sum = add(sum, slot_of(copy));
      merges.push_back(update(sum));
    } else {
      for (int copy = 0; copy < copies_; ++copy)
        merges.push_back(update(slot_of(copy)));
    }
    return for_all(merged, length_, std::move(merges));
  }

  const Kernel& kernel_;
  const AtomicTable& table_;
  Names names_;
  int copies_;
  Dim3 block_;
  ScalarType scalar_;
  std::string local_;
  std::string thread_;
  ExprPtr length_;  // of the table, in the kernel
};

// The kernel's body with `copies` of the table in shared memory, dynamic where the table's length
// is no constant: cleared in front, updated in its stead, merged into it at the end. The kernel has
// a single exit.
Block with_private_table(const Kernel& kernel, const AtomicTable& table, int copies,
                         const Dim3& block) {
  return Privatizer(kernel, table, copies, block).run();
}

// A block of one round merges as often as it updates, so the rounds of grid_stride and the vectors
// of vectorize_global can come along: then the state is what those steps give.
struct TablePlace {
  std::shared_ptr<const KernelState> prepared;     // null: the state itself
  std::shared_ptr<const KernelAnalysis> analysis;  // of `prepared`
  AtomicTable table;
  int copies = 0;
};

class AtomicPrivatize final : public PlacedStep<TablePlace> {
 public:
  std::string_view id() const override { return "atomic_privatize"; }
  int position() const override { return 130; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* rounds : {"1", "64"}) {
      for (const char* copies : {"1", "2", "4", "8"})
        result.push_back({{"copies", copies}, {"rounds", rounds}});
    }
    return result;
  }

 protected:
  // This applies the steps that come along: whether the table is still one after them depends on
  // what they do to its analysis. Kernels without atomics do not get that far.
  Result<TablePlace> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    TablePlace place;
    auto rounds = integer_parameter(parameters, "rounds");
    if (!rounds) return rounds.error();
    auto copies = integer_parameter(parameters, "copies", 1);
    if (!copies) return copies.error();
    place.copies = *copies;
    if (!updates_atomically(kernel.kernel().body))
      return refuse("the kernel updates no array in global memory atomically");
    std::vector<MacroMember> first;
    if (*rounds >= 2) {
      // Neighbouring threads take neighbouring elements, where a thread has several.
      first.push_back({"parallel_loop", {{{"axis", "x"}, {"loop", "1"}}}, true});
      // A loop over the grid gets its own rounds instead.
      first.push_back({"thread_per_element", {{}}, true});
      first.push_back({"vectorize_global", {{{"width", "4"}}}, true});
      first.push_back({"grid_stride", {{{"rounds", parameters.at("rounds")}}}});
    }
    if (!first.empty()) {
      auto prepared = apply_members(kernel, first);
      if (!prepared) return prepared.error();
      place.prepared = std::make_shared<const KernelState>(std::move(*prepared));
      place.analysis = std::make_shared<const KernelAnalysis>(*place.prepared, kernel.problem(),
                                                              kernel.limits());
    }
    const KernelAnalysis& state = place.analysis ? *place.analysis : kernel;
    auto table = table_of(state, *copies);
    if (!table) return table.error();
    place.table = std::move(*table);
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TablePlace& place) const override {
    const KernelAnalysis& state = place.analysis ? *place.analysis : kernel;
    const Kernel& form = (*state.single_exit())->kernel;
    KernelState result = state.state();
    if (is_floating(*place.table.parameter->scalar)) rely_on(result, kReordersSums);
    Launch& launch = result.plan.launches.front();
    result.unit.kernel = form;
    result.unit.kernel.body = with_private_table(form, place.table, place.copies, launch.block);
    if (!place.table.length.is_constant()) {
      launch.dynamic_shared_bytes = bytes_of(place.table, place.copies);
    }
    return result;
  }

 private:
  // Error: refused.
  static Result<AtomicTable> table_of(const KernelAnalysis& state, int copies) {
    auto launch = state.launch();
    if (!launch) return launch.error();
    if (const Status& status = state.transparent(); !status) return status.error();
    auto form = state.single_exit();
    if (!form) return form.error();
    auto table = find_atomic_table(**form, state.problem());
    if (!table) return table.error();
    if (merges_shared_memory(**form, *table)) {
      return refuse("what is added to '" + table->parameter->name +
                    "' was collected in shared memory already");
    }
    const std::uint64_t threads = (*launch)->block.count();
    if (threads < static_cast<std::uint64_t>(copies) * kWarpLanes) {
      return refuse("the block of " + std::to_string(threads) + " threads has fewer warps than " +
                    std::to_string(copies) + " copies");
    }
    if (is_floating(*table->parameter->scalar) && !state.problem().assume.reassociate) {
      return refuse("'" + table->parameter->name +
                    "' holds floating-point sums and the problem does not grant 'assume: "
                    "{reassociate: true}'");
    }
    if (Status status = require_room(*table, copies, **launch, (*form)->kernel, state); !status)
      return status.error();
    return table;
  }

  static IntegerExpression bytes_of(const AtomicTable& table, int copies) {
    const auto size = static_cast<std::int64_t>(size_in_bytes(*table.parameter->scalar));
    return IntegerExpression::multiply(table.length, IntegerExpression(size * copies));
  }

  static Status require_room(const AtomicTable& table, int copies, const Launch& launch,
                             const Kernel& kernel, const KernelAnalysis& state) {
    const IntegerExpression bytes = bytes_of(table, copies);
    // What static arrays can't have, a kernel may opt in to.
    const DeviceLimits& limits = state.limits();
    const std::int64_t most = bytes.is_constant() ? limits.shared_bytes_per_block
                                                  : std::max(limits.shared_bytes_per_block,
                                                             limits.shared_bytes_per_block_opt_in);
    const std::int64_t left = most - shared_bytes(kernel);
    if (!bytes.is_constant() && !(launch.dynamic_shared_bytes == IntegerExpression(0))) {
      return refuse("the kernel has dynamic shared memory already");
    }
    for (const Symbols& symbols : all_sizes(state.problem())) {
      auto needed = bytes.evaluate(symbols);
      if (!needed) return needed.error();
      if (*needed > left) {
        return refuse("copies of '" + table.parameter->name + "' need " + std::to_string(*needed) +
                      " bytes of the " + std::to_string(left) + " that are left");
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_atomic_privatize() {
  return std::make_unique<AtomicPrivatize>();
}

}  // namespace regraph::rewrite
