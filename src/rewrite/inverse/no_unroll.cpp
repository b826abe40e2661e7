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

class NoUnroll final : public InverseRewrite {
 public:
  std::string id() const override { return "no_unroll"; }
  std::string_view undone_by() const override { return "loop_unroll"; }
  std::string taken_away() const override { return "#pragma unroll on loops"; }

  Result<KernelState> apply(const KernelAnalysis& kernel) const override {
    KernelState result = kernel.state();
    PragmaRemover remover;
    result.unit.kernel.body = remover.run(kernel.kernel().body);
    if (!remover.changed) return refuse("no loop has a #pragma unroll");
    return result;
  }
};

}  // namespace

std::unique_ptr<InverseRewrite> make_no_unroll() {
  return std::make_unique<NoUnroll>();
}

}  // namespace regraph::rewrite
