// The code that copies what a strip of a contraction needs to a tile. Used by smem_tile.
#pragma once

#include "rewrite/analysis/tile_plan.h"
#include "rewrite/forms/ir.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// The arguments must outlive it.
class TileCopy {
 public:
  // `thread`: name of the thread's number within its block of `threads`.
  TileCopy(const Kernel& kernel, const TilePlan& plan, std::string thread, std::int64_t threads)
      : kernel_(kernel), plan_(plan), thread_(std::move(thread)), threads_(threads) {}

  // A loop over what the thread copies. Where the original does not access an element, it is zero.
  [[nodiscard]] StmtPtr copy(const StagedArray& array) const;

 private:
  [[nodiscard]] Block element_code(const StagedArray& array, const std::string& item) const;
  [[nodiscard]] Block vector_code(const StagedArray& array, const std::string& item) const;
  [[nodiscard]] ExprPtr is_whole(const StagedArray& array) const;
  [[nodiscard]] ExprPtr place_of(const StagedArray& array,
                                 const std::vector<ExprPtr>& coordinates) const;
  [[nodiscard]] ExprPtr value_of(const StagedArray& array,
                                 const std::vector<ExprPtr>& coordinates) const;

  [[nodiscard]] static ExprPtr with_coordinates(const StagedArray& array, const ExprPtr& expr,
                                                const std::vector<ExprPtr>& coordinates);

  const Kernel& kernel_;
  const TilePlan& plan_;
  std::string thread_;
  std::int64_t threads_;
};

}  // namespace regraph::rewrite
