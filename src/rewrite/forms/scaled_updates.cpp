#include "rewrite/forms/scaled_updates.h"

#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::BinaryOperator;
using source::Call;
using source::ExprPtr;
using source::ForLoop;
using source::is_named;
using source::StmtPtr;

namespace {

// Whether the loops go over elements, none of them twice.
bool is_each_once(const source::Expr& target, const std::vector<std::string>& counters) {
  const std::vector<ExprPtr> indices = source::indices_of(target);
  return std::equal(
      indices.begin(), indices.end(), counters.begin(), counters.end(),
      [](const ExprPtr& index, const std::string& counter) { return is_named(index, counter); });
}

}  // namespace

std::optional<SumUpdate> SumUpdateSplitter::split(const StmtPtr& stmt,
                                                  std::vector<std::string> counters) const {
  if (const auto* loop = as<ForLoop>(stmt)) {
    const auto counted = source::counted_loop_of(*loop);
    if (loop->body.size() != 1 || !counted) return std::nullopt;
    counters.push_back(counted->name);
    auto update = split(loop->body.front(), std::move(counters));
    if (!update) return std::nullopt;
    const auto around = [&](StmtPtr& inner) {
      if (!inner) return;
      auto copy = std::make_shared<ForLoop>(*loop);
      copy->body = {std::move(inner)};
      inner = std::move(copy);
    };
    around(update->scaling);
    around(update->adding);
    return update;
  }
  const auto* update = as<Assignment>(stmt);
  const auto* base = update != nullptr ? source::base_variable(*update->target) : nullptr;
  const source::Variable* sum = base != nullptr && is_of_thread(base->name, analysis_)
                                    ? analysis_.local(base->name)
                                    : nullptr;
  if (sum == nullptr || sum->scalar != scalar_ || update->target->type != scalar_ ||
      !is_each_once(*update->target, counters)) {
    return std::nullopt;
  }
  if (update->op == AssignmentOperator::multiply && is_named(update->value, scale_))
    return SumUpdate{sum->name, stmt, nullptr};
  ExprPtr added;
  bool scales = false;
  if (update->op == AssignmentOperator::add) {
    added = update->value;
  } else if (update->op == AssignmentOperator::assign) {
    scales = true;
    if (is_scaled(update->value, update->target))
      return SumUpdate{sum->name, scaling_of(update->target), nullptr};
    added = added_to_scaled(update->value, update->target);
  }
  if (!added || added->type != scalar_ || !is_weighted_(added)) return std::nullopt;
  SumUpdate result{sum->name, nullptr, nullptr};
  if (scales) result.scaling = scaling_of(update->target);
  result.adding = source::assign(update->target, AssignmentOperator::add, added);
  return result;
}

StmtPtr SumUpdateSplitter::scaling_of(const ExprPtr& target) const {
  return source::assign(target, AssignmentOperator::multiply, source::variable(scale_, scalar_));
}

bool SumUpdateSplitter::is_scaled(const ExprPtr& value, const ExprPtr& target) const {
  const auto* product = source::as_binary(value, BinaryOperator::multiply);
  if (product == nullptr) return false;
  return (source::equal(product->left, target) && is_named(product->right, scale_)) ||
         (source::equal(product->right, target) && is_named(product->left, scale_));
}

ExprPtr SumUpdateSplitter::added_to_scaled(const ExprPtr& value, const ExprPtr& target) const {
  if (const auto* sum = source::as_binary(value, BinaryOperator::add)) {
    if (is_scaled(sum->left, target)) return sum->right;
    return is_scaled(sum->right, target) ? sum->left : nullptr;
  }
  const auto* call = as<Call>(value);
  const bool is_fused =
      call != nullptr && call->arguments.size() == 3 &&
      (call->function == "fmaf" || call->function == "fma" || call->function == "__fmaf_rn");
  if (!is_fused) return nullptr;
  const ExprPtr product =
      source::with_type(source::multiply(call->arguments[0], call->arguments[1]), scalar_);
  return is_scaled(product, target) ? call->arguments[2] : nullptr;
}

bool goes_over_the_same(const StmtPtr& a, const StmtPtr& b) {
  const auto* one = as<ForLoop>(a);
  const auto* other = as<ForLoop>(b);
  if (one == nullptr || other == nullptr) return one == nullptr && other == nullptr;
  const auto first = source::counted_loop_of(*one);
  const auto second = source::counted_loop_of(*other);
  return first && second && first->stride == second->stride &&
         source::equal(first->first, second->first) && source::equal(first->limit, second->limit) &&
         goes_over_the_same(one->body.front(), other->body.front());
}

bool is_of_thread(const std::string& name, const source::Analysis& analysis) {
  const source::Variable* local = analysis.local(name);
  return local != nullptr && !local->is_pointer && local->storage == source::Storage::automatic;
}

}  // namespace regraph::rewrite
