// strided_loop: a loop visits the iterations that a test for divisibility lets through, and no
// others.
//
//   for (k = 0; k < K; ++k) { int place = x + p - k; if (place % s == 0 && inside) work of place / s }
// becomes
//   for (k = (x + p) % s; k < K; k += s) { int place = x + p - k; if (inside) work of place / s }
//
// As in transposed convolutions with a stride, each of whose outputs takes every s-th tap; where
// the taps are dilated by as much, an output takes all of them or none. Legal
// where divisible_iterations.h finds such loops: the iterations that are left out do nothing, and
// those that stay come in the same order.
#include "rewrite/analysis/divisible_iterations.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

namespace regraph::rewrite {
namespace {

using source::as;
using source::Block;
using source::ExprPtr;
using source::StmtPtr;

class StridedLoop final : public PlacedStep<DivisibleIterations> {
 public:
  std::string_view id() const override { return "strided_loop"; }
  int position() const override { return 25; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Result<DivisibleIterations> find(const KernelAnalysis& kernel,
                                   const StepParameters&) const override {
    if (const Status& status = kernel.transparent(); !status) return status.error();
    // Threads that were at one iteration together no longer are.
    if (kernel.analysis().uses_warp_intrinsics())
      return refuse("the threads of a warp work together");
    DivisibleIterations found = divisible_iterations(kernel.kernel(), kernel.analysis());
    if (found.empty()) {
      return refuse(
          "no loop does all it does under a test of its counter for divisibility by a constant");
    }
    return found;
  }

  KernelState rewrite(const KernelAnalysis& kernel,
                      const DivisibleIterations& found) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = sieved(kernel.kernel().body, found, {});
    return result;
  }

 private:
  // Tests that hold: of the loops around.
  using Tests = std::set<const source::Expr*>;

  static Block sieved(const Block& block, const DivisibleIterations& found, const Tests& tests) {
    return source::rewrite_statements(block, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (const auto* branch = as<source::Branch>(stmt))
        return without_tests(*branch, stmt, found, tests);
      const auto loop = found.find(stmt.get());
      if (loop == found.end()) return std::nullopt;
      const DivisibleLoop& strided = loop->second;
      Tests inside = tests;
      inside.insert(strided.tests.begin(), strided.tests.end());
      StmtPtr left = source::counted_loop(
          strided.counted.name, strided.first, strided.counted.limit, strided.stride,
          sieved(source::to<source::ForLoop>(stmt).body, found, inside));
      if (strided.condition) left = source::branch(strided.condition, {std::move(left)});
      return Block{std::move(left)};
    });
  }

  static std::optional<Block> without_tests(const source::Branch& branch, const StmtPtr& stmt,
                                            const DivisibleIterations& found, const Tests& tests) {
    std::vector<ExprPtr> terms = source::conjuncts(branch.condition);
    const std::size_t before = terms.size();
    std::erase_if(terms, [&](const ExprPtr& term) { return tests.contains(term.get()); });
    if (terms.size() == before) return std::nullopt;
    Block body = sieved(branch.body, found, tests);
    if (terms.empty()) return Block{source::scope(std::move(body))};
    return Block{source::branch(source::conjunction(terms), std::move(body), {}, stmt->line)};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_strided_loop() {
  return std::make_unique<StridedLoop>();
}

}  // namespace regraph::rewrite
