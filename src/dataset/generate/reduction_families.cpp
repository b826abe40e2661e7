// Families that bring many elements together across threads, or could.
#include "dataset/generate/families.h"
#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

namespace regraph::dataset {

namespace {

// Of threads that hold a partial sum each; the block is one row of a power of two.
void tree_of_block(KernelDraft& draft) {
  const std::string half = "blockDim.x / 2";
  switch (draft.dice().below("tree", 3)) {
    case 0:
      draft.open("for (int $l = " + half + "; $l > 0; $l >>= 1)");
      draft.open("if ($tx < $l)");
      draft.add("$tile[$tx]", "$tile[$tx + $l]");
      break;
    case 1:
      draft.open("for (int $l = 1; $l < blockDim.x; $l *= 2)");
      draft.open("if ($tx % (2 * $l) == 0)");
      draft.add("$tile[$tx]", "$tile[$tx + $l]");
      break;
    default:
      draft.open("for (int $l = 1; $l < blockDim.x; $l *= 2)");
      draft.line("int $place = 2 * $l * $tx;");
      draft.open("if ($place < blockDim.x)");
      draft.add("$tile[$place]", "$tile[$place + $l]");
      break;
  }
  draft.close();
  draft.line("__syncthreads();");
  draft.close();
}

void one_sum_a_block(KernelDraft& draft, const std::string& value) {
  const Dice& dice = draft.dice();
  const int block = dice.one_of("block", {64, 128, 256, 256, 512});
  draft.buffer({"out", Direction::out, {fmt::format("cdiv($n, {})", block)}});
  draft.launch({block}, {fmt::format("cdiv($n, {})", block)});
  draft.line(fmt::format("__shared__ $T $tile[{}];", block));
  draft.index("tx", "threadIdx.x");
  draft.index("i", global_index(draft, 'x'));
  draft.line("$tile[$tx] = $i < $n ? " + value + " : $zero;");
  draft.line("__syncthreads();");
  tree_of_block(draft);
  draft.open("if ($tx == 0)");
  draft.line("$out[blockIdx.x] = $tile[0];");
}

void chunk_a_thread(KernelDraft& draft, const std::string& value) {
  const Dice& dice = draft.dice();
  const auto chunk = dice.one_of<std::int64_t>("chunk", {16, 32, 64, 100, 128});
  const bool strided = dice.chance("strided", 0.4);
  draft.size("terms", side(dice, "threads", 2000, 6000));
  draft.buffer({"out", Direction::out, {"$terms"}});
  over_elements(draft, {{"i", "$terms"}});
  draft.line("$T $sum = $zero;");
  draft.loop("k", "0", std::to_string(chunk));
  draft.index("place", strided ? "$k * $terms + $i" : fmt::format("$i * {} + $k", chunk));
  draft.open("if ($place < $n)");
  draft.add("$sum", value);
  draft.close();
  draft.close();
  draft.line("$out[$i] = $sum;");
}

}  // namespace

GeneratedKernel write_column_reduction(const KernelPlace& place) {
  KernelDraft draft(place, {"column_sums", "reduce_columns", "col_totals", "sum_down",
                            "column_mean", "per_column"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 100, 300));
  draft.size("cols", side(dice, "cols", 1000, 3000));
  const bool weighted = dice.chance("weighted", 0.35);
  draft.buffer({"in", Direction::in, {"$rows", "$cols"}, draft.init()});
  if (weighted) draft.buffer({"weights", Direction::in, {"$rows"}, draft.init("weights")});
  draft.buffer({"out", Direction::out, {"$cols"}});
  const bool shared = dice.chance("shared", 0.35);
  std::vector<Operand> operands = {{"$in[$row * $cols + $col]"}};
  if (weighted) operands.push_back({"$weights[$row]"});
  const auto size = static_cast<int>(dice.between("size", 0, 3));
  const auto after = static_cast<int>(dice.between("after", 0, 2));
  if (!shared) {
    over_elements(draft, {{"col", "$cols"}});
    draft.line("$T $sum = $zero;");
    draft.loop("row", "0", "$rows");
    draft.add("$sum", draft.expression("term", operands, size));
    draft.close();
    draft.line("$out[$col] = " + draft.expression("result", {{"$sum", 64.0}}, after) + ";");
    return draft.finish();
  }
  // Threads of a column share its rows, and the first adds up.
  const int wide = dice.one_of("wide", {16, 32, 32, 64});
  const int high = dice.one_of("high", {4, 8, 8});
  draft.launch({wide, high}, {fmt::format("cdiv($cols, {})", wide)});
  draft.line(fmt::format("__shared__ $T $tile[{}][{}];", high, wide));
  draft.index("tx", "threadIdx.x");
  draft.index("ty", "threadIdx.y");
  draft.index("col", fmt::format("blockIdx.x * {} + $tx", wide));
  draft.line("$T $sum = $zero;");
  draft.open("if ($col < $cols)");
  draft.open(draft.say(fmt::format("for (int $row = $ty; $row < $rows; $row += {})", high)));
  draft.add("$sum", draft.expression("term", operands, size));
  draft.close();
  draft.close();
  draft.line("$tile[$ty][$tx] = $sum;");
  draft.line("__syncthreads();");
  draft.open("if ($ty == 0 && $col < $cols)");
  draft.line("$T $sum2 = $zero;");
  draft.loop("k", "0", std::to_string(high));
  draft.add("$sum2", "$tile[$k][$tx]");
  draft.close();
  draft.line("$out[$col] = " + draft.expression("result", {{"$sum2", 64.0}}, after) + ";");
  return draft.finish();
}

GeneratedKernel write_full_reduction(const KernelPlace& place) {
  KernelDraft draft(place, {"reduce", "total", "dot", "block_sums", "partial_sums", "energy"});
  const Dice& dice = draft.dice();
  draft.size("n", many_elements(dice, "n"));
  const bool two = dice.chance("two inputs", 0.4);
  draft.buffer({"in", Direction::in, {"$n"}, draft.init()});
  if (two) draft.buffer({"in2", Direction::in, {"$n"}, draft.init("init2")});
  const std::string form = dice.word("form", {"tree", "tree", "chunk", "atomic"});
  const std::string at = form == "chunk" ? "$place" : "$i";
  std::vector<Operand> operands = {{"$in[" + at + "]"}};
  if (two) operands.push_back({"$in2[" + at + "]"});
  const auto size = static_cast<int>(dice.between("size", 0, 3));
  const auto value = [&] { return draft.expression("value", operands, size); };
  if (form == "tree") {
    one_sum_a_block(draft, value());
  } else if (form == "chunk") {
    chunk_a_thread(draft, value());
  } else {
    // A few totals: of floating numbers one alone would be rounded too often.
    const auto groups = dice.one_of("groups", {16, 64, 128, 256});
    const std::string count = std::to_string(groups);
    draft.buffer({"out", Direction::inout, {count}, draft.init("totals")});
    over_elements(draft, {{"i", "$n"}});
    draft.line("atomicAdd(&$out[$i % " + count + "], " + value() + ");");
  }
  return draft.finish();
}

GeneratedKernel write_histogram(const KernelPlace& place) {
  KernelDraft draft(place, {"histogram", "count_values", "bin_counts", "tally", "frequencies"},
                    {Element::int32, Element::int32, Element::float32});
  const Dice& dice = draft.dice();
  const auto bins = dice.one_of<std::int64_t>("bins", {16, 32, 64, 100, 128, 256});
  const bool two_sides = dice.chance("two sides", 0.3);
  std::vector<std::string> shape = {"$n"};
  if (two_sides) {
    draft.size("rows", side(dice, "rows", 300, 900));
    draft.size("cols", side(dice, "cols", 300, 900));
    shape = {"$rows", "$cols"};
  } else {
    draft.size("n", many_elements(dice, "n"));
  }
  const bool weighted = dice.chance("weighted", 0.25);
  const bool literal = dice.chance("literal bins", 0.6);
  const std::string count = literal ? std::to_string(bins) : "$entries";
  if (!literal) draft.size("entries", fixed(bins));
  draft.buffer({"in", Direction::in, shape, draft.floating() ? "uniform(0,1)" : draft.init()});
  if (weighted) draft.buffer({"weights", Direction::in, shape, "int(0,9)", Element::int32});
  draft.buffer({"bins", Direction::inout, {count}, "int(0,9)", Element::int32});
  std::string at = "$i";
  if (two_sides) {
    over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}}, {.loops = kRowLoops});
    at = "$row * $cols + $col";
  } else {
    over_elements(draft, {{"i", "$n"}});
  }
  const std::string raw =
      draft.expression("raw", {{"$in[" + at + "]"}}, static_cast<int>(dice.between("size", 0, 2)));
  draft.line("$T $v = " + raw + ";");
  if (draft.floating()) {
    // Whatever the value is, it falls into a bin.
    draft.line("int $place = (int)(" + draft.call("fabs", "$v") + " * " +
               draft.literal(static_cast<double>(bins)) + ");");
    draft.line("$place = min($place, " + count + " - 1);");
  } else {
    draft.index("place", "abs($v) % " + count);
  }
  const std::string amount = weighted ? "$weights[" + at + "]" : "1";
  draft.line("atomicAdd(&$bins[$place], " + amount + ");");
  return draft.finish();
}

}  // namespace regraph::dataset
