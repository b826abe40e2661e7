#include "rewrite/transform/selection_code.h"

#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

namespace {

// Whether the follower is the loop's counter, so that it grows from one iteration to the next.
bool tells_order(const Selection& selection, std::size_t follower, const CountedLoop& counted) {
  if (selection.takes_equal || selection.updates.size() != 1) return false;
  const ExprPtr& value = selection.updates.front().followers[follower];
  return is_named(value, counted.name) && value->type == selection.followers[follower].scalar;
}

}  // namespace

DealtSelection::DealtSelection(const Selection& selection, const CountedLoop& counted, Names& names,
                               Block& before)
    : selection_(selection), carried_(selection.carried()) {
  if (selection.tie) {
    order_ = 1;
    return;
  }
  for (std::size_t i = 0; i < selection.followers.size(); ++i) {
    if (!tells_order(selection, i, counted)) continue;
    order_ = i + 1;
    return;
  }
  const std::string type(cuda_name(ScalarType::u32));
  const auto clock = [&](const std::string& stem, const ExprPtr& value) {
    CarriedScalar variable = {names.fresh(stem), type, ScalarType::u32};
    before.push_back(variable.declared(value));
    return variable;
  };
  const ExprPtr iteration = cast(type, source::variable(counted.name));
  if (const auto* first = as<IntegerLiteral>(counted.first)) {
    time_ = add(iteration, integer(1 - first->value));
  } else {
    const CarriedScalar start =
        clock(counted.name + "_first", subtract(cast(type, counted.first), integer(1)));
    time_ = subtract(iteration, start.value());
  }
  order_ = carried_.size();
  carried_.push_back(clock(selection.value.variable + "_taken", integer(0)));
}

std::shared_ptr<const ForLoop> DealtSelection::noted(
    const std::shared_ptr<const ForLoop>& loop) const {
  if (!time_) return loop;
  auto result = std::make_shared<ForLoop>(*loop);
  result->body = rewrite_statements(loop->body, [&](const StmtPtr& stmt) -> std::optional<Block> {
    for (const Selection::Update& update : selection_.updates) {
      if (update.first != stmt.get()) continue;
      const ExprPtr taken = carried_[order_].value();
      const StmtPtr note = assign(taken, conditional(update.condition, time_, taken));
      // What the condition names may be declared there.
      if (is<Declaration>(stmt)) return Block{stmt, note};
      return Block{note, stmt};
    }
    return std::nullopt;
  });
  return result;
}

StmtPtr DealtSelection::take(const std::vector<ExprPtr>& others) const {
  const ExprPtr own = carried_.front().value();
  const auto last = selection_.takes_equal ? BinaryOperator::greater : BinaryOperator::less;
  const auto earlier = selection_.tie.value_or(last);
  const ExprPtr wins = binary(
      BinaryOperator::logical_or, binary(selection_.relation, others.front(), own),
      both(equals(others.front(), own), binary(earlier, others[order_], carried_[order_].value())));
  Block body;
  for (std::size_t i = 0; i < carried_.size(); ++i)
    body.push_back(assign(carried_[i].value(), others[i]));
  return branch(wins, std::move(body));
}

StmtPtr DealtSelection::all_select(int lanes, const std::string& offset, Names& names) const {
  Block body;
  std::vector<ExprPtr> others;
  for (const CarriedScalar& carried : carried_) {
    const CarriedScalar received = {names.fresh(carried.variable + "_other"), carried.type,
                                    carried.scalar};
    body.push_back(received.declared(
        call("__shfl_xor_sync", {full_mask(), carried.value(), source::variable(offset)})));
    others.push_back(received.value());
  }
  body.push_back(take(others));
  return halving_loop(offset, lanes, std::move(body));
}

}  // namespace regraph::rewrite
