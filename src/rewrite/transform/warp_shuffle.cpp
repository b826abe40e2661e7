#include "rewrite/transform/warp_shuffle.h"

#include "source/build.h"

#include <utility>

namespace regraph::rewrite {

ExprPtr full_mask() {
  return integer(0xffffffff, "0xffffffffu", ScalarType::u32);
}

StmtPtr halving_loop(const std::string& offset, int lanes, Block body) {
  return loop(declare_integer(offset, integer(lanes / 2), false),
              binary(BinaryOperator::greater, variable(offset), integer(0)),
              assign(variable(offset), AssignmentOperator::shift_right, integer(1)),
              std::move(body), kUnrollFully);
}

StmtPtr all_reduce(const Reduction& reduction, int lanes, const std::string& offset,
                   const std::string& partner, const ExprPtr& mask) {
  const ExprPtr own = reduction.value();
  const ExprPtr other = call("__shfl_xor_sync", {mask, own, variable(offset)});
  if (reduction.kind != Reduction::Kind::comparison) {
    return halving_loop(offset, lanes, {reduction.combine(own, other)});
  }
  // A comparison names the partner twice, and a shuffle must be executed once.
  const CarriedScalar received = {partner, reduction.type, reduction.scalar};
  return halving_loop(offset, lanes,
                      {received.declared(other), reduction.combine(own, received.value())});
}

StmtPtr scan_lanes(const Reduction& reduction, const ExprPtr& lane, const std::string& distance,
                   const std::string& below) {
  const ExprPtr own = reduction.value();
  const ExprPtr steps = variable(distance);
  const CarriedScalar received = {below, reduction.type, reduction.scalar};
  const ExprPtr has_such = binary(BinaryOperator::greater_equal, lane, steps);
  return loop(declare_integer(distance, integer(1), false), less(steps, integer(kWarpLanes)),
              assign(steps, AssignmentOperator::shift_left, integer(1)),
              {received.declared(call("__shfl_up_sync", {full_mask(), own, steps})),
               branch(has_such, {reduction.combine(own, received.value())})},
              kUnrollFully);
}

}  // namespace regraph::rewrite
