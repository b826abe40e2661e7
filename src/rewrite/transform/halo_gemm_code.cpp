#include "rewrite/transform/halo_gemm_code.h"

#include "rewrite/transform/halo_filter_code.h"
#include "rewrite/transform/product_elements.h"
#include "rewrite/transform/tensor_fragments.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr int kTileRows = 4;  // of tiles that are taken together (declare_block_place)

class HaloGemmCode final : HaloFilterCode {
 public:
  HaloGemmCode(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
               const TensorTile& tile, const HaloTile& halo)
      : HaloFilterCode(form, launch, gemm, tile, halo) {}

  Block run(const GeneralVersion* general) {
    text.line("const unsigned int {} = threadIdx.x;", names.thread);
    declare_block_place(text, product, tile, names, kTileRows);
    declare_box();
    if (general != nullptr) text.open("if ({})", print(general->condition));
    write_tile();
    if (general != nullptr) {
      text.reopen("} else {");
      write_original_elements(text, general->form, launch, product, tile, box_names(), rows,
                              tile.threads(), &box_);
      text.close();
    }
    return text.block(fresh);
  }

 private:
  bool is_copied() const { return elements.is_copied(input); }

  // Where the tile begins: the first position of either axis, and of the factor's one.
  void declare_box() {
    const std::string& first = names.first[input];
    box_first_ = fresh.fresh(factor(input).array + "_box");
    if (!halo.pitch) {
      text.line("const int {} = {};", box_first_, first);
      return;
    }
    text.line("const int {} = {};", pitch_,
              elements.text_of(conditional(less(halo.pitch, integer(1)), integer(1), halo.pitch)));
    text.line("const int {} = ({} + {}) / {};", across_, pitch_, halo.positions[0] - 1,
              halo.positions[0]);
    const std::string number = fmt::format("{} / {}", first, lines(input));
    text.line("const int {} = {} % {} * {};", column_, number, across_, halo.positions[0]);
    text.line("const int {} = {} / {} * {};", row_, number, across_, halo.positions[1]);
    text.line("const int {} = {} * {} + {};", box_first_, row_, pitch_, column_);
    box_ = {input, halo.positions[0], pitch_, column_, row_, halo.places};
    elements.set_value(halo.places[0], column_ + " + " + position_[0]);
    elements.set_value(halo.places[1], row_ + " + " + position_[1]);
  }

  TensorNames box_names() const {
    TensorNames result = names;
    result.first[input] = box_first_;
    return result;
  }

  const BoxOfLines* box() const { return halo.pitch ? &box_ : nullptr; }

  void write_tile() {
    declare();
    elements.define_element(element, type());
    define_load_inputs();
    if (!is_copied()) define_store_inputs();
    if (are_others_copied()) {
      define_copy_chunks();
    } else {
      if (is_by_lines())
        define_copy_lines();
      else if (is_dense())
        define_copy_others();
      define_store_others();
    }
    define_fragments();
    multiply();
    write_sums_to_shared(text, product, tile, names, rows, staged_);
    TensorNames staged = box_names();
    staged.sums = staged_;
    write_staged_elements(text, form, launch, product, tile, staged, rows, tile.staged_pitch(rows),
                          tile.threads(), box());
  }

  void declare() {
    text.line("extern __shared__ __align__({}) {} {}[];", 8 * TensorTile::kPanelBytes, type(),
              names.tiles);
    text.line("{}* const {} = {};", type(), names.stages[input], names.tiles);
    text.line("{}* const {} = {} + {};", type(), names.stages[other], names.tiles,
              HaloTile::kStages * stage_elements(input));
    if (is_dense())
      text.line("{}* const {} = {} + {};", type(), raw, names.stages[other], stage_elements(other));
    declare_warp_place(text, tile, names, names.thread + " / 32");
    trips = elements.declare_trips();
    std::string total = fmt::format("({} + {}) / {}", trips[*gemm.chunked],
                                    HaloTile::kChunks * kChunk - 1, HaloTile::kChunks * kChunk);
    for (const std::size_t at : outer_loops())
      total += " * " + trips[at];
    text.line("const int {} = {};", total_, total);
    if (is_copied()) {
      text.line("const bool {} = {};", names.whole[input],
                all_divisible(*elements.gathered(input).divisible, kChunk));
    } else {
      text.line("unsigned int {}[{}][{}];", loaded[input], steps(input), kChunk);
    }
    if (is_dense()) {
      text.line("const bool {} = {};", names.whole[other],
                all_divisible(elements.gathered(other).dense->divisible, kChunk));
    } else if (are_others_copied()) {
      text.line("const bool {} = {};", names.whole[other],
                all_divisible(*elements.gathered(other).divisible, kChunk));
    }
    text.line("float {}[{}][{}][4] = {{}};", names.sums, tile.warp[rows] / 16,
              tile.warp[1 - rows] / 8);
  }

  // Position and tap, along an axis, of the smallest position that needs the input at `at` of the
  // box: it is there if any is.
  void declare_position(std::size_t axis, const std::string& at) {
    const TapAxis& one = halo.axes[axis];
    if (!one.loop) {
      text.line("const int {} = {};", position_[axis], at);
      return;
    }
    const int last = one.trips - 1;
    if (one.stride == 1) {
      const std::string most = one.dilation == 1 ? at : fmt::format("{} / {}", at, one.dilation);
      text.line("const int {0} = {1} < {2} ? {1} : {2};", tap_[axis], most, last);
      text.line("const int {} = {} - {} * {};", position_[axis], at, one.dilation, tap_[axis]);
    } else {
      const std::string most = fmt::format("({0} < {1} ? {0} : {1})", at, last);
      text.line("const int {} = {} - ({} - ({} - {}) % {}) % {};", tap_[axis], most, one.stride, at,
                most, one.stride, one.stride);
      text.line("const int {} = ({} - {}) / {};", position_[axis], at, tap_[axis], one.stride);
    }
    const SummedLoop& loop = gemm.loops[*one.loop];
    text.line("const int {} = {};", loop.counter,
              counter_from(*one.loop,
                           one.reversed ? fmt::format("{} - {}", last, tap_[axis]) : tap_[axis]));
  }

  // Whether the original loads the input, and what tells where it is.
  void declare_input() {
    const int across = halo.inputs(0);
    const int inputs = across * halo.inputs(1);
    text.line("const int {} = {} / {};", chunk, item, inputs);
    text.line("const int {} = {} % {};", names.offset, item, inputs);
    declare_position(0, fmt::format("({} % {})", names.offset, across));
    if (halo.pitch) declare_position(1, fmt::format("({} / {})", names.offset, across));
    const std::string at =
        halo.pitch ? fmt::format("{} * {} + {}", position_[1], pitch_, position_[0]) : position_[0];
    text.line("const int {} = {} + {};", factor(input).axis.coordinate, box_first_, at);
    elements.declare_names_of(input);
    std::vector<std::string> terms;
    if (!has_item.empty()) terms.push_back("(" + has_item + ")");
    if (halo.pitch) terms.push_back(fmt::format("({} + {} < {})", column_, position_[0], pitch_));
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (halo.axes[axis].stride > 1) terms.push_back(fmt::format("({} >= 0)", tap_[axis]));
    }
    for (const Asked when : {Asked::of_line, Asked::of_chunk}) {
      if (std::string more = elements.conditions(input, when); !more.empty())
        terms.push_back(std::move(more));
    }
    text.line("const bool {} = {};", wanted,
              terms.empty() ? "true" : fmt::format("{}", fmt::join(terms, " & ")));
  }

  void define_load_inputs() {
    text.open("const auto {} = [&](int {}{})", load[input], names.strip,
              is_copied() ? ", int " + names.into : "");
    declare_counters();
    declare_thread_again();
    text.unroll();
    text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.step, steps(input));
    declare_item(input, "(int)" + again);
    declare_input();
    if (is_copied()) open_copy();
    text.unroll();
    text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.e, kChunk);
    declare_iteration(chunk);
    const std::string from = "&" + elements.text_of(elements.gathered(input).element);
    if (is_copied()) {
      text.line("{}[{}] = {} ? *({}) : {};", names.to, names.e, wanted_element(input), from,
                print(zero_of(tile.element)));
    } else {
      text.line("{}[{}][{}] = {}({}, {});", loaded[input], names.step, names.e, element, from,
                wanted_element(input));
    }
    text.close();
    if (is_copied()) {
      text.close();
      if (!has_item.empty()) text.close();
    }
    text.close();
    text.close("};");
  }

  // Writes the copy of a whole chunk, and opens what is done where there is none.
  void open_copy() {
    if (!has_item.empty()) text.open("if ({})", has_item);
    text.line("{}* const {} = &{}[{} * {} + {} * {}];", type(), names.to, names.stages[input],
              names.into, stage_elements(input), item, kChunk);
    const std::string first = fmt::format("{} + {} * {}", begin, chunk, kChunk);
    text.open("if ({} && {} && {} + {} < {})", names.whole[input], wanted, first, kChunk - 1,
              elements.text_of(chunked().limit));
    text.line("const int {} = {};", chunked().counter, first);
    write_copy(names.to, "&" + elements.text_of(elements.gathered(input).element));
    text.reopen("} else {");
  }

  void define_store_inputs() {
    text.open("const auto {} = [&](int {})", store[input], names.into);
    text.unroll();
    text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.step, steps(input));
    declare_item(input, "(int)" + names.thread);
    if (!has_item.empty()) text.open("if ({})", has_item);
    text.line("*(uint4*)&{}[{} * {} + {} * {}] = {};", names.stages[input], names.into,
              stage_elements(input), item, kChunk, packed([&](int e) {
                return fmt::format("{}[{}][{}]", loaded[input], names.step, e);
              }));
    if (!has_item.empty()) text.close();
    text.close();
    text.close("};");
  }

  // Fragments, where a lane's lines of them begin, and loads of those of a tap.
  void define_fragments() {
    const auto lane_line = [&](std::size_t i) {
      return fmt::format("({0} % 32 / {1} % 2 * 8 + {0} % 8)", names.thread, i == rows ? 8 : 16);
    };
    const auto lane_chunk = [&](std::size_t i) {
      return fmt::format("({} % 32 / {} % 2)", names.thread, i == rows ? 16 : 8);
    };
    for (std::size_t i = 0; i < 2; ++i) {
      text.line("unsigned int {}[1][{}][{}];", names.held[i], tile.warp[i] / (i == rows ? 16 : 8),
                i == rows ? 4 : 2);
      const std::string line = fmt::format("{}_line", names.at[i]);
      text.line("const int {} = {} + {};", line, names.in_warp[i], lane_line(i));
      const std::string place =
          i == input ? fmt::format("({} * {} + {})", lane_chunk(i), halo.inputs(0) * halo.inputs(1),
                                   input_place(line))
                     : other_place("0", line, lane_chunk(i));
      text.line("unsigned int {} = (unsigned int)__cvta_generic_to_shared(&{}[{} * {}]);",
                names.at[i], names.stages[i], place, kChunk);
    }
    text.open("const auto {} = [&](int {})", names.load, names.offset);
    for (const std::size_t i : {rows, 1 - rows}) {
      text.unroll();
      text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.i, tile.warp[i] / 16);
      const auto to = [&](int number) {
        return i == rows ? fmt::format("{}[0][{}][{}]", names.held[i], names.i, number)
                         : fmt::format("{}[0][2 * {} + {}][{}]", names.held[i], names.i, number / 2,
                                       number % 2);
      };
      const std::string lines_on = "16 * " + names.i;
      const std::string at =
          i == input ? fmt::format("{} + {} * ({} + {})", names.at[i], HaloTile::kChunkBytes,
                                   input_place(lines_on), tap_place(names.offset))
                     : fmt::format("{} + {} * ({} * {} + {})", names.at[i],
                                   HaloTile::kChunkBytes * HaloTile::kChunks, names.offset,
                                   lines(other), lines_on);
      write_matrix_load(text, {to(0), to(1), to(2), to(3)}, at, false);
      text.close();
    }
    text.close("};");
  }

  // Which input the first tap of a position of the tile reads. Of a sum of positions that have no
  // bit in common it is the sum.
  std::string input_place(const std::string& position) const {
    const int across = halo.positions[0];
    return fmt::format("(({0}) / {1} * {2} + ({0}) % {1} * {3})", position, across,
                       halo.axes[1].stride * halo.inputs(0), halo.axes[0].stride);
  }

  // How many inputs further on those of a tap are.
  std::string tap_place(const std::string& tap) const {
    const int across = halo.axes[0].trips;
    return fmt::format("({0} / {1} * {2} + {0} % {1} * {3})", tap, across,
                       halo.axes[1].dilation * halo.inputs(0), halo.axes[0].dilation);
  }

  void multiply_taps() {
    if (taps() <= kMostUnrolled)
      text.unroll();
    else
      text.keep_rolled();
    text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.inner, taps());
    text.line("{}({});", names.load, names.inner);
    write_fragment_products(text, tile, names, rows);
    text.close();
  }

  void load_inputs(const std::string& strip, const std::string& into) {
    text.line("{}({}{});", load[input], strip, is_copied() ? ", " + into : "");
  }

  void store_inputs(const std::string& into) {
    if (!is_copied()) text.line("{}({});", store[input], into);
  }

  void copy_others(const std::string& strip, const std::string& into) {
    if (is_dense()) text.line("{}({});", load[other], strip);
    if (are_others_copied()) text.line("{}({}, {});", load[other], strip, into);
  }

  void multiply() {
    text.open("if ({} > 0)", total_);
    copy_others("0", "0");
    load_inputs("0", "0");
    store_inputs("0");
    text.close();
    text.line("int {} = 0;", names.stage);
    text.keep_rolled();
    text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.strip, total_);
    text.line("const int {} = {} + 1;", names.next, names.strip);
    text.line("const int {} = 1 - {};", names.into, names.stage);
    text.line("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
    text.line("__syncthreads();");
    if (!are_others_copied()) {
      text.line("{}({});", store[other], names.strip);
      text.line("__syncthreads();");
    }
    text.open("if ({} < {})", names.next, total_);
    copy_others(names.next, names.into);
    load_inputs(names.next, names.into);
    text.close();
    multiply_taps();
    text.open("if ({} < {})", names.next, total_);
    store_inputs(names.into);
    text.close();
    for (std::size_t i = 0; i < 2; ++i) {
      if (i == input || are_others_copied())
        text.line("{} += {} * (1 - 2 * {});", names.at[i], 2 * stage_elements(i), names.stage);
    }
    text.line("{} = {};", names.stage, names.into);
    text.close();
  }

  // Taps whose products are written out one after the other.
  static constexpr int kMostUnrolled = 16;

  BoxOfLines box_;
  std::string total_ = fresh.fresh("total");
  std::string staged_ = fresh.fresh("staged");
  std::string pitch_ = fresh.fresh("pitch");
  std::string across_ = fresh.fresh("boxes");
  std::string column_ = fresh.fresh("column");
  std::string row_ = fresh.fresh("row");
  std::string box_first_;
  std::array<std::string, 2> position_ = {fresh.fresh("across"), fresh.fresh("down")};
  std::array<std::string, 2> tap_ = {fresh.fresh("tap_across"), fresh.fresh("tap_down")};
};

}  // namespace

Block halo_gemm_code(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
                     const TensorTile& tile, const HaloTile& halo, const GeneralVersion* general) {
  return HaloGemmCode(form, launch, gemm, tile, halo).run(general);
}

}  // namespace regraph::rewrite
