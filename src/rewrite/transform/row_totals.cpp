#include "rewrite/transform/row_totals.h"

#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"

#include <algorithm>
#include <map>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::StmtPtr;

namespace {

ExprPtr value_of_sum(const Reduction& reduction) {
  return source::variable(reduction.variable, reduction.scalar);
}

// Whether other reductions are scaled by it.
bool scales_others(const Reduction& reduction, const std::vector<Reduction>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Reduction& other) { return other.scaled_by == reduction.variable; });
}

// What a part of the sum is multiplied by, where `maximum` is that of all parts and `own` the
// part's: nothing is subtracted from minus infinity, nor from a part's maximum that is no number.
ExprPtr scale_of_part(const Reduction& sum, const ExprPtr& own) {
  const ExprPtr maximum = source::variable(sum.scaled_by, sum.scalar);
  const ExprPtr one = source::floating(sum.scalar == ScalarType::f64 ? "1.0" : "1.0f");
  return source::conditional(source::less(own, maximum),
                             source::call(sum.exponential, {source::subtract(own, maximum)}), one);
}

}  // namespace

RowTotals::RowTotals(const RowTeam& team, std::string lane, Names& names)
    : team_(team),
      lane_(std::move(lane)),
      names_(names),
      offset_(names.fresh("offset")),
      warp_offset_(names.fresh("warp_offset")) {}

void RowTotals::add(const std::vector<Reduction>& reductions,
                    const std::vector<DealtSelection>& selections, bool repeats, Block& out) {
  if (team_.across) {
    add_across(reductions, selections, repeats, out);
  } else {
    add_along(reductions, selections, repeats, out);
  }
}

// Shared memory for a value of each thread that `extents` count.
ExprPtr RowTotals::slots_for(const std::string& name, const std::string& type, ScalarType scalar,
                             std::vector<std::int64_t> extents) {
  source::Variable array =
      source::local_variable(names_.fresh(name), type, scalar, std::move(extents));
  array.storage = source::Storage::shared;
  shared_.push_back(source::declare(array, nullptr));
  return source::variable(array.name, scalar);
}

// Of threads along y: each adds up what all of them put into shared memory.
void RowTotals::add_across(const std::vector<Reduction>& reductions,
                           const std::vector<DealtSelection>& selections, bool repeats,
                           Block& out) {
  const ExprPtr column = source::builtin("threadIdx.x");
  Block loads;
  std::map<std::string, ExprPtr> slots_of;
  const auto slot = [&](const std::string& name, const ExprPtr& of) {
    return source::element(slots_of.at(name), {of, column});
  };
  // A place to leave the value in.
  const auto leave = [&](const std::string& name, const std::string& type, ScalarType scalar) {
    slots_of[name] = slots_for(name + "_of_slice", type, scalar, {team_.threads, team_.rows});
    out.push_back(source::assign(slot(name, lane()), source::variable(name, scalar)));
  };
  const auto over_others = [&](const std::string& other, StmtPtr combined) {
    loads.push_back(source::counted_loop(other, source::integer(1), source::integer(team_.threads),
                                         1, {std::move(combined)}, source::kUnrollFully));
  };
  for (const Reduction& reduction : reductions) {
    const std::string other = names_.fresh("other");
    leave(reduction.variable, reduction.type, reduction.scalar);
    const auto part = [&](const ExprPtr& of) {
      ExprPtr value = slot(reduction.variable, of);
      if (reduction.scaled_by.empty()) return value;
      return source::multiply(value, scale_of_part(reduction, slot(reduction.scaled_by, of)));
    };
    loads.push_back(source::assign(value_of_sum(reduction), part(source::integer(0))));
    over_others(other, reduction.combine(value_of_sum(reduction), part(source::variable(other))));
  }
  for (const DealtSelection& selection : selections) {
    const std::string other = names_.fresh("other");
    std::vector<ExprPtr> theirs;
    for (const Selection::Carried& carried : selection.carried()) {
      leave(carried.variable, carried.type, carried.scalar);
      loads.push_back(source::assign(source::variable(carried.variable, carried.scalar),
                                     slot(carried.variable, source::integer(0))));
      theirs.push_back(slot(carried.variable, source::variable(other)));
    }
    over_others(other, selection.take(theirs));
  }
  if (loads.empty()) return;
  out.push_back(source::barrier());
  out.insert(out.end(), loads.begin(), loads.end());
  // The slots are written again the next time round.
  if (repeats) out.push_back(source::barrier());
}

// Of threads along x: by shuffles, across warps through shared memory.
void RowTotals::add_along(const std::vector<Reduction>& reductions,
                          const std::vector<DealtSelection>& selections, bool repeats, Block& out) {
  add_lanes(reductions, selections, kWarpLanes, offset_, out);
  const int warps = team_.threads / kWarpLanes;
  if (warps == 1 || (reductions.empty() && selections.empty())) return;
  Block stores;
  Block loads;
  const auto exchange = [&](const std::string& name, const std::string& type, ScalarType scalar) {
    const ExprPtr value = source::variable(name, scalar);
    const ExprPtr slots = slots_for(name + "_of_warp", type, scalar, {warps});
    stores.push_back(source::assign(
        source::element(slots, {source::divide(lane(), source::integer(kWarpLanes))}), value));
    loads.push_back(source::assign(
        value, source::element(slots, {source::remainder(lane(), source::integer(warps))})));
  };
  for (const Reduction& reduction : reductions)
    exchange(reduction.variable, reduction.type, reduction.scalar);
  for (const DealtSelection& selection : selections) {
    for (const Selection::Carried& carried : selection.carried())
      exchange(carried.variable, carried.type, carried.scalar);
  }
  add_lanes(reductions, selections, warps, warp_offset_, loads);
  out.push_back(source::branch(
      source::equals(source::remainder(lane(), source::integer(kWarpLanes)), source::integer(0)),
      std::move(stores)));
  out.push_back(source::barrier());
  out.insert(out.end(), loads.begin(), loads.end());
  // The slots are written again the next time round.
  if (repeats) out.push_back(source::barrier());
}

// Of groups of `lanes` neighbouring lanes.
void RowTotals::add_lanes(const std::vector<Reduction>& reductions,
                          const std::vector<DealtSelection>& selections, int lanes,
                          const std::string& offset, Block& out) {
  const auto declared = [&](const std::string& stem, const Reduction& like, const ExprPtr& value) {
    source::Variable variable = source::local_variable(names_.fresh(stem), like.type, like.scalar);
    variable.is_const = true;
    out.push_back(source::declare(variable, value));
    return source::variable(variable.name, like.scalar);
  };
  std::map<std::string, ExprPtr> scales;  // by maximum
  for (const Reduction& reduction : reductions) {
    const bool is_maximum = scales_others(reduction, reductions);
    ExprPtr own;
    if (is_maximum) own = declared(reduction.variable + "_own", reduction, value_of_sum(reduction));
    if (!reduction.scaled_by.empty()) {
      out.push_back(source::assign(value_of_sum(reduction), source::AssignmentOperator::multiply,
                                   scales.at(reduction.scaled_by)));
    }
    out.push_back(
        all_reduce(reduction, lanes, offset, names_.fresh(reduction.variable + "_other")));
    if (!is_maximum) continue;
    const auto sum =
        std::find_if(reductions.begin(), reductions.end(),
                     [&](const Reduction& other) { return other.scaled_by == reduction.variable; });
    scales[reduction.variable] =
        declared(reduction.variable + "_own_scale", reduction, scale_of_part(*sum, own));
  }
  for (const DealtSelection& selection : selections)
    out.push_back(selection.all_select(lanes, offset, names_));
}

}  // namespace regraph::rewrite
