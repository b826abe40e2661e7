#include "rewrite/transform/tensor_fragments.h"

#include <fmt/format.h>

#include <string>

namespace regraph::rewrite {

namespace {

// The fragments that a warp multiplies on tensor cores: where they lie in the strips in shared
// memory, and loads of them into registers, rounded.

class FragmentWriter {
 public:
  FragmentWriter(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                 const TensorNames& names, std::size_t rows)
      : lines_(lines), product_(product), tile_(tile), names_(names), rows_(rows) {}

  void declare_fragments() const {
    lines_.line("unsigned int {}[{}][{}][{}];", names_.held[role(0)], tile_.fragment_sets(),
                tile_.warp[role(0)] / 16, 4 * tile_.terms());
    lines_.line("unsigned int {}[{}][{}][{}];", names_.held[role(1)], tile_.fragment_sets(),
                tile_.warp[role(1)] / 8, 2 * tile_.terms());
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
      put(held(i, names_.i), 4, names_.h, names_.pair + ".x");
      put(held(i, names_.i), 4, names_.h + " + 2", names_.pair + ".y");
    } else {
      pair(i, fmt::format("({0} ^ ({1} % 2 * 16)) + {1} / 2 * 32 + ({2} + {3}) * {4}", names_.at[i],
                          names_.i, names_.inner, names_.h, tile_.tile[i]));
      put(held(i, names_.i), 4, "2 * " + names_.h, names_.pair + ".x");
      put(held(i, names_.i), 4, "2 * " + names_.h + " + 1", names_.pair + ".y");
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
      put(held(i, names_.j), 2, "0", names_.pair + ".x");
      put(held(i, names_.j), 2, "1", names_.pair + ".y");
    } else {
      lines_.unroll();
      lines_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
      put(held(i, names_.j), 2, names_.h,
          fmt::format("{}[({} ^ ({} % 4 * 8)) + {} / 4 * 32 + ({} + {}) * {}]", names_.stages[i],
                      names_.at[i], names_.j, names_.j, names_.inner, names_.h, tile_.tile[i]));
      lines_.close();
    }
    lines_.close();
  }

  // Into register `number` of a fragment of `registers`; behind them are what is left of the
  // factors.
  void put(const std::string& fragment, int registers, const std::string& number,
           const std::string& value) const {
    lines_.line("{}[{}] = {}({});", fragment, number, names_.to_tf32, value);
    if (!tile_.split) return;
    lines_.line("{0}[{1} + {2}] = {3}({4} - __uint_as_float({0}[{2}]));", fragment, registers,
                number, names_.to_tf32, value);
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

// Fragments of factors of 16 and 8 bits, of which ldmatrix loads four parts, of 8 lines of 16
// bytes, at a time from panels.
class PanelFragmentWriter {
 public:
  PanelFragmentWriter(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                      const TensorNames& names, std::size_t rows)
      : lines_(lines), product_(product), tile_(tile), names_(names), rows_(rows) {}

  void declare_fragments() const {
    lines_.line("unsigned int {}[{}][{}][4];", names_.held[rows_], tile_.fragment_sets(),
                tile_.warp[rows_] / kLines);
    lines_.line("unsigned int {}[{}][{}][2];", names_.held[1 - rows_], tile_.fragment_sets(),
                tile_.warp[1 - rows_] / 8);
  }

  // The address of the line that a lane names of the first fragment of a strip. Of the four parts
  // of a fragment the second is eight lines further on and the third 16 bytes along k; of the
  // factor that fills columns the other way round. A factor that lies across k has 16 bits.
  void declare_places() const {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string lane = names_.thread + " % 32";
      const std::string second = fmt::format("{} / 8 % 2", lane);
      const std::string third = fmt::format("{} / 16", lane);
      const std::string lines = (i == rows_ ? second : third) + " * 8";
      const std::string places =
          fmt::format("{} * {}", i == rows_ ? third : second, tile_.vector());
      lines_.line("const int {} = {} + {};", line(i), factor(i).along_k ? lines : places,
                  names_.thread + " % 8");
      // Lines along the coordinate begin where the warp's part does, others are of one panel.
      const std::string along =
          factor(i).along_k ? fmt::format("{} + {}", names_.in_warp[i], line(i)) : line(i);
      const std::string offset =
          factor(i).along_k ? places : fmt::format("{} + {}", names_.in_warp[i], lines);
      lines_.line("const int {} = {};", at_line(i), along);
      lines_.line("const int {} = {};", at_offset(i), offset);
      lines_.line("unsigned int {} = (unsigned int)__cvta_generic_to_shared(&{}[{}]);",
                  names_.at[i], names_.stages[i],
                  place_in_strip(tile_, i, factor(i).along_k, at_line(i), at_offset(i)));
    }
  }

  // Loads the fragments of the step along k that begins at `inner`.
  void define_load() const {
    lines_.open("const auto {} = [&](int {}, int {})", names_.load, names_.set, names_.inner);
    for (const std::size_t i : {rows_, 1 - rows_}) {
      lines_.unroll();
      lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, tile_.warp[i] / kLines);
      const int bytes = tile_.element_bytes();
      // Offsets within a line are exchanged with what the lines' numbers exchange them with.
      const std::string at =
          factor(i).along_k
              ? fmt::format("({} ^ ({} * {})) + {} * {}", names_.at[i], names_.inner, bytes,
                            names_.i, kLines * TensorTile::kPanelBytes)
              : fmt::format("({} ^ ({} * {})) + {} * {}", names_.at[i], names_.i, kLines * bytes,
                            names_.inner, tile_.pitch(i, false) * bytes);
      const auto to = [&](int number) {
        return i == rows_
                   ? fmt::format("{}[{}][{}][{}]", names_.held[i], names_.set, names_.i, number)
                   : fmt::format("{}[{}][2 * {} + {}][{}]", names_.held[i], names_.set, names_.i,
                                 number / 2, number % 2);
      };
      write_matrix_load(lines_, {to(0), to(1), to(2), to(3)}, at, !factor(i).along_k);
      lines_.close();
    }
    lines_.close("};");
  }

 private:
  static constexpr int kLines = 16;  // of what is loaded at a time

  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }
  std::string line(std::size_t i) const { return names_.at[i] + "_part"; }
  std::string at_line(std::size_t i) const { return names_.at[i] + "_line"; }
  std::string at_offset(std::size_t i) const { return names_.at[i] + "_offset"; }

  CodeLines& lines_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  const TensorNames& names_;
  const std::size_t rows_;
};

template <typename Writer>
void define(const Writer& writer) {
  writer.declare_fragments();
  writer.declare_places();
  writer.define_load();
}

}  // namespace

void write_matrix_load(CodeLines& lines, const std::array<std::string, 4>& to,
                       const std::string& address, bool turned) {
  lines.line(
      "asm volatile(\"ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{%0, %1, %2, %3}}, [%4];\"",
      turned ? ".trans" : "");
  lines.line("    : \"=r\"({}), \"=r\"({}), \"=r\"({}), \"=r\"({}) : \"r\"({}) : \"memory\");",
             to[0], to[1], to[2], to[3], address);
}

void write_fragment_product(CodeLines& lines, ScalarType element, const std::string& sum,
                            const std::array<std::string, 4>& rows,
                            const std::array<std::string, 2>& columns) {
  const bool is_float = is_floating(element);
  const std::size_t depth = 32 / size_in_bytes(element);
  lines.line("asm(\"mma.sync.aligned.m16n8k{0}.row.col.{2}.{1}.{1}.{2} {{%0, %1, %2, %3}}, \"",
             depth, tensor_core_type(element), is_float ? "f32" : "s32");
  lines.line("    \"{{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"");
  lines.line("    : \"+{1}\"({0}[0]), \"+{1}\"({0}[1]), \"+{1}\"({0}[2]), \"+{1}\"({0}[3])", sum,
             is_float ? 'f' : 'r');
  lines.line("    : \"r\"({}), \"r\"({}), \"r\"({}), \"r\"({}),", rows[0], rows[1], rows[2],
             rows[3]);
  lines.line("      \"r\"({}), \"r\"({}));", columns[0], columns[1]);
}

void define_tensor_load(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                        const TensorNames& names, std::size_t rows) {
  if (tile.element == ScalarType::f32) {
    define(FragmentWriter(lines, product, tile, names, rows));
  } else {
    define(PanelFragmentWriter(lines, product, tile, names, rows));
  }
}

void open_fragment_loops(CodeLines& lines, const TensorTile& tile, const TensorNames& names,
                         std::size_t rows) {
  lines.unroll();
  lines.open("for (int {0} = 0; {0} < {1}; ++{0})", names.i, tile.warp[rows] / 16);
  lines.unroll();
  lines.open("for (int {0} = 0; {0} < {1}; ++{0})", names.j, tile.warp[1 - rows] / 8);
}

void write_fragment_products(CodeLines& lines, const TensorTile& tile, const TensorNames& names,
                             std::size_t rows) {
  open_fragment_loops(lines, tile, names, rows);
  const auto part = [&](std::size_t i, const std::string& at, int number) {
    return fmt::format("{}[0][{}][{}]", names.held[i], at, number);
  };
  write_fragment_product(lines, tile.element,
                         fmt::format("{}[{}][{}]", names.sums, names.i, names.j),
                         {part(rows, names.i, 0), part(rows, names.i, 1), part(rows, names.i, 2),
                          part(rows, names.i, 3)},
                         {part(1 - rows, names.j, 0), part(1 - rows, names.j, 1)});
  lines.close();
  lines.close();
}

void write_sums_to_shared(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                          const TensorNames& names, std::size_t rows, const std::string& staged) {
  const std::string type(cuda_name(product.sum_type));
  lines.line("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
  lines.line("__syncthreads();");
  lines.line("{0}* const {1} = ({0}*){2};", type, staged, names.tiles);
  const std::string of_slice =
      tile.slices > 1 ? fmt::format("{} * {} + ", names.slice, tile.staged_elements(rows)) : "";
  open_fragment_loops(lines, tile, names, rows);
  lines.unroll();
  lines.open("for (int {0} = 0; {0} < 4; {0} += 2)", names.e);
  lines.line("const int {} = {} + 16 * {} + {} + 4 * {};", names.line, names.in_warp[rows], names.i,
             names.group, names.e);
  lines.line("const int {} = {} + 8 * {} + 2 * {};", names.offset, names.in_warp[1 - rows], names.j,
             names.place);
  lines.line(
      "*({8}2*)&{0}[{9}{1} * {2} + {3}] = make_{8}2({4}[{5}][{6}][{7}], {4}[{5}][{6}][{7} + 1]);",
      staged, names.line, tile.staged_pitch(rows), names.offset, names.sums, names.i, names.j,
      names.e, type, of_slice);
  lines.close();
  lines.close();
  lines.close();
  lines.line("__syncthreads();");
}

void advance_tensor_load(CodeLines& lines, const TensorTile& tile, const TensorNames& names) {
  lines.line("const int {} = {} == {} ? -{} : 1;", names.by, names.stage, tile.stages - 1,
             tile.stages - 1);
  lines.line("{} += {};", names.stage, names.by);
  // Of 32 bits, places are counted by elements, of 16 bits by bytes.
  const int unit = tile.element == ScalarType::f32 ? 1 : tile.element_bytes();
  for (std::size_t i = 0; i < 2; ++i)
    lines.line("{} += {} * {};", names.at[i], names.by, tile.strip_elements(i) * unit);
}

}  // namespace regraph::rewrite
