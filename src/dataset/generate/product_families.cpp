// Families that contract, and the outer product.
#include "dataset/generate/families.h"
#include "dataset/generate/shared_tiles.h"
#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

namespace regraph::dataset {

namespace {

// Element (row, col) of a buffer, or of one that is stored transposed.
std::string matrix_element(std::string_view buffer, const std::string& row, const std::string& col,
                           const std::string& rows, const std::string& cols, bool transposed) {
  if (transposed) return fmt::format("${}[{} * {} + {}]", buffer, col, rows, row);
  return fmt::format("${}[{} * {} + {}]", buffer, row, cols, col);
}

std::vector<std::string> matrix_shape(const std::string& rows, const std::string& cols,
                                      bool transposed) {
  return transposed ? std::vector<std::string>{cols, rows} : std::vector<std::string>{rows, cols};
}

// A summand of a contraction: mostly the product alone.
std::string contracted(KernelDraft& draft, const std::string& left, const std::string& right) {
  const Dice& dice = draft.dice();
  if (dice.chance("plain product", 0.7))
    return dice.chance("order", 0.5) ? left + " * " + right : right + " * " + left;
  return draft.expression("factor", {{left}}, static_cast<int>(dice.between("factor size", 1, 2)),
                          Binding::product) +
         " * " + right;
}

// What is stored of a finished sum: scaled, with a bias, bounded. `old` is empty where the result
// was not there before.
std::string finished(KernelDraft& draft, const std::string& old, const std::string& bias) {
  const Dice& dice = draft.dice();
  std::vector<Operand> operands = {{"$sum", 64.0}};
  if (!old.empty()) {
    operands[0] = {"$alpha * $sum", 64.0, Binding::product};
    operands.push_back({"$beta * " + old, 64.0, Binding::product});
  }
  if (!bias.empty()) operands.push_back({bias});
  return draft.expression("finished", operands, static_cast<int>(dice.between("after", 0, 2)));
}

void scaled_update(KernelDraft& draft) {
  draft.scalar("alpha", draft.dice().one_of("alpha", {2.0, 3.0}));
  draft.scalar("beta", draft.dice().one_of("beta", {2.0, 5.0}));
}

// Both operands in square tiles that the block brings in strip by strip; with `batched` there is
// one such product a layer of blocks.
void tiled_product(KernelDraft& draft, bool batched, const std::string& old,
                   const std::string& bias) {
  if (batched) draft.index("item", "blockIdx.z");
  const SharedTile tile = declare_tile(draft, "tile", "$rows", "$cols", batched ? "$batch" : "");
  draft.line("__shared__ $T $tile2[" + tile.side + "][" + tile.side + "];");
  draft.index("row", tile.row);
  draft.index("col", tile.col);
  const std::string row = batched ? "($item * $rows + $row)" : "$row";
  const std::string other = batched ? "($item * $inner + $lo + $ty)" : "($lo + $ty)";
  draft.line("$T $sum = $zero;");
  draft.open(draft.say("for (int $lo = 0; $lo < $inner; $lo += " + tile.side + ")"));
  draft.line("$tile[$ty][$tx] = $row < $rows && $lo + $tx < $inner ? $in[" + row +
             " * $inner + $lo + $tx] : $zero;");
  draft.line("$tile2[$ty][$tx] = $lo + $ty < $inner && $col < $cols ? $in2[" + other +
             " * $cols + $col] : $zero;");
  draft.line("__syncthreads();");
  draft.loop("k", "0", tile.side);
  draft.add("$sum", contracted(draft, "$tile[$ty][$k]", "$tile2[$k][$tx]"));
  draft.close();
  draft.line("__syncthreads();");
  draft.close();
  draft.open("if ($row < $rows && $col < $cols)");
  draft.line("$out[" + row + " * $cols + $col] = " + finished(draft, old, bias) + ";");
}

// Threads of a row of the block share a row of the matrix; the first adds up what they found.
void shared_rows(KernelDraft& draft, const std::string& old, const std::string& bias) {
  const Dice& dice = draft.dice();
  const int wide = dice.one_of("wide", {16, 32, 32, 64});
  const int high = dice.one_of("high", {4, 8, 8});
  draft.launch({wide, high}, {fmt::format("cdiv($rows, {})", high)});
  draft.line(fmt::format("__shared__ $T $tile[{}][{}];", high, wide));
  draft.index("tx", "threadIdx.x");
  draft.index("ty", "threadIdx.y");
  draft.index("row", fmt::format("blockIdx.x * {} + $ty", high));
  draft.line("$T $sum = $zero;");
  draft.open("if ($row < $rows)");
  draft.open(draft.say(fmt::format("for (int $k = $tx; $k < $cols; $k += {})", wide)));
  draft.add("$sum", contracted(draft, "$in[$row * $cols + $k]", "$in2[$k]"));
  draft.close();
  draft.close();
  draft.line("$tile[$ty][$tx] = $sum;");
  draft.line("__syncthreads();");
  draft.open("if ($tx == 0 && $row < $rows)");
  draft.line("$sum = $zero;");
  draft.loop("l", "0", std::to_string(wide));
  draft.add("$sum", "$tile[$ty][$l]");
  draft.close();
  draft.line("$out[$row] = " + finished(draft, old, bias) + ";");
}

}  // namespace

GeneratedKernel write_matrix_vector(const KernelPlace& place) {
  KernelDraft draft(place, {"matvec", "gemv", "mat_vec", "dense", "linear", "project"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 600, 2000));
  draft.size("cols", side(dice, "cols", 128, 500));
  const bool transposed = dice.chance("transposed", 0.3);
  const bool update = dice.chance("update", 0.25);
  const bool biased = dice.chance("biased", 0.3);
  draft.buffer({"in", Direction::in, matrix_shape("$rows", "$cols", transposed), draft.init()});
  draft.buffer({"in2", Direction::in, {"$cols"}, draft.init("vector")});
  if (biased) draft.buffer({"bias", Direction::in, {"$rows"}, draft.init("bias")});
  draft.buffer({"out",
                update ? Direction::inout : Direction::out,
                {"$rows"},
                update ? draft.init("init out") : ""});
  if (update) scaled_update(draft);
  const std::string old = update ? "$out[$row]" : "";
  const std::string bias = biased ? "$bias[$row]" : "";
  if (!transposed && dice.chance("shared", 0.2)) {
    shared_rows(draft, old, bias);
    return draft.finish();
  }
  over_elements(draft, {{"row", "$rows"}});
  draft.line("$T $sum = $zero;");
  draft.loop("k", "0", "$cols");
  const std::string element = matrix_element("in", "$row", "$k", "$rows", "$cols", transposed);
  draft.add("$sum", contracted(draft, element, "$in2[$k]"));
  draft.close();
  draft.line("$out[$row] = " + finished(draft, old, bias) + ";");
  return draft.finish();
}

GeneratedKernel write_matrix_matrix(const KernelPlace& place) {
  KernelDraft draft(place, {"matmul", "gemm", "multiply", "mat_mul", "product", "dense_layer"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 90, 150));
  draft.size("cols", side(dice, "cols", 90, 150));
  draft.size("inner", side(dice, "inner", 64, 130));
  const bool tiled = dice.chance("tiled", 0.25);
  const bool left = !tiled && dice.chance("left transposed", 0.25);
  const bool right = !tiled && dice.chance("right transposed", 0.3);
  const bool update = dice.chance("update", 0.25);
  const bool biased = dice.chance("biased", 0.25);
  draft.buffer({"in", Direction::in, matrix_shape("$rows", "$inner", left), draft.init()});
  draft.buffer({"in2", Direction::in, matrix_shape("$inner", "$cols", right), draft.init("init2")});
  if (biased) draft.buffer({"bias", Direction::in, {"$cols"}, draft.init("bias")});
  draft.buffer({"out",
                update ? Direction::inout : Direction::out,
                {"$rows", "$cols"},
                update ? draft.init("init out") : ""});
  if (update) scaled_update(draft);
  const std::string old = update ? "$out[$row * $cols + $col]" : "";
  const std::string bias = biased ? "$bias[$col]" : "";
  if (tiled) {
    tiled_product(draft, false, old, bias);
    return draft.finish();
  }
  over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}});
  draft.line("$T $sum = $zero;");
  draft.loop("k", "0", "$inner");
  draft.add("$sum", contracted(draft, matrix_element("in", "$row", "$k", "$rows", "$inner", left),
                               matrix_element("in2", "$k", "$col", "$inner", "$cols", right)));
  draft.close();
  draft.line("$out[$row * $cols + $col] = " + finished(draft, old, bias) + ";");
  return draft.finish();
}

GeneratedKernel write_batched_product(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"batched_matmul", "small_products", "bmm", "many_products", "batch_gemm"});
  const Dice& dice = draft.dice();
  draft.size("batch", Extent{dice.between("batch", 24, 80), {5, 3, 1}});
  draft.size("rows", box_side(dice, "rows", 16, 40));
  draft.size("cols", box_side(dice, "cols", 16, 40));
  draft.size("inner", box_side(dice, "inner", 16, 40));
  const bool tiled = dice.chance("tiled", 0.2);
  const bool shared = !tiled && dice.chance("shared operand", 0.2);
  const bool right = !tiled && dice.chance("right transposed", 0.3);
  const bool biased = dice.chance("biased", 0.25);
  std::vector<std::string> second = matrix_shape("$inner", "$cols", right);
  if (!shared) second.insert(second.begin(), "$batch");
  draft.buffer({"in", Direction::in, {"$batch", "$rows", "$inner"}, draft.init()});
  draft.buffer({"in2", Direction::in, second, draft.init("init2")});
  if (biased) draft.buffer({"bias", Direction::in, {"$cols"}, draft.init("bias")});
  draft.buffer({"out", Direction::out, {"$batch", "$rows", "$cols"}});
  const std::string bias = biased ? "$bias[$col]" : "";
  if (tiled) {
    tiled_product(draft, true, "", bias);
    return draft.finish();
  }
  over_elements(draft, {{"item", "$batch"}, {"row", "$rows"}, {"col", "$cols"}});
  draft.line("$T $sum = $zero;");
  draft.loop("k", "0", "$inner");
  const std::string of_item = shared ? "" : right ? "$item * $cols" : "$item * $inner";
  std::string at = right ? "$col" : "$k";
  if (!shared) at = "(" + of_item + " + " + at + ")";
  const std::string other =
      right ? "$in2[" + at + " * $inner + $k]" : "$in2[" + at + " * $cols + $col]";
  draft.add("$sum", contracted(draft, "$in[($item * $rows + $row) * $inner + $k]", other));
  draft.close();
  draft.line("$out[($item * $rows + $row) * $cols + $col] = " + finished(draft, "", bias) + ";");
  return draft.finish();
}

GeneratedKernel write_outer_product(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"outer", "rank_one", "broadcast", "cross_table", "outer_sum", "pair_table"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 350, 900));
  draft.size("cols", side(dice, "cols", 350, 900));
  const bool update = dice.chance("update", 0.4);
  const bool scaled = dice.chance("scaled", 0.3);
  draft.buffer({"in", Direction::in, {"$rows"}, draft.init()});
  draft.buffer({"in2", Direction::in, {"$cols"}, draft.init("init2")});
  draft.buffer({"out",
                update ? Direction::inout : Direction::out,
                {"$rows", "$cols"},
                update ? draft.init("init out") : ""});
  if (scaled) draft.scalar("alpha", dice.one_of("alpha", {2.0, 3.0, 5.0}));
  over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}}, {.loops = kRowLoops});
  std::vector<Operand> operands = {{"$in[$row]"}, {"$in2[$col]"}};
  if (dice.chance("plain product", 0.5))
    operands = {{"$in[$row] * $in2[$col]", 64.0, Binding::product}};
  if (scaled) operands.push_back({"$alpha", 5.0});
  const std::string value =
      draft.expression("value", operands, static_cast<int>(dice.between("size", 0, 3)));
  if (update) {
    draft.add("$out[$row * $cols + $col]", value);
  } else {
    draft.line("$out[$row * $cols + $col] = " + value + ";");
  }
  return draft.finish();
}

}  // namespace regraph::dataset
