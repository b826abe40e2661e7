// no_unroll: takes #pragma unroll from all loops. Always legal: a request to the compiler. A loop
// that is told not to be unrolled (a factor of 1) has nothing to lose.
#include "rewrite/inverse/inverse_rewrite.h"
#include "source/mutator.h"

namespace regraph::rewrite {
namespace {

class PragmaRemover final : public Mutator {
 public:
  bool changed = false;

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    StmtPtr rebuilt = Mutator::mutate(stmt, loop);
    if (loop.unroll == kNoUnrollPragma || loop.unroll == 1) return rebuilt;
    auto plain = std::make_shared<ForLoop>(to<ForLoop>(rebuilt));
    plain->unroll = kNoUnrollPragma;
    changed = true;
    return plain;
  }
};

}  // namespace

Result<KernelState> without_unrolling(const KernelAnalysis& kernel) {
  KernelState result = kernel.state();
  PragmaRemover remover;
  result.unit.kernel.body = remover.run(kernel.kernel().body);
  if (!remover.changed) return refuse("no loop has a #pragma unroll");
  return result;
}

}  // namespace regraph::rewrite
