#include "rewrite/transform/row_indices.h"

#include "source/build.h"
#include "source/mutator.h"

#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;

namespace {

class RowIndices final : public source::Mutator {
 public:
  RowIndices(ExprPtr thread, ExprPtr extent)
      : thread_(std::move(thread)), extent_(std::move(extent)) {}

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const source::Builtin& builtin) override {
    if (builtin.name == "threadIdx.x") return thread_;
    return builtin.name == "blockDim.x" ? extent_ : expr;
  }

  ExprPtr mutate(const ExprPtr& expr, const source::Binary& binary) override {
    ExprPtr left = run(binary.left);
    ExprPtr right = run(binary.right);
    if (left == binary.left && right == binary.right) return expr;
    return source::binary(binary.op, std::move(left), std::move(right));
  }

  ExprPtr thread_;
  ExprPtr extent_;
};

}  // namespace

Block for_rows(const Block& block, const ExprPtr& row_in_block, int rows) {
  return RowIndices(row_in_block, source::integer(rows)).run(block);
}

}  // namespace regraph::rewrite
