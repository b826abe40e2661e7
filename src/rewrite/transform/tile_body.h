// The body of a contraction loop on tiles instead of arrays. Used by smem_tile.
#pragma once

#include "rewrite/analysis/tile_plan.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

// The arguments must outlive it.
class TileBody {
 public:
  TileBody(const source::Kernel& kernel, const source::Analysis& analysis, const TilePlan& plan)
      : kernel_(kernel), analysis_(analysis), plan_(plan) {}

  // The loop's body reading tiles. Guards are dropped where the body only changes registers that
  // are used under the same guards later: what is added beyond them is never seen.
  [[nodiscard]] source::Block body() const {
    return without_dead_declarations(without_guards(body_on_tiles()));
  }

  // Whether iterations past the loop's end, for which tiles hold zeros, add nothing: every term
  // must have a zero factor, and no factor that could be infinite.
  [[nodiscard]] bool adds_only_vanishing_terms(const source::Block& body) const;

 private:
  [[nodiscard]] const StagedArray* staged(const std::string& name) const;
  [[nodiscard]] source::Block body_on_tiles() const;
  [[nodiscard]] bool vanishes(const source::ExprPtr& term) const;
  [[nodiscard]] bool adds_vanishing_term(const source::Assignment& stmt) const;
  [[nodiscard]] bool reads_any(const source::ExprPtr& expr) const;
  [[nodiscard]] bool reads_global(const source::Block& body) const;
  [[nodiscard]] bool can_drop_guard(const source::Branch& branch) const;
  [[nodiscard]] source::Block without_guards(const source::Block& body) const;
  [[nodiscard]] static source::Block without_dead_declarations(const source::Block& body);

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  const TilePlan& plan_;
};

}  // namespace regraph::rewrite
