// The body of a contraction loop on tiles instead of arrays. Used by smem_tile.
#pragma once

#include "rewrite/analysis/tile_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

// The arguments must outlive it.
class TileBody {
 public:
  TileBody(const Kernel& kernel, const Analysis& analysis, const TilePlan& plan)
      : kernel_(kernel), analysis_(analysis), plan_(plan) {}

  // The loop's body reading tiles. Guards are dropped where the body only changes registers that
  // are used under the same guards later: what is added beyond them is never seen.
  [[nodiscard]] Block body() const;

  // Whether iterations past the loop's end, for which tiles hold zeros, add nothing: every term
  // must have a zero factor, and no factor that could be infinite.
  [[nodiscard]] bool adds_only_vanishing_terms(const Block& body) const;

 private:
  [[nodiscard]] const Stage* staged(const std::string& name) const;
  [[nodiscard]] Block body_on_tiles() const;
  [[nodiscard]] bool vanishes(const ExprPtr& term) const;
  [[nodiscard]] bool adds_vanishing_term(const Assignment& stmt) const;
  [[nodiscard]] bool reads_any(const ExprPtr& expr) const;
  [[nodiscard]] bool reads_global(const Block& body) const;
  [[nodiscard]] bool can_drop_guard(const Branch& branch) const;
  [[nodiscard]] Block without_guards(const Block& body) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  const TilePlan& plan_;
};

}  // namespace regraph::rewrite
