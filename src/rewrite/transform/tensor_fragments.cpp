#include "rewrite/transform/tensor_fragments.h"

#include <fmt/format.h>

#include <string>

namespace regraph::rewrite {
namespace {

class FragmentWriter {
 public:
  FragmentWriter(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                 const TensorNames& names, std::size_t rows)
      : lines_(lines), product_(product), tile_(tile), names_(names), rows_(rows) {}

  void declare_fragments() const {
    lines_.line("unsigned int {}[{}][{}][4];", names_.held[role(0)], tile_.fragment_sets(),
                tile_.warp[role(0)] / 16);
    lines_.line("unsigned int {}[{}][{}][2];", names_.held[role(1)], tile_.fragment_sets(),
                tile_.warp[role(1)] / 8);
  }

  // Where a thread's first fragment of a factor lies in the strip that is multiplied; the others
  // are whole lines or groups of eight places further on. It moves along with the strips, so that
  // an address takes an instruction at most.
  void declare_places() const {
    for (const std::size_t which : {0UL, 1UL}) {
      const std::size_t i = role(which);
      if (factor(i).along_k) {
        lines_.line("int {} = ({} + {}) * {} + {};", names_.at[i], names_.in_warp[i], names_.group,
                    tile_.depth,
                    exchanged_along_k("2 * " + names_.place, names_.group, tile_.depth));
      } else {
        lines_.line("int {} = 2 * {} * {} + (({} + {}{}) ^ (8 * {}));", names_.at[i], names_.place,
                    tile_.tile[i], names_.in_warp[i], which == 0 ? "2 * " : "", names_.group,
                    names_.place);
      }
    }
  }

  // Loads the fragments of the eight steps along k that begin at `inner`.
  void define_load() const {
    lines_.open("const auto {} = [&](int {}, int {})", names_.load, names_.set, names_.inner);
    load_rows();
    load_columns();
    lines_.close("};");
  }

 private:
  // The factor that fills the instruction's rows (0) or its columns (1).
  std::size_t role(std::size_t which) const { return which == 0 ? rows_ : 1 - rows_; }
  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }

  // A fragment in one of the two sets.
  std::string held(std::size_t i, const std::string& at) const {
    return fmt::format("{}[{}][{}]", names_.held[i], names_.set, at);
  }

  // Loads the fragments that fill the instruction's rows.
  void load_rows() const {
    const std::size_t i = role(0);
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, tile_.warp[i] / 16);
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
    if (factor(i).along_k) {
      pair(i, fmt::format("({} ^ {}) + (16 * {} + 8 * {}) * {}", names_.at[i], names_.inner,
                          names_.i, names_.h, tile_.depth));
      lines_.line("{0}[{1}] = {2}({3}.x);", held(i, names_.i), names_.h, names_.to_tf32,
                  names_.pair);
      lines_.line("{0}[{1} + 2] = {2}({3}.y);", held(i, names_.i), names_.h, names_.to_tf32,
                  names_.pair);
    } else {
      pair(i, fmt::format("({0} ^ ({1} % 2 * 16)) + {1} / 2 * 32 + ({2} + {3}) * {4}", names_.at[i],
                          names_.i, names_.inner, names_.h, tile_.tile[i]));
      lines_.line("{0}[2 * {1}] = {2}({3}.x);", held(i, names_.i), names_.h, names_.to_tf32,
                  names_.pair);
      lines_.line("{0}[2 * {1} + 1] = {2}({3}.y);", held(i, names_.i), names_.h, names_.to_tf32,
                  names_.pair);
    }
    lines_.close();
    lines_.close();
  }

  // Those that fill its columns.
  void load_columns() const {
    const std::size_t i = role(1);
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, tile_.warp[i] / 8);
    if (factor(i).along_k) {
      pair(i, fmt::format("({} ^ {}) + 8 * {} * {}", names_.at[i], names_.inner, names_.j,
                          tile_.depth));
      lines_.line("{0}[0] = {1}({2}.x);", held(i, names_.j), names_.to_tf32, names_.pair);
      lines_.line("{0}[1] = {1}({2}.y);", held(i, names_.j), names_.to_tf32, names_.pair);
    } else {
      lines_.unroll();
      lines_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
      lines_.line("{0}[{1}] = {2}({3}[({4} ^ ({5} % 4 * 8)) + {5} / 4 * 32 + ({6} + {1}) * {7}]);",
                  held(i, names_.j), names_.h, names_.to_tf32, names_.stages[i], names_.at[i],
                  names_.j, names_.inner, tile_.tile[i]);
      lines_.close();
    }
    lines_.close();
  }

  void pair(std::size_t i, const std::string& at) const {
    lines_.line("const float2 {} = *(const float2*)&{}[{}];", names_.pair, names_.stages[i], at);
  }

  CodeLines& lines_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  const TensorNames& names_;
  const std::size_t rows_;
};

}  // namespace

void define_tensor_load(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                        const TensorNames& names, std::size_t rows) {
  const FragmentWriter writer(lines, product, tile, names, rows);
  writer.declare_fragments();
  writer.declare_places();
  writer.define_load();
}

void advance_tensor_load(CodeLines& lines, const TensorTile& tile, const TensorNames& names) {
  lines.line("const int {} = {} == {} ? -{} : 1;", names.by, names.stage, tile.stages - 1,
             tile.stages - 1);
  lines.line("{} += {};", names.stage, names.by);
  for (std::size_t i = 0; i < 2; ++i)
    lines.line("{} += {} * {};", names.at[i], names.by, tile.strip_elements(i));
}

}  // namespace regraph::rewrite
