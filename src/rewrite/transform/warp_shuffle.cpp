#include "rewrite/transform/warp_shuffle.h"

#include "source/build.h"

#include <utility>

namespace regraph::rewrite {

using source::ExprPtr;
using source::StmtPtr;

ExprPtr full_mask() {
  return source::integer(0xffffffff, "0xffffffffu", ScalarType::u32);
}

StmtPtr halving_loop(const std::string& offset, int lanes, source::Block body) {
  using source::AssignmentOperator;
  using source::BinaryOperator;
  return source::loop(
      source::declare_integer(offset, source::integer(lanes / 2), false),
      source::binary(BinaryOperator::greater, source::variable(offset), source::integer(0)),
      source::assign(source::variable(offset), AssignmentOperator::shift_right, source::integer(1)),
      std::move(body), source::kUnrollFully);
}

StmtPtr all_reduce(const Reduction& reduction, int lanes, const std::string& offset,
                   const std::string& partner) {
  const ExprPtr own = source::variable(reduction.variable, reduction.scalar);
  const ExprPtr other =
      source::call("__shfl_xor_sync", {full_mask(), own, source::variable(offset)});
  if (reduction.kind != Reduction::Kind::comparison) {
    return halving_loop(offset, lanes, {reduction.combine(own, other)});
  }
  // A comparison names the partner twice, and a shuffle must be executed once.
  const source::Variable received =
      source::local_variable(partner, reduction.type, reduction.scalar);
  return halving_loop(offset, lanes,
                      {source::declare(received, other),
                       reduction.combine(own, source::variable(partner, reduction.scalar))});
}

StmtPtr scan_lanes(const Reduction& reduction, const ExprPtr& lane, const std::string& distance,
                   const std::string& below) {
  using source::AssignmentOperator;
  const ExprPtr own = source::variable(reduction.variable, reduction.scalar);
  const ExprPtr steps = source::variable(distance);
  const source::Variable received = source::local_variable(below, reduction.type, reduction.scalar);
  const ExprPtr has_such = source::binary(source::BinaryOperator::greater_equal, lane, steps);
  return source::loop(
      source::declare_integer(distance, source::integer(1), false),
      source::less(steps, source::integer(kWarpLanes)),
      source::assign(steps, AssignmentOperator::shift_left, source::integer(1)),
      {source::declare(received, source::call("__shfl_up_sync", {full_mask(), own, steps})),
       source::branch(has_such,
                      {reduction.combine(own, source::variable(below, reduction.scalar))})},
      source::kUnrollFully);
}

}  // namespace regraph::rewrite
