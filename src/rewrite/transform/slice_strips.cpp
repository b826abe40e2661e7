#include "rewrite/transform/slice_strips.h"

#include "rewrite/analysis/shared_memory.h"
#include "rewrite/transform/kept_tiles.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::ForLoop;
using source::Kernel;
using source::StmtPtr;

namespace {

// Elements of an array that go through shared memory between two barriers: its rows where they are
// short, so that few slots serve for all.
constexpr std::int64_t kMostElementsAtOnce = 8;

// Elements of the accumulator that are handed over at once.
std::int64_t elements_at_once(const StripAccumulator& accumulator) {
  if (accumulator.extents.empty() || accumulator.extents.back() > kMostElementsAtOnce) return 1;
  return accumulator.extents.back();
}

source::Variable slots_of(const StripAccumulator& accumulator, std::string name, const Dim3& block,
                          int slices) {
  source::Variable slots = source::local_variable(
      std::move(name), accumulator.reduction.type, accumulator.reduction.scalar,
      {slices - 1, elements_at_once(accumulator), block.y, block.x});
  slots.storage = source::Storage::shared;
  return slots;
}

void append(Block from, Block& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
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
    result.push_back(
        source::declare_integer(slice_, source::cast("int", source::builtin("threadIdx.z"))));
    for (const StripAccumulator& accumulator : accumulators_)
      start_neutral(accumulator, result);
    result.push_back(sliced_loop());
    append(std::move(combined), result);
    result.push_back(source::branch(is_first(), std::move(after)));
    return result;
  }

 private:
  ExprPtr slice() const { return source::variable(slice_); }
  ExprPtr is_first() const { return source::equals(slice(), source::integer(0)); }
  ExprPtr is_other() const { return source::less(source::integer(0), slice()); }

  // for (k = first + slice * D; k < limit + slice * D; k += S * D): as many rounds in all slices.
  StmtPtr sliced_loop() const {
    const std::int64_t stride = strips_.counted.stride;
    const ExprPtr offset = source::multiply(slice(), source::integer(stride));
    const ExprPtr strip = source::variable(strips_.counted.name);
    ExprPtr has_strip = source::less(strip, strips_.counted.limit);
    if (strips_.active) has_strip = source::both(has_strip, strips_.active);
    Block body;
    body.push_back(source::branch(has_strip, tiles_.on_tile(strips_.copies, slice())));
    body.push_back(source::barrier());
    body.push_back(source::branch(has_strip, tiles_.on_tile(strips_.use, slice())));
    body.push_back(source::barrier());
    const auto& loop = source::to<ForLoop>(*strips_.loop);
    source::Variable counter = loop.declaration()->variable;
    return source::loop(
        source::declare(std::move(counter), source::add(strips_.counted.first, offset)),
        source::less(strip, source::add(strips_.counted.limit, offset)),
        source::assign(strip, source::AssignmentOperator::add, source::integer(stride * slices_)),
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
    return {source::counted_loop(name, source::integer(0),
                                 source::integer(accumulator.extents[first]), 1, std::move(inner),
                                 source::kUnrollFully)};
  }

  static ExprPtr value_at(const StripAccumulator& accumulator, const std::vector<ExprPtr>& at) {
    return source::element(
        source::variable(accumulator.reduction.variable, accumulator.reduction.scalar), at);
  }

  // What slices add to later, the first one's start value aside, begins at the neutral value.
  void start_neutral(const StripAccumulator& accumulator, Block& out) {
    if (accumulator.starts_neutral) return;
    std::vector<ExprPtr> at;
    out.push_back(source::branch(
        is_other(), over_elements(accumulator, 0, accumulator.extents.size(), at, [&] {
          return Block{source::assign(value_at(accumulator, at), accumulator.reduction.neutral())};
        })));
  }

  // The other slices hand over what they have, some elements at a time, and the first adds it up.
  void combine(const StripAccumulator& accumulator, Block& declarations, Block& out) {
    const source::Variable slots = slots_of(
        accumulator, names_.fresh(accumulator.reduction.variable + "_of_slice"), block_, slices_);
    declarations.push_back(source::declare(slots, nullptr));
    if (is_maximum(accumulator)) maximum_slots_ = slots;
    const std::size_t rank = accumulator.extents.size();
    const std::size_t outer = elements_at_once(accumulator) > 1 ? rank - 1 : rank;
    std::vector<ExprPtr> at;
    const auto slot = [&](ExprPtr from) {
      const ExprPtr which = outer < rank ? at.back() : source::integer(0);
      return source::element(
          source::variable(slots.name, slots.scalar),
          {std::move(from), which, source::builtin("threadIdx.y"), source::builtin("threadIdx.x")});
    };
    const std::string other = names_.fresh("other");
    append(
        over_elements(
            accumulator, 0, outer, at,
            [&] {
              Block stores = over_elements(accumulator, outer, rank, at, [&] {
                return Block{source::assign(slot(source::subtract(slice(), source::integer(1))),
                                            value_at(accumulator, at))};
              });
              Block loads = over_elements(accumulator, outer, rank, at, [&] {
                ExprPtr part = slot(source::variable(other));
                if (!accumulator.reduction.scaled_by.empty()) {
                  part = source::multiply(
                      part, source::element(source::variable(scales_, accumulator.reduction.scalar),
                                            {source::variable(other)}));
                }
                return Block{accumulator.reduction.combine(value_at(accumulator, at), part)};
              });
              loads = {source::counted_loop(other, source::integer(0), source::integer(slices_ - 1),
                                            1, std::move(loads), source::kUnrollFully)};
              if (!accumulator.reduction.scaled_by.empty()) {
                Block own = over_elements(accumulator, outer, rank, at, [&] {
                  return Block{source::assign(
                      value_at(accumulator, at), source::AssignmentOperator::multiply,
                      source::variable(own_scale_, accumulator.reduction.scalar))};
                });
                append(std::move(loads), own);
                loads = std::move(own);
              }
              Block round = {source::branch(is_other(), std::move(stores)), source::barrier(),
                             source::branch(is_first(), std::move(loads))};
              // The slots are written again for the next elements.
              if (outer > 0) round.push_back(source::barrier());
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
    source::Variable variable =
        source::local_variable(name, like.reduction.type, like.reduction.scalar);
    variable.is_const = true;
    out.push_back(source::declare(variable, value));
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
        source::unary(source::UnaryOperator::minus,
                      std::make_shared<source::FloatingLiteral>("INFINITY", scalar));
    const ExprPtr finite = declared(
        maximum, names_.fresh(name + "_finite"),
        source::conditional(source::equals(all, infinity), source::zero_of(scalar), all), out);
    const std::string exponential = exponential_of(name);
    own_scale_ = names_.fresh(name + "_own_scale");
    declared(maximum, own_scale_,
             source::call(exponential,
                          {source::subtract(source::variable(own_maximum_, scalar), finite)}),
             out);
    scales_ = names_.fresh(name + "_scales");
    out.push_back(source::declare(
        source::local_variable(scales_, maximum.reduction.type, scalar, {slices_ - 1}), nullptr));
    const std::string other = names_.fresh("other");
    const ExprPtr theirs =
        source::element(source::variable(maximum_slots_.name, scalar),
                        {source::variable(other), source::integer(0),
                         source::builtin("threadIdx.y"), source::builtin("threadIdx.x")});
    out.push_back(source::counted_loop(
        other, source::integer(0), source::integer(slices_ - 1), 1,
        {source::assign(
            source::element(source::variable(scales_, scalar), {source::variable(other)}),
            source::call(exponential, {source::subtract(theirs, finite)}))},
        source::kUnrollFully));
  }

  std::string exponential_of(const std::string& maximum) const {
    for (const StripAccumulator& accumulator : accumulators_) {
      if (accumulator.reduction.scaled_by == maximum) return accumulator.reduction.exponential;
    }
    return "";
  }

  const Kernel& kernel_;
  KeptTiles tiles_;
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
  source::Variable maximum_slots_;
};

}  // namespace

std::int64_t sliced_shared_bytes(const Kernel& kernel, const StripLoop& strips,
                                 const std::vector<StripAccumulator>& accumulators,
                                 const Dim3& block, int slices) {
  std::int64_t bytes = shared_bytes(kernel);
  for (const source::Variable& tile : strips.tiles)
    bytes += (slices - 1) * bytes_of(tile);
  for (const StripAccumulator& accumulator : accumulators)
    bytes += bytes_of(slots_of(accumulator, "", block, slices));
  return bytes;
}

Block slice_strips(const Kernel& kernel, const StripLoop& strips,
                   const std::vector<StripAccumulator>& accumulators, const Dim3& block,
                   int slices) {
  return Slicer(kernel, strips, accumulators, block, slices).run();
}

}  // namespace regraph::rewrite
