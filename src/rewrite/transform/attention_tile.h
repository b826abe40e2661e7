// How attention is laid out for tensor cores, and what its code calls things. Used by
// attention_code and attention_results.
#pragma once

#include "rewrite/analysis/attention_pattern.h"
#include "rewrite/forms/names.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace regraph::rewrite {

struct AttentionTile {
  int queries = 64;  // of a block
  int keys = 64;     // of a tile
  int warps = 4;
  int stages = 2;  // tiles of keys and of values in shared memory
  // Four warps together multiply by Hopper's instruction, each 16 rows of its 64; else a warp by
  // itself, 16 rows or 32.
  bool by_warpgroups = false;
  // Values of masked keys may be infinite or no numbers, which zero would not take away.
  bool guards_values = true;

  static constexpr int kPanelBytes = 128;
  static constexpr int kPanel = 64;  // elements
  static constexpr int kVector = 8;  // elements of 16 bytes

  [[nodiscard]] int threads() const { return 32 * warps; }
  [[nodiscard]] int rows_of_warp() const { return queries / warps; }
  // Of rows of so many elements of 16 bits, in panels of 128 bytes.
  [[nodiscard]] static int panels(int elements) { return (elements + kPanel - 1) / kPanel; }
  // Of shared memory.
  [[nodiscard]] std::int64_t bytes(const AttentionPattern& pattern) const {
    const std::int64_t of_keys = panels(pattern.query.elements);
    const std::int64_t of_values = panels(pattern.values.elements);
    return kPanelBytes * (std::max(of_keys, of_values) * queries +
                          std::int64_t{stages} * keys * (of_keys + of_values));
  }
};

// Names of what the code adds to the kernel.
struct AttentionNames {
  explicit AttentionNames(Names& names)
      : tiles(names.fresh("tiles")),
        query(names.fresh("query_tile")),
        keys(names.fresh("key_tiles")),
        values(names.fresh("value_tiles")),
        thread(names.fresh("thread")),
        lane(names.fresh("lane")),
        group(names.fresh("group")),
        pair(names.fresh("pair")),
        first(names.fresh("first_row")),
        limit(names.fresh("row_limit")),
        last(names.fresh("last_row")),
        warp(names.fresh("warp_row")),
        begin(names.fresh("first_key")),
        end(names.fresh("key_limit")),
        tile(names.fresh("tile")),
        stage(names.fresh("stage")),
        next(names.fresh("next")),
        fill(names.fresh("fill")),
        into(names.fresh("into")),
        step(names.fresh("step")),
        line(names.fresh("line")),
        offset(names.fresh("offset")),
        to(names.fresh("to")),
        from(names.fresh("from")),
        inside(names.fresh("is_inside")),
        query_at(names.fresh("query_at")),
        key_at(names.fresh("key_at")),
        value_at(names.fresh("value_at")),
        held_query(names.fresh("query_part")),
        held(names.fresh("part")),
        weights(names.fresh("weights")),
        scores(names.fresh("scores")),
        mix(names.fresh("mix")),
        largest(names.fresh("largest")),
        total(names.fresh("total")),
        higher(names.fresh("higher")),
        base(names.fresh("base")),
        shrink(names.fresh("shrink")),
        exp2(names.fresh("power_of_two")),
        scale(names.fresh("score_scale")),
        is_scaled_late(names.fresh("is_scaled_late")),
        to_exponent(names.fresh("to_exponent")),
        has_nonfinite(names.fresh("has_nonfinite")),
        is_nonfinite(names.fresh("is_nonfinite")),
        i(names.fresh("i")),
        j(names.fresh("j")),
        k(names.fresh("k")),
        h(names.fresh("h")),
        e(names.fresh("e")) {}

  const std::string tiles, query, keys, values, thread, lane, group, pair, first, limit, last, warp,
      begin, end, tile, stage, next, fill, into, step, line, offset, to, from, inside, query_at,
      key_at, value_at, held_query, held, weights, scores, mix, largest, total, higher, base,
      shrink, exp2, scale, is_scaled_late, to_exponent, has_nonfinite, is_nonfinite, i, j, k, h, e;
};

}  // namespace regraph::rewrite
