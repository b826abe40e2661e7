// Sums that a loop scales whenever the largest value so far grows (online_fusion makes them):
//
//   if (v > m) { scale = expf(m - v); sum *= scale; }  m = fmaxf(m, v);
//   m_finite = m == -INFINITY ? 0 : m;  sum += expf(v - m_finite) * ...;
//
// Parts of such sums can be put together once all parts are scaled to one maximum. Used by
// strip_accumulators and row_sharing.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct OnlineUpdates {
  std::string maximum;      // empty: there are none
  std::string exponential;  // "expf"
  std::vector<Variable> sums;
  // Where the block scales the sums, itself and after nothing but values: in front of the update of
  // the maximum.
  std::optional<std::size_t> growth;
  std::string value;  // that the maximum grows to there
  // The block without the sums and what scales them, but with what is added to them, as values
  // that nobody uses; of the maximum nothing but its updates is left.
  Block rest;
};

// The updates in the block, all of one maximum. Error: refused, where a sum that is scaled so is
// used in another way, too.
[[nodiscard]] Result<OnlineUpdates> online_updates(const Block& block, const Analysis& analysis);

// The sums as reductions, to stand behind that of their maximum.
[[nodiscard]] std::vector<Reduction> scaled_sums(const OnlineUpdates& updates);

}  // namespace regraph::rewrite
