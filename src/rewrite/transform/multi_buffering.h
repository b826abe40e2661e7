// Tiles of a strip loop that are kept several times. Used by double_buffer, async_pipeline and
// slice_k.
#pragma once

#include "rewrite/analysis/strip_loop.h"
#include "rewrite/forms/ir.h"

#include <functional>
#include <string>

namespace regraph::rewrite {

// Rewrites of what belongs to one strip loop, which must outlive it.
class MultiBuffering {
 public:
  explicit MultiBuffering(const StripLoop& strips) : strips_(strips) {}

  // `body`, which holds the tiles' declarations, with `count` copies of each tile and `loop` in
  // place of the strip loop.
  [[nodiscard]] Block kept(const Block& body, std::int64_t count,
                           const std::function<Block()>& loop) const;
  // The code on one copy of the tiles.
  [[nodiscard]] Block on_tile(const Block& block, const ExprPtr& which) const;
  // The code for the strip that begins at `first`.
  [[nodiscard]] Block in_strip(const Block& block, const ExprPtr& first) const;
  // What the loop computes from one copy of the tiles, where the thread has work.
  [[nodiscard]] Block use_of(const ExprPtr& which) const;
  // The loop with another body.
  [[nodiscard]] StmtPtr loop_around(Block body) const;
  // Whether the loop goes on with the strip that begins there, and the thread has work in it.
  [[nodiscard]] ExprPtr has_strip(const ExprPtr& first) const;

 private:
  [[nodiscard]] bool is_tile(const std::string& name) const;

  const StripLoop& strips_;
};

}  // namespace regraph::rewrite
