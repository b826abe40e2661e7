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
    for (const StripAccumulator& accumulator : accumulators_)
      combine(accumulator, result, combined);
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
                return Block{accumulator.reduction.combine(value_at(accumulator, at),
                                                           slot(source::variable(other)))};
              });
              loads = {source::counted_loop(other, source::integer(0), source::integer(slices_ - 1),
                                            1, std::move(loads), source::kUnrollFully)};
              Block round = {source::branch(is_other(), std::move(stores)), source::barrier(),
                             source::branch(is_first(), std::move(loads))};
              // The slots are written again for the next elements.
              if (outer > 0) round.push_back(source::barrier());
              return round;
            }),
        out);
  }

  const Kernel& kernel_;
  KeptTiles tiles_;
  const StripLoop& strips_;
  const std::vector<StripAccumulator>& accumulators_;
  Dim3 block_;
  int slices_;
  Names names_;
  std::string slice_;
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
