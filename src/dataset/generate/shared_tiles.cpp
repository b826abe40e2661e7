#include "dataset/generate/shared_tiles.h"

#include <fmt/format.h>

namespace regraph::dataset {

SharedTile declare_tile(KernelDraft& draft, std::string_view role, const std::string& rows,
                        const std::string& cols, const std::string& planes) {
  const Dice& dice = draft.dice();
  const int side = dice.one_of("tile side", {8, 16, 16, 32, 32});
  const std::string text = std::to_string(side);
  draft.line(fmt::format("__shared__ $T ${}[{}][{}];", role, text, text));
  draft.index("tx", "threadIdx.x");
  draft.index("ty", "threadIdx.y");
  std::vector<std::string> grid = {"cdiv(" + cols + ", " + text + ")",
                                   "cdiv(" + rows + ", " + text + ")"};
  if (!planes.empty()) grid.push_back(planes);
  draft.launch({side, side}, grid);
  const std::string row_base = "blockIdx.y * " + text;
  const std::string col_base = "blockIdx.x * " + text;
  return {text, row_base, col_base, row_base + " + $ty", col_base + " + $tx"};
}

}  // namespace regraph::dataset
