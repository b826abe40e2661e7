#include "rewrite/transform/attention_code.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/attention_loop.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "rewrite/transform/attention_copies.h"
#include "rewrite/transform/attention_results.h"
#include "rewrite/transform/attention_tile.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/row_places_code.h"
#include "rewrite/transform/tensor_fragments.h"
#include "rewrite/transform/tensor_tile.h"
#include "rewrite/transform/warpgroup_product.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

class AttentionCode {
 public:
  AttentionCode(const AttentionPattern& pattern, const AttentionTile& tile)
      : pattern_(pattern),
        tile_(tile),
        fresh_(with_taken_names(pattern)),
        names_(fresh_),
        scale_(scale_of_scores()),
        type_(cuda_name(pattern.element)),
        copies_(text_, pattern_, tile_, names_) {}

  Block run() {
    declare_rows();
    declare_keys();
    copies_.declare_shared();
    copies_.define_fill();
    copies_.fill_query();
    start();
    go_over_keys();
    scale_largest();
    // Results go where the warp's queries were.
    wait(0);
    write_attention_results(text_, pattern_, tile_, names_);
    return text_.block(fresh_);
  }

 private:
  static Names with_taken_names(const AttentionPattern& pattern) {
    Names names = names_of_places(pattern);
    names.take(pattern.dot);
    return names;
  }

  int fragments() const { return tile_.rows_of_warp() / 16; }  // of a warp's rows
  int dimensions() const { return pattern_.query.elements; }
  int value_dimensions() const { return pattern_.values.elements; }
  const std::string& row() const { return pattern_.axis.coordinate; }

  static std::string text_of(const Polynomial& polynomial, bool wide = false) {
    return print(to_expression(polynomial, wide));
  }
  // The bound for another row than the one that the coordinate names.
  std::string bound_at(const Polynomial& bound, const std::string& of_row) const {
    return text_of(bound.substitute(row(), Polynomial::symbol(of_row)));
  }
  std::int64_t slope(const Polynomial& bound) const {
    return *bound.coefficient(row())->constant();
  }

  // Which rows the block has. The last ones, which may have most keys, begin first.
  void declare_rows() {
    declare_values_of_block(text_, pattern_);
    text_.line("const int {} = threadIdx.x;", names_.thread);
    text_.line("const int {} = {} % 32;", names_.lane, names_.thread);
    text_.line("const int {} = {} / 4;", names_.group, names_.lane);
    text_.line("const int {} = {} % 4 * 2;", names_.pair, names_.lane);
    const char* const axis = kAxes[static_cast<std::size_t>(pattern_.axis.axis)];
    if (pattern_.is_masked()) {
      text_.line("const int {0} = (int)(gridDim.{1} - 1 - blockIdx.{1}) * {2};", names_.first, axis,
                 tile_.queries);
    } else {
      text_.line("const int {} = (int)blockIdx.{} * {};", names_.first, axis, tile_.queries);
    }
    declare_row_limit(text_, pattern_, names_.limit, names_.first);
    text_.line("const int {0} = ({1} + {2} < {3} ? {1} + {2} : {3}) - 1;", names_.last,
               names_.first, tile_.queries, names_.limit);
    text_.line("const int {} = {} / 32 * {};", names_.warp, names_.thread, tile_.rows_of_warp());
  }

  // Which keys any of its rows has.
  void declare_keys() {
    const auto extreme = [&](const std::string& name, const std::vector<Polynomial>& bounds,
                             bool is_upper) {
      bool is_first = true;
      for (const Polynomial& bound : bounds) {
        const bool grows = slope(bound) > 0;
        const std::string at = bound_at(bound, grows == is_upper ? names_.last : names_.first);
        if (is_first)
          text_.line("int {} = {};", name, at);
        else
          text_.line("if ({0} {1} {2}) {2} = {0};", at, is_upper ? "<" : ">", name);
        is_first = false;
      }
    };
    extreme(names_.begin, pattern_.lowers, false);
    extreme(names_.end, pattern_.uppers, true);
    // Where no row has any, none must be read.
    for (const Polynomial& upper : pattern_.uppers) {
      for (const Polynomial& lower : pattern_.lowers) {
        if (slope(upper) != 0 && slope(lower) != 0)
          text_.line("if ({} <= 0) {} = {};", bound_at(upper - lower, names_.first), names_.end,
                     names_.begin);
      }
    }
  }

  void commit() { text_.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");"); }
  void wait(int groups) {
    text_.line("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", groups);
    share_tiles();
  }
  // What threads wrote to shared memory, all see from here on; warpgroups' products read it by
  // another way. A fence for all of memory would wait as long as one of the GPU does.
  void share_tiles() {
    if (tile_.by_warpgroups)
      text_.line("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");");
    text_.line("__syncthreads();");
  }

  // The tiles before the loop, which has as many groups of copies on their way at any time.
  void start() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.stage, tile_.stages - 1);
    text_.line("const int {} = {} + {} * {};", names_.tile, names_.begin, names_.stage, tile_.keys);
    text_.line("if ({0} < {1}) {2}({3}, {0});", names_.tile, names_.end, names_.fill, names_.stage);
    commit();
    text_.close();
    declare_places();
    text_.line("float {}[{}][{}][4] = {{}};", names_.mix, fragments(), value_dimensions() / 8);
    text_.line("float {}[{}][2];", names_.largest, fragments());
    text_.line("float {}[{}][2] = {{}};", names_.total, fragments());
    over_rows();
    text_.line("{}[{}][{}] = {};", names_.largest, names_.i, names_.h,
               print(pattern_.maximum_at_first));
    close_rows();
    declare_scale();
    text_.open("const auto {} = [](float exponent)", names_.exp2);
    text_.line("float result;");
    text_.line("asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(result) : \"f\"(exponent));");
    text_.line("return result;");
    text_.close("};");
    if (!holds_query() || tile_.by_warpgroups) return;
    text_.line("unsigned int {}[{}][{}][4];", names_.held_query, fragments(), dimensions() / 16);
    wait(tile_.stages - 2);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, dimensions() / 16);
    load_query();
    text_.close();
  }

  // What the scores are the products of rows multiplied with, the same for all of them; null: they
  // are something else, or the first score is compared with a number.
  ExprPtr scale_of_scores() const {
    if (!is_minus_infinity(pattern_.maximum_at_first)) return nullptr;
    return is_named(pattern_.score, pattern_.dot) ? nullptr : scale_in(pattern_.score);
  }
  // What the product of two rows is multiplied with in the expression; null: it is no product.
  ExprPtr scale_in(const ExprPtr& expr) const {
    if (is_named(expr, pattern_.dot)) return floating("1.0f");
    const auto* binary = as<Binary>(expr);
    if (binary == nullptr) return nullptr;
    const bool multiplies = binary->op == BinaryOperator::multiply;
    if (!multiplies && binary->op != BinaryOperator::divide) return nullptr;
    const bool is_left = is_mentioned(binary->left, pattern_.dot);
    const ExprPtr& other = is_left ? binary->right : binary->left;
    const ExprPtr inner = scale_in(is_left ? binary->left : binary->right);
    const bool is_of_all = all_expressions(other, [&](const Expr& node) {
      return !is<Subscript>(node) && !is_named(node, pattern_.dot) && !is_named(node, row()) &&
             !is_named(node, pattern_.key);
    });
    if (!inner || !is_of_all || (!multiplies && !is_left)) return nullptr;
    if (!multiplies) return source::divide(inner, other);
    const bool is_whole = is_named(is_left ? binary->left : binary->right, pattern_.dot);
    return is_whole ? other : source::multiply(inner, other);
  }

  // A positive scale leaves the order of the scores as it is and goes into the exponent, which is a
  // multiply-add anyway.
  void declare_scale() {
    if (!scale_) return;
    text_.line("const float {} = {};", names_.scale, print(scale_));
    text_.line("const bool {0} = {1} > 0.0f && {1} < INFINITY;", names_.is_scaled_late,
               names_.scale);
    text_.line("const float {} = {} ? {} * {} : {};", names_.to_exponent, names_.is_scaled_late,
               names_.scale, kLog2E, kLog2E);
  }

  std::string to_exponent() const { return scale_ ? names_.to_exponent : kLog2E; }

  // As the original has it.
  void scale_largest() {
    if (!scale_) return;
    text_.open("if ({})", names_.is_scaled_late);
    over_rows();
    text_.line("{}[{}][{}] *= {};", names_.largest, names_.i, names_.h, names_.scale);
    close_rows();
    text_.close();
  }

  // Whether the queries stay in registers.
  bool holds_query() const {
    constexpr int kMost = 32;  // registers
    return fragments() * dimensions() / 4 <= kMost;
  }

  // The addresses of the lines that a lane names of a warp's first parts. Of the four parts of a
  // fragment of queries, and of values, the second is eight lines further on and the third eight
  // elements; of one of keys the other way round.
  void declare_places() {
    if (tile_.by_warpgroups) {
      declare_descriptors();
      return;
    }
    const auto place = [&](const std::string& name, const std::string& tile,
                           const std::string& line, const std::string& part) {
      text_.line(
          "const unsigned int {} = (unsigned int)__cvta_generic_to_shared({} + ({}) * {}"
          " + (({}) ^ {} % 8) * {});",
          name, tile, line, AttentionTile::kPanel, part, names_.lane, AttentionTile::kVector);
    };
    place(names_.query_at, names_.query, fmt::format("{} + {} % 16", names_.warp, names_.lane),
          names_.lane + " / 16");
    place(names_.key_at, names_.keys, fmt::format("{0} / 16 * 8 + {0} % 8", names_.lane),
          names_.lane + " / 8 % 2");
    place(names_.value_at, names_.values, names_.lane + " % 16", names_.lane + " / 16");
  }

  // Of the first tile of either, and of the warpgroup's queries.
  void declare_descriptors() {
    const auto declare = [&](const std::string& name, const std::string& start, int panel_bytes) {
      text_.line("const unsigned long long {} = {};", name,
                 panel_descriptor(fmt::format("(unsigned int)__cvta_generic_to_shared({})", start),
                                  panel_bytes));
    };
    declare(names_.query_at,
            fmt::format("{} + {} / {} * {}", names_.query, names_.thread, kWarpgroupThreads,
                        kWarpgroupRows * AttentionTile::kPanel),
            kDescriptorUnit);
    declare(names_.key_at, names_.keys, kDescriptorUnit);
    declare(names_.value_at, names_.values, tile_.keys * AttentionTile::kPanelBytes);
  }

  // Where sixteen elements begin that are `step` times sixteen further on, in panels of `lines`.
  static std::string along(const std::string& at, const std::string& step, int lines) {
    return fmt::format("({} ^ ({} % 4 * 32)) + {} / 4 * {}", at, step, step,
                       lines * AttentionTile::kPanelBytes);
  }

  std::string query_part(int number) const {
    return holds_query()
               ? fmt::format("{}[{}][{}][{}]", names_.held_query, names_.i, names_.k, number)
               : fmt::format("{}[{}][{}]", names_.held_query, names_.i, number);
  }

  void load_query() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, fragments());
    write_matrix_load(text_, {query_part(0), query_part(1), query_part(2), query_part(3)},
                      fmt::format("{} + {} * {}", along(names_.query_at, names_.k, tile_.queries),
                                  names_.i, 16 * AttentionTile::kPanelBytes),
                      false);
    text_.close();
  }

  // Opens the loops over the rows that a thread has sums of.
  void over_rows() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, fragments());
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
  }
  void close_rows() {
    text_.close();
    text_.close();
  }
  void declare_row() {
    text_.line("const int {} = {} + {} + 16 * {} + {} + 8 * {};", row(), names_.first, names_.warp,
               names_.i, names_.group, names_.h);
  }

  void go_over_keys() {
    text_.line("int {} = 0;", names_.stage);
    text_.keep_rolled();
    text_.open("for (int {0} = {1}; {0} < {2}; {0} += {3})", names_.tile, names_.begin, names_.end,
               tile_.keys);
    wait(tile_.stages - 2);
    text_.line("const int {} = {} + {};", names_.next, names_.tile,
               (tile_.stages - 1) * tile_.keys);
    text_.line("if ({0} < {1}) {2}(({3} + {4}) % {5}, {0});", names_.next, names_.end, names_.fill,
               names_.stage, tile_.stages - 1, tile_.stages);
    commit();
    multiply_keys();
    write_scores();
    weight();
    if (guards_values()) add_nonfinite_values();
    multiply_values();
    text_.line("{0} = {0} == {1} ? 0 : {0} + 1;", names_.stage, tile_.stages - 1);
    text_.close();
  }

  void multiply_keys() {
    text_.line("float {}[{}][{}][4] = {{}};", names_.scores, fragments(), tile_.keys / 8);
    if (tile_.by_warpgroups) {
      multiply_keys_together();
      return;
    }
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, dimensions() / 16);
    if (!holds_query()) {
      text_.line("unsigned int {}[{}][4];", names_.held_query, fragments());
      load_query();
    }
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, tile_.keys / 16);
    load_part(
        fmt::format("{} + {} * {}",
                    along(at_stage(names_.key_at, copies_.key_elements()), names_.k, tile_.keys),
                    names_.j, 16 * AttentionTile::kPanelBytes),
        false);
    multiply(names_.scores, {query_part(0), query_part(1), query_part(2), query_part(3)});
    text_.close();
    text_.close();
  }

  // Descriptors of what lies sixteen elements further on, `k` times, in panels of `lines`.
  std::string descriptor_along(const std::string& at, int lines) const {
    return fmt::format("{} + {} % 4 * {} + {} / 4 * {}", at, names_.k, 32 / kDescriptorUnit,
                       names_.k, lines * AttentionTile::kPanelBytes / kDescriptorUnit);
  }
  std::string descriptor_at_stage(const std::string& at, std::int64_t elements) const {
    return fmt::format("{} + {} * {}", at, names_.stage, 2 * elements / kDescriptorUnit);
  }

  WarpgroupProduct product_of_warpgroup(const std::string& sums, int columns) const {
    WarpgroupProduct product;
    product.element = pattern_.element;
    product.columns = columns;
    product.sum = [sums](int i) { return fmt::format("{}[0][{}][{}]", sums, i / 4, i % 4); };
    return product;
  }

  void multiply_keys_together() {
    WarpgroupProduct product = product_of_warpgroup(names_.scores, tile_.keys);
    product.rows_at = descriptor_along(names_.query_at, tile_.queries);
    product.columns_at =
        descriptor_along(descriptor_at_stage(names_.key_at, copies_.key_elements()), tile_.keys);
    write_warpgroup_fence(text_);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, dimensions() / 16);
    write_warpgroup_product(text_, product);
    text_.close();
    commit_warpgroup_products(text_);
    await_warpgroup_products(text_, 0);
  }

  void multiply_values_together() {
    WarpgroupProduct product = product_of_warpgroup(names_.mix, value_dimensions());
    product.rows_in_registers = true;
    for (int i = 0; i < 4; ++i)
      product.rows_at +=
          fmt::format("{}\"r\"({}[{}][{}])", i == 0 ? "" : ", ", names_.weights, names_.k, i);
    product.columns_at =
        fmt::format("{} + {} * {}", descriptor_at_stage(names_.value_at, copies_.value_elements()),
                    names_.k, 16 * AttentionTile::kPanelBytes / kDescriptorUnit);
    product.turns_columns = true;
    text_.line("unsigned int {}[{}][4];", names_.weights, tile_.keys / 16);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, tile_.keys / 16);
    pack_weights("0", fmt::format("{}[{}]", names_.weights, names_.k));
    text_.close();
    write_warpgroup_fence(text_);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, tile_.keys / 16);
    write_warpgroup_product(text_, product);
    text_.close();
    commit_warpgroup_products(text_);
    await_warpgroup_products(text_, 0);
  }

  // The weights of sixteen keys as a fragment of the product with the values.
  void pack_weights(const std::string& fragment, const std::string& to) {
    for (int part = 0; part < 4; ++part) {
      const std::string at =
          fmt::format("{}[{}][2 * {} + {}]", names_.scores, fragment, names_.k, part / 2);
      text_.line(
          "asm(\"cvt.rn.{}.f32 %0, %1, %2;\" : \"=r\"({}[{}]) : \"f\"({}[{}]), \"f\"({}[{}]));",
          pattern_.element == ScalarType::f16 ? "f16x2" : "bf16x2", to, part, at, part % 2 * 2 + 1,
          at, part % 2 * 2);
    }
  }

  std::string at_stage(const std::string& at, std::int64_t elements) const {
    return fmt::format("({} + {} * {})", at, names_.stage, 2 * elements);
  }

  void load_part(const std::string& address, bool turned) {
    text_.line("unsigned int {}[4];", names_.held);
    write_matrix_load(
        text_, {names_.held + "[0]", names_.held + "[1]", names_.held + "[2]", names_.held + "[3]"},
        address, turned);
  }

  // The products with both halves of the part, added to what is at twice `j`.
  void multiply(const std::string& sums, const std::array<std::string, 4>& rows) {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, fragments());
    for (int half = 0; half < 2; ++half) {
      write_fragment_product(text_, pattern_.element,
                             fmt::format("{}[{}][2 * {} + {}]", sums, names_.i, names_.j, half),
                             rows,
                             {fmt::format("{}[{}]", names_.held, 2 * half),
                              fmt::format("{}[{}]", names_.held, 2 * half + 1)});
    }
    text_.close();
  }

  // Whether the score reads memory, which it may for keys and rows that there are alone.
  bool reads_memory() const {
    return any_expression(pattern_.score, [](const Expr& node) { return is<Subscript>(node); });
  }

  // The conditions under which a row has a key.
  std::string has_key() const {
    std::string result;
    const auto add = [&](const std::string& condition) {
      result += (result.empty() ? "" : " && ") + condition;
    };
    if (reads_memory()) add(fmt::format("{} <= {}", row(), names_.last));
    for (const Polynomial& bound : pattern_.uppers)
      add(fmt::format("{} < {}", pattern_.key, text_of(bound)));
    for (const Polynomial& bound : pattern_.lowers) {
      if (slope(bound) != 0) add(fmt::format("{} >= {}", pattern_.key, text_of(bound)));
    }
    for (const TileGuard& guard : pattern_.others)
      add(print(guard.expression(false)));
    return result;
  }

  // The condition under which a row of the block does not have some key of the tile.
  std::string is_at_border() const {
    if (!pattern_.others.empty()) return "true";
    std::string result;
    const auto add = [&](const std::string& condition) {
      result += (result.empty() ? "" : " || ") + condition;
    };
    for (const Polynomial& bound : pattern_.uppers)
      add(fmt::format("{} + {} > {}", names_.tile, tile_.keys,
                      bound_at(bound, slope(bound) > 0 ? names_.first : names_.last)));
    for (const Polynomial& bound : pattern_.lowers) {
      if (slope(bound) != 0)
        add(fmt::format("{} < {}", names_.tile,
                        bound_at(bound, slope(bound) > 0 ? names_.last : names_.first)));
    }
    return result;
  }

  std::string score_at() const {
    return fmt::format("{}[{}][{}][2 * {} + {}]", names_.scores, names_.i, names_.j, names_.h,
                       names_.e);
  }

  void over_scores() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, tile_.keys / 8);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.e);
  }
  void declare_key() {
    text_.line("const int {} = {} + 8 * {} + {} + {};", pattern_.key, names_.tile, names_.j,
               names_.pair, names_.e);
  }

  // Scores as the original has them, minus infinity where a row does not have the key.
  void write_scores() {
    const bool reads = reads_memory();
    const bool follows_place = any_expression(pattern_.score, [&](const Expr& node) {
      return is_named(node, row()) || is_named(node, pattern_.key);
    });
    const bool is_plain = is_named(pattern_.score, pattern_.dot);
    if (scale_) {
      text_.open("if (!{})", names_.is_scaled_late);
      over_rows();
      over_scores();
      text_.line("{} *= {};", score_at(), names_.scale);
      close_rows();
      close_rows();
      text_.close();
    } else if (!is_plain) {
      over_rows();
      if (follows_place) declare_row();
      over_scores();
      if (follows_place) declare_key();
      text_.line("const float {} = {};", pattern_.dot, score_at());
      if (reads)
        text_.line("{} = {} ? {} : -INFINITY;", score_at(), has_key(), print(pattern_.score));
      else
        text_.line("{} = {};", score_at(), print(pattern_.score));
      close_rows();
      close_rows();
    }
    if (pattern_.first_score_spoils) spoil_by_first_score();
    if (reads) return;
    text_.open("if ({})", is_at_border());
    over_rows();
    declare_row();
    over_scores();
    declare_key();
    text_.line("if (!({})) {} = -INFINITY;", has_key(), score_at());
    close_rows();
    close_rows();
    text_.close();
  }

  // While there is nothing but minus infinity, the original subtracts it from itself.
  void spoil_by_first_score() {
    text_.open("if ({} == {} && {} == 0)", names_.tile, names_.begin, names_.pair);
    over_rows();
    declare_row();
    text_.line("const int {} = {};", pattern_.key, names_.tile);
    text_.line(
        "if (({1}) && {0}[{2}][0][2 * {3}] == -INFINITY) {4}[{2}][{3}] = INFINITY - INFINITY;",
        names_.scores, has_key(), names_.i, names_.h, names_.total);
    close_rows();
    text_.close();
  }

  void weight() {
    over_rows();
    const std::string largest = fmt::format("{}[{}][{}]", names_.largest, names_.i, names_.h);
    const std::string total = fmt::format("{}[{}][{}]", names_.total, names_.i, names_.h);
    text_.line("float {} = {};", names_.higher, largest);
    over_scores();
    text_.line("{0} = fmaxf({0}, {1});", names_.higher, score_at());
    close_rows();
    for (const int apart : {1, 2})
      text_.line("{0} = fmaxf({0}, __shfl_xor_sync(0xffffffffu, {0}, {1}));", names_.higher, apart);
    // While there is nothing but minus infinity, weights are zero.
    text_.line("const float {0} = {1} == -INFINITY ? 0.0f : {1} * {2};", names_.base, names_.higher,
               to_exponent());
    text_.line("const float {} = {}(fmaf({}, {}, -{}));", names_.shrink, names_.exp2, largest,
               to_exponent(), names_.base);
    text_.line("{} = {};", largest, names_.higher);
    text_.line("{} *= {};", total, names_.shrink);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, value_dimensions() / 8);
    for (int e = 0; e < 2; ++e)
      text_.line("{}[{}][{}][2 * {} + {}] *= {};", names_.mix, names_.i, names_.k, names_.h, e,
                 names_.shrink);
    text_.close();
    over_scores();
    text_.line("{0} = {1}(fmaf({0}, {2}, -{3}));", score_at(), names_.exp2, to_exponent(),
               names_.base);
    text_.line("{} += {};", total, score_at());
    close_rows();
    close_rows();
  }

  void multiply_values() {
    if (tile_.by_warpgroups) {
      multiply_values_together();
      return;
    }
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, tile_.keys / 16);
    text_.line("unsigned int {}[{}][4];", names_.weights, fragments());
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, fragments());
    pack_weights(names_.i, fmt::format("{}[{}]", names_.weights, names_.i));
    text_.close();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, value_dimensions() / 16);
    load_part(fmt::format(
                  "{} + {} * {}",
                  along(at_stage(names_.value_at, copies_.value_elements()), names_.j, tile_.keys),
                  names_.k, 16 * AttentionTile::kPanelBytes),
              true);
    const auto weights = [&](int part) {
      return fmt::format("{}[{}][{}]", names_.weights, names_.i, part);
    };
    multiply(names_.mix, {weights(0), weights(1), weights(2), weights(3)});
    text_.close();
    text_.close();
  }

  bool guards_values() const { return tile_.guards_values && pattern_.is_masked(); }

  // Infinities and NaN among values that some rows do not have would be multiplied by zero. They
  // are added to the rows that have them, whose weights are no zeros, and taken away.
  void add_nonfinite_values() {
    const int vectors = value_dimensions() / AttentionTile::kVector;
    const auto stage =
        fmt::format("{} + {} * {}", names_.values, names_.stage, copies_.value_elements());
    const char* const mask = pattern_.element == ScalarType::f16 ? "0x7c00" : "0x7f80";
    const auto over_copies = [&] {
      text_.open("for (int {0} = {1}; {0} < {2}; {0} += {3})", names_.step, names_.thread,
                 tile_.keys * vectors, tile_.threads());
      text_.line("unsigned short* const {} = (unsigned short*)({} + {});", names_.to, stage,
                 place_in_panels(
                     fmt::format("({} / {})", names_.step, vectors),
                     fmt::format("({} % {} * {})", names_.step, vectors, AttentionTile::kVector),
                     tile_.keys, AttentionTile::kVector));
      text_.unroll();
      text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, AttentionTile::kVector);
      text_.line("const bool {0} = ({1}[{2}] & {3}) == {3};", names_.is_nonfinite, names_.to,
                 names_.e, mask);
    };
    text_.open("if ({})", is_at_border());
    text_.line("bool {} = false;", names_.has_nonfinite);
    over_copies();
    text_.line("{0} = {0} || {1};", names_.has_nonfinite, names_.is_nonfinite);
    close_rows();
    text_.open("if (__syncthreads_or({}))", names_.has_nonfinite);
    text_.keep_rolled();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.line, tile_.keys);
    text_.line("const int {} = {} + {};", pattern_.key, names_.tile, names_.line);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.k, value_dimensions() / 8);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.e);
    text_.line("const int {} = 8 * {} + {} + {};", names_.offset, names_.k, names_.pair, names_.e);
    text_.line("const {}* const {} = {} + {};", type_, names_.from, stage,
               place_in_panels(names_.line, names_.offset, tile_.keys, AttentionTile::kVector));
    text_.line("const bool {0} = (*(const unsigned short*){1} & {2}) == {2};", names_.is_nonfinite,
               names_.from, mask);
    over_rows();
    declare_row();
    text_.line("if ({} && {}) {}[{}][{}][2 * {} + {}] += (float)*{};", names_.is_nonfinite,
               has_key(), names_.mix, names_.i, names_.k, names_.h, names_.e, names_.from);
    close_rows();
    close_rows();
    text_.close();
    text_.line("__syncthreads();");
    over_copies();
    text_.line("if ({}) {}[{}] = 0;", names_.is_nonfinite, names_.to, names_.e);
    close_rows();
    share_tiles();
    text_.close();
    text_.close();
  }

  static constexpr const char* kLog2E = "1.44269504f";

  const AttentionPattern& pattern_;
  const AttentionTile& tile_;
  Names fresh_;
  const AttentionNames names_;
  const ExprPtr scale_;  // null: the scores are not products times a scale
  const std::string type_;
  CodeLines text_;
  AttentionCopies copies_;
};

}  // namespace

Block attention_code(const AttentionPattern& pattern, const AttentionTile& tile) {
  return AttentionCode(pattern, tile).run();
}

}  // namespace regraph::rewrite
