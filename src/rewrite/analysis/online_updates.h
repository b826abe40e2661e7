// Sums that a loop scales whenever the largest value so far grows (online_fusion makes them):
//
//   if (v > m) { scale = expf(m - v); sum *= scale; }  m = fmaxf(m, v);
//   m_finite = m == -INFINITY ? 0 : m;  sum += expf(v - m_finite) * ...;
//
// Parts of such sums can be put together once all parts are scaled to one maximum. Used by
// strip_accumulators.
#pragma once

#include "base/result.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

struct OnlineUpdates {
  std::string maximum;      // empty: there are none
  std::string exponential;  // "expf"
  std::vector<source::Variable> sums;
  // The block without the sums and what scales them; of the maximum nothing but its updates is
  // left.
  source::Block rest;
};

// The updates in the block, all of one maximum. Error: refused, where a sum that is scaled so is
// used in another way, too.
[[nodiscard]] Result<OnlineUpdates> online_updates(const source::Block& block,
                                                   const source::Analysis& analysis);

}  // namespace regraph::rewrite
