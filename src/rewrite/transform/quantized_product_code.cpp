#include "rewrite/transform/quantized_product_code.h"

#include "affine/block_geometry.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/row_places_code.h"
#include "rewrite/transform/tensor_fragments.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>

namespace regraph::rewrite {

namespace {

// Names of what the code adds to the kernel.
struct QuantizedNames {
  explicit QuantizedNames(Names& names)
      : lane(names.fresh("lane")),
        warp(names.fresh("warp")),
        first(names.fresh("first_row")),
        limit(names.fresh("row_limit")),
        words(names.fresh("words")),
        rows(names.fresh("row_words")),
        elements(names.fresh("elements")),
        sums(names.fresh("sums")),
        weights(names.fresh("weights")),
        multiply(names.fresh("multiply")),
        word(names.fresh("word")),
        pack(names.fresh("pack")),
        round(names.fresh("round")),
        mine(names.fresh("mine")),
        left(names.fresh("left")),
        inside(names.fresh("is_inside")),
        place(names.fresh("place")),
        part(names.fresh("part")),
        upper(names.fresh("upper")),
        lower(names.fresh("lower")),
        x(names.fresh("pair")),
        other(names.fresh("other")),
        stream(names.fresh("stream")),
        at(names.fresh("at")),
        warp_sums(names.fresh("warp_sums")),
        element(names.fresh("element")),
        scales(names.fresh("row_scales")),
        i(names.fresh("i")),
        h(names.fresh("h")),
        v(names.fresh("v")),
        e(names.fresh("e")) {}

  const std::string lane, warp, first, limit, words, rows, elements, sums, weights, multiply, word,
      pack, round, mine, left, inside, place, part, upper, lower, x, other, stream, at, warp_sums,
      element, scales, i, h, v, e;
};

class QuantizedCode {
 public:
  QuantizedCode(const QuantizedProduct& product, const QuantizedTile& tile)
      : product_(product), tile_(tile), fresh_(with_taken_names(product)), names_(fresh_) {
    while (product.group % (QuantizedTile::kLanes * vector_) != 0)
      vector_ /= 2;
  }

  Block run() {
    declare_rows();
    declare_places();
    define_weights();
    define_multiply();
    go_over_words();
    add_up();
    return text_.block(fresh_);
  }

 private:
  static constexpr int kRows = 8;  // of a warp, for each of which four lanes load words

  static Names with_taken_names(const QuantizedProduct& product) {
    Names names = names_of_places(product);
    names.take(product.group_number);
    return names;
  }

  const std::string& row() const { return product_.axis.coordinate; }
  int rows() const { return tile_.rows / kRows; }  // of a lane
  bool is_half() const { return product_.element == ScalarType::f16; }
  // Words of a row that four lanes load at once, all of the same scale; a round has two of these.
  int chunk() const { return QuantizedTile::kLanes * vector_; }
  int round_words() const { return 2 * chunk(); }
  static std::string text_of(const Polynomial& polynomial, bool wide) {
    return print(to_expression(polynomial, wide));
  }

  // What is added to the array's address.
  static std::string offset_of(const QuantizedOperand& operand) {
    return operand.index.is_zero()
               ? ""
               : fmt::format(" + ({})", text_of(operand.index, operand.is_wide));
  }

  // Which rows the block has.
  void declare_rows() {
    declare_values_of_block(text_, product_);
    text_.line("const int {} = threadIdx.x % 32;", names_.lane);
    text_.line("const int {} = threadIdx.x / 32;", names_.warp);
    text_.line("const int {} = (int)blockIdx.{} * {};", names_.first,
               kAxes[static_cast<std::size_t>(product_.axis.axis)], tile_.rows);
    declare_row_limit(text_, product_, names_.limit, names_.first);
  }

  // Rows past the end are read as the last one, and not stored.
  void declare_row() {
    text_.line(
        "const int {0} = {1} + {2} / 4 + {3} * {4} < {5} ? {1} + {2} / 4 + {3} * {4} : {5} - 1;",
        row(), names_.first, names_.lane, kRows, names_.i, names_.limit);
  }

  void over_rows() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, rows());
  }
  void over_vector() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.v, vector_);
  }

  // Where the lane's words and elements of the warp's first round are. Rows with odd numbers begin
  // with the second chunk, so that two rows do not lie in the same banks of the cache.
  void declare_places() {
    const ExprPtr words = multiply(product_.iterations, integer(product_.words));
    text_.line("const int {} = {};", names_.words, print(words));
    text_.line("int {} = {};", names_.round, names_.warp);
    text_.line("const int {} = {} / 4 % 2 * {} + {} % 4 * {};", names_.mine, names_.lane, chunk(),
               names_.lane, vector_);
    text_.line("const int {} = {} / 4 % 2 == 0 ? {} : -{};", names_.other, names_.lane, chunk(),
               chunk());
    text_.line("const int {} = {} / 16 * {} + {} % 4 * {} + {} / 4 % {};", names_.at, names_.lane,
               chunk(), names_.lane, vector_, names_.lane, vector_);
    text_.line("const unsigned int* {}[{}];", names_.rows, rows());
    over_rows();
    declare_row();
    text_.line("{}[{}] = (const unsigned int*){}{} + {};", names_.rows, names_.i,
               product_.weights.array, offset_of(product_.weights), names_.mine);
    text_.close();
    text_.line("const unsigned short* const {} = (const unsigned short*){}{} + {} * {};",
               names_.elements, product_.elements.array, offset_of(product_.elements),
               QuantizedProduct::kWeights, names_.at);
    text_.line("float {}[{}] = {{}};", names_.sums, rows());
  }

  // Turns a word into four pairs of weights, of which each has four between its two.
  void define_weights() {
    text_.open("const auto {} = [](unsigned int {}, unsigned int (&{})[4])", names_.weights,
               names_.word, names_.x);
    for (int pair = 0; pair < 4; ++pair) {
      const int shift = is_half() ? pair / 2 * 8 : pair * 4;
      const std::string word =
          shift == 0 ? names_.word : fmt::format("({} >> {})", names_.word, shift);
      // Of half the mantissa has room for the weight at its place, times sixteen.
      const bool is_shifted = is_half() && pair % 2 == 1;
      // (a & b) | c, of which the compiler would make two instructions where b and c are numbers.
      text_.line("asm(\"lop3.b32 %0, %1, %2, %3, 0xea;\" : \"=r\"({}[{}])", names_.x, pair);
      text_.line("    : \"r\"({}), \"r\"({}), \"r\"({}));", word,
                 is_shifted ? "0x00f000f0u" : "0x000f000fu",
                 is_half() ? "0x64006400u" : "0x43004300u");
      const auto twice = [](unsigned bits) { return fmt::format("0x{0:04x}{0:04x}u", bits); };
      const auto zero = static_cast<unsigned>(product_.zero);
      if (is_shifted) {
        text_.line("asm(\"fma.rn.f16x2 %0, %0, %1, %2;\" : \"+r\"({}[{}]) : \"r\"({}), \"r\"({}));",
                   names_.x, pair, twice(0x2c00), twice(0xd400 + 16 * zero));
      } else if (is_half()) {
        text_.line("asm(\"sub.f16x2 %0, %0, %1;\" : \"+r\"({}[{}]) : \"r\"({}));", names_.x, pair,
                   twice(0x6400 + zero));
      } else {
        text_.line(
            "asm(\"fma.rn.bf16x2 %0, %0, %1, %2;\" : \"+r\"({}[{}]) : \"r\"({}), \"r\"({}));",
            names_.x, pair, twice(0x3f80), twice(0xc300 + zero));
      }
    }
    text_.close("};");
  }

  // Adds the products of a round's words, of which the lane has `word` and `pack`. Columns of the
  // fragment have elements for one word of each lane's vector, the first four for the first chunk:
  // a word's products are right in the columns that have its elements.
  void define_multiply() {
    text_.open("const auto {} = [&](const unsigned int (&{})[2][{}][{}], const uint4& {}, bool {})",
               names_.multiply, names_.word, rows(), vector_, names_.pack, names_.inside);
    if (product_.group > 0) {
      text_.line("float {}[{}];", names_.scales, rows());
      const std::string number = fmt::format("2 * {} + {} / 2 % 2", names_.round, names_.lane);
      const int chunks = product_.group / chunk();
      text_.line("const int {} = {};", product_.group_number,
                 chunks == 1 ? number : fmt::format("({}) / {}", number, chunks));
      over_rows();
      declare_row();
      text_.line("{}[{}] = {} ? {} : 0.0f;", names_.scales, names_.i, names_.inside,
                 print(product_.scale));
      text_.close();
    }
    text_.line("unsigned int {}[4];", names_.x);
    for (int pair = 0; pair < 4; ++pair) {
      text_.line("{0}[{1}] = __byte_perm({2}.{3}, {2}.{4}, 0x{5});", names_.x, pair, names_.pack,
                 pair < 2 ? 'x' : 'y', pair < 2 ? 'z' : 'w', pair % 2 == 0 ? "5410" : "7632");
    }
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
    over_vector();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; {0} += 2)", names_.i, rows());
    text_.line("unsigned int {}[4], {}[4];", names_.upper, names_.lower);
    text_.line("{}({}[{}][{}][{}], {});", names_.weights, names_.word, names_.h, names_.i, names_.v,
               names_.upper);
    text_.line("{}({}[{}][{} + 1][{}], {});", names_.weights, names_.word, names_.h, names_.i,
               names_.v, names_.lower);
    text_.line("float {}[4] = {{}};", names_.part);
    for (int half = 0; half < 2; ++half) {
      const auto at = [&](const std::string& pairs, int pair) {
        return fmt::format("{}[{}]", pairs, 2 * half + pair);
      };
      write_fragment_product(
          text_, product_.element, names_.part,
          {at(names_.upper, 0), at(names_.lower, 0), at(names_.upper, 1), at(names_.lower, 1)},
          {at(names_.x, 0), at(names_.x, 1)});
    }
    add_parts();
    text_.close();
    text_.close();
    text_.close();
    text_.close("};");
  }

  // A lane has two columns next to each other, so the sums of two words at most.
  bool shares_words() const { return vector_ == 4; }

  void add_parts() {
    // The chunk that the row's words are of is that of the lane's columns.
    std::string condition = fmt::format("({0} / 4 + {0} / 2) % 2 == {1}", names_.lane, names_.h);
    if (shares_words()) condition += fmt::format(" && {} % 2 == {} / 2", names_.lane, names_.v);
    text_.open("if ({})", condition);
    for (int row = 0; row < 2; ++row) {
      const std::string at = row == 0 ? names_.i : names_.i + " + 1";
      const std::string part = fmt::format("{}[{} + {} % 2]", names_.part, 2 * row, names_.v);
      if (product_.group > 0) {
        text_.line("{0}[{1}] = fmaf({2}[{1}], {3}, {0}[{1}]);", names_.sums, at, names_.scales,
                   part);
      } else {
        text_.line("{}[{}] += {};", names_.sums, at, part);
      }
    }
    text_.close();
  }

  // Whether vectors of so many of the operand's elements are aligned: a condition; empty where they
  // never are.
  std::string is_aligned(const QuantizedOperand& operand, int width, int bytes) const {
    const auto divisible = product_.divisible(operand, width);
    if (!divisible || tile_.alignment < bytes) return "";
    std::string condition;
    for (const std::string& name : *divisible)
      condition += fmt::format("{}{} % {} == 0", condition.empty() ? "" : " && ", name, width);
    return condition.empty() ? "true" : condition;
  }

  // Whole rounds by vectors where these are aligned, others by words.
  void go_over_words() {
    const std::string words_aligned = is_aligned(product_.weights, vector_, 4 * vector_);
    const std::string elements_aligned =
        is_aligned(product_.elements, QuantizedProduct::kWeights, 16);
    std::string condition;
    for (const std::string& one : {words_aligned, elements_aligned}) {
      if (one != "true") condition += (condition.empty() ? "" : " && ") + one;
    }
    const bool has_vectors = !words_aligned.empty() && !elements_aligned.empty();
    if (has_vectors) {
      define_stream();
      if (!condition.empty()) text_.open("if ({})", condition);
      open_round(fmt::format("{} < {} / {}", names_.round, names_.words, round_words()));
      load_vectors();
      close_round("true");
      if (!condition.empty()) text_.close();
    }
    const bool is_whole = product_.group > 0 && product_.words % round_words() == 0;
    if (has_vectors && condition.empty() && is_whole) return;
    open_round(fmt::format("{} * {} < {}", names_.round, round_words(), names_.words));
    load_elements(elements_aligned == "true");
    close_round(fmt::format("{} / 2 % 2 * {} < {}", names_.lane, chunk(), names_.left));
  }

  void open_round(const std::string& condition) {
    text_.keep_rolled();
    text_.open("for (; {}; {} += {})", condition, names_.round, tile_.warps);
    text_.line("__align__(16) unsigned int {}[2][{}][{}];", names_.word, rows(), vector_);
    text_.line("const int {} = {} * {};", names_.place, names_.round, round_words());
  }
  // `inside`: whether the lane's columns are of a chunk that there is.
  void close_round(const std::string& inside) {
    text_.line("{}({}, {}, {});", names_.multiply, names_.word, names_.pack, inside);
    text_.close();
  }

  std::string element_place() const {
    return fmt::format("{} + {}{} * {}", names_.elements,
                       product_.elements.is_wide ? "(long long)" : "", names_.place,
                       QuantizedProduct::kWeights);
  }

  void load_vectors() {
    const char* const type = vector_ == 4 ? "uint4" : vector_ == 2 ? "uint2" : "unsigned int";
    over_rows();
    text_.line("*({0}*){1}[0][{2}] = {3}({4}[{2}] + {5});", type, names_.word, names_.i,
               names_.stream, names_.rows, names_.place);
    text_.line("*({0}*){1}[1][{2}] = {3}({4}[{2}] + ({5} + {6}));", type, names_.word, names_.i,
               names_.stream, names_.rows, names_.place, names_.other);
    text_.close();
    text_.line("const uint4 {} = *(const uint4*)({});", names_.pack, element_place());
  }

  // A load of words that are read once: past the L1, by lines of which others read the rest.
  void define_stream() {
    const auto define = [&](const char* type, const char* suffix, const char* parts,
                            const char* outputs, int address) {
      text_.open("const auto {} = [](const unsigned int* from)", names_.stream);
      text_.line("{} bits;", type);
      text_.line("asm volatile(\"ld.global.nc.L1::no_allocate.L2::256B{}.u32 {}, [%{}];\"", suffix,
                 parts, address);
      text_.line("             : {} : \"l\"(from));", outputs);
      text_.line("return bits;");
      text_.close("};");
    };
    if (vector_ == 4) {
      define("uint4", ".v4", "{%0, %1, %2, %3}",
             R"("=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w))", 4);
    } else if (vector_ == 2) {
      define("uint2", ".v2", "{%0, %1}", R"("=r"(bits.x), "=r"(bits.y))", 2);
    } else {
      define("unsigned int", "", "%0", R"("=r"(bits))", 1);
    }
  }

  // One by one, zeros beyond the end.
  void load_elements(bool by_vector) {
    text_.line("const int {} = {} - {};", names_.left, names_.words, names_.place);
    over_rows();
    over_vector();
    text_.line("{0}[0][{1}][{2}] = {3} + {2} < {4} ? {5}[{1}][{6} + {2}] : 0;", names_.word,
               names_.i, names_.v, names_.mine, names_.left, names_.rows, names_.place);
    text_.line("{0}[1][{1}][{2}] = {3} + {7} + {2} < {4} ? {5}[{1}][{6} + {7} + {2}] : 0;",
               names_.word, names_.i, names_.v, names_.mine, names_.left, names_.rows, names_.place,
               names_.other);
    text_.close();
    text_.close();
    const std::string inside = fmt::format("{} < {}", names_.at, names_.left);
    if (by_vector) {
      text_.line("const uint4 {} = {} ? *(const uint4*)({}) : uint4{{}};", names_.pack, inside,
                 element_place());
      return;
    }
    text_.line("__align__(16) unsigned short {}[{}];", names_.element, QuantizedProduct::kWeights);
    text_.unroll();
    text_.line("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3} ? ({4})[{0}] : 0;", names_.e,
               QuantizedProduct::kWeights, names_.element, inside, element_place());
    text_.line("const uint4 {} = *(const uint4*){};", names_.pack, names_.element);
  }

  // Puts the warps' sums together, and does with those of a row what the original does.
  void add_up() {
    text_.line("__shared__ float {}[{}][{}];", names_.warp_sums, tile_.warps, tile_.rows);
    over_rows();
    if (shares_words())
      text_.line("{0}[{1}] += __shfl_xor_sync(0xffffffffu, {0}[{1}], 1);", names_.sums, names_.i);
    text_.line("{0}[{1}] += __shfl_xor_sync(0xffffffffu, {0}[{1}], 2);", names_.sums, names_.i);
    text_.close();
    text_.open("if ({} % 4 == 0)", names_.lane);
    over_rows();
    text_.line("{}[{}][{} / 4 + {} * {}] = {}[{}];", names_.warp_sums, names_.warp, names_.lane,
               kRows, names_.i, names_.sums, names_.i);
    text_.close();
    text_.close();
    text_.line("__syncthreads();");
    text_.line("const int {} = {} + (int)threadIdx.x;", row(), names_.first);
    text_.open("if (threadIdx.x < {} && {} < {})", tile_.rows, row(), names_.limit);
    text_.line("float {} = 0.0f;", product_.sum);
    text_.unroll();
    text_.line("for (int {0} = 0; {0} < {1}; ++{0}) {2} += {3}[{0}][threadIdx.x];", names_.i,
               tile_.warps, product_.sum, names_.warp_sums);
    if (product_.scale && product_.group == 0)
      text_.line("if ({} > 0) {} *= {};", names_.words, product_.sum, print(product_.scale));
    if (product_.start) text_.line("{0} = {1} + {0};", product_.sum, print(product_.start));
    text_.add(product_.behind);
    text_.close();
  }

  const QuantizedProduct& product_;
  const QuantizedTile& tile_;
  int vector_ = 4;  // words that a lane loads at once
  Names fresh_;
  const QuantizedNames names_;
  CodeLines text_;
};

}  // namespace

Block quantized_product_code(const QuantizedProduct& product, const QuantizedTile& tile) {
  return QuantizedCode(product, tile).run();
}

}  // namespace regraph::rewrite
