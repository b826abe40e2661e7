#include "rewrite/transform/halo_gemm_code.h"

#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/gathered_elements.h"
#include "rewrite/transform/product_elements.h"
#include "rewrite/transform/tensor_fragments.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace regraph::rewrite {

namespace {

constexpr int kTileRows = 4;  // of tiles that are taken together (declare_block_place)
constexpr int kChunk = ImplicitGemm::kChunk;
constexpr int kChunkBytes = 16;

class HaloGemmCode {
 public:
  HaloGemmCode(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
               const TensorTile& tile, const HaloTile& halo)
      : form_(form),
        launch_(launch),
        gemm_(gemm),
        product_(gemm.product),
        tile_(tile),
        halo_(halo),
        fresh_(form.kernel),
        names_(fresh_, gemm.product),
        elements_(text_, form, launch, gemm, fresh_),
        rows_(rows_in_memory(gemm.product)),
        input_(halo.factor),
        other_(1 - halo.factor) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& array = factor(i).array;
      fresh_.take(factor(i).axis.coordinate);
      loaded_[i] = fresh_.fresh(array + "_loaded");
      load_[i] = fresh_.fresh("load_" + array);
      store_[i] = fresh_.fresh("store_" + array);
    }
  }

  Block run(const GeneralVersion* general) {
    text_.line("const unsigned int {} = threadIdx.x;", names_.thread);
    declare_block_place(text_, product_, tile_, names_, kTileRows);
    declare_box();
    if (general != nullptr) text_.open("if ({})", print(general->condition));
    write_tile();
    if (general != nullptr) {
      text_.reopen("} else {");
      write_original_elements(text_, general->form, launch_, product_, tile_, box_names(), rows_,
                              tile_.threads(), &box_);
      text_.close();
    }
    return text_.block(fresh_);
  }

 private:
  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }
  std::string type() const { return std::string(cuda_name(tile_.element)); }
  int lines(std::size_t i) const { return tile_.tile[i]; }
  int taps() const { return halo_.axes[0].trips * halo_.axes[1].trips; }
  const SummedLoop& chunked() const { return *elements_.chunked(); }

  // Chunks of a stage, which the threads share out.
  int chunks(std::size_t i) const {
    return i == input_ ? halo_.input_chunks() : HaloTile::kChunks * lines(other_);
  }
  int steps(std::size_t i) const { return (chunks(i) + tile_.threads() - 1) / tile_.threads(); }
  int stage_elements(std::size_t i) const {
    return kChunk * (i == input_ ? halo_.input_chunks() : halo_.other_chunks(tile_));
  }
  bool is_copied() const { return elements_.is_copied(input_); }
  bool is_dense() const { return halo_.others == HaloTile::Others::in_order; }
  // The other factor's chunks are vectors in memory, which are copied to where they belong.
  bool are_others_copied() const { return halo_.others == HaloTile::Others::by_chunks; }

  // Where the tile begins: the first position of either axis, and of the factor's one.
  void declare_box() {
    const std::string& first = names_.first[input_];
    box_first_ = fresh_.fresh(factor(input_).array + "_box");
    if (!halo_.pitch) {
      text_.line("const int {} = {};", box_first_, first);
      return;
    }
    text_.line(
        "const int {} = {};", pitch_,
        elements_.text_of(conditional(less(halo_.pitch, integer(1)), integer(1), halo_.pitch)));
    text_.line("const int {} = ({} + {}) / {};", across_, pitch_, halo_.positions[0] - 1,
               halo_.positions[0]);
    const std::string number = fmt::format("{} / {}", first, lines(input_));
    text_.line("const int {} = {} % {} * {};", column_, number, across_, halo_.positions[0]);
    text_.line("const int {} = {} / {} * {};", row_, number, across_, halo_.positions[1]);
    text_.line("const int {} = {} * {} + {};", box_first_, row_, pitch_, column_);
    box_ = {input_, halo_.positions[0], pitch_, column_, row_, halo_.places};
    elements_.set_value(halo_.places[0], column_ + " + " + position_[0]);
    elements_.set_value(halo_.places[1], row_ + " + " + position_[1]);
  }
  TensorNames box_names() const {
    TensorNames result = names_;
    result.first[input_] = box_first_;
    return result;
  }
  const BoxOfLines* box() const { return halo_.pitch ? &box_ : nullptr; }

  void write_tile() {
    declare();
    elements_.define_element(element_, type());
    define_load_inputs();
    if (!is_copied()) define_store_inputs();
    if (are_others_copied()) {
      define_copy_chunks();
    } else {
      if (is_dense()) define_copy_others();
      define_store_others();
    }
    define_fragments();
    multiply();
    write_sums_to_shared(text_, product_, tile_, names_, rows_, staged_);
    TensorNames staged = box_names();
    staged.sums = staged_;
    write_staged_elements(text_, form_, launch_, product_, tile_, staged, rows_,
                          tile_.staged_pitch(rows_), tile_.threads(), box());
  }

  void declare() {
    text_.line("extern __shared__ __align__({}) {} {}[];", 8 * TensorTile::kPanelBytes, type(),
               names_.tiles);
    text_.line("{}* const {} = {};", type(), names_.stages[input_], names_.tiles);
    text_.line("{}* const {} = {} + {};", type(), names_.stages[other_], names_.tiles,
               HaloTile::kStages * stage_elements(input_));
    if (is_dense())
      text_.line("{}* const {} = {} + {};", type(), raw_, names_.stages[other_],
                 stage_elements(other_));
    declare_warp_place(text_, tile_, names_, names_.thread + " / 32");
    trips_ = elements_.declare_trips();
    std::string total = fmt::format("({} + {}) / {}", trips_[*gemm_.chunked],
                                    HaloTile::kChunks * kChunk - 1, HaloTile::kChunks * kChunk);
    for (const std::size_t at : outer_loops())
      total += " * " + trips_[at];
    text_.line("const int {} = {};", total_, total);
    if (is_copied()) {
      text_.line("const bool {} = {};", names_.whole[input_],
                 all_divisible(*elements_.gathered(input_).divisible, kChunk));
    } else {
      text_.line("unsigned int {}[{}][{}];", loaded_[input_], steps(input_), kChunk);
    }
    if (is_dense()) {
      text_.line("const bool {} = {};", names_.whole[other_],
                 all_divisible(elements_.gathered(other_).dense->divisible, kChunk));
    } else if (are_others_copied()) {
      text_.line("const bool {} = {};", names_.whole[other_],
                 all_divisible(*elements_.gathered(other_).divisible, kChunk));
    }
    text_.line("float {}[{}][{}][4] = {{}};", names_.sums, tile_.warp[rows_] / 16,
               tile_.warp[1 - rows_] / 8);
  }

  // Neither chunked nor over taps, the fastest first.
  std::vector<std::size_t> outer_loops() const {
    std::vector<std::size_t> result;
    for (std::size_t at = gemm_.loops.size(); at-- > 0;) {
      if (at != gemm_.chunked && halo_.axes[0].loop != at && halo_.axes[1].loop != at)
        result.push_back(at);
    }
    return result;
  }

  std::string counter_from(std::size_t loop, const std::string& iteration) const {
    const std::string first = elements_.text_of(gemm_.loops[loop].first);
    return first == "0" ? iteration : fmt::format("{} + {}", first, iteration);
  }

  // The outer loops' counters, and the chunked one's where the stage begins.
  void declare_counters() {
    std::string rest = names_.strip;
    for (const std::size_t at : outer_loops()) {
      text_.line("const int {} = {};", gemm_.loops[at].counter,
                 counter_from(at, fmt::format("{} % {}", rest, trips_[at])));
      rest = fmt::format("{} / {}", rest, trips_[at]);
    }
    text_.line(
        "const int {} = {};", begin_,
        counter_from(*gemm_.chunked, fmt::format("{} * {}", rest, HaloTile::kChunks * kChunk)));
  }

  // A thread's chunk at a step, `item`, of a stage's.
  void declare_item(std::size_t i, const std::string& first) {
    const int behind = steps(i) * tile_.threads();
    text_.line("const int {} = {} + {} * {};", item_, first, names_.step, tile_.threads());
    // Threads without a chunk ask for the last one again, and keep it to themselves.
    has_item_ = behind == chunks(i) ? "" : fmt::format("{} < {}", item_, chunks(i));
  }

  // The thread's number, asked again: what is made of it would else be kept in registers while taps
  // are multiplied.
  void declare_thread_again() {
    text_.line("unsigned int {};", again_);
    text_.line("asm volatile(\"mov.u32 %0, %%tid.x;\" : \"=r\"({}));", again_);
  }

  // Position and tap, along an axis, of the smallest position that needs the input at `at` of the
  // box: it is there if any is.
  void declare_position(std::size_t axis, const std::string& at) {
    const TapAxis& one = halo_.axes[axis];
    if (!one.loop) {
      text_.line("const int {} = {};", position_[axis], at);
      return;
    }
    const int last = one.trips - 1;
    if (one.stride == 1) {
      const std::string most = one.dilation == 1 ? at : fmt::format("{} / {}", at, one.dilation);
      text_.line("const int {0} = {1} < {2} ? {1} : {2};", tap_[axis], most, last);
      text_.line("const int {} = {} - {} * {};", position_[axis], at, one.dilation, tap_[axis]);
    } else {
      const std::string most = fmt::format("({0} < {1} ? {0} : {1})", at, last);
      text_.line("const int {} = {} - ({} - ({} - {}) % {}) % {};", tap_[axis], most, one.stride,
                 at, most, one.stride, one.stride);
      text_.line("const int {} = ({} - {}) / {};", position_[axis], at, tap_[axis], one.stride);
    }
    const SummedLoop& loop = gemm_.loops[*one.loop];
    text_.line("const int {} = {};", loop.counter,
               counter_from(*one.loop,
                            one.reversed ? fmt::format("{} - {}", last, tap_[axis]) : tap_[axis]));
  }

  // Whether the original loads the input, and what tells where it is.
  void declare_input() {
    const int across = halo_.inputs(0);
    const int inputs = across * halo_.inputs(1);
    text_.line("const int {} = {} / {};", chunk_, item_, inputs);
    text_.line("const int {} = {} % {};", names_.offset, item_, inputs);
    declare_position(0, fmt::format("({} % {})", names_.offset, across));
    if (halo_.pitch) declare_position(1, fmt::format("({} / {})", names_.offset, across));
    const std::string at = halo_.pitch
                               ? fmt::format("{} * {} + {}", position_[1], pitch_, position_[0])
                               : position_[0];
    text_.line("const int {} = {} + {};", factor(input_).axis.coordinate, box_first_, at);
    elements_.declare_names_of(input_);
    std::vector<std::string> terms;
    if (!has_item_.empty()) terms.push_back("(" + has_item_ + ")");
    if (halo_.pitch) terms.push_back(fmt::format("({} + {} < {})", column_, position_[0], pitch_));
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (halo_.axes[axis].stride > 1) terms.push_back(fmt::format("({} >= 0)", tap_[axis]));
    }
    for (const Asked when : {Asked::of_line, Asked::of_chunk}) {
      if (std::string more = elements_.conditions(input_, when); !more.empty())
        terms.push_back(std::move(more));
    }
    text_.line("const bool {} = {};", wanted_,
               terms.empty() ? "true" : fmt::format("{}", fmt::join(terms, " & ")));
  }

  // Whether the original loads the element at hand, of a chunk that it wants.
  std::string wanted_element(std::size_t i) const {
    const std::string of_element = elements_.conditions(i, Asked::of_element);
    return fmt::format("{} & ({} < {}){}", wanted_, chunked().counter,
                       elements_.text_of(chunked().limit),
                       of_element.empty() ? "" : " & " + of_element);
  }
  void declare_iteration(const std::string& chunk) {
    text_.line("const int {} = {} + {} * {} + {};", chunked().counter, begin_, chunk, kChunk,
               names_.e);
  }

  void define_load_inputs() {
    text_.open("const auto {} = [&](int {}{})", load_[input_], names_.strip,
               is_copied() ? ", int " + names_.into : "");
    declare_counters();
    declare_thread_again();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps(input_));
    declare_item(input_, "(int)" + again_);
    declare_input();
    if (is_copied()) open_copy();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, kChunk);
    declare_iteration(chunk_);
    const std::string from = "&" + elements_.text_of(elements_.gathered(input_).element);
    if (is_copied()) {
      text_.line("{}[{}] = {} ? *({}) : {};", names_.to, names_.e, wanted_element(input_), from,
                 print(zero_of(tile_.element)));
    } else {
      text_.line("{}[{}][{}] = {}({}, {});", loaded_[input_], names_.step, names_.e, element_, from,
                 wanted_element(input_));
    }
    text_.close();
    if (is_copied()) {
      text_.close();
      if (!has_item_.empty()) text_.close();
    }
    text_.close();
    text_.close("};");
  }

  // Writes the copy of a whole chunk, and opens what is done where there is none.
  void open_copy() {
    if (!has_item_.empty()) text_.open("if ({})", has_item_);
    text_.line("{}* const {} = &{}[{} * {} + {} * {}];", type(), names_.to, names_.stages[input_],
               names_.into, stage_elements(input_), item_, kChunk);
    const std::string begin = fmt::format("{} + {} * {}", begin_, chunk_, kChunk);
    text_.open("if ({} && {} && {} + {} < {})", names_.whole[input_], wanted_, begin, kChunk - 1,
               elements_.text_of(chunked().limit));
    text_.line("const int {} = {};", chunked().counter, begin);
    write_copy(names_.to, "&" + elements_.text_of(elements_.gathered(input_).element));
    text_.reopen("} else {");
  }

  void define_store_inputs() {
    text_.open("const auto {} = [&](int {})", store_[input_], names_.into);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps(input_));
    declare_item(input_, "(int)" + names_.thread);
    if (!has_item_.empty()) text_.open("if ({})", has_item_);
    text_.line("*(uint4*)&{}[{} * {} + {} * {}] = {};", names_.stages[input_], names_.into,
               stage_elements(input_), item_, kChunk, packed([&](int e) {
                 return fmt::format("{}[{}][{}]", loaded_[input_], names_.step, e);
               }));
    if (!has_item_.empty()) text_.close();
    text_.close();
    text_.close("};");
  }

  // Eight elements, each in the lower half of a word.
  template <typename Element>
  static std::string packed(const Element& element) {
    const auto pair = [&](int first) {
      return fmt::format("__byte_perm({}, {}, 0x5410)", element(first), element(first + 1));
    };
    return fmt::format("make_uint4({}, {}, {}, {})", pair(0), pair(2), pair(4), pair(6));
  }

  // The other factor's elements of a line and a chunk.
  void declare_other_line() {
    text_.line("const int {} = {} / {};", names_.line, item_, HaloTile::kChunks);
    text_.line("const int {} = {} % {};", chunk_, item_, HaloTile::kChunks);
    text_.line("const int {} = {} + {};", factor(other_).axis.coordinate, names_.first[other_],
               names_.line);
    elements_.declare_names_of(other_);
    std::string inside = has_item_.empty() ? "" : "(" + has_item_ + ")";
    if (const std::string more = elements_.conditions(other_, Asked::of_line); !more.empty())
      inside += (inside.empty() ? "" : " & ") + more;
    text_.line("const bool {} = {};", names_.inside[other_], inside.empty() ? "true" : inside);
  }

  std::string whole_chunk() const {
    return fmt::format("{} & {} & ({} + {} * {} + {} < {})", names_.whole[other_],
                       names_.inside[other_], begin_, chunk_, kChunk, kChunk - 1,
                       elements_.text_of(chunked().limit));
  }

  // Eight iterations of the chunked loop and all taps lie without gaps: the lanes of a warp copy
  // what they will take to the taps' places, vectors that follow each other together.
  void define_copy_others() {
    text_.open("const auto {} = [&](int {})", load_[other_], names_.strip);
    declare_counters();
    declare_thread_again();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps(other_));
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, taps());
    text_.line("const int {} = {} % 32 + 32 * {};", names_.offset, again_, names_.e);
    declare_item(
        other_, fmt::format("{0} - {0} % 32 + {1} / {2}", "(int)" + again_, names_.offset, taps()));
    declare_other_line();
    ExprPtr element = elements_.gathered(other_).element;
    for (const TapAxis& axis : halo_.axes) {
      if (!axis.loop) continue;
      const SummedLoop& loop = gemm_.loops[*axis.loop];
      element = rewrite_expr(element, replace_variable(loop.counter, loop.first));
    }
    text_.line("const int {} = {} + {} * {};", chunked().counter, begin_, chunk_, kChunk);
    text_.open("if ({})", whole_chunk());
    write_copy(fmt::format("&{}[({} * {} + {} % {}) * {}]", raw_, item_, taps(), names_.offset,
                           taps(), kChunk),
               fmt::format("&{} + {} * ({} % {})", elements_.text_of(element), kChunk,
                           names_.offset, taps()));
    text_.close();
    text_.close();
    text_.close();
    text_.close("};");
  }

  void define_copy_chunks() {
    text_.open("const auto {} = [&](int {}, int {})", load_[other_], names_.strip, names_.into);
    declare_counters();
    declare_thread_again();
    const int count = halo_.other_chunks(tile_);
    const int rounds = (count + tile_.threads() - 1) / tile_.threads();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, rounds);
    const std::string every =
        fmt::format("((int){} + {} * {})", again_, names_.step, tile_.threads());
    text_.line("const int {} = {} / {};", names_.offset, every, chunks(other_));
    text_.line("const int {} = {} % {};", item_, every, chunks(other_));
    has_item_ =
        rounds * tile_.threads() == count ? "" : fmt::format("{} < {}", names_.offset, taps());
    declare_taps(names_.offset);
    declare_other_line();
    if (!has_item_.empty()) text_.open("if ({})", has_item_);
    const std::string of_chunk = elements_.conditions(other_, Asked::of_chunk);
    text_.line("const bool {} = {}{};", wanted_, names_.inside[other_],
               of_chunk.empty() ? "" : " & " + of_chunk);
    text_.line("{}* const {} = &{}[{} * {} + {} * {}];", type(), names_.to, names_.stages[other_],
               names_.into, stage_elements(other_), other_place(names_.offset, names_.line, chunk_),
               kChunk);
    text_.open("if ({} & {})", whole_chunk(), wanted_);
    text_.line("const int {} = {} + {} * {};", chunked().counter, begin_, chunk_, kChunk);
    write_copy(names_.to, "&" + elements_.text_of(elements_.gathered(other_).element));
    text_.reopen("} else {");
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, kChunk);
    declare_iteration(chunk_);
    text_.line("{}[{}] = {} ? {} : {};", names_.to, names_.e, wanted_element(other_),
               elements_.text_of(elements_.gathered(other_).element),
               print(zero_of(tile_.element)));
    text_.close();
    text_.close();
    if (!has_item_.empty()) text_.close();
    text_.close();
    text_.close("};");
  }

  // An asynchronous copy of a chunk.
  void write_copy(const std::string& to, const std::string& from) {
    text_.line("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\" ::");
    text_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"({})", to,
               from);
    text_.line("             : \"memory\");");
  }

  // Where the chunk of a line and tap lies, in chunks.
  std::string other_place(const std::string& tap, const std::string& line,
                          const std::string& chunk) const {
    return fmt::format("(({0} * {1} + {2}) * {3} + ({4} ^ {2} / 4 % 2))", tap, lines(other_), line,
                       HaloTile::kChunks, chunk);
  }

  // Counters of a tap, of those that are numbered along the fast axis first.
  void declare_taps(const std::string& tap) {
    const int across = halo_.axes[0].trips;
    const std::array number = {fmt::format("{} % {}", tap, across),
                               fmt::format("{} / {}", tap, across)};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const TapAxis& one = halo_.axes[axis];
      if (!one.loop) continue;
      text_.line(
          "const int {} = {};", gemm_.loops[*one.loop].counter,
          counter_from(*one.loop, one.reversed ? fmt::format("{} - {}", one.trips - 1, number[axis])
                                               : number[axis]));
    }
  }

  void define_store_others() {
    text_.open("const auto {} = [&](int {})", store_[other_], names_.strip);
    declare_counters();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps(other_));
    declare_item(other_, "(int)" + names_.thread);
    declare_other_line();
    if (is_dense()) {
      text_.open("if ({})", whole_chunk());
      store_vectors();
      text_.reopen(has_item_.empty() ? "} else {"
                                     : fmt::format("}} else if ({}) {{", has_item_).c_str());
    } else if (!has_item_.empty()) {
      text_.open("if ({})", has_item_);
    }
    if (is_dense())
      text_.keep_rolled();
    else
      text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.offset, taps());
    declare_taps(names_.offset);
    const std::string of_chunk = elements_.conditions(other_, Asked::of_chunk);
    text_.line("const bool {} = {}{};", wanted_, names_.inside[other_],
               of_chunk.empty() ? "" : " & " + of_chunk);
    text_.line("unsigned int {}[{}];", pair_, kChunk);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, kChunk);
    declare_iteration(chunk_);
    text_.line("{}[{}] = {}(&{}, {});", pair_, names_.e, element_,
               elements_.text_of(elements_.gathered(other_).element), wanted_element(other_));
    text_.close();
    write_other(names_.offset, [&](int e) { return fmt::format("{}[{}]", pair_, e); });
    text_.close();
    if (is_dense() || !has_item_.empty()) text_.close();
    text_.close();
    text_.close("};");
  }

  template <typename Element>
  void write_other(const std::string& tap, const Element& element) {
    text_.line("*(uint4*)&{}[{} * {}] = {};", names_.stages[other_],
               other_place(tap, names_.line, chunk_), kChunk, packed(element));
  }

  // A chunk's elements of a tap lie as far from each other as there are taps.
  void store_vectors() {
    const std::vector<std::int64_t>& steps = elements_.gathered(other_).dense->steps;
    text_.line("uint4 {}[{}];", loaded_[other_], taps());
    text_.unroll();
    text_.line(
        "for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = *(const uint4*)&{3}[({4} * {1} + {0}) * "
        "{5}];",
        names_.e, taps(), loaded_[other_], raw_, item_, kChunk);
    const auto half = [&](int at) {
      constexpr std::array kWords = {"x", "y", "z", "w"};
      const std::string word = fmt::format("{}[{}].{}", loaded_[other_], at / kChunk,
                                           kWords.at(static_cast<std::size_t>(at % kChunk / 2)));
      return at % 2 == 0 ? word : word + " >> 16";
    };
    for (int tap = 0; tap < taps(); ++tap) {
      const std::array number = {tap % halo_.axes[0].trips, tap / halo_.axes[0].trips};
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const TapAxis& one = halo_.axes[axis];
        if (!one.loop) continue;
        place += steps[*one.loop] * (one.reversed ? one.trips - 1 - number[axis] : number[axis]);
      }
      write_other(std::to_string(tap),
                  [&](int e) { return half(static_cast<int>(place) + e * taps()); });
    }
  }

  // Fragments, where a lane's lines of them begin, and loads of those of a tap.
  void define_fragments() {
    const auto lane_line = [&](std::size_t i) {
      return fmt::format("({0} % 32 / {1} % 2 * 8 + {0} % 8)", names_.thread, i == rows_ ? 8 : 16);
    };
    const auto lane_chunk = [&](std::size_t i) {
      return fmt::format("({} % 32 / {} % 2)", names_.thread, i == rows_ ? 16 : 8);
    };
    for (std::size_t i = 0; i < 2; ++i) {
      text_.line("unsigned int {}[1][{}][{}];", names_.held[i],
                 tile_.warp[i] / (i == rows_ ? 16 : 8), i == rows_ ? 4 : 2);
      const std::string line = fmt::format("{}_line", names_.at[i]);
      text_.line("const int {} = {} + {};", line, names_.in_warp[i], lane_line(i));
      const std::string place =
          i == input_ ? fmt::format("({} * {} + {})", lane_chunk(i),
                                    halo_.inputs(0) * halo_.inputs(1), input_place(line))
                      : other_place("0", line, lane_chunk(i));
      text_.line("unsigned int {} = (unsigned int)__cvta_generic_to_shared(&{}[{} * {}]);",
                 names_.at[i], names_.stages[i], place, kChunk);
    }
    text_.open("const auto {} = [&](int {})", names_.load, names_.offset);
    for (const std::size_t i : {rows_, 1 - rows_}) {
      text_.unroll();
      text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, tile_.warp[i] / 16);
      const auto to = [&](int number) {
        return i == rows_ ? fmt::format("{}[0][{}][{}]", names_.held[i], names_.i, number)
                          : fmt::format("{}[0][2 * {} + {}][{}]", names_.held[i], names_.i,
                                        number / 2, number % 2);
      };
      const std::string lines_on = "16 * " + names_.i;
      const std::string at = i == input_
                                 ? fmt::format("{} + {} * ({} + {})", names_.at[i], kChunkBytes,
                                               input_place(lines_on), tap_place(names_.offset))
                                 : fmt::format("{} + {} * ({} * {} + {})", names_.at[i],
                                               kChunkBytes * HaloTile::kChunks, names_.offset,
                                               lines(other_), lines_on);
      write_matrix_load(text_, {to(0), to(1), to(2), to(3)}, at, false);
      text_.close();
    }
    text_.close("};");
  }

  // Which input the first tap of a position of the tile reads. Of a sum of positions that have no
  // bit in common it is the sum.
  std::string input_place(const std::string& position) const {
    const int across = halo_.positions[0];
    return fmt::format("(({0}) / {1} * {2} + ({0}) % {1} * {3})", position, across,
                       halo_.axes[1].stride * halo_.inputs(0), halo_.axes[0].stride);
  }
  // How many inputs further on those of a tap are.
  std::string tap_place(const std::string& tap) const {
    const int across = halo_.axes[0].trips;
    return fmt::format("({0} / {1} * {2} + {0} % {1} * {3})", tap, across,
                       halo_.axes[1].dilation * halo_.inputs(0), halo_.axes[0].dilation);
  }

  void multiply_taps() {
    if (taps() <= kMostUnrolled)
      text_.unroll();
    else
      text_.keep_rolled();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.inner, taps());
    text_.line("{}({});", names_.load, names_.inner);
    open_fragment_loops(text_, tile_, names_, rows_);
    const auto part = [&](std::size_t i, const std::string& at, int number) {
      return fmt::format("{}[0][{}][{}]", names_.held[i], at, number);
    };
    write_fragment_product(text_, tile_.element,
                           fmt::format("{}[{}][{}]", names_.sums, names_.i, names_.j),
                           {part(rows_, names_.i, 0), part(rows_, names_.i, 1),
                            part(rows_, names_.i, 2), part(rows_, names_.i, 3)},
                           {part(1 - rows_, names_.j, 0), part(1 - rows_, names_.j, 1)});
    text_.close();
    text_.close();
    text_.close();
  }

  void load_inputs(const std::string& strip, const std::string& into) {
    text_.line("{}({}{});", load_[input_], strip, is_copied() ? ", " + into : "");
  }
  void store_inputs(const std::string& into) {
    if (!is_copied()) text_.line("{}({});", store_[input_], into);
  }
  void copy_others(const std::string& strip, const std::string& into) {
    if (is_dense()) text_.line("{}({});", load_[other_], strip);
    if (are_others_copied()) text_.line("{}({}, {});", load_[other_], strip, into);
  }

  void multiply() {
    text_.open("if ({} > 0)", total_);
    copy_others("0", "0");
    load_inputs("0", "0");
    store_inputs("0");
    text_.close();
    text_.line("int {} = 0;", names_.stage);
    text_.keep_rolled();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.strip, total_);
    text_.line("const int {} = {} + 1;", names_.next, names_.strip);
    text_.line("const int {} = 1 - {};", names_.into, names_.stage);
    text_.line("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
    text_.line("__syncthreads();");
    if (!are_others_copied()) {
      text_.line("{}({});", store_[other_], names_.strip);
      text_.line("__syncthreads();");
    }
    text_.open("if ({} < {})", names_.next, total_);
    copy_others(names_.next, names_.into);
    load_inputs(names_.next, names_.into);
    text_.close();
    multiply_taps();
    text_.open("if ({} < {})", names_.next, total_);
    store_inputs(names_.into);
    text_.close();
    for (std::size_t i = 0; i < 2; ++i) {
      if (i == input_ || are_others_copied())
        text_.line("{} += {} * (1 - 2 * {});", names_.at[i], 2 * stage_elements(i), names_.stage);
    }
    text_.line("{} = {};", names_.stage, names_.into);
    text_.close();
  }

  // Taps whose products are written out one after the other.
  static constexpr int kMostUnrolled = 16;

  const KernelForm& form_;
  const Launch& launch_;
  const ImplicitGemm& gemm_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  const HaloTile& halo_;
  Names fresh_;
  TensorNames names_;
  CodeLines text_;
  GatheredElements elements_;
  const std::size_t rows_;
  const std::size_t input_;
  const std::size_t other_;
  BoxOfLines box_;
  std::string has_item_;
  std::vector<std::string> trips_;  // of each loop
  std::array<std::string, 2> loaded_, load_, store_;
  std::string total_ = fresh_.fresh("total");
  std::string chunk_ = fresh_.fresh("chunk");
  std::string begin_ = fresh_.fresh("begin");
  std::string item_ = fresh_.fresh("item");
  std::string element_ = fresh_.fresh("element");
  std::string again_ = fresh_.fresh("thread_again");
  std::string raw_ = fresh_.fresh("in_order");
  std::string wanted_ = fresh_.fresh("wanted");
  std::string staged_ = fresh_.fresh("staged");
  std::string pair_ = fresh_.fresh("parts");
  std::string pitch_ = fresh_.fresh("pitch");
  std::string across_ = fresh_.fresh("boxes");
  std::string column_ = fresh_.fresh("column");
  std::string row_ = fresh_.fresh("row");
  std::string box_first_;
  std::array<std::string, 2> position_ = {fresh_.fresh("across"), fresh_.fresh("down")};
  std::array<std::string, 2> tap_ = {fresh_.fresh("tap_across"), fresh_.fresh("tap_down")};
};

}  // namespace

std::int64_t HaloTile::shared_bytes(const TensorTile& tile, std::size_t rows) const {
  const int copies = others == Others::by_elements ? 1 : 2;
  const std::int64_t chunks = std::int64_t{kStages} * input_chunks() + copies * other_chunks(tile);
  return std::max(chunks * kChunkBytes, std::int64_t{4} * tile.staged_elements(rows));
}

Block halo_gemm_code(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
                     const TensorTile& tile, const HaloTile& halo, const GeneralVersion* general) {
  return HaloGemmCode(form, launch, gemm, tile, halo).run(general);
}

}  // namespace regraph::rewrite
