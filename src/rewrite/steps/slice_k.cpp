// slice_k: the strips of a tiled loop are dealt out to slices of the block along z, each with tiles
// of its own, and what the slices add up is added up in the end.
//
//   for (k0 = 0; k0 < K; k0 += D) { copy tile; barrier; sum += ...tile...; barrier; }
// becomes, with S slices,
//   for (k0 = z * D; k0 < K + z * D; k0 += S * D) {
//     if (k0 < K) copy tile[z]; barrier; if (k0 < K) sum += ...tile[z]...; barrier;
//   }
//   slices hand `sum` to the first one, which does what followed the loop
//
// For long contractions with few outputs: more threads a block, where there are too few blocks. The
// loop ends later in later slices, so that all threads meet the same barriers.
//
// Legal when nothing but associative and commutative accumulators leads from one strip to the next,
// their order may change, the kernel does not use the block's third axis, the loop stands at the
// top of the kernel, and nothing before it writes memory.
#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/online_updates.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/multi_buffering.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// What the use of tiles adds up over the strips.

// A scalar, or an array of which every element is a reduction by itself.
struct StripAccumulator {
  Reduction reduction;
  std::vector<std::int64_t> extents;  // of an array
  // Whether it holds the value that changes nothing when the loop begins.
  bool starts_neutral = false;
};

// The block with elements of the kernel's private arrays as if each array were one scalar. What
// holds of the scalar's updates holds of those of any one element.
class AsScalars {
 public:
  explicit AsScalars(const Analysis& analysis) : analysis_(analysis) {}

  Block run(const Block& block) {
    return rewrite_expressions(block, [&](const ExprPtr& expr) { return scalar(expr); });
  }

  // The names in the indices that were left out.
  [[nodiscard]] const std::set<std::string>& index_names() const { return index_names_; }

 private:
  std::optional<ExprPtr> scalar(const ExprPtr& expr) {
    if (!is<Subscript>(expr)) return std::nullopt;
    std::size_t depth = 0;
    ExprPtr base = expr;
    std::set<std::string> names;
    for (const auto* at = as<Subscript>(base); at != nullptr; at = as<Subscript>(base)) {
      names.merge(variables_of(at->index));
      base = at->base;
      ++depth;
    }
    const auto* variable = as<VariableReference>(base);
    const Variable* array = variable != nullptr ? analysis_.local(variable->name) : nullptr;
    if (array == nullptr || array->storage != Storage::automatic || array->is_pointer ||
        array->extents.size() != depth || !array->scalar) {
      return std::nullopt;
    }
    index_names_.merge(names);
    return base;
  }

  const Analysis& analysis_;
  std::set<std::string> index_names_;
};

// Whether all that is written to the variable outside of the loop is the reduction's neutral value.
bool is_neutral_before(const Reduction& reduction, const StripLoop& strips, const Kernel& kernel) {
  const ExprPtr neutral = reduction.neutral();
  if (!neutral) return true;
  std::set<const Stmt*> inside;
  walk(body_of(*strips.loop), [&](const Stmt& stmt) { inside.insert(&stmt); });
  bool all = true;
  walk(kernel.body, [&](const Stmt& stmt) {
    if (inside.contains(&stmt)) return;
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.name == reduction.variable) {
      all = all && (!declaration->value || equal(declaration->value, neutral));
      return;
    }
    const auto* assignment = as<Assignment>(stmt);
    const auto* base = assignment != nullptr ? base_variable(*assignment->target) : nullptr;
    if (base == nullptr || base->name != reduction.variable) return;
    all = all && assignment->op == AssignmentOperator::assign && equal(assignment->value, neutral);
  });
  return all;
}

// Whether the kernel says where the variable lies, so that it may change unseen.
bool is_given_away(const std::string& name, const Kernel& kernel) {
  bool found = false;
  walk_expressions(kernel.body, [&](const Expr& node) {
    for_each_passed_place(node, [&](const Expr& place) {
      const auto* variable = place_variable(place);
      found = found || variable == nullptr || variable->name == name;
    });
  });
  return found;
}

// All that the strips hand on. Error: refused, where strips depend on each other in any other way,
// or their use writes global memory.
Result<std::vector<StripAccumulator>> accumulators_of(const StripLoop& strips, const Kernel& kernel,
                                                      const Analysis& analysis) {
  auto online = online_updates(strips.use, analysis);
  if (!online) return online.error();
  AsScalars as_scalars(analysis);
  ForLoop loop(source::to<ForLoop>(*strips.loop));
  loop.body = as_scalars.run(online->rest);
  auto effects = effects_of(loop, analysis);
  if (!effects) return effects.error();
  if (!effects->stored.empty())
    return refuse("the strips write '" + *effects->stored.begin() + "'");
  if (effects->reductions.empty()) return refuse("the strips add nothing up");
  std::vector<StripAccumulator> result;
  std::vector<Reduction> reductions = effects->reductions;
  for (Reduction& sum : scaled_sums(*online))
    reductions.push_back(std::move(sum));
  for (const Reduction& reduction : reductions) {
    if (as_scalars.index_names().contains(reduction.variable)) {
      return refuse("'" + reduction.variable + "' is read before the loop is over");
    }
    if (is_given_away(reduction.variable, kernel))
      return refuse("the address of '" + reduction.variable + "' is passed on");
    if (is_mentioned(strips.active, reduction.variable) ||
        is_mentioned(strips.counted.limit, reduction.variable))
      return refuse("'" + reduction.variable + "' says which strips there are");
    StripAccumulator accumulator;
    accumulator.reduction = reduction;
    accumulator.extents = analysis.local(reduction.variable)->extents;
    accumulator.starts_neutral = is_neutral_before(reduction, strips, kernel);
    result.push_back(std::move(accumulator));
  }
  return result;
}

// The strips of a tiled loop, dealt out to slices of a block.

// Elements of an array that go through shared memory between two barriers: its rows where they are
// short, so that few slots serve for all.
constexpr std::int64_t kMostElementsAtOnce = 8;

// Elements of the accumulator that are handed over at once.
std::int64_t elements_at_once(const StripAccumulator& accumulator) {
  if (accumulator.extents.empty() || accumulator.extents.back() > kMostElementsAtOnce) return 1;
  return accumulator.extents.back();
}

Variable slots_of(const StripAccumulator& accumulator, std::string name, const Dim3& block,
                  int slices) {
  Variable slots =
      local_variable(std::move(name), accumulator.reduction.type, accumulator.reduction.scalar,
                     {slices - 1, elements_at_once(accumulator), block.y, block.x});
  slots.storage = Storage::shared;
  return slots;
}

class Slicer {
 public:
  Slicer(const Kernel& kernel, const StripLoop& strips,
         const std::vector<StripAccumulator>& accumulators, const Dim3& block, int slices)
      : kernel_(kernel),
        tiles_(strips),
        strips_(strips),
        accumulators_(accumulators),
        block_(block),
        slices_(slices),
        names_(kernel) {
    slice_ = names_.fresh("slice");
  }

  // The kernel's body for a block that is `slices` deep along z. The strip loop stands at the top
  // of the kernel.
  Block run() {
    Block before;
    Block after;
    bool is_behind = false;
    for (const StmtPtr& stmt : kernel_.body) {
      if (stmt.get() == strips_.loop) {
        is_behind = true;
      } else {
        (is_behind ? after : before).push_back(stmt);
      }
    }
    Block result = tiles_.kept(before, slices_, [] { return Block(); });
    Block combined;
    for (const StripAccumulator& accumulator : accumulators_) {
      const bool scales = is_maximum(accumulator);
      if (scales) keep_own(accumulator, combined);
      combine(accumulator, result, combined);
      if (scales) declare_scales(accumulator, combined);
    }
    result.push_back(declare_integer(slice_, cast("int", source::builtin("threadIdx.z"))));
    for (const StripAccumulator& accumulator : accumulators_)
      start_neutral(accumulator, result);
    result.push_back(sliced_loop());
    append(combined, result);
    result.push_back(branch(is_first(), std::move(after)));
    return result;
  }

 private:
  ExprPtr slice() const { return source::variable(slice_); }
  ExprPtr is_first() const { return equals(slice(), integer(0)); }
  ExprPtr is_other() const { return less(integer(0), slice()); }

  // for (k = first + slice * D; k < limit + slice * D; k += S * D): as many rounds in all slices.
  StmtPtr sliced_loop() const {
    const std::int64_t stride = strips_.counted.stride;
    const ExprPtr offset = source::multiply(slice(), integer(stride));
    const ExprPtr strip = source::variable(strips_.counted.name);
    ExprPtr has_strip = less(strip, strips_.counted.limit);
    if (strips_.active) has_strip = both(has_strip, strips_.active);
    Block body;
    body.push_back(branch(has_strip, tiles_.on_tile(strips_.copies, slice())));
    body.push_back(barrier());
    body.push_back(branch(has_strip, tiles_.on_tile(strips_.use, slice())));
    body.push_back(barrier());
    const auto& loop = source::to<ForLoop>(*strips_.loop);
    Variable counter = loop.declaration()->variable;
    return source::loop(declare(std::move(counter), source::add(strips_.counted.first, offset)),
                        less(strip, source::add(strips_.counted.limit, offset)),
                        source::assign(strip, AssignmentOperator::add, integer(stride * slices_)),
                        std::move(body), loop.unroll);
  }

  // Loops over the elements of an array from dimension `first` to `last`, around what `body` makes
  // of their counters.
  template <typename Body>
  Block over_elements(const StripAccumulator& accumulator, std::size_t first, std::size_t last,
                      std::vector<ExprPtr>& at, const Body& body) {
    if (first == last) return body();
    const std::string name = names_.fresh("part");
    at.push_back(source::variable(name));
    Block inner = over_elements(accumulator, first + 1, last, at, body);
    at.pop_back();
    return {counted_loop(name, integer(0), integer(accumulator.extents[first]), 1, std::move(inner),
                         kUnrollFully)};
  }

  static ExprPtr value_at(const StripAccumulator& accumulator, const std::vector<ExprPtr>& at) {
    return element(accumulator.reduction.value(), at);
  }

  // What slices add to later, the first one's start value aside, begins at the neutral value.
  void start_neutral(const StripAccumulator& accumulator, Block& out) {
    if (accumulator.starts_neutral) return;
    std::vector<ExprPtr> at;
    out.push_back(branch(
        is_other(), over_elements(accumulator, 0, accumulator.extents.size(), at, [&] {
          return Block{source::assign(value_at(accumulator, at), accumulator.reduction.neutral())};
        })));
  }

  // The other slices hand over what they have, some elements at a time, and the first adds it up.
  void combine(const StripAccumulator& accumulator, Block& declarations, Block& out) {
    const Variable slots = slots_of(
        accumulator, names_.fresh(accumulator.reduction.variable + "_of_slice"), block_, slices_);
    declarations.push_back(declare(slots, nullptr));
    if (is_maximum(accumulator)) maximum_slots_ = slots;
    const std::size_t rank = accumulator.extents.size();
    const std::size_t outer = elements_at_once(accumulator) > 1 ? rank - 1 : rank;
    std::vector<ExprPtr> at;
    const auto slot = [&](ExprPtr from) {
      const ExprPtr which = outer < rank ? at.back() : integer(0);
      return element(
          source::variable(slots.name, slots.scalar),
          {std::move(from), which, source::builtin("threadIdx.y"), source::builtin("threadIdx.x")});
    };
    const std::string other = names_.fresh("other");
    append(over_elements(
               accumulator, 0, outer, at,
               [&] {
                 Block stores = over_elements(accumulator, outer, rank, at, [&] {
                   return Block{source::assign(slot(subtract(slice(), integer(1))),
                                               value_at(accumulator, at))};
                 });
                 Block loads = over_elements(accumulator, outer, rank, at, [&] {
                   ExprPtr part = slot(source::variable(other));
                   if (!accumulator.reduction.scaled_by.empty()) {
                     part = source::multiply(
                         part, element(source::variable(scales_, accumulator.reduction.scalar),
                                       {source::variable(other)}));
                   }
                   return Block{accumulator.reduction.combine(value_at(accumulator, at), part)};
                 });
                 loads = {counted_loop(other, integer(0), integer(slices_ - 1), 1, std::move(loads),
                                       kUnrollFully)};
                 if (!accumulator.reduction.scaled_by.empty()) {
                   Block own = over_elements(accumulator, outer, rank, at, [&] {
                     return Block{source::assign(
                         value_at(accumulator, at), AssignmentOperator::multiply,
                         source::variable(own_scale_, accumulator.reduction.scalar))};
                   });
                   append(loads, own);
                   loads = std::move(own);
                 }
                 Block round = {branch(is_other(), std::move(stores)), barrier(),
                                branch(is_first(), std::move(loads))};
                 // The slots are written again for the next elements.
                 if (outer > 0) round.push_back(barrier());
                 return round;
               }),
           out);
  }

  // Whether sums are scaled by it.
  bool is_maximum(const StripAccumulator& accumulator) const {
    return std::any_of(accumulators_.begin(), accumulators_.end(),
                       [&](const StripAccumulator& other) {
                         return other.reduction.scaled_by == accumulator.reduction.variable;
                       });
  }

  ExprPtr declared(const StripAccumulator& like, const std::string& name, const ExprPtr& value,
                   Block& out) const {
    Variable variable = local_variable(name, like.reduction.type, like.reduction.scalar);
    variable.is_const = true;
    out.push_back(declare(variable, value));
    return source::variable(name, like.reduction.scalar);
  }

  // The slice's maximum, before it is that of all.
  void keep_own(const StripAccumulator& maximum, Block& out) {
    own_maximum_ = names_.fresh(maximum.reduction.variable + "_own");
    declared(maximum, own_maximum_, value_at(maximum, {}), out);
  }

  // By what the parts of sums are scaled. There may be nothing but minus infinity: then by
  // exp(-inf) = 0, as in the loop.
  void declare_scales(const StripAccumulator& maximum, Block& out) {
    const auto& scalar = maximum.reduction.scalar;
    const std::string& name = maximum.reduction.variable;
    const ExprPtr all = value_at(maximum, {});
    const ExprPtr infinity =
        unary(UnaryOperator::minus, std::make_shared<FloatingLiteral>("INFINITY", scalar));
    const ExprPtr finite = declared(maximum, names_.fresh(name + "_finite"),
                                    conditional(equals(all, infinity), zero_of(scalar), all), out);
    const std::string exponential = exponential_of(name);
    own_scale_ = names_.fresh(name + "_own_scale");
    declared(maximum, own_scale_,
             call(exponential, {subtract(source::variable(own_maximum_, scalar), finite)}), out);
    scales_ = names_.fresh(name + "_scales");
    out.push_back(
        declare(local_variable(scales_, maximum.reduction.type, scalar, {slices_ - 1}), nullptr));
    const std::string other = names_.fresh("other");
    const ExprPtr theirs =
        element(source::variable(maximum_slots_.name, scalar),
                {source::variable(other), integer(0), source::builtin("threadIdx.y"),
                 source::builtin("threadIdx.x")});
    out.push_back(counted_loop(
        other, integer(0), integer(slices_ - 1), 1,
        {source::assign(element(source::variable(scales_, scalar), {source::variable(other)}),
                        call(exponential, {subtract(theirs, finite)}))},
        kUnrollFully));
  }

  std::string exponential_of(const std::string& maximum) const {
    for (const StripAccumulator& accumulator : accumulators_) {
      if (accumulator.reduction.scaled_by == maximum) return accumulator.reduction.exponential;
    }
    return "";
  }

  const Kernel& kernel_;
  MultiBuffering tiles_;
  const StripLoop& strips_;
  const std::vector<StripAccumulator>& accumulators_;
  Dim3 block_;
  int slices_;
  Names names_;
  std::string slice_;
  // Of the maximum that sums are scaled by.
  std::string own_maximum_;
  std::string own_scale_;
  std::string scales_;
  Variable maximum_slots_;
};

// Bytes of shared memory that the kernel declares with `slices` slices of `block` threads each.
std::int64_t sliced_shared_bytes(const Kernel& kernel, const StripLoop& strips,
                                 const std::vector<StripAccumulator>& accumulators,
                                 const Dim3& block, int slices) {
  std::int64_t bytes = shared_bytes(kernel) + (slices - 1) * strips.bytes();
  for (const StripAccumulator& accumulator : accumulators)
    bytes += bytes_of(slots_of(accumulator, "", block, slices));
  return bytes;
}

struct Slices {
  int count = 0;
  StripLoop strips;
  std::vector<StripAccumulator> accumulators;
  Launch launch;  // afterwards
};

class SliceK final : public PlacedStep<Slices> {
 public:
  std::string_view id() const override { return "slice_k"; }
  std::vector<StepParameters> settings() const override {
    return {{{"slices", "2"}}, {{"slices", "4"}}, {{"slices", "8"}}};
  }

 protected:
  Requirements requirements() const override { return {.shared = SharedMemory::some}; }
  Result<Slices> find(const KernelAnalysis& kernel,
                      const StepParameters& parameters) const override {
    auto count = integer_parameter(parameters, "slices", 2);
    if (!count) return count.error();
    const Launch& launch = **kernel.launch();
    const Analysis& analysis = kernel.analysis();
    if (analysis.uses_warp_intrinsics()) return refuse("warp intrinsics encode the block's shape");
    if (launch.block.z != 1) return refuse("the block has a third axis already");
    for (const char* builtin : {"threadIdx.z", "blockDim.z"}) {
      if (analysis.uses_builtin(builtin))
        return refuse(std::string("the kernel uses ") + builtin + ", along which slices would lie");
    }
    Slices slices;
    slices.count = *count;
    auto strips = find_strip_loop(kernel.kernel(), analysis);
    if (!strips) return strips.error();
    slices.strips = std::move(*strips);
    if (Status status = require_plain_surroundings(kernel.kernel(), analysis, slices.strips);
        !status) {
      return status.error();
    }
    auto accumulators = accumulators_of(slices.strips, kernel.kernel(), analysis);
    if (!accumulators) return accumulators.error();
    slices.accumulators = std::move(*accumulators);
    std::vector<Reduction> reductions;
    for (const StripAccumulator& accumulator : slices.accumulators)
      reductions.push_back(accumulator.reduction);
    if (Status status = permit_reordering(reductions, kernel.problem()); !status)
      return status.error();
    const std::int64_t bytes = sliced_shared_bytes(kernel.kernel(), slices.strips,
                                                   slices.accumulators, launch.block, slices.count);
    if (Status status = require_shared_bytes(bytes, kernel, "tiles and slots of the slices need");
        !status) {
      return status.error();
    }
    slices.launch = launch;
    slices.launch.block.z = static_cast<std::uint32_t>(slices.count);
    if (Status status = require_possible(slices.launch, kernel); !status) return status.error();
    return slices;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Slices& slices) const override {
    KernelState result = kernel.state();
    const Dim3 before = result.plan.launches.front().block;
    result.unit.kernel.body =
        Slicer(kernel.kernel(), slices.strips, slices.accumulators, before, slices.count).run();
    relaunch(result, slices.launch);
    if (std::any_of(
            slices.accumulators.begin(), slices.accumulators.end(),
            [](const StripAccumulator& accumulator) { return accumulator.reduction.rounds(); })) {
      rely_on(result, kReordersSums);
    }
    return result;
  }

 private:
  // Whether what stands before the loop may be done by each slice, and what follows by the first.
  static Status require_plain_surroundings(const Kernel& kernel, const Analysis& analysis,
                                           const StripLoop& strips) {
    const auto loop = std::find_if(kernel.body.begin(), kernel.body.end(),
                                   [&](const StmtPtr& stmt) { return stmt.get() == strips.loop; });
    if (loop == kernel.body.end())
      return refuse("the loop over strips stands in another statement");
    if (source::to<ForLoop>(*strips.loop).declaration() == nullptr)
      return refuse("the loop's counter is declared before it");
    const Block before(kernel.body.begin(), loop);
    const Block after(std::next(loop), kernel.body.end());
    Status status;
    walk(before, [&](const Stmt& stmt) {
      if (source::is<Return>(stmt) || source::is<Jump>(stmt))
        status = refuse("some threads leave before the loop over strips");
      if (source::is<source::Evaluation>(stmt))
        status = refuse("a call before the loop over strips would be made by each slice");
      const auto* assignment = source::as<Assignment>(stmt);
      if (assignment == nullptr) return;
      const auto* place = place_variable(*assignment->target);
      const Variable* variable = place != nullptr ? analysis.local(place->name) : nullptr;
      if (variable == nullptr || variable->is_pointer || variable->storage != Storage::automatic) {
        status = refuse("memory is written before the loop over strips");
      }
    });
    walk(after, [&](const Stmt& stmt) {
      if (source::is<Barrier>(stmt)) status = refuse("a barrier follows the loop over strips");
    });
    return status;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_slice_k() {
  return std::make_unique<SliceK>();
}

}  // namespace regraph::rewrite
