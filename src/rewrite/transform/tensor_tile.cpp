#include "rewrite/transform/tensor_tile.h"

#include <fmt/format.h>

#include <utility>

namespace regraph::rewrite {

TensorNames::TensorNames(Names& names, const MatrixProduct& product)
    : counter(product.counted.name) {
  for (std::size_t factor = 0; factor < 2; ++factor) {
    const std::string& array = product.factors[factor].array;
    stages[factor] = names.fresh(array + "_stages");
    first[factor] = names.fresh(array + "_first");
    in_warp[factor] = names.fresh(array + "_warp");
    whole[factor] = names.fresh(array + "_aligned");
    inside[factor] = names.fresh(array + "_inside");
    at[factor] = names.fresh(array + "_at");
    address[factor] = names.fresh(array + "_address");
    ahead[factor] = names.fresh(array + "_next");
    held[factor] = names.fresh(array + "_held");
  }
  for (auto [name, stem] : {std::pair(&tiles, "stages"),
                            std::pair(&thread, "thread"),
                            std::pair(&group, "group"),
                            std::pair(&place, "place"),
                            std::pair(&limit, "limit"),
                            std::pair(&sums, "sums"),
                            std::pair(&fill, "fill"),
                            std::pair(&stage, "stage"),
                            std::pair(&strip, "strip"),
                            std::pair(&next, "next"),
                            std::pair(&inner, "inner"),
                            std::pair(&step, "step"),
                            std::pair(&line, "line"),
                            std::pair(&offset, "offset"),
                            std::pair(&to, "to"),
                            std::pair(&e, "e"),
                            std::pair(&i, "i"),
                            std::pair(&j, "j"),
                            std::pair(&h, "h"),
                            std::pair(&pair, "pair"),
                            std::pair(&to_tf32, "to_tf32"),
                            std::pair(&into, "into"),
                            std::pair(&part, "part"),
                            std::pair(&load, "load"),
                            std::pair(&set, "set"),
                            std::pair(&fill_inside, "fill_inside"),
                            std::pair(&wanted, "is_inside"),
                            std::pair(&block, "block"),
                            std::pair(&row, "tile_row"),
                            std::pair(&rows, "tile_rows"),
                            std::pair(&in_rows, "in_rows"),
                            std::pair(&by, "by")}) {
    *name = names.fresh(stem);
  }
}

std::string exchanged_along_k(const std::string& at, const std::string& line, int depth) {
  constexpr int kShallow = 8;
  constexpr int kMiddle = 16;
  if (depth == kShallow) return at;
  if (depth == kMiddle) return fmt::format("(({}) ^ ({} / 2 % 2 * 8))", at, line);
  return fmt::format("(({}) ^ ({} % 4 * 8))", at, line);
}

}  // namespace regraph::rewrite
