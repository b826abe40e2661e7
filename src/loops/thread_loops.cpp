#include "loops/thread_loops.h"

#include "affine/size_expression.h"
#include "source/build.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph::loops {
namespace {

using source::Block;
using source::ExprPtr;
using source::ForLoop;
using source::Polynomial;
using source::StmtPtr;

constexpr std::array<Dim3, 3> kBlocks = {Dim3{256, 1, 1}, Dim3{32, 8, 1}, Dim3{32, 4, 2}};
constexpr std::array<const char*, 3> kAxisNames = {"x", "y", "z"};

// A free loop whose iterations lie between bounds that are made of sizes.
struct Axis {
  std::size_t loop = 0;          // of the chain
  Polynomial base;               // of parameters: the first iteration that any thread does
  IntegerExpression span;        // from there to the last
  bool asks_first = false;       // not all iterations from `base` on belong to the loop
  bool is_guarded_above = true;  // bounds do not depend on loops that stay in the thread
};

int depth_of(const Block& block) {
  int deepest = 0;
  for (const StmtPtr& stmt : block) {
    const int inner = std::max(depth_of(body_of(*stmt)), depth_of(otherwise_of(*stmt)));
    const bool is_loop = source::is<ForLoop>(stmt) || source::is<source::WhileLoop>(stmt);
    deepest = std::max(deepest, inner + (is_loop ? 1 : 0));
  }
  return deepest;
}

class ThreadMaker {
 public:
  ThreadMaker(const ParallelNest& nest, const source::Analysis& analysis,
              const source::Kernel& kernel, const Problem& problem)
      : nest_(nest), analysis_(analysis), kernel_(kernel), problem_(problem) {}

  Result<ThreadLoops> run() {
    for (std::size_t i = 0; i < nest_.chain.size(); ++i) {
      if (nest_.chain[i].is_free) add_axis(i);
    }
    if (axes_.empty())
      return fail(ErrorCode::unsupported,
                  fmt::format("line {}: how often the loop runs does not follow from the sizes",
                              nest_.chain.front().stmt->line));
    // The innermost is x; of more than three the outermost are the others.
    while (axes_.size() > 3)
      axes_.erase(axes_.end() - 2);
    for (const Axis& axis : axes_)
      chosen_.insert(axis.loop);
    for (Axis& axis : axes_)
      axis.is_guarded_above = is_of_threads(nest_.chain[axis.loop].counted);
    build();
    return std::move(result_);
  }

 private:
  void add_axis(std::size_t loop) {
    const source::CountedLoop& counted = nest_.chain[loop].counted;
    const auto first = analysis_.polynomial(counted.first);
    const auto limit = analysis_.polynomial(counted.limit);
    if (!first || !limit) return;
    const auto base = extreme(*first, loop, false);
    const auto end = extreme(*limit, loop, true);
    if (!base || !end) return;
    const bool follows = !(*base == *first);
    if (follows && counted.stride != 1) return;
    const auto span = affine::size_of(*end - *base, problem_);
    if (!span) return;
    axes_.push_back({loop, *base, *span, follows, true});
  }

  // The smallest or largest value over the loops outside; nothing where a sign is not known.
  [[nodiscard]] std::optional<Polynomial> extreme(Polynomial value, std::size_t loop,
                                                  bool is_highest) const {
    for (std::size_t i = loop; i-- > 0;) {
      const source::CountedLoop& outer = nest_.chain[i].counted;
      if (!value.mentions(outer.name)) continue;
      const auto factor = value.coefficient(outer.name);
      const auto sign = factor ? factor->constant() : std::nullopt;
      const auto first = analysis_.polynomial(outer.first);
      const auto limit = analysis_.polynomial(outer.limit);
      if (!sign || !first || !limit) return std::nullopt;
      const bool takes_last = (*sign > 0) == is_highest;
      value = value.substitute(outer.name, takes_last ? *limit - Polynomial(1) : *first);
    }
    return affine::is_of_parameters(value, kernel_) ? std::optional(value) : std::nullopt;
  }

  [[nodiscard]] bool is_of_threads(const source::CountedLoop& counted) const {
    std::set<std::string> names = source::variables_of(counted.first);
    names.merge(source::variables_of(counted.limit));
    for (std::size_t i = 0; i < nest_.chain.size(); ++i) {
      if (!chosen_.contains(i) && names.contains(nest_.chain[i].counted.name)) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t dimension(std::size_t axis) const { return axes_.size() - 1 - axis; }

  // int i = first + stride * (blockIdx.x * blockDim.x + threadIdx.x);
  [[nodiscard]] StmtPtr index_of(std::size_t at) const {
    const Axis& axis = axes_[at];
    const NestLoop& loop = nest_.chain[axis.loop];
    const std::string letter = kAxisNames[dimension(at)];
    source::Variable counter = source::to<ForLoop>(*loop.stmt).declaration()->variable;
    counter.is_const = true;
    ExprPtr block = source::builtin("blockIdx." + letter);
    const bool is_wide = counter.scalar && size_in_bytes(*counter.scalar) == 8;
    if (is_wide) block = source::with_type(source::cast(counter.type, block), *counter.scalar);
    ExprPtr index = source::add(source::multiply(block, source::builtin("blockDim." + letter)),
                                source::builtin("threadIdx." + letter));
    if (loop.counted.stride != 1)
      index = source::multiply(source::integer(loop.counted.stride), index);
    const auto constant = axis.base.constant();
    if (constant != 0) {
      const ExprPtr base =
          axis.asks_first ? source::to_expression(axis.base, is_wide) : loop.counted.first;
      index = source::add(index, base);
    }
    return source::declare(counter, index);
  }

  [[nodiscard]] std::vector<ExprPtr> conditions_of(const Axis& axis) const {
    const NestLoop& loop = nest_.chain[axis.loop];
    std::vector<ExprPtr> result;
    if (axis.asks_first) {
      const auto& counter = source::to<ForLoop>(*loop.stmt).declaration()->variable;
      result.push_back(source::binary(source::BinaryOperator::greater_equal,
                                      source::variable(counter.name, counter.scalar),
                                      loop.counted.first));
    }
    result.push_back(source::to<ForLoop>(*loop.stmt).condition);
    return result;
  }

  void build() {
    Block body = nest_.innermost;
    std::vector<ExprPtr> guards;
    for (std::size_t i = nest_.chain.size(); i-- > 0;) {
      const auto axis = std::ranges::find_if(axes_, [&](const Axis& one) { return one.loop == i; });
      if (axis == axes_.end()) {
        body = {source::with_blocks(nest_.chain[i].stmt, std::move(body), {})};
        result_.sequential.insert(result_.sequential.begin(), nest_.chain[i].counted.name);
        continue;
      }
      const std::vector<ExprPtr> conditions = conditions_of(*axis);
      if (axis->is_guarded_above) {
        guards.insert(guards.begin(), conditions.begin(), conditions.end());
      } else {
        body = {source::branch(source::conjunction(conditions), std::move(body))};
      }
      result_.counters.insert(result_.counters.begin(), nest_.chain[i].counted.name);
    }
    for (std::size_t i = axes_.size(); i-- > 0;)
      result_.body.push_back(index_of(i));
    result_.body.push_back(source::branch(source::conjunction(guards), std::move(body)));
    if (guards.empty()) {
      const Block inner = body_of(*result_.body.back());
      result_.body.pop_back();
      result_.body.insert(result_.body.end(), inner.begin(), inner.end());
    }
    make_launch();
    result_.depth = static_cast<int>(nest_.chain.size()) + depth_of(nest_.innermost);
  }

  void make_launch() {
    const std::array<const char*, 3> extents = {"bx", "by", "bz"};
    result_.launch.block = kBlocks[axes_.size() - 1];
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const std::size_t dimension = this->dimension(i);
      const IntegerExpression threads =
          IntegerExpression::multiply(IntegerExpression(nest_.chain[axes_[i].loop].counted.stride),
                                      IntegerExpression::symbol(extents[dimension]));
      result_.launch.grid[dimension] = IntegerExpression::ceil_divide(axes_[i].span, threads);
    }
  }

  const ParallelNest& nest_;
  const source::Analysis& analysis_;
  const source::Kernel& kernel_;
  const Problem& problem_;
  std::vector<Axis> axes_;
  std::set<std::size_t> chosen_;
  ThreadLoops result_;
};

}  // namespace

Result<ThreadLoops> as_threads(const ParallelNest& nest, const source::Analysis& analysis,
                               const source::Kernel& kernel, const Problem& problem) {
  return ThreadMaker(nest, analysis, kernel, problem).run();
}

}  // namespace regraph::loops
