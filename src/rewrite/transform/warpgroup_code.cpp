#include "rewrite/transform/warpgroup_code.h"

#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/product_elements.h"
#include "rewrite/transform/register_fragments.h"
#include "rewrite/transform/tensor_boxes.h"
#include "rewrite/transform/tensor_copies.h"
#include "source/build.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace regraph::rewrite {

namespace {

// Of strips: eight lines of a panel are exchanged by the last bits of addresses.
constexpr int kStripAlignment = 1024;
// Of tiles that are taken together; of prototypes 4, 8 and 16 differed by some 5 % on an H200.
constexpr int kTogether = 8;
// How a block's registers are shared out: 128 threads with the former and 256 with the latter are
// the 168 a thread that the block is launched with.
constexpr int kCopyingRegisters = 56;
constexpr int kMultiplyingRegisters = 224;

class WarpgroupCode {
 public:
  WarpgroupCode(const KernelForm& form, const Launch& launch, const MatrixProduct& product,
                const TensorTile& tile)
      : form_(form),
        launch_(launch),
        product_(product),
        tile_(tile),
        rows_(rows_in_memory(product)),
        lines_(tile.instruction_rows),
        across_(1 - tile.instruction_rows),
        fresh_(form.kernel),
        names_(fresh_, product),
        barriers_(fresh_.fresh("barriers")),
        full_(fresh_.fresh("full")),
        empty_(fresh_.fresh("empty")),
        wait_(fresh_.fresh("wait")),
        phase_(fresh_.fresh("phase")),
        copier_(fresh_.fresh("copier")),
        boxes_(text_, product_, tile_, names_, fresh_),
        fragments_(text_, tile_, names_, fresh_) {}

  Block run() {
    declare();
    text_.open("if ({} >= {})", names_.thread, kMultiplyingThreads);
    copy();
    text_.reopen("} else {");
    multiply();
    stage_sums();
    text_.close();
    text_.line("__syncthreads();");
    text_.line("{0}* const {1} = ({0}*){2};", sum_type(), names_.sums, names_.tiles);
    write_staged_elements(text_, form_, launch_, product_, tile_, names_, rows_, pitch(),
                          threads());
    return text_.block(fresh_);
  }

 private:
  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }
  const char* index_type() const { return product_.is_wide ? "long long" : "int"; }
  int threads() const { return kMultiplyingThreads + tile_.copying_threads; }
  std::string sum_type() const { return std::string(cuda_name(product_.sum_type)); }
  // Of one instruction.
  int columns() const { return tile_.tile[across_]; }
  int pitch() const { return tile_.staged_pitch(rows_); }
  int fragments() const { return tile_.warp[lines_] / kWarpgroupRows; }
  int steps() const { return tile_.depth / tile_.step_depth(); }
  int strip_bytes(std::size_t i) const { return tile_.strip_elements(i) * tile_.element_bytes(); }

  static std::string text_of(const Polynomial& polynomial, bool wide) {
    return print(to_expression(polynomial, wide));
  }

  void declare() {
    const std::string type(cuda_name(tile_.element));
    text_.line("extern __shared__ __align__({}) unsigned char {}[];", kStripAlignment,
               names_.tiles);
    text_.line("{0}* const {1} = ({0}*){2};", type, names_.stages[0], names_.tiles);
    text_.line("{}* const {} = {} + {};", type, names_.stages[1], names_.stages[0],
               tile_.stages * tile_.strip_elements(0));
    text_.line("__shared__ __align__(8) unsigned long long {}[{}];", barriers_, 2 * tile_.stages);
    text_.line("const unsigned int {} = (unsigned int)__cvta_generic_to_shared({});", full_,
               barriers_);
    text_.line("const unsigned int {} = {} + {};", empty_, full_, 8 * tile_.stages);
    text_.line("const int {} = threadIdx.x;", names_.thread);
    declare_block_place(text_, product_, tile_, names_, kTogether);
    text_.line("const {} {} = {};", index_type(), names_.limit,
               text_of(product_.limit, product_.is_wide));
    if (tile_.by_boxes) {
      declare_tensor_copies(text_, product_, tile_, names_);
      by_boxes_ = boxes_.declare();
    }
    begin_barriers();
    text_.open("const auto {} = [](unsigned int barrier, unsigned int phase)", wait_);
    text_.line(
        "asm volatile(\"{{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], \"");
    text_.line(
        "             \"%1; @p bra done; bra again; done: }}\" :: \"r\"(barrier), \"r\"(phase)");
    text_.line("             : \"memory\");");
    text_.close("};");
  }

  // A stage is full when all copying threads said so twice, of copies and of what they stored, or
  // one of all boxes; it is empty when every multiplying warp said so.
  void begin_barriers() {
    text_.open("if ({} == 0)", names_.thread);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, tile_.stages);
    const std::string filling = std::to_string(2 * tile_.copying_threads);
    for (const auto& [barrier, count] :
         {std::pair(full_, tile_.by_boxes ? by_boxes_ + " ? 1 : " + filling : filling),
          std::pair(empty_, std::to_string(kMultiplyingThreads / 32))}) {
      text_.line(
          "asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\" :: \"r\"({} + 8 * {}), \"r\"({}) : "
          "\"memory\");",
          barrier, names_.i, count);
    }
    text_.close();
    if (tile_.by_boxes)
      text_.line("asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");");
    text_.close();
    text_.line("__syncthreads();");
  }

  void next_stage() {
    text_.open("if (++{} == {})", names_.stage, tile_.stages);
    text_.line("{} = 0;", names_.stage);
    text_.line("{} ^= 1;", phase_);
    text_.close();
  }

  void over_strips() {
    text_.line("int {} = 0;", names_.stage);
    text_.open("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", index_type(), names_.strip,
               text_of(product_.first, product_.is_wide), names_.limit, tile_.depth);
  }

  void copy() {
    text_.line("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 {};\");", kCopyingRegisters);
    text_.line("const int {} = {} - {};", copier_, names_.thread, kMultiplyingThreads);
    text_.line("unsigned int {} = 1;", phase_);
    if (tile_.by_boxes) {
      text_.open("if ({})", by_boxes_);
      copy_boxes();
      text_.reopen("} else {");
    }
    copy_by_threads();
    if (tile_.by_boxes) text_.close();
  }

  // A warp makes the maps, one of its threads begins all copies.
  void copy_boxes() {
    text_.open("if ({} < 32)", copier_);
    boxes_.make_maps(copier_);
    text_.open("if ({} == 0)", copier_);
    over_strips();
    text_.line("{}({} + 8 * {}, {});", wait_, empty_, names_.stage, phase_);
    boxes_.copy(names_.strip, names_.stage, fmt::format("{} + 8 * {}", full_, names_.stage));
    next_stage();
    text_.close();
    text_.close();
    text_.close();
  }

  void copy_by_threads() {
    TensorNames copying = names_;
    copying.thread = copier_;
    if (!tile_.by_boxes) declare_tensor_copies(text_, product_, tile_, copying);
    const auto inside = define_tensor_fill(text_, product_, tile_, copying, names_.strip);
    over_strips();
    text_.line("{}({} + 8 * {}, {});", wait_, empty_, names_.stage, phase_);
    if (inside) {
      text_.open("if ({})", *inside);
      text_.line("{}({}, 0, 1);", names_.fill_inside, names_.stage);
      text_.reopen("} else {");
    }
    text_.line("{}({}, {});", names_.fill, names_.stage, names_.strip);
    if (inside) text_.close();
    text_.line(
        "asm volatile(\"cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\" :: \"r\"({} + 8 * {}) : "
        "\"memory\");",
        full_, names_.stage);
    arrive(full_, names_.stage);
    if (inside) advance_tensor_copies(text_, product_, tile_, copying);
    next_stage();
    text_.close();
    text_.line("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
  }

  void arrive(const std::string& barrier, const std::string& stage) {
    text_.line(
        "asm volatile(\"mbarrier.arrive.shared.b64 _, [%0];\" :: \"r\"({} + 8 * {}) : \"memory\");",
        barrier, stage);
  }

  // The first fragment of a factor's strip in stage 0, as the instruction is told.
  void declare_descriptor(std::size_t i) {
    const std::string line = i == lines_ ? names_.in_warp[i] : "0";
    const int to_line = factor(i).along_k ? TensorTile::kPanelBytes : 0;
    // Lines along k are of one panel; others go on in panels of their own.
    const int panels = factor(i).along_k ? kDescriptorUnit : tile_.depth * TensorTile::kPanelBytes;
    std::string start = fmt::format("(unsigned int)__cvta_generic_to_shared({})", names_.stages[i]);
    if (i == lines_) {
      start += to_line > 0 ? fmt::format(" + {} * {}", line, to_line)
                           : fmt::format(" + {} / {} * {}", line, tile_.panel(), panels);
    }
    text_.line("const unsigned long long {} = {};", names_.at[i], panel_descriptor(start, panels));
  }

  // From a descriptor to that of the instruction's next places along k, and of the next 64 lines.
  int step_units(std::size_t i) const {
    const int bytes = factor(i).along_k ? tile_.step_depth() * tile_.element_bytes()
                                        : tile_.step_depth() * TensorTile::kPanelBytes;
    return bytes / kDescriptorUnit;
  }
  int fragment_units() const { return kWarpgroupRows * TensorTile::kPanelBytes / kDescriptorUnit; }

  void multiply() {
    text_.line("asm volatile(\"setmaxnreg.inc.sync.aligned.u32 {};\");", kMultiplyingRegisters);
    text_.line("const int {} = {} / {} * {};", names_.in_warp[lines_], names_.thread,
               kWarpgroupThreads, tile_.warp[lines_]);
    if (tile_.from_registers) {
      fragments_.declare();
    } else {
      declare_descriptor(lines_);
    }
    declare_descriptor(across_);
    text_.line("{} {}[{}][{}] = {{}};", sum_type(), held(), fragments(), columns() / 2);
    text_.line("unsigned int {} = 0;", phase_);
    over_strips();
    text_.line("{}({} + 8 * {}, {});", wait_, full_, names_.stage, phase_);
    // What threads stored, the tensor cores read by another way.
    text_.line("{}asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");",
               tile_.by_boxes ? "if (!" + by_boxes_ + ") " : "");
    if (!tile_.from_registers) write_warpgroup_fence(text_);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.inner, steps());
    if (tile_.from_registers) load_fragments();
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, fragments());
    multiply_fragment();
    text_.close();
    if (tile_.from_registers) commit();
    text_.close();
    if (!tile_.from_registers) {
      commit();
      // The strip before is multiplied by now, while this one is.
      await(1);
    } else {
      text_.line("__syncwarp();");
    }
    text_.open("if ({} % 32 == 0 && {} > {})", names_.thread, names_.strip,
               text_of(product_.first, product_.is_wide));
    arrive(empty_,
           fmt::format("({} == 0 ? {} : {} - 1)", names_.stage, tile_.stages - 1, names_.stage));
    text_.close();
    next_stage();
    // Within the loop, as ptxas would else wait after each product whose fragments are in registers
    // (its warning C7515): where the loop is not entered the sums come from elsewhere.
    if (tile_.from_registers) {
      text_.open("if ({} + {} >= {})", names_.strip, tile_.depth, names_.limit);
      await(0);
      text_.close();
    }
    text_.close();
    if (!tile_.from_registers) await(0);
  }

  void commit() { commit_warpgroup_products(text_); }
  void await(int groups) { await_warpgroup_products(text_, groups); }

  // Into registers whose product of the strip before is there: each step along k is a group. At the
  // last step all of the strip before is.
  void load_fragments() {
    await(steps() - 1);
    fragments_.load(names_.stage, names_.inner);
    write_warpgroup_fence(text_);
  }

  std::string held() const { return names_.held[rows_]; }

  void multiply_fragment() {
    WarpgroupProduct one;
    one.element = tile_.element;
    one.sum_type = product_.sum_type;
    one.columns = columns();
    one.depth = tile_.step_depth();
    one.sum = [&](int i) { return fmt::format("{}[{}][{}]", held(), names_.i, i); };
    one.rows_in_registers = tile_.from_registers;
    one.rows_at = tile_.from_registers
                      ? fragments_.operands(names_.inner, names_.i)
                      : fmt::format("{} + {} * {} + {} * {} + {} * {}", names_.at[lines_],
                                    names_.stage, strip_bytes(lines_) / kDescriptorUnit, names_.i,
                                    fragment_units(), names_.inner, step_units(lines_));
    one.columns_at =
        fmt::format("{} + {} * {} + {} * {}", names_.at[across_], names_.stage,
                    strip_bytes(across_) / kDescriptorUnit, names_.inner, step_units(across_));
    one.turns_rows = !factor(lines_).along_k;
    one.turns_columns = !factor(across_).along_k;
    write_warpgroup_product(text_, one);
  }

  // The sums, where the strips were: all of them are multiplied by now. A thread holds neighbours
  // of the instruction's columns, and with fragments from registers of its rows, too.
  void stage_sums() {
    text_.line("asm volatile(\"bar.sync 1, {};\" ::: \"memory\");", kMultiplyingThreads);
    if (lines_ != rows_) {
      stage_neighbouring_rows();
      return;
    }
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, fragments());
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, columns() / 4);
    text_.line("const int {} = {};", names_.row,
               tile_.from_registers
                   ? fmt::format("{} + 2 * {} + {} % 2", fragments_.row(), names_.i, names_.j)
                   : fmt::format("{} + {} * {} + {} % {} / 32 * 16 + {} % 32 / 4 + {} % 2 * 8",
                                 names_.in_warp[lines_], names_.i, kWarpgroupRows, names_.thread,
                                 kWarpgroupThreads, names_.thread, names_.j));
    text_.line("const int {} = {} / 2 * 8 + {} % 4 * 2;", names_.offset, names_.j, names_.thread);
    text_.line(
        "*({0}2*)&(({0}*){1})[{2} * {3} + {4}] = make_{0}2({5}[{6}][2 * {7}], {5}[{6}][2 * "
        "{7} + 1]);",
        sum_type(), names_.tiles, names_.row, pitch(), names_.offset, held(), names_.i, names_.j);
    text_.close();
    text_.close();
  }

  // The instruction's rows are columns in memory.
  void stage_neighbouring_rows() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, columns() / 4);
    text_.line("const int {} = {} / 2 * 8 + {} % 4 * 2 + {} % 2;", names_.row, names_.j,
               names_.thread, names_.j);
    std::string values;
    for (int i = 0; i < fragments(); ++i) {
      for (const int half : {0, 2}) {
        values += fmt::format("{}{}[{}][{} / 2 * 4 + {} % 2 + {}]", values.empty() ? "" : ", ",
                              held(), i, names_.j, names_.j, half);
      }
    }
    text_.line("*({0}{1}*)&(({0}*){2})[{3} * {4} + {5}] = make_{0}{1}({6});", sum_type(),
               2 * fragments(), names_.tiles, names_.row, pitch(), fragments_.row(), values);
    text_.close();
  }

  const KernelForm& form_;
  const Launch& launch_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  const std::size_t rows_;    // of what is stored
  const std::size_t lines_;   // the factor with the instruction's rows
  const std::size_t across_;  // and the one with its columns
  Names fresh_;
  TensorNames names_;
  std::string barriers_;
  std::string full_;
  std::string empty_;
  std::string wait_;
  std::string phase_;
  std::string copier_;
  std::string by_boxes_;  // whether the block copies boxes
  CodeLines text_;
  BoxWriter boxes_;
  RegisterFragments fragments_;
};

}  // namespace

Block warpgroup_code(const KernelForm& form, const Launch& launch, const MatrixProduct& product,
                     const TensorTile& tile) {
  return WarpgroupCode(form, launch, product, tile).run();
}

}  // namespace regraph::rewrite
