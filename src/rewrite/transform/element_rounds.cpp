#include "rewrite/transform/element_rounds.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "rewrite/forms/constant_lengths.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

class RoundCounter final : public Mutator {
 public:
  RoundCounter(const Kernel& kernel, const Dim3& block)
      : analysis_(kernel), block_(block), names_(kernel) {}
  using Mutator::run;

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    const auto strided = source::strided_loop_of(loop);
    const bool is_left = holds_any(
        loop.body, {StmtKind::barrier, StmtKind::jump, StmtKind::return_, StmtKind::opaque});
    if (!strided || is_left || source::is_changed(strided->counter.name, loop.body) ||
        strided->counter.scalar != ScalarType::i32)
      return Mutator::mutate(stmt, loop);
    std::optional<std::int64_t> rounds;
    std::vector<ExprPtr> guards;
    const ExprPtr counter = source::variable(strided->counter.name, strided->counter.scalar);
    for (const ExprPtr& limit : limits_of(strided->limit)) {
      const auto length = rounds ? std::nullopt : rounds_to(*strided, limit);
      if (length) {
        rounds = length;
      } else if (is_fixed(limit, analysis_)) {
        guards.push_back(source::less(counter, limit));
      } else {
        return Mutator::mutate(stmt, loop);
      }
    }
    if (!rounds) return Mutator::mutate(stmt, loop);
    Variable element = strided->counter;
    element.is_const = true;
    const std::string round = names_.fresh("round");
    Block body = run(loop.body);
    if (!guards.empty()) body = {branch(conjunction(guards), std::move(body))};
    body.insert(body.begin(),
                declare(element, source::add(strided->first,
                                             multiply(source::variable(round), strided->step))));
    return counted_loop(round, integer(0), integer(*rounds), 1, std::move(body));
  }

  // A minimum as two limits.
  std::vector<ExprPtr> limits_of(const ExprPtr& limit) const {
    const auto* name = as<VariableReference>(limit);
    const ExprPtr named = name != nullptr ? analysis_.definition(name->name) : nullptr;
    const auto sides = sides_of_minimum(named ? named : limit);
    if (!sides) return {limit};
    return {sides->first, sides->second};
  }

  // How often the loop runs up to the limit, the same for all threads: from `base + thread` up to
  // `base + length` by a step that no thread's index reaches.
  std::optional<std::int64_t> rounds_to(const source::StridedLoop& loop,
                                        const ExprPtr& limit) const {
    const auto number = [&](const ExprPtr& expr) -> std::optional<Polynomial> {
      const auto polynomial = analysis_.polynomial(expr);
      if (!polynomial) return std::nullopt;
      return with_block_extents(*polynomial, block_);
    };
    const auto first = number(loop.first);
    const auto end = first ? number(limit) : std::nullopt;
    const auto stride = end ? number(loop.step) : std::nullopt;
    const auto step = stride ? stride->constant() : std::nullopt;
    if (!step || *step < 1) return std::nullopt;
    for (int axis = 0; axis < 3; ++axis) {
      const Polynomial thread =
          Polynomial::symbol(std::string("threadIdx.") + kAxes[static_cast<std::size_t>(axis)]);
      const auto length = (*end - *first + thread).constant();
      if (length && *length > 0 && *length % *step == 0 && extent(block_, axis) <= *step)
        return *length / *step;
    }
    return std::nullopt;
  }

  const Analysis analysis_;
  const Dim3 block_;
  Names names_;
};

}  // namespace

Block with_element_rounds(const Kernel& kernel, const Dim3& block) {
  return RoundCounter(kernel, block).run(kernel.body);
}

}  // namespace regraph::rewrite
