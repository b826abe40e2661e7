#include "rewrite/transform/tensor_code.h"

#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/product_elements.h"
#include "rewrite/transform/tensor_copies.h"
#include "rewrite/transform/tensor_tile.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

// Writes the arrays of fragments, a thread's places in the strip of stage 0, and the lambda
// `load(set, inner)`, which loads the fragments of the eight steps along k that begin at `inner` of
// the strip at those places. `rows`: the factor, 0 or 1, that fills the instruction's rows.
void define_tensor_load(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                        const TensorNames& names, std::size_t rows) {
  const FragmentWriter writer(lines, product, tile, names, rows);
  writer.declare_fragments();
  writer.declare_places();
  writer.define_load();
}

// `stage`, and what `load` loads, are the strip after it from here on.
void advance_tensor_load(CodeLines& lines, const TensorTile& tile, const TensorNames& names) {
  lines.line("const int {} = {} == {} ? -{} : 1;", names.by, names.stage, tile.stages - 1,
             tile.stages - 1);
  lines.line("{} += {};", names.stage, names.by);
  for (std::size_t i = 0; i < 2; ++i)
    lines.line("{} += {} * {};", names.at[i], names.by, tile.strip_elements(i));
}

constexpr int kStepDepth = TensorTile::kStepDepth;
// Of strips, in bytes: groups of eight places are exchanged by the last bits of addresses.
constexpr int kStripAlignment = 128;
// Of tiles that are taken together. For 4096^3 on an H200 2 to 16 differed by half a percent, and
// one was slower.
constexpr int kRows = 4;

class TensorCode {
 public:
  TensorCode(const KernelForm& form, const Launch& launch, const MatrixProduct& product,
             const TensorTile& tile)
      : form_(form),
        launch_(launch),
        product_(product),
        tile_(tile),
        fresh_(form.kernel),
        names_(fresh_, product) {
    // The sixteen rows of an instruction suit a factor whose neighbours differ in the coordinate.
    rows_ = product.factors[0].along_k && !product.factors[1].along_k ? 1 : 0;
  }

  Block run() {
    declare();
    define_rounding();
    inside_ = define_tensor_fill(text_, product_, tile_, names_, names_.next);
    start();
    multiply();
    finish();
    return text_.block();
  }

 private:
  // The factor that fills the instruction's rows (0) or its columns (1).
  std::size_t role(std::size_t which) const { return which == 0 ? rows_ : 1 - rows_; }
  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }
  const char* index_type() const { return product_.is_wide ? "long long" : "int"; }

  static std::string text_of(const Polynomial& polynomial, bool wide) {
    return print(to_expression(polynomial, wide));
  }

  void declare_stages() {
    if (tile_.is_dynamic) {
      text_.line("extern __shared__ __align__({}) float {}[];", kStripAlignment, names_.tiles);
      text_.line("float* const {} = {};", names_.stages[0], names_.tiles);
      text_.line("float* const {} = {} + {};", names_.stages[1], names_.tiles,
                 tile_.stages * tile_.strip_elements(0));
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      text_.line("__shared__ __align__({}) float {}[{}];", kStripAlignment, names_.stages[i],
                 tile_.stages * tile_.strip_elements(i));
    }
  }

  void declare() {
    declare_stages();
    text_.line("const unsigned int {} = threadIdx.x;", names_.thread);
    text_.line("const int {} = {} % 32 / 4;", names_.group, names_.thread);
    text_.line("const int {} = {} % 4;", names_.place, names_.thread);
    const std::string warp = names_.thread + " / 32";
    const int across = tile_.tile[1] / tile_.warp[1];
    text_.line("const int {} = {} / {} * {};", names_.in_warp[0], warp, across, tile_.warp[0]);
    text_.line("const int {} = {} % {} * {};", names_.in_warp[1], warp, across, tile_.warp[1]);
    declare_block_place(text_, product_, tile_, names_, kRows);
    text_.line("const {} {} = {};", index_type(), names_.limit,
               text_of(product_.limit, product_.is_wide));
    declare_tensor_copies(text_, product_, tile_, names_);
    text_.line("float {}[{}][{}][4] = {{}};", names_.sums, tile_.warp[rows_] / 16,
               tile_.warp[1 - rows_] / 8);
  }

  // Tensor cores cut the last 13 bits of factors off; they are rounded before, by an instruction.
  // A multiplication that makes up for the cut on average was slower on an H200.
  void define_rounding() {
    text_.open("const auto {} = [](float value)", names_.to_tf32);
    text_.line("unsigned int rounded;");
    text_.add("#if __CUDA_ARCH__ >= 900");
    text_.line("asm(\"cvt.rn.tf32.f32 %0, %1;\" : \"=r\"(rounded) : \"f\"(value));");
    text_.add("#else");
    text_.line("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(rounded) : \"f\"(value));");
    text_.add("#endif");
    text_.line("return rounded;");
    text_.close("};");
  }

  void commit() { text_.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");"); }

  // Until the strip after the one that is multiplied is there, for all warps.
  void wait() {
    text_.line("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", tile_.stages - 2);
    text_.line("__syncthreads();");
  }

  // The strips before the loop, which has as many groups of copies on their way at any time. The
  // first one is written in any case, since it may be read before the loop.
  void start() {
    const std::string first = text_of(product_.first, product_.is_wide);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.stage, tile_.stages - 1);
    text_.line("const {} {} = {} + {} * {};", index_type(), names_.strip, first, names_.stage,
               tile_.depth);
    text_.line("if ({0} == 0 || {1} < {2}) {3}({0}, {1});", names_.stage, names_.strip,
               names_.limit, names_.fill);
    commit();
    text_.close();
  }

  // A fragment in one of the two sets.
  std::string held(std::size_t i, const std::string& at) const {
    return fmt::format("{}[{}][{}]", names_.held[i], names_.set, at);
  }

  void multiply() {
    define_tensor_load(text_, product_, tile_, names_, rows_);
    if (tile_.ahead) {
      wait();
      text_.line("{}(0, 0);", names_.load);
    }
    text_.line("int {} = 0;", names_.stage);
    text_.open("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", index_type(), names_.strip,
               text_of(product_.first, product_.is_wide), names_.limit, tile_.depth);
    if (!tile_.ahead) wait();
    begin_copies();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; {0} += {2})", names_.inner, tile_.depth, kStepDepth);
    if (tile_.ahead) {
      load_next();
    } else {
      text_.line("{}(0, {});", names_.load, names_.inner);
    }
    multiply_fragments();
    text_.close();
    if (!tile_.ahead) advance_tensor_load(text_, tile_, names_);
    if (inside_) advance_tensor_copies(text_, product_, tile_, names_);
    text_.close();
  }

  // Where the next strip goes and whether it is inside; all of its copies, or those of a strip that
  // is not.
  void begin_copies() {
    text_.line("const {} {} = {} + {};", index_type(), names_.next, names_.strip,
               (tile_.stages - 1) * tile_.depth);
    text_.line("const int {0} = {1} == 0 ? {2} : {1} - 1;", names_.into, names_.stage,
               tile_.stages - 1);
    if (inside_) text_.line("const int {} = {};", names_.wanted, *inside_);
    text_.line("if ({}{} < {}) {}({}, {});", inside_ ? "!" + names_.wanted + " && " : "",
               names_.next, names_.limit, names_.fill, names_.into, names_.next);
    if (tile_.ahead) return;
    if (inside_) begin_part("0");
    commit();
  }

  void begin_part(const std::string& part) {
    text_.line("{}({}, {}, {});", names_.fill_inside, names_.into, part, names_.wanted);
  }

  // While the fragments of one step are multiplied, those of the next are loaded, across strips
  // too, and a part of a later strip's copies is begun: tensor cores wait for neither.
  void load_next() {
    text_.open("if ({} == {})", names_.inner, tile_.depth - kStepDepth);
    commit();
    wait();
    // After the last strip its own fragments are loaded once more, and nobody uses them.
    text_.open("if ({} + {} < {})", names_.strip, tile_.depth, names_.limit);
    advance_tensor_load(text_, tile_, names_);
    text_.close();
    text_.close();
    text_.line("{0}(({1} / {2} + 1) % 2, ({1} + {2}) % {3});", names_.load, names_.inner,
               kStepDepth, tile_.depth);
    if (!inside_) return;
    text_.open("if ({} < {})", names_.inner, tile_.parts() * kStepDepth);
    begin_part(fmt::format("{} / {}", names_.inner, kStepDepth));
    text_.close();
  }

  void multiply_fragments() {
    text_.line("const int {} = {};", names_.set,
               tile_.ahead ? fmt::format("{} / {} % 2", names_.inner, kStepDepth) : "0");
    over_fragments();
    const std::string a = held(role(0), names_.i);
    const std::string b = held(role(1), names_.j);
    const std::string d = fmt::format("{}[{}][{}]", names_.sums, names_.i, names_.j);
    text_.line("asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {{%0, %1, %2, %3}}, \"");
    text_.line("    \"{{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"");
    text_.line("    : \"+f\"({0}[0]), \"+f\"({0}[1]), \"+f\"({0}[2]), \"+f\"({0}[3])", d);
    text_.line("    : \"r\"({0}[0]), \"r\"({0}[1]), \"r\"({0}[2]), \"r\"({0}[3]),", a);
    text_.line("      \"r\"({0}[0]), \"r\"({0}[1]));", b);
    text_.close();
    text_.close();
  }

  // Opens the loops over a warp's fragments.
  void over_fragments() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, tile_.warp[role(0)] / 16);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, tile_.warp[role(1)] / 8);
  }

  // What the original does with an element, with the loop's part of the sum at hand.
  void finish() {
    over_fragments();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 4; ++{0})", names_.e);
    for (const std::size_t which : {0UL, 1UL}) {
      const std::size_t i = role(which);
      const std::string within =
          which == 1 ? fmt::format("8 * {} + 2 * {} + {} % 2", names_.j, names_.place, names_.e)
          : factor(i).along_k
              ? fmt::format("16 * {} + {} + 8 * ({} / 2)", names_.i, names_.group, names_.e)
              : fmt::format("16 * {} + 2 * {} + {} / 2", names_.i, names_.group, names_.e);
      text_.line("const int {} = {} + {} + {};", factor(i).axis.coordinate, names_.first[i],
                 names_.in_warp[i], within);
    }
    std::vector<ExprPtr> limits;
    for (const ProductFactor& one : product_.factors) {
      if (one.axis.limit) limits.push_back(less(variable(one.axis.coordinate), one.axis.limit));
    }
    const ExprPtr part = element(variable(names_.sums, ScalarType::f32),
                                 {variable(names_.i), variable(names_.j), variable(names_.e)});
    Block body = element_body(form_, launch_, product_, part);
    if (!limits.empty()) body = {branch(conjunction(limits), std::move(body))};
    text_.add(body);
    text_.close();
    text_.close();
    text_.close();
  }

  const KernelForm& form_;
  const Launch& launch_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  Names fresh_;
  TensorNames names_;
  CodeLines text_;
  std::size_t rows_ = 0;
  std::optional<std::string> inside_;  // the condition for the next strip to copy to be inside
};

}  // namespace

Block tensor_code(const KernelForm& form, const Launch& launch, const MatrixProduct& product,
                  const TensorTile& tile) {
  return TensorCode(form, launch, product, tile).run();
}

}  // namespace regraph::rewrite
