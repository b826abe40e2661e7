#include "rewrite/transform/implicit_gemm_code.h"

#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/gathered_elements.h"
#include "rewrite/transform/product_elements.h"
#include "rewrite/transform/tensor_fragments.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

namespace {

// Of tiles that are taken together (declare_block_place).
constexpr int kRows = 4;
constexpr int kWarp = 32;

class ImplicitGemmCode {
 public:
  ImplicitGemmCode(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
                   const TensorTile& tile)
      : form_(form),
        launch_(launch),
        gemm_(gemm),
        product_(gemm.product),
        tile_(tile),
        fresh_(form.kernel),
        names_(fresh_, gemm.product),
        total_(fresh_.fresh("total")),
        k_(fresh_.fresh("k")),
        chunk_(fresh_.fresh("chunk")),
        begin_(fresh_.fresh("begin")),
        element_(fresh_.fresh("element")),
        carry_(fresh_.fresh("carry")),
        wanted_(fresh_.fresh("wanted")),
        staged_(fresh_.fresh("staged")),
        elements_(text_, form, launch, gemm, fresh_),
        rows_(rows_in_memory(gemm.product)) {
    for (const ProductFactor& factor : product_.factors) {
      fresh_.take(factor.axis.coordinate);
      loaded_[index_of(factor)] = fresh_.fresh(factor.array + "_loaded");
      load_[index_of(factor)] = fresh_.fresh("load_" + factor.array);
      store_[index_of(factor)] = fresh_.fresh("store_" + factor.array);
    }
  }

  Block run(const GeneralVersion* general) {
    text_.line("const unsigned int {} = threadIdx.x;", names_.thread);
    declare_block_place(text_, product_, tile_, names_, kRows);
    if (general != nullptr) text_.open("if ({})", print(general->condition));
    write_tile();
    if (general != nullptr) {
      text_.reopen("} else {");
      write_original_elements(text_, general->form, launch_, product_, tile_, names_, rows_,
                              tile_.threads());
      text_.close();
    }
    return text_.block(fresh_);
  }

 private:
  void write_tile() {
    declare();
    if (!is_copied(0) || !is_copied(1)) elements_.define_element(element_, type());
    for (std::size_t i = 0; i < 2; ++i) {
      define_load(i);
      if (!is_copied(i)) define_store(i);
    }
    define_tensor_load(text_, product_, tile_, names_, rows_);
    multiply();
    write_sums_to_shared(text_, product_, tile_, names_, rows_, staged_);
    TensorNames staged = names_;
    staged.sums = staged_;
    write_staged_elements(text_, form_, launch_, product_, tile_, staged, rows_,
                          tile_.staged_pitch(rows_), tile_.threads());
  }

  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }
  const GatheredFactor& gathered(std::size_t i) const { return gemm_.factors[i]; }
  const SummedLoop* chunked() const { return elements_.chunked(); }
  bool is_copied(std::size_t i) const { return elements_.is_copied(i); }
  std::string text_of(const ExprPtr& expr) const { return elements_.text_of(expr); }
  std::string conditions(std::size_t i, Asked when) const { return elements_.conditions(i, when); }
  std::size_t index_of(const ProductFactor& one) const {
    return static_cast<std::size_t>(&one - product_.factors.data());
  }
  std::string type() const { return std::string(cuda_name(tile_.element)); }
  int chunks() const { return tile_.depth / tile_.vector(); }  // of a line of a strip
  int lines(std::size_t i) const { return tile_.tile[i]; }
  // Chunks of a strip that a thread loads.
  int steps(std::size_t i) const { return lines(i) * chunks() / tile_.threads(); }

  void declare() {
    text_.line("extern __shared__ __align__({}) {} {}[];", 8 * TensorTile::kPanelBytes, type(),
               names_.tiles);
    text_.line("{}* const {} = {};", type(), names_.stages[0], names_.tiles);
    text_.line("{}* const {} = {} + {};", type(), names_.stages[1], names_.stages[0],
               tile_.stages * tile_.strip_elements(0));
    declare_warp_place(text_, tile_, names_, names_.thread + " / 32");
    declare_lengths();
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_copied(i)) {
        text_.line("unsigned int {}[{}][{}];", loaded_[i], steps(i), ImplicitGemm::kChunk);
        continue;
      }
      text_.line("const bool {} = {};", names_.whole[i],
                 all_divisible(*gathered(i).divisible, ImplicitGemm::kChunk));
    }
    text_.line("float {}[{}][{}][4] = {{}};", names_.sums, tile_.warp[rows_] / 16,
               tile_.warp[1 - rows_] / 8);
  }

  // How often each loop runs, and how many k there are.
  void declare_lengths() {
    trips_ = elements_.declare_trips();
    std::string total;
    for (std::size_t at = 0; at < trips_.size(); ++at) {
      const std::string trips = at == gemm_.chunked
                                    ? fmt::format("({0} + {1}) / {2} * {2}", trips_[at],
                                                  ImplicitGemm::kChunk - 1, ImplicitGemm::kChunk)
                                    : trips_[at];
      total += (total.empty() ? "" : " * ") + trips;
    }
    text_.line("const int {} = {};", total_, total);
  }

  // The loops' counters where a chunk begins, at k.
  void declare_counters() {
    std::string rest = chunked() != nullptr ? fmt::format("{} / {}", k_, ImplicitGemm::kChunk) : k_;
    std::vector<std::size_t> order;  // fastest first
    for (std::size_t at = gemm_.loops.size(); at-- > 0;) {
      if (at != gemm_.chunked) order.push_back(at);
    }
    if (gemm_.chunked) order.push_back(*gemm_.chunked);
    for (const std::size_t at : order) {
      const SummedLoop& loop = gemm_.loops[at];
      const bool is_last = at == order.back();
      std::string value = is_last ? rest : fmt::format("{} % {}", rest, trips_[at]);
      if (&loop == chunked()) value += fmt::format(" * {}", ImplicitGemm::kChunk);
      const std::string first = text_of(loop.first);
      text_.line("{}int {} = {}{};", chunked() != nullptr ? "const " : "",
                 &loop == chunked() ? begin_ : loop.counter, first == "0" ? "" : first + " + ",
                 value);
      rest = fmt::format("{} / {}", rest, trips_[at]);
    }
  }

  // In the order of the loops: the counters of the next k. Without branches, which would come
  // between the loads.
  void advance_counters() {
    for (std::size_t at = gemm_.loops.size(); at-- > 0;) {
      const SummedLoop& loop = gemm_.loops[at];
      const bool is_fastest = at + 1 == gemm_.loops.size();
      text_.line("{} += {};", loop.counter, is_fastest ? "1" : carry_);
      if (at == 0) break;
      text_.line("{}{} = {} == {};", is_fastest ? "int " : "", carry_, loop.counter,
                 text_of(loop.limit));
      text_.line("{0} = {1} ? {2} : {0};", loop.counter, carry_, text_of(loop.first));
    }
  }

  // Where the thread's line lies, and whether it is inside; names that values are made of.
  void declare_line(std::size_t i, const std::string& line) {
    text_.line("const int {} = {};", names_.line, line);
    text_.line("const int {} = {} + {};", factor(i).axis.coordinate, names_.first[i], names_.line);
    elements_.declare_names_of(i);
    const std::string inside = conditions(i, Asked::of_line);
    text_.line("const bool {} = {};", names_.inside[i], inside.empty() ? "true" : inside);
  }

  // A thread's line is the same at all steps where the lanes of a warp are neighbours along the
  // axis, its chunk where they are along k.
  int chunks_apart(std::size_t i) const { return tile_.threads() / lines(i); }

  // Which chunk of its line a thread loads at a step. Of gathered lines that is the same for all
  // lanes of a warp, and so are the counters.
  void declare_chunk(std::size_t i) {
    if (gathered(i).lanes_along_k) {
      text_.line("const int {} = {} % {};", chunk_, names_.thread, chunks());
      return;
    }
    const std::string chunk = fmt::format("(int)({} / {})", names_.thread, lines(i));
    text_.line(
        "const int {} = {};", chunk_,
        lines(i) % kWarp == 0 ? fmt::format("__shfl_sync(0xffffffffu, {}, 0)", chunk) : chunk);
  }

  // Loads a thread's part of a strip: to shared memory by copies, else to registers.
  void define_load(std::size_t i) {
    text_.open("const auto {} = [&]({}int {})", load_[i],
               is_copied(i) ? "int " + names_.into + ", " : "", names_.strip);
    declare_chunk(i);
    if (!gathered(i).lanes_along_k) declare_line(i, line_of(i));
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps(i));
    if (gathered(i).lanes_along_k) declare_line(i, line_of(i));
    text_.line("const int {} = {} + {} * {};", k_, names_.strip,
               gathered(i).lanes_along_k
                   ? chunk_
                   : fmt::format("({} + {} * {})", chunk_, names_.step, chunks_apart(i)),
               ImplicitGemm::kChunk);
    const bool in_order = chunked() == nullptr;
    if (!in_order || !gathered(i).along_k) declare_counters();
    const std::string of_chunk = conditions(i, Asked::of_chunk);
    text_.line("const bool {} = {}{};", wanted_, names_.inside[i],
               of_chunk.empty() ? "" : " & " + of_chunk);
    if (is_copied(i)) open_vector(i);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, ImplicitGemm::kChunk);
    if (!in_order) text_.line("const int {} = {} + {};", chunked()->counter, begin_, names_.e);
    const std::string of_element = conditions(i, Asked::of_element);
    const std::string asked = fmt::format(
        "{} & ({}){}", wanted_,
        in_order ? fmt::format("{} + {} < {}", k_, names_.e, total_)
                 : fmt::format("{} < {}", chunked()->counter, text_of(chunked()->limit)),
        of_element.empty() ? "" : " & " + of_element);
    const std::string from = in_order && gathered(i).along_k
                                 ? fmt::format("{} + {} + {}", first_of_line(i), k_, names_.e)
                                 : "&" + text_of(gathered(i).element);
    if (is_copied(i)) {
      text_.line("{}[{}] = {} ? *({}) : {};", names_.to, names_.e, asked, from,
                 print(zero_of(tile_.element)));
    } else {
      text_.line("{}[{}][{}] = {}({}, {});", loaded_[i], names_.step, names_.e, element_, from,
                 asked);
      if (in_order && !gathered(i).along_k) advance_counters();
    }
    text_.close();
    if (is_copied(i)) text_.close();
    text_.close();
    text_.close("};");
  }

  // In the strip: the line of a thread's chunk at a step.
  std::string line_of(std::size_t i) const {
    if (!gathered(i).lanes_along_k) return fmt::format("{} % {}", names_.thread, lines(i));
    return fmt::format("(int){} / {} + {} * {}", names_.thread, chunks(), names_.step,
                       tile_.threads() / chunks());
  }

  // The address of the element of the first iterations.
  std::string first_of_line(std::size_t i) const {
    ExprPtr element = gathered(i).element;
    for (const SummedLoop& loop : gemm_.loops)
      element = rewrite_expr(element, replace_variable(loop.counter, loop.first));
    return "&" + text_of(element);
  }

  // Writes the copy of a whole vector, and opens what is done where there is none.
  void open_vector(std::size_t i) {
    text_.line("{}* const {} = &{}[{} * {} + {}];", type(), names_.to, names_.stages[i],
               names_.into, tile_.strip_elements(i),
               place_in_strip(tile_, i, true, names_.line,
                              fmt::format("({} * {})", chunk_, ImplicitGemm::kChunk)));
    const int last = ImplicitGemm::kChunk - 1;
    std::string from;
    std::string whole;
    if (chunked() == nullptr) {
      whole = fmt::format("{} + {} < {}", k_, last, total_);
      from = fmt::format("{} + {}", first_of_line(i), k_);
    } else {
      whole = fmt::format("{} + {} < {}", begin_, last, text_of(chunked()->limit));
      from = "&" + text_of(rewrite_expr(gathered(i).element,
                                        replace_variable(chunked()->counter, variable(begin_))));
    }
    text_.open("if ({} && {} && {})", names_.whole[i], wanted_, whole);
    text_.line("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\" ::");
    text_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"({})",
               names_.to, from);
    text_.line("             : \"memory\");");
    text_.reopen("} else {");
  }

  void define_store(std::size_t i) {
    text_.open("const auto {} = [&](int {})", store_[i], names_.into);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps(i));
    text_.line("const int {} = {};", names_.line, line_of(i));
    const std::string chunk = gathered(i).lanes_along_k
                                  ? fmt::format("{} % {}", names_.thread, chunks())
                                  : fmt::format("((int){} / {} + {} * {})", names_.thread, lines(i),
                                                names_.step, chunks_apart(i));
    text_.line("const int {} = {} * {};", names_.offset, chunk, ImplicitGemm::kChunk);
    const auto pair = [&](int first) {
      return fmt::format("__byte_perm({0}[{1}][{2}], {0}[{1}][{3}], 0x5410)", loaded_[i],
                         names_.step, first, first + 1);
    };
    text_.line("*(uint4*)&{}[{} * {} + {}] = make_uint4({}, {}, {}, {});", names_.stages[i],
               names_.into, tile_.strip_elements(i),
               place_in_strip(tile_, i, true, names_.line, names_.offset), pair(0), pair(2),
               pair(4), pair(6));
    text_.close();
    text_.close("};");
  }

  void load_strip(const std::string& strip, const std::string& into) {
    for (std::size_t i = 0; i < 2; ++i)
      text_.line("{}({}{});", load_[i], is_copied(i) ? into + ", " : "", strip);
  }

  void store_strip(const std::string& into) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_copied(i)) text_.line("{}({});", store_[i], into);
    }
  }

  void multiply() {
    text_.open("if ({} > 0)", total_);
    load_strip("0", "0");
    store_strip("0");
    text_.close();
    text_.line("int {} = 0;", names_.stage);
    text_.keep_rolled();
    text_.open("for (int {0} = 0; {0} < {1}; {0} += {2})", names_.strip, total_, tile_.depth);
    text_.line("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
    text_.line("__syncthreads();");
    text_.line("const int {} = {} + {};", names_.next, names_.strip, tile_.depth);
    text_.line("const int {} = 1 - {};", names_.into, names_.stage);
    text_.open("if ({} < {})", names_.next, total_);
    load_strip(names_.next, names_.into);
    text_.close();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; {0} += {2})", names_.inner, tile_.depth,
               tile_.step_depth());
    text_.line("{}(0, {});", names_.load, names_.inner);
    write_fragment_products(text_, tile_, names_, rows_);
    text_.close();
    text_.open("if ({} < {})", names_.next, total_);
    store_strip(names_.into);
    text_.close();
    advance_tensor_load(text_, tile_, names_);
    text_.close();
  }

  const KernelForm& form_;
  const Launch& launch_;
  const ImplicitGemm& gemm_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  Names fresh_;
  TensorNames names_;
  std::string total_, k_, chunk_, begin_, element_, carry_, wanted_, staged_;
  std::array<std::string, 2> loaded_, load_, store_;
  std::vector<std::string> trips_;  // of each loop
  CodeLines text_;
  GatheredElements elements_;
  const std::size_t rows_;
};

}  // namespace

Block implicit_gemm_code(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
                         const TensorTile& tile, const GeneralVersion* general) {
  return ImplicitGemmCode(form, launch, gemm, tile).run(general);
}

}  // namespace regraph::rewrite
