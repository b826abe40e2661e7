// Families that hold every element against every other.
#include "dataset/generate/families.h"
#include "dataset/generate/shared_tiles.h"
#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

namespace regraph::dataset {

namespace {

// What two features that are $diff apart add to a distance.
std::string difference_term(KernelDraft& draft) {
  const Dice& dice = draft.dice();
  if (dice.chance("square", 0.5)) return "$diff * $diff";
  if (dice.chance("magnitude", 0.5)) return draft.call("fabs", "$diff");
  return draft.expression("distance", {{"$diff", 16.0}},
                          static_cast<int>(dice.between("distance size", 1, 3)));
}

// Rows of both sets in tiles of shared memory, a strip of features at a time.
void tiled_distances(KernelDraft& draft) {
  const SharedTile tile = declare_tile(draft, "tile", "$rows", "$cols");
  const std::string& side = tile.side;
  draft.line("__shared__ $T $tile2[" + side + "][" + side + "];");
  draft.index("row", tile.row);
  draft.index("col", tile.col);
  draft.index("place", tile.col_base + " + $ty");
  draft.line("$T $sum = $zero;");
  draft.open(draft.say("for (int $lo = 0; $lo < $dims; $lo += " + side + ")"));
  draft.line(
      "$tile[$ty][$tx] = $row < $rows && $lo + $tx < $dims ? $in[$row * $dims + $lo + $tx] "
      ": $zero;");
  draft.line(
      "$tile2[$tx][$ty] = $place < $cols && $lo + $tx < $dims ? $in2[$place * $dims + $lo "
      "+ $tx] : $zero;");
  draft.line("__syncthreads();");
  draft.loop("k", "0", side);
  draft.line("$T $diff = $tile[$ty][$k] - $tile2[$k][$tx];");
  // Padding differs by zero, which must add nothing.
  draft.add("$sum",
            draft.dice().chance("square", 0.6) ? "$diff * $diff" : draft.call("fabs", "$diff"));
  draft.close();
  draft.line("__syncthreads();");
  draft.close();
  draft.open("if ($row < $rows && $col < $cols)");
}

}  // namespace

GeneratedKernel write_distance_matrix(const KernelPlace& place) {
  KernelDraft draft(place, {"distances", "pair_distances", "similarity", "compare_all", "affinity",
                            "kernel_matrix"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 100, 220));
  draft.size("cols", side(dice, "cols", 100, 220));
  draft.size("dims", side(dice, "dims", 16, 64));
  const bool tiled = dice.chance("tiled", 0.25);
  const bool left = !tiled && dice.chance("left transposed", 0.25);
  const bool right = !tiled && dice.chance("right transposed", 0.35);
  const auto shape = [](const char* count, bool transposed) {
    return transposed ? std::vector<std::string>{"$dims", count}
                      : std::vector<std::string>{count, "$dims"};
  };
  draft.buffer({"in", Direction::in, shape("$rows", left), draft.init()});
  draft.buffer({"in2", Direction::in, shape("$cols", right), draft.init("init2")});
  draft.buffer({"out", Direction::out, {"$rows", "$cols"}});
  if (tiled) {
    tiled_distances(draft);
  } else {
    over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}});
    draft.line("$T $sum = $zero;");
    draft.loop("k", "0", "$dims");
    const std::string one = left ? "$in[$k * $rows + $row]" : "$in[$row * $dims + $k]";
    const std::string other = right ? "$in2[$k * $cols + $col]" : "$in2[$col * $dims + $k]";
    draft.line("$T $diff = " + one + " - " + other + ";");
    draft.add("$sum", difference_term(draft));
    draft.close();
  }
  std::string result = "$sum";
  if (draft.floating() && dice.chance("root", 0.4))
    result = draft.call("sqrt", draft.call("fabs", "$sum") + " + " + draft.literal(0.5));
  draft.line(
      "$out[$row * $cols + $col] = " +
      draft.expression("result", {{result, 64.0}}, static_cast<int>(dice.between("after", 0, 2))) +
      ";");
  return draft.finish();
}

GeneratedKernel write_pairwise(const KernelPlace& place) {
  KernelDraft draft(place, {"interact", "forces", "potential", "attract", "pair_sums", "influence"},
                    kFloatingElement);
  const Dice& dice = draft.dice();
  draft.size("n", side(dice, "n", 500, 1100));
  constexpr std::string_view kSides[] = {"px", "py", "pz"};
  const std::size_t sides = dice.one_of<std::size_t>("sides", {1, 2, 2, 3});
  const bool weighted = dice.chance("weighted", 0.6);
  const bool vector = sides > 1 && dice.chance("vector", 0.35);
  for (std::size_t side = 0; side < sides; ++side)
    draft.buffer({std::string(kSides[side]), Direction::in, {"$n"}, "uniform(-1,1)"});
  if (weighted) draft.buffer({"weights", Direction::in, {"$n"}, draft.init("weights")});
  draft.buffer({"out", Direction::out, {"$n"}});
  if (vector) draft.buffer({"out2", Direction::out, {"$n"}});
  over_elements(draft, {{"i", "$n"}});
  const bool own = dice.chance("own place", 0.5);
  if (own) {
    for (std::size_t side = 0; side < sides; ++side)
      draft.line(fmt::format("$T own_{0} = ${0}[$i];", kSides[side]));
  }
  draft.line("$T $sum = $zero;");
  if (vector) draft.line("$T $sum2 = $zero;");
  draft.loop("k", "0", "$n");
  std::string square;
  for (std::size_t side = 0; side < sides; ++side) {
    const std::string mine =
        own ? fmt::format("own_{}", kSides[side]) : fmt::format("${}[$i]", kSides[side]);
    draft.line(fmt::format("$T d{0} = ${0}[$k] - {1};", kSides[side], mine));
    square += fmt::format("{0}d{1} * d{1}", side == 0 ? "" : " + ", kSides[side]);
  }
  draft.line("$T $v = " + square + " + " +
             draft.literal(dice.one_of("softening", {0.01, 0.1, 0.5, 1.0})) + ";");
  std::string pull =
      draft.expression("pull", {{"$v", 16.0}}, static_cast<int>(dice.between("pull size", 0, 2)));
  const std::string form = dice.word("form", {"inverse", "root", "decay"});
  const std::string magnitude = draft.call("fabs", pull);
  if (form == "inverse")
    pull = draft.say("$one / (") + draft.literal(0.25) + " + " + magnitude + ")";
  if (form == "root") pull = draft.call("rsqrt", draft.literal(0.25) + " + " + magnitude);
  if (form == "decay") pull = draft.call("exp", "-" + magnitude);
  if (form == "inverse" && weighted) pull = "(" + pull + ")";
  if (weighted) pull = "$weights[$k] * " + pull;
  if (vector) {
    draft.line("$T $w = " + pull + ";");
    draft.add("$sum", "$w * dpx");
    draft.add("$sum2", "$w * dpy");
  } else {
    draft.add("$sum", pull);
  }
  draft.close();
  draft.line(
      "$out[$i] = " +
      draft.expression("result", {{"$sum", 64.0}}, static_cast<int>(dice.between("after", 0, 2))) +
      ";");
  if (vector) draft.line("$out2[$i] = $sum2;");
  return draft.finish();
}

}  // namespace regraph::dataset
