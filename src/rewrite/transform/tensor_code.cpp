#include "rewrite/transform/tensor_code.h"

#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/product_elements.h"
#include "rewrite/transform/tensor_copies.h"
#include "rewrite/transform/tensor_fragments.h"
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
        names_(fresh_, product),
        staged_(fresh_.fresh("staged")) {
    rows_ = is_staged() ? rows_in_memory(product)
                        // The sixteen rows suit a factor whose neighbours differ in the coordinate.
                        : (product.factors[0].along_k && !product.factors[1].along_k ? 1 : 0);
  }

  Block run() {
    declare();
    if (!is_staged()) define_rounding();
    inside_ = define_tensor_fill(text_, product_, tile_, names_, names_.next);
    start();
    multiply();
    if (is_staged()) {
      finish_staged();
    } else {
      finish();
    }
    return text_.block(fresh_);
  }

 private:
  // The factor that fills the instruction's rows (0) or its columns (1).
  std::size_t role(std::size_t which) const { return which == 0 ? rows_ : 1 - rows_; }
  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }
  bool is_staged() const { return tile_.layout == StripLayout::panels; }
  bool is_sliced() const { return tile_.slices > 1; }
  std::string sum_type() const { return std::string(cuda_name(product_.sum_type)); }
  const char* index_type() const { return product_.is_wide ? "long long" : "int"; }

  static std::string text_of(const Polynomial& polynomial, bool wide) {
    return print(to_expression(polynomial, wide));
  }

  void declare_stages() {
    const std::string type(cuda_name(tile_.element));
    if (tile_.is_dynamic) {
      text_.line("extern __shared__ __align__({}) {} {}[];", alignment(), type, names_.tiles);
      text_.line("{}* const {} = {}{};", type, names_.stages[0], names_.tiles, stages_of_slice());
      text_.line("{}* const {} = {} + {};", type, names_.stages[1], names_.stages[0],
                 tile_.stages * tile_.strip_elements(0));
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      text_.line("__shared__ __align__({}) {} {}[{}];", alignment(), type, names_.stages[i],
                 tile_.stages * tile_.strip_elements(i));
    }
  }

  // What is added to where all stages begin.
  std::string stages_of_slice() const {
    if (!is_sliced()) return "";
    return fmt::format(" + {} * {}", names_.slice,
                       tile_.stages * (tile_.strip_elements(0) + tile_.strip_elements(1)));
  }

  // Of strips, in bytes: places are exchanged by the last bits of addresses.
  int alignment() const {
    return tile_.layout == StripLayout::panels ? 8 * TensorTile::kPanelBytes : kStripAlignment;
  }

  void declare() {
    text_.line("const unsigned int {} = threadIdx.x;", names_.thread);
    if (is_sliced()) {
      text_.line("const int {} = {} / 32;", names_.slice, names_.thread);
      text_.line("const unsigned int {} = {} % 32;", names_.lane, names_.thread);
    }
    declare_stages();
    declare_warp_place(text_, tile_, names_, is_sliced() ? "0" : names_.thread + " / 32");
    declare_block_place(text_, product_, tile_, names_, kRows);
    text_.line("const {} {} = {};", index_type(), names_.limit,
               text_of(product_.limit, product_.is_wide));
    declare_tensor_copies(text_, product_, tile_, names_);
    text_.line("{} {}[{}][{}][4] = {{}};", sum_type(), names_.sums, tile_.warp[rows_] / 16,
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

  // Until the strip after the one that is multiplied is there, for all warps that multiply it.
  void wait() {
    text_.line("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", tile_.stages - 2);
    text_.line("{}();", is_sliced() ? "__syncwarp" : "__syncthreads");
  }

  // The first place along k that a thread's warp multiplies.
  std::string first() const {
    const std::string first = text_of(product_.first, product_.is_wide);
    return is_sliced() ? fmt::format("{} + {} * {}", first, names_.slice, tile_.depth) : first;
  }

  // The strips before the loop, which has as many groups of copies on their way at any time. The
  // first one is written in any case, since it may be read before the loop; not so by slices.
  void start() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.stage, tile_.stages - 1);
    const std::string& strip = is_sliced() ? names_.next : names_.strip;
    text_.line("const {} {} = {} + {} * {};", index_type(), strip, first(), names_.stage,
               tile_.strip_step());
    if (is_sliced()) {
      copy_strip(names_.stage);
      if (inside_) advance_tensor_copies(text_, product_, tile_, names_);
    } else {
      text_.line("if ({0} == 0 || {1} < {2}) {3}({0}, {1});", names_.stage, strip, names_.limit,
                 names_.fill);
      commit();
    }
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
    text_.open("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", index_type(), names_.strip, first(),
               names_.limit, tile_.strip_step());
    if (!tile_.ahead) wait();
    begin_copies();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; {0} += {2})", names_.inner, tile_.depth,
               tile_.step_depth());
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
               (tile_.stages - 1) * tile_.strip_step());
    text_.line("const int {0} = {1} == 0 ? {2} : {1} - 1;", names_.into, names_.stage,
               tile_.stages - 1);
    copy_strip(names_.into);
  }

  // The strip `next` to a stage.
  void copy_strip(const std::string& into) {
    if (inside_) text_.line("const int {} = {};", names_.wanted, *inside_);
    text_.line("if ({}{} < {}) {}({}, {});", inside_ ? "!" + names_.wanted + " && " : "",
               names_.next, names_.limit, names_.fill, into, names_.next);
    if (tile_.ahead) return;
    if (inside_) begin_part(into, "0");
    commit();
  }

  void begin_part(const std::string& into, const std::string& part) {
    text_.line("{}({}, {}, {});", names_.fill_inside, into, part, names_.wanted);
  }

  // While the fragments of one step are multiplied, those of the next are loaded, across strips
  // too, and a part of a later strip's copies is begun: tensor cores wait for neither.
  void load_next() {
    text_.open("if ({} == {})", names_.inner, tile_.depth - tile_.step_depth());
    commit();
    wait();
    // After the last strip its own fragments are loaded once more, and nobody uses them.
    text_.open("if ({} + {} < {})", names_.strip, tile_.depth, names_.limit);
    advance_tensor_load(text_, tile_, names_);
    text_.close();
    text_.close();
    text_.line("{0}(({1} / {2} + 1) % 2, ({1} + {2}) % {3});", names_.load, names_.inner,
               tile_.step_depth(), tile_.depth);
    if (!inside_) return;
    text_.open("if ({} < {})", names_.inner, tile_.parts() * tile_.step_depth());
    begin_part(names_.into, fmt::format("{} / {}", names_.inner, tile_.step_depth()));
    text_.close();
  }

  void multiply_fragments() {
    text_.line("const int {} = {};", names_.set,
               tile_.ahead ? fmt::format("{} / {} % 2", names_.inner, tile_.step_depth()) : "0");
    open_fragment_loops(text_, tile_, names_, rows_);
    if (tile_.split)
      multiply_split_fragment();
    else
      multiply_fragment(sums(), 0, 0);
    text_.close();
    text_.close();
  }

  // The small ones first. Tensor cores cut off what a sum does not hold, which adds up over a long
  // sum of numbers of one sign, so each step's is a sum of its own and is added by rounding (Ootomo
  // and Yokota, "Recovering single precision accuracy from Tensor Cores", 2022, section 3).
  void multiply_split_fragment() {
    text_.line("float {}[4] = {{}};", names_.split_sums);
    multiply_fragment(names_.split_sums, 4, 0);
    multiply_fragment(names_.split_sums, 0, 2);
    multiply_fragment(names_.split_sums, 0, 0);
    text_.unroll();
    text_.line("for (int {0} = 0; {0} < 4; ++{0}) {1}[{0}] += {2}[{0}];", names_.e, sums(),
               names_.split_sums);
  }

  [[nodiscard]] std::string sums() const {
    return fmt::format("{}[{}][{}]", names_.sums, names_.i, names_.j);
  }

  // Of the fragments' registers from `first_a` and `first_b` on, added to `sums`.
  void multiply_fragment(const std::string& sums, int first_a, int first_b) {
    const auto part = [](const std::string& of, int at) { return fmt::format("{}[{}]", of, at); };
    const std::string a = held(role(0), names_.i);
    const std::string b = held(role(1), names_.j);
    write_fragment_product(
        text_, tile_.element, sums,
        {part(a, first_a), part(a, first_a + 1), part(a, first_a + 2), part(a, first_a + 3)},
        {part(b, first_b), part(b, first_b + 1)});
  }

  // The sums go through shared memory, where the strips were, so that neighbours are stored
  // together.
  void finish_staged() {
    write_sums_to_shared(text_, product_, tile_, names_, rows_, staged_);
    TensorNames staged = names_;
    staged.sums = staged_;
    write_staged_elements(text_, form_, launch_, product_, tile_, staged, rows_,
                          tile_.staged_pitch(rows_), tile_.threads());
  }

  // What the original does with an element, with the loop's part of the sum at hand.
  void finish() {
    open_fragment_loops(text_, tile_, names_, rows_);
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
    const ExprPtr part = element(variable(names_.sums, product_.sum_type),
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
  std::string staged_;
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
