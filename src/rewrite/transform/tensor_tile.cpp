#include "rewrite/transform/tensor_tile.h"

#include "affine/block_geometry.h"

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
    first_line[factor] = names.fresh(array + "_line");
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
                            std::pair(&split_sums, "split_sums"),
                            std::pair(&load, "load"),
                            std::pair(&set, "set"),
                            std::pair(&fill_inside, "fill_inside"),
                            std::pair(&wanted, "is_inside"),
                            std::pair(&pack, "pack"),
                            std::pair(&kept, "kept"),
                            std::pair(&slot, "slot"),
                            std::pair(&its_sums, "its_sums"),
                            std::pair(&block, "block"),
                            std::pair(&row, "tile_row"),
                            std::pair(&rows, "tile_rows"),
                            std::pair(&in_rows, "in_rows"),
                            std::pair(&by, "by"),
                            std::pair(&slice, "slice"),
                            std::pair(&lane, "lane"),
                            std::pair(&bytes, "bytes")}) {
    *name = names.fresh(stem);
  }
}

std::string tensor_core_type(ScalarType element) {
  switch (element) {
    case ScalarType::f16:
      return "f16";
    case ScalarType::bf16:
      return "bf16";
    case ScalarType::i8:
      return "s8";
    case ScalarType::u8:
      return "u8";
    default:
      return "tf32";
  }
}

std::size_t rows_in_memory(const MatrixProduct& product) {
  return product.factors[0].axis.axis > product.factors[1].axis.axis ? 0 : 1;
}

void declare_block_place(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                         const TensorNames& names, int together) {
  const auto axis_of = [&](std::size_t i) { return product.factors[i].axis.axis; };
  const std::size_t slow = axis_of(0) > axis_of(1) ? 0 : 1;
  const char* const along_slow = kAxes[static_cast<std::size_t>(axis_of(slow))];
  const char* const along = kAxes[static_cast<std::size_t>(axis_of(1 - slow))];
  lines.line("const int {} = blockIdx.{} * gridDim.{} + blockIdx.{};", names.block, along_slow,
             along, along);
  lines.line("const int {} = {} / ({} * gridDim.{}) * {};", names.row, names.block, together, along,
             together);
  lines.line("const int {0} = gridDim.{1} - {2} < {3} ? gridDim.{1} - {2} : {3};", names.rows,
             along_slow, names.row, together);
  lines.line("const int {} = {} - {} * gridDim.{};", names.in_rows, names.block, names.row, along);
  lines.line("const int {} = ({} + {} % {}) * {};", names.first[slow], names.row, names.in_rows,
             names.rows, tile.tile[slow]);
  lines.line("const int {} = {} / {} * {};", names.first[1 - slow], names.in_rows, names.rows,
             tile.tile[1 - slow]);
}

void declare_warp_place(CodeLines& lines, const TensorTile& tile, const TensorNames& names,
                        const std::string& warp) {
  lines.line("const int {} = {} % 32 / 4;", names.group, names.thread);
  lines.line("const int {} = {} % 4;", names.place, names.thread);
  const int across = tile.tile[1] / tile.warp[1];
  lines.line("const int {} = {} / {} * {};", names.in_warp[0], warp, across, tile.warp[0]);
  lines.line("const int {} = {} % {} * {};", names.in_warp[1], warp, across, tile.warp[1]);
}

std::string all_divisible(const std::set<std::string>& parameters, int elements) {
  std::string condition;
  for (const std::string& parameter : parameters)
    condition +=
        fmt::format("{}{} % {} == 0", condition.empty() ? "" : " && ", parameter, elements);
  return condition.empty() ? "true" : condition;
}

std::string place_in_strip(const TensorTile& tile, std::size_t factor, bool along_k,
                           const std::string& line, const std::string& offset) {
  if (tile.layout == StripLayout::panels) {
    if (along_k)
      return fmt::format("{0} * {1} + ({2} ^ ({0} % 8 * {3}))", line, tile.panel(), offset,
                         tile.vector());
    const int across = tile.pitch(factor, along_k);
    if (across == tile.panel()) return place_in_panels(line, offset, tile.depth, tile.vector());
    const std::string exchange =
        fmt::format("{} / {} % {}", line, tile.panel() / across, across / tile.vector());
    return fmt::format("{2} / {1} * {4} + {0} * {1} + ({2} % {1} ^ ({5} * {3}))", line, across,
                       offset, tile.vector(), across * tile.depth, exchange);
  }
  const std::string place = along_k ? exchanged_along_k(offset, line, tile.depth)
                                    : fmt::format("({} ^ ({} / 2 % 4 * 8))", offset, line);
  return fmt::format("{} * {} + {}", line, tile.pitch(factor, along_k), place);
}

std::string place_in_panels(const std::string& line, const std::string& offset, int lines,
                            int vector) {
  const int panel = 8 * vector;
  return fmt::format("{2} / {1} * {4} + {0} * {1} + ({2} % {1} ^ ({0} % 8 * {3}))", line, panel,
                     offset, vector, panel * lines);
}

std::string exchange_of_step(const TensorTile& tile, std::size_t factor, bool along_k,
                             const std::string& step, int apart) {
  if (tile.layout == StripLayout::panels) {
    constexpr int kLines = 8;
    if (apart % kLines == 0) return "";
    const int chunk = tile.vector() * tile.element_bytes();
    const int together = tile.panel() / tile.pitch(factor, along_k);
    if (together == 1) return fmt::format("{} * {} % {} * {}", step, apart, kLines, chunk);
    return fmt::format("{} * {} / {} % {} * {}", step, apart, together, kLines / together, chunk);
  }
  if (along_k) return "";
  return fmt::format("{} * {} / 2 % 4 * {}", step, apart, 8 * tile.element_bytes());
}

std::string exchanged_along_k(const std::string& at, const std::string& line, int depth) {
  constexpr int kShallow = 8;
  constexpr int kMiddle = 16;
  if (depth == kShallow) return at;
  if (depth == kMiddle) return fmt::format("(({}) ^ ({} / 2 % 2 * 8))", at, line);
  return fmt::format("(({}) ^ ({} % 4 * 8))", at, line);
}

}  // namespace regraph::rewrite
