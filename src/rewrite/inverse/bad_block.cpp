// bad_block: a block of extents that suit few kernels. As legal as block_size, which does it and
// undoes it.
#include "rewrite/inverse/inverse_rewrite.h"
#include "rewrite/steps/step_rewriter.h"

#include <utility>

namespace regraph::rewrite {
namespace {

class BadBlock final : public InverseRewrite {
 public:
  explicit BadBlock(std::string block) : block_(std::move(block)) {}

  std::string id() const override { return "block_" + block_; }
  std::string_view undone_by() const override { return "block_size"; }
  std::string taken_away() const override {
    return "the block's extents, which are " + block_ + " now";
  }

  Result<KernelState> apply(const KernelAnalysis& kernel) const override {
    return find_built_in_step(undone_by())->apply(kernel, {{"block", block_}});
  }

 private:
  const std::string block_;
};

}  // namespace

std::unique_ptr<InverseRewrite> make_bad_block(std::string block) {
  return std::make_unique<BadBlock>(std::move(block));
}

}  // namespace regraph::rewrite
