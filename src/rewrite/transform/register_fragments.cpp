#include "rewrite/transform/register_fragments.h"

#include "rewrite/transform/warpgroup_product.h"

#include <fmt/format.h>

namespace regraph::rewrite {

RegisterFragments::RegisterFragments(CodeLines& lines, const TensorTile& tile,
                                     const TensorNames& names, Names& fresh)
    : lines_(lines),
      tile_(tile),
      names_(names),
      factor_(tile.instruction_rows),
      row_(fresh.fresh("first_row")),
      fragments_(fresh.fresh("fragments")) {}

int RegisterFragments::count() const {
  return tile_.warp[factor_] / kWarpgroupRows;
}

void RegisterFragments::declare() {
  // Quads that follow each other are half a panel's part apart, so that the lines along k of four
  // lanes, which are exchanged by their numbers, meet all banks.
  const std::string quad = fmt::format("({0} % 32 / 8 + {0} / 4 % 2 * 4)", names_.thread);
  lines_.line("const int {} = {} + {} % {} / 32 * {} + {} * {};", row_, names_.in_warp[factor_],
              names_.thread, kWarpgroupThreads, 16 * count(), quad, 2 * count());
  lines_.line("unsigned int {}[{}][{}][4];", fragments_, tile_.depth / tile_.step_depth(), count());
}

void RegisterFragments::load(const std::string& stage, const std::string& step) {
  if (tile_.element_bytes() == 1) {
    load_bytes(stage, step);
  } else {
    load_words(stage, step);
  }
}

// Two places along k a thread; the copies round what is inside of the matrices, not what threads
// store.
void RegisterFragments::load_words(const std::string& stage, const std::string& step) {
  const std::string vector = count() == 2 ? "float4" : "float2";
  lines_.unroll();
  lines_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
  lines_.line("const int {} = {} * {} + {} % 4 + 4 * {};", names_.line, step, tile_.step_depth(),
              names_.thread, names_.h);
  lines_.line("const {0} {1} = *(const {0}*)&{2}[{3} * {4} + {5}];", vector, names_.pair,
              names_.stages[factor_], stage, tile_.strip_elements(factor_),
              place_in_strip(tile_, factor_, false, names_.line, row_));
  constexpr const char* kParts = "xyzw";
  for (int i = 0; i < 2 * count(); ++i) {
    lines_.line(
        "asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"({}[{}][{}][2 * {} + {}]) : \"f\"({}.{}));",
        fragments_, step, i / 2, names_.h, i % 2, names_.pair, kParts[i]);
  }
  lines_.close();
}

// Eight places along k a thread, four of them a register: four bytes of each are transposed.
void RegisterFragments::load_bytes(const std::string& stage, const std::string& step) {
  constexpr int kTogether = 4;
  lines_.unroll();
  lines_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
  lines_.line("unsigned int {}[{}];", names_.pair, kTogether);
  lines_.unroll();
  lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, kTogether);
  lines_.line("const int {} = {} * {} + {} % 4 * 4 + 16 * {} + {};", names_.line, step,
              tile_.step_depth(), names_.thread, names_.h, names_.e);
  lines_.line("{}[{}] = *(const unsigned int*)&{}[{} * {} + {}];", names_.pair, names_.e,
              names_.stages[factor_], stage, tile_.strip_elements(factor_),
              place_in_strip(tile_, factor_, false, names_.line, row_));
  lines_.close();
  // Bytes 0 and 1 of the first two, then of the others, are put together, and these by halves.
  const auto halves = [&](int first, const char* selector) {
    return fmt::format("__byte_perm({0}[{1}], {0}[{2}], {3})", names_.pair, first, first + 1,
                       selector);
  };
  for (int i = 0; i < kTogether; ++i) {
    const char* const bytes = i < 2 ? "0x5140" : "0x7362";
    lines_.line("{}[{}][{}][2 * {} + {}] = __byte_perm({}, {}, {});", fragments_, step, i / 2,
                names_.h, i % 2, halves(0, bytes), halves(2, bytes),
                i % 2 == 0 ? "0x5410" : "0x7632");
  }
  lines_.close();
}

std::string RegisterFragments::operands(const std::string& step,
                                        const std::string& fragment) const {
  std::string result;
  for (int i = 0; i < 4; ++i) {
    result +=
        fmt::format("{}\"r\"({}[{}][{}][{}])", i == 0 ? "" : ", ", fragments_, step, fragment, i);
  }
  return result;
}

}  // namespace regraph::rewrite
