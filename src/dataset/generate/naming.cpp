#include "dataset/generate/naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace regraph::dataset {

namespace {

struct NamePool {
  std::string_view role;
  std::vector<std::string_view> names;
};

// Sizes are symbols of the manifest too, where bx, by and bz mean the block.
const std::vector<NamePool>& name_pools() {
  static const std::vector<NamePool> kPools = {
      // Sizes.
      {"n", {"n", "count", "size", "length", "total", "num", "elements", "N", "len"}},
      {"rows", {"rows", "height", "m", "h", "num_rows", "M", "lines", "ny"}},
      {"cols", {"cols", "columns", "width", "w", "num_cols", "N", "n", "nx"}},
      {"inner", {"inner", "K", "k_dim", "depth", "common", "kk", "terms"}},
      {"planes", {"depth", "planes", "layers", "d", "slices", "nz"}},
      {"batch", {"batch", "batches", "items", "groups", "num_batches", "B"}},
      {"dims", {"dims", "features", "dim", "channels", "D", "width"}},
      {"entries", {"entries", "table_size", "slots", "rows_in", "vocabulary", "capacity"}},
      {"steps", {"steps", "iterations", "rounds", "repeats", "iters"}},
      {"taps", {"taps", "filter_size", "window", "points", "ksize"}},
      {"terms", {"terms", "degree", "order", "coefficients", "num_terms"}},
      // Threads and loops.
      {"i", {"i", "idx", "tid", "index", "gid", "t", "id", "at", "pos"}},
      {"row", {"row", "r", "y", "i", "line", "iy", "yy"}},
      {"col", {"col", "c", "x", "j", "column", "ix", "xx"}},
      {"plane", {"plane", "z", "p", "iz", "layer", "slice"}},
      {"item", {"item", "b", "batch_id", "which", "g", "element"}},
      {"flat", {"flat", "tid", "idx", "gid", "linear", "t", "thread"}},
      {"rest", {"rest", "inside", "rem", "within", "remainder"}},
      {"k", {"k", "j", "e", "s", "q", "kk", "p"}},
      {"l", {"l", "q", "u", "v", "jj", "step"}},
      {"dx", {"dx", "kx", "a", "sx", "ox", "fx"}},
      {"dy", {"dy", "ky", "b", "sy", "oy", "fy"}},
      // Buffers.
      {"in", {"in", "src", "input", "data", "values", "source", "x", "a", "A", "from"}},
      {"in2", {"b", "other", "second", "rhs", "B", "y", "right", "input2"}},
      {"in3", {"c", "third", "z", "extra", "C", "mask", "input3"}},
      {"in4", {"d", "fourth", "u", "more", "D", "input4"}},
      {"out", {"out", "dst", "output", "result", "res", "target", "to", "dest"}},
      {"out2", {"out2", "dst2", "second_out", "aux", "side"}},
      {"px", {"px", "xs", "pos_x", "cx", "x"}},
      {"py", {"py", "ys", "pos_y", "cy", "y"}},
      {"pz", {"pz", "zs", "pos_z", "cz", "z"}},
      {"table", {"table", "lut", "pool", "book", "embeddings", "source"}},
      {"index", {"index", "map", "order", "where", "perm", "ids", "indices"}},
      {"weights", {"weights", "w", "filter", "taps", "coeff", "kern", "mask"}},
      {"bias", {"bias", "shift", "offsets", "b", "add"}},
      {"bins", {"bins", "hist", "counts", "histogram", "buckets"}},
      {"tile", {"tile", "buf", "shared_tile", "block_data", "smem", "cache"}},
      {"tile2", {"tile_b", "buf2", "second_tile", "tb", "smem2", "right_tile"}},
      // Values.
      {"sum", {"sum", "acc", "total", "s", "value", "result", "accum", "r"}},
      {"sum2", {"sum2", "squares", "acc2", "second", "ss", "other_sum"}},
      {"best", {"best", "largest", "top", "peak", "cur", "extreme"}},
      {"place", {"place", "where_best", "best_at", "arg", "best_index", "pick"}},
      {"v", {"v", "val", "value", "e", "item", "elem", "x0", "cur"}},
      {"w", {"w", "weight", "factor", "u", "other", "q"}},
      {"mean", {"mean", "avg", "average", "mu", "center"}},
      {"scale", {"inv", "scale", "norm", "rnorm", "denominator", "factor"}},
      {"diff", {"diff", "delta", "d", "gap", "t", "difference"}},
      {"alpha", {"alpha", "gain", "a", "factor", "amount", "coef"}},
      {"beta", {"beta", "offset", "shift", "b", "c0", "second_coef"}},
      {"tx", {"tx", "lx", "local_x", "thread_x", "u"}},
      {"ty", {"ty", "ly", "local_y", "thread_y", "v"}},
      {"helper", {"f", "apply", "transform", "g", "activate", "op", "func"}},
      {"lo", {"lo", "first", "begin", "start", "from"}},
      {"hi", {"hi", "last", "end", "stop", "limit"}},
  };
  return kPools;
}

}  // namespace

const std::string& Names::of(std::string_view role) {
  if (const auto known = chosen_.find(role); known != chosen_.end()) return known->second;
  const auto pool = std::ranges::find(name_pools(), role, &NamePool::role);
  std::string name(role);
  if (pool != name_pools().end()) {
    const std::size_t first = dice_.below(fmt::format("name {}", role), pool->names.size());
    for (std::size_t step = 0; step < pool->names.size(); ++step) {
      name = pool->names[(first + step) % pool->names.size()];
      if (!taken_.contains(name)) break;
    }
  }
  while (taken_.contains(name))
    name += "_";
  taken_.insert(name);
  return chosen_.emplace(role, std::move(name)).first->second;
}

}  // namespace regraph::dataset
