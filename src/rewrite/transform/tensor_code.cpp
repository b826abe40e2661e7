#include "rewrite/transform/tensor_code.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::Polynomial;
using source::StmtPtr;

namespace {

constexpr int kVector = 4;
constexpr int kStepDepth = 8;  // of one instruction

// Lines of text with a common indentation.
class Text {
 public:
  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    add(fmt::format(format, std::forward<Values>(values)...));
  }
  // The same, and what follows is inside.
  template <typename... Values>
  void open(fmt::format_string<Values...> format, Values&&... values) {
    add(fmt::format(format, std::forward<Values>(values)...) + " {");
    ++depth_;
  }
  void close(const char* end = "}") {
    --depth_;
    add(end);
  }
  void reopen(const char* between) {
    --depth_;
    add(between);
    ++depth_;
  }
  void unroll() { add("#pragma unroll"); }
  void add(const std::string& text) { lines_.push_back(std::string(2 * depth_, ' ') + text); }
  void add(const Block& block) {
    std::string text = source::print(block, static_cast<int>(2 * depth_));
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
    lines_.push_back(std::move(text));
  }

  // A statement each, so that the kernel's own indentation comes in front of the first.
  [[nodiscard]] Block block() const {
    std::string text;
    for (const std::string& line : lines_)
      text += (text.empty() ? "" : "\n") + line;
    const std::size_t first = text.find_first_not_of(' ');
    return {std::make_shared<source::OpaqueStatement>(text.substr(first))};
  }

 private:
  std::vector<std::string> lines_;
  std::size_t depth_ = 1;
};

class TensorCode {
 public:
  TensorCode(const KernelForm& form, const Launch& launch, const MatrixProduct& product,
             const TensorTile& tile)
      : form_(form), launch_(launch), product_(product), tile_(tile), names_(form.kernel) {
    // The sixteen rows of an instruction suit a factor whose neighbours differ in the coordinate.
    rows_ = product.factors[0].along_k && !product.factors[1].along_k ? 1 : 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& array = product.factors[i].array;
      stages_[i] = names_.fresh(array + "_stages");
      first_[i] = names_.fresh(array + "_first");
      in_warp_[i] = names_.fresh(array + "_warp");
      whole_[i] = names_.fresh(array + "_aligned");
      held_[i] = names_.fresh(array + "_held");
    }
    for (auto [name, stem] : {std::pair(&thread_, "thread"),
                              std::pair(&group_, "group"),
                              std::pair(&place_, "place"),
                              std::pair(&limit_, "limit"),
                              std::pair(&sums_, "sums"),
                              std::pair(&fill_, "fill"),
                              std::pair(&stage_, "stage"),
                              std::pair(&strip_, "strip"),
                              std::pair(&next_, "next"),
                              std::pair(&inner_, "inner"),
                              std::pair(&item_, "item"),
                              std::pair(&step_, "step"),
                              std::pair(&line_, "line"),
                              std::pair(&offset_, "offset"),
                              std::pair(&to_, "to"),
                              std::pair(&e_, "e"),
                              std::pair(&i_, "i"),
                              std::pair(&j_, "j"),
                              std::pair(&h_, "h"),
                              std::pair(&pair_, "pair"),
                              std::pair(&to_tf32_, "to_tf32"),
                              std::pair(&into_, "into")}) {
      *name = names_.fresh(stem);
    }
    counter_ = product.counted.name;
  }

  Block run() {
    declare();
    define_rounding();
    define_fill();
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
    return source::print(source::to_expression(polynomial, wide));
  }

  // By what places along k of a line of the factor's tile are exchanged.
  std::string exchanged(const std::string& at, const std::string& line) const {
    if (tile_.depth == 8) return at;
    if (tile_.depth == 16) return fmt::format("(({}) ^ ({} / 2 % 2 * 8))", at, line);
    return fmt::format("(({}) ^ ({} % 4 * 8))", at, line);
  }

  void declare() {
    for (std::size_t i = 0; i < 2; ++i) {
      text_.line("__shared__ __align__(16) float {}[{}][{}];", stages_[i], tile_.stages,
                 tile_.tile[i] * tile_.depth);
    }
    text_.line("const int {} = threadIdx.x;", thread_);
    text_.line("const int {} = {} % 32 / 4;", group_, thread_);
    text_.line("const int {} = {} % 4;", place_, thread_);
    const std::string warp = thread_ + " / 32";
    const int across = tile_.tile[1] / tile_.warp[1];
    text_.line("const int {} = {} / {} * {};", in_warp_[0], warp, across, tile_.warp[0]);
    text_.line("const int {} = {} % {} * {};", in_warp_[1], warp, across, tile_.warp[1]);
    for (std::size_t i = 0; i < 2; ++i) {
      text_.line("const int {} = blockIdx.{} * {};", first_[i],
                 kAxes[static_cast<std::size_t>(factor(i).axis.axis)], tile_.tile[i]);
    }
    text_.line("const {} {} = {};", index_type(), limit_,
               text_of(product_.limit, product_.is_wide));
    for (std::size_t i = 0; i < 2; ++i) {
      if (!factor(i).divisible) continue;
      std::string condition;
      for (const std::string& parameter : *factor(i).divisible)
        condition += (condition.empty() ? "" : " && ") + parameter + " % 4 == 0";
      text_.line("const bool {} = {};", whole_[i], condition.empty() ? "true" : condition);
    }
    text_.line("float {}[{}][{}][4] = {{}};", sums_, tile_.warp[rows_] / 16,
               tile_.warp[1 - rows_] / 8);
  }

  // Tensor cores cut factors off; they are rounded before.
  void define_rounding() {
    text_.open("const auto {} = [](float value)", to_tf32_);
    text_.line("unsigned int rounded;");
    text_.add("#if __CUDA_ARCH__ >= 900");
    text_.line("asm(\"cvt.rn.tf32.f32 %0, %1;\" : \"=r\"(rounded) : \"f\"(value));");
    text_.add("#else");
    text_.line("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(rounded) : \"f\"(value));");
    text_.add("#endif");
    text_.line("return rounded;");
    text_.close("};");
  }

  // The conditions for an element of the factor, `beyond` neighbours further on.
  std::string conditions(std::size_t i, const std::string& beyond) const {
    const ProductFactor& one = factor(i);
    std::string result;
    const auto add = [&](const std::string& condition) {
      result += (result.empty() ? "" : " && ") + condition;
    };
    const std::string& coordinate = one.axis.coordinate;
    const bool moves = !one.along_k && !beyond.empty();
    for (const TileGuard& guard : one.guards) {
      TileGuard moved = guard;
      if (moves) {
        const Polynomial there = Polynomial::symbol(coordinate) + Polynomial::symbol(beyond);
        moved.left = guard.left.substitute(coordinate, there);
        moved.right = guard.right.substitute(coordinate, there);
      }
      add(source::print(moved.expression(one.is_wide)));
    }
    if (one.axis.limit) {
      add(fmt::format("{}{} < {}", coordinate, moves ? " + " + beyond : "",
                      source::print(one.axis.limit)));
    }
    add(fmt::format("{}{} < {}", counter_, one.along_k && !beyond.empty() ? " + " + beyond : "",
                    limit_));
    return result;
  }

  // The conditions for a whole vector; empty where they cannot be told.
  std::string whole(std::size_t i) const {
    const ProductFactor& one = factor(i);
    if (!one.divisible) return "";
    std::string result = whole_[i];
    const std::string& coordinate = one.axis.coordinate;
    for (const TileGuard& guard : one.guards) {
      std::optional<TileGuard> hardest = guard;
      if (!one.along_k) {
        const Polynomial there = Polynomial::symbol(coordinate) + Polynomial::symbol(e_);
        hardest = TileGuard{guard.op, guard.left.substitute(coordinate, there),
                            guard.right.substitute(coordinate, there)}
                      .hardest(e_, kVector);
      }
      if (!hardest) return "";
      result += " && " + source::print(hardest->expression(one.is_wide));
    }
    if (one.axis.limit) {
      result += fmt::format(" && {}{} < {}", coordinate, one.along_k ? "" : " + 3",
                            source::print(one.axis.limit));
    }
    return result + fmt::format(" && {}{} < {}", counter_, one.along_k ? " + 3" : "", limit_);
  }

  std::string element(std::size_t i, const std::string& beyond) const {
    const ProductFactor& one = factor(i);
    Polynomial index = one.index;
    if (!beyond.empty()) {
      const std::string& moved = one.along_k ? counter_ : one.axis.coordinate;
      index = index.substitute(moved, Polynomial::symbol(moved) + Polynomial::symbol(beyond));
    }
    return fmt::format("{}[{}]", one.array, text_of(index, one.is_wide));
  }

  // Copies one factor's strip.
  void copy(std::size_t i) {
    const ProductFactor& one = factor(i);
    const int row = one.along_k ? tile_.depth : tile_.tile[i];
    const int vectors = row / kVector;  // of a line of the tile
    const int items = tile_.tile[i] * tile_.depth / kVector;
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", step_, items / tile_.threads());
    text_.line("const int {} = {} + {} * {};", item_, thread_, step_, tile_.threads());
    text_.line("const int {} = {} / {};", line_, item_, vectors);
    text_.line("const int {} = {} % {} * {};", offset_, item_, vectors, kVector);
    const std::string& at_k = one.along_k ? offset_ : line_;
    const std::string& at = one.along_k ? line_ : offset_;
    text_.line("const int {} = {} + {};", one.axis.coordinate, first_[i], at);
    text_.line("const {} {} = {} + {};", index_type(), counter_, strip_, at_k);
    const std::string place = one.along_k ? exchanged(offset_, line_)
                                          : fmt::format("({} ^ ({} / 2 % 4 * 8))", offset_, line_);
    text_.line("float* const {} = &{}[{}][{} * {} + {}];", to_, stages_[i], into_, line_, row,
               place);
    const std::string all = whole(i);
    if (!all.empty()) {
      text_.open("if ({})", all);
      text_.line("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\" ::");
      text_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"(&{})", to_,
                 element(i, ""));
      text_.line("             : \"memory\");");
      text_.reopen("} else {");
    }
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", e_, kVector);
    text_.line("{}[{}] = {} ? {} : 0.0f;", to_, e_, conditions(i, e_), element(i, e_));
    text_.close();
    if (!all.empty()) text_.close();
    text_.close();
  }

  void define_fill() {
    text_.open("const auto {} = [&](int {}, {} {})", fill_, into_, index_type(), strip_);
    for (std::size_t i = 0; i < 2; ++i)
      copy(i);
    text_.close("};");
  }

  void commit() { text_.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");"); }

  // The strips before the loop, which has as many groups of copies on their way at any time.
  void start() {
    const std::string first = text_of(product_.first, product_.is_wide);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", stage_, tile_.stages - 1);
    text_.line("const {} {} = {} + {} * {};", index_type(), strip_, first, stage_, tile_.depth);
    text_.line("if ({0} < {1}) {2}({3}, {0});", strip_, limit_, fill_, stage_);
    commit();
    text_.close();
    text_.line("int {} = 0;", stage_);
    text_.open("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", index_type(), strip_, first, limit_,
               tile_.depth);
    text_.line("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", tile_.stages - 2);
    text_.line("__syncthreads();");
    text_.line("const {} {} = {} + {};", index_type(), next_, strip_,
               (tile_.stages - 1) * tile_.depth);
    text_.line("if ({0} < {1}) {2}(({3} + {4}) % {5}, {0});", next_, limit_, fill_, stage_,
               tile_.stages - 1, tile_.stages);
    commit();
  }

  // Loads the fragments that fill the instruction's rows.
  void load_rows() {
    const std::size_t i = role(0);
    text_.line("unsigned int {}[{}][4];", held_[i], tile_.warp[i] / 16);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", i_, tile_.warp[i] / 16);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 2; ++{0})", h_);
    if (factor(i).along_k) {
      text_.line("const int {} = {} + 16 * {} + 8 * {} + {};", line_, in_warp_[i], i_, h_, group_);
      pair(i, fmt::format("{} * {} + {}", line_, tile_.depth,
                          exchanged(inner_ + " + 2 * " + place_, line_)));
      text_.line("{0}[{1}][{2}] = {3}({4}.x);", held_[i], i_, h_, to_tf32_, pair_);
      text_.line("{0}[{1}][{2} + 2] = {3}({4}.y);", held_[i], i_, h_, to_tf32_, pair_);
    } else {
      pair(i, fmt::format("({} + 2 * {} + {}) * {} + (({} + 16 * {} + 2 * {}) ^ (8 * {}))", inner_,
                          place_, h_, tile_.tile[i], in_warp_[i], i_, group_, place_));
      text_.line("{0}[{1}][2 * {2}] = {3}({4}.x);", held_[i], i_, h_, to_tf32_, pair_);
      text_.line("{0}[{1}][2 * {2} + 1] = {3}({4}.y);", held_[i], i_, h_, to_tf32_, pair_);
    }
    text_.close();
    text_.close();
  }

  // Those that fill its columns.
  void load_columns() {
    const std::size_t i = role(1);
    text_.line("unsigned int {}[{}][2];", held_[i], tile_.warp[i] / 8);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", j_, tile_.warp[i] / 8);
    if (factor(i).along_k) {
      text_.line("const int {} = {} + 8 * {} + {};", line_, in_warp_[i], j_, group_);
      pair(i, fmt::format("{} * {} + {}", line_, tile_.depth,
                          exchanged(inner_ + " + 2 * " + place_, line_)));
      text_.line("{0}[{1}][0] = {2}({3}.x);", held_[i], j_, to_tf32_, pair_);
      text_.line("{0}[{1}][1] = {2}({3}.y);", held_[i], j_, to_tf32_, pair_);
    } else {
      text_.unroll();
      text_.open("for (int {0} = 0; {0} < 2; ++{0})", h_);
      text_.line(
          "{0}[{1}][{2}] = {3}({4}[{5}][({6} + 2 * {7} + {2}) * {8} + (({9} + 8 * {1} + {10}) ^ (8 "
          "* {7}))]);",
          held_[i], j_, h_, to_tf32_, stages_[i], stage_, inner_, place_, tile_.tile[i],
          in_warp_[i], group_);
      text_.close();
    }
    text_.close();
  }

  void pair(std::size_t i, const std::string& at) {
    text_.line("const float2 {} = *(const float2*)&{}[{}][{}];", pair_, stages_[i], stage_, at);
  }

  void multiply() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; {0} += {2})", inner_, tile_.depth, kStepDepth);
    load_rows();
    load_columns();
    over_fragments();
    const std::string& a = held_[role(0)];
    const std::string& b = held_[role(1)];
    const std::string d = fmt::format("{}[{}][{}]", sums_, i_, j_);
    text_.line("asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {{%0, %1, %2, %3}}, \"");
    text_.line("    \"{{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"");
    text_.line("    : \"+f\"({0}[0]), \"+f\"({0}[1]), \"+f\"({0}[2]), \"+f\"({0}[3])", d);
    text_.line(
        "    : \"r\"({0}[{1}][0]), \"r\"({0}[{1}][1]), \"r\"({0}[{1}][2]), \"r\"({0}[{1}][3]),", a,
        i_);
    text_.line("      \"r\"({0}[{1}][0]), \"r\"({0}[{1}][1]));", b, j_);
    text_.close();
    text_.close();
    text_.close();
    text_.line("{0} = ({0} + 1) % {1};", stage_, tile_.stages);
    text_.close();
  }

  // Opens the loops over a warp's fragments.
  void over_fragments() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", i_, tile_.warp[role(0)] / 16);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", j_, tile_.warp[role(1)] / 8);
  }

  // What the original does with an element, with the loop's part of the sum at hand.
  void finish() {
    over_fragments();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 4; ++{0})", e_);
    for (const std::size_t which : {0UL, 1UL}) {
      const std::size_t i = role(which);
      const std::string within =
          which == 1          ? fmt::format("8 * {} + 2 * {} + {} % 2", j_, place_, e_)
          : factor(i).along_k ? fmt::format("16 * {} + {} + 8 * ({} / 2)", i_, group_, e_)
                              : fmt::format("16 * {} + 2 * {} + {} / 2", i_, group_, e_);
      text_.line("const int {} = {} + {} + {};", factor(i).axis.coordinate, first_[i], in_warp_[i],
                 within);
    }
    std::vector<ExprPtr> limits;
    for (const ProductFactor& one : product_.factors) {
      if (one.axis.limit)
        limits.push_back(source::less(source::variable(one.axis.coordinate), one.axis.limit));
    }
    Block body = element_body();
    if (!limits.empty()) body = {source::branch(source::conjunction(limits), std::move(body))};
    text_.add(body);
    text_.close();
    text_.close();
    text_.close();
  }

  Block element_body() const {
    const ExprPtr part =
        source::element(source::variable(sums_, ScalarType::f32),
                        {source::variable(i_), source::variable(j_), source::variable(e_)});
    Block body = source::rewrite_statements(
        form_.kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          if (stmt.get() != product_.loop) return std::nullopt;
          const StmtPtr sum = source::assign(source::variable(product_.sum, ScalarType::f32),
                                             source::AssignmentOperator::add, part);
          if (product_.guards.empty()) return Block{sum};
          return Block{source::branch(source::conjunction(product_.guards), {sum})};
        });
    return source::rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      return in_coordinates(expr, form_, launch_, product_);
    });
  }

  const KernelForm& form_;
  const Launch& launch_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  Names names_;
  Text text_;
  std::size_t rows_ = 0;
  std::array<std::string, 2> stages_, first_, in_warp_, whole_, held_;
  std::string thread_, group_, place_, limit_, sums_, fill_, stage_, strip_, next_, inner_, item_,
      step_, line_, offset_, to_, e_, i_, j_, h_, pair_, to_tf32_, into_, counter_;
};

}  // namespace

Block tensor_code(const KernelForm& form, const Launch& launch, const MatrixProduct& product,
                  const TensorTile& tile) {
  return TensorCode(form, launch, product, tile).run();
}

}  // namespace regraph::rewrite
