// Kernels that compute a row of attention a thread: sums of values that are weighted by
// exponentials of scores, which are products of a row of queries and rows of keys, all of 16-bit
// elements.
//
//   for (t) {
//     for (d) dot += query[row][d] * keys[t][d];
//     score = dot * scale;
//     if (score > m) { factor = expf(m - score); sum *= factor; for (d) mix[d] *= factor; }
//     m = fmaxf(m, score);  weight = expf(score - m);
//     sum += weight;  for (d) mix[d] += weight * values[t][d];
//   }
//
// Used by tensor_attention.
#pragma once

#include "affine/tile_guard.h"
#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/row_places.h"
#include "rewrite/forms/ir.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// Rows of an array whose elements are neighbours in memory.
struct AttentionRows {
  std::string array;
  Polynomial index;      // of a row's first element, over the coordinate or the loop's counter
  bool is_wide = false;  // the index has 64 bits
  int elements = 0;      // of a row
  // Parameters that a vector's elements have to divide for rows to be aligned, asked at run time;
  // nothing where they never are.
  std::optional<std::set<std::string>> divisible;
};

struct AttentionPattern : RowPlaces {
  const Stmt* loop = nullptr;  // over the keys
  std::string key;             // its counter
  // Bounds of keys, over the coordinate with constant slopes: key < upper, key >= lower.
  std::vector<Polynomial> uppers;
  std::vector<Polynomial> lowers;
  std::vector<TileGuard> others;  // conditions on keys alone, of another shape

  ScalarType element = ScalarType::f16;
  AttentionRows query, keys, values;
  std::string dot;  // what the score calls the product of two rows
  ExprPtr score;    // over it, the coordinate and the counter; float
  // The largest score is minus infinity at first and weights are not guarded against it: sums are
  // no numbers where the first score is minus infinity.
  bool first_score_spoils = false;

  std::string maximum;
  ExprPtr maximum_at_first;
  std::vector<Variable> sums;  // of the weights
  Variable mix;                // of the weighted values
  Block behind;                // what is done with these

  // Whether a bound of the keys, or another condition, differs between rows.
  [[nodiscard]] bool is_masked() const;
};

// The pattern that the kernel computes, if that is all that its threads do. The loop is online
// (online_updates.h). Error: refused, with what is in the way.
[[nodiscard]] Result<AttentionPattern> find_attention(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
