#include "rewrite/transform/warp_shuffle.h"

#include "source/build.h"

#include <utility>

namespace regraph::rewrite {

using source::ExprPtr;
using source::Stmt;
using source::StmtPtr;

ExprPtr full_mask() {
  auto mask = std::make_shared<source::Expr>(*source::integer(0xffffffff));
  mask->text = "0xffffffffu";
  mask->type = ScalarType::u32;
  return mask;
}

StmtPtr halving_loop(const std::string& offset, int lanes, source::Block body) {
  auto loop = std::make_shared<Stmt>();
  loop->kind = source::StmtKind::loop;
  source::Variable counter;
  counter.name = offset;
  counter.type = "int";
  counter.scalar = ScalarType::i32;
  loop->init = source::declare(counter, source::integer(lanes / 2));
  loop->value = source::binary(">", source::variable(offset), source::integer(0));
  loop->step = source::assign(source::variable(offset), ">>=", source::integer(1));
  loop->body = std::move(body);
  loop->unroll = source::kUnrollFully;
  return loop;
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
  source::Variable received;
  received.name = partner;
  received.type = reduction.type;
  received.scalar = reduction.scalar;
  return halving_loop(offset, lanes,
                      {source::declare(received, other),
                       reduction.combine(own, source::variable(partner, reduction.scalar))});
}

}  // namespace regraph::rewrite
