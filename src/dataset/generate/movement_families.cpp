// Families that move elements to other places.
#include "dataset/generate/families.h"
#include "dataset/generate/shared_tiles.h"
#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace regraph::dataset {

namespace {

// What becomes of an element on its way: often nothing.
std::string moved(KernelDraft& draft, const std::string& element) {
  const Dice& dice = draft.dice();
  const auto size = dice.one_of("moved", {0, 0, 1, 2, 3});
  return draft.expression("moved", {{element}}, size);
}

// Brings a tile of "in" to shared memory and returns the element in it that belongs to the thread's
// new place, ($col, $row) of the result: another one than the thread loaded, so that both walk
// along rows. Opens the guard of the new place. With `planes` there is one such matrix a plane.
std::string turned_in_tile(KernelDraft& draft, bool planes) {
  if (planes) draft.index("plane", "blockIdx.z");
  const SharedTile tile = declare_tile(draft, "tile", "$rows", "$cols", planes ? "$planes" : "");
  const std::string row = planes ? "($plane * $rows + " + tile.row + ")" : "(" + tile.row + ")";
  draft.open("if (" + tile.row + " < $rows && " + tile.col + " < $cols)");
  draft.line("$tile[$ty][$tx] = $in[" + row + " * $cols + " + tile.col + "];");
  draft.close();
  draft.line("__syncthreads();");
  draft.index("col", tile.col_base + " + $ty");
  draft.index("row", tile.row_base + " + $tx");
  draft.open("if ($row < $rows && $col < $cols)");
  return "$tile[$tx][$ty]";
}

}  // namespace

GeneratedKernel write_transpose(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"transpose", "flip_axes", "turn", "swap_axes", "to_columns", "reorient"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 400, 900));
  draft.size("cols", side(dice, "cols", 400, 900));
  const bool added = dice.chance("added", 0.25);
  const bool update = dice.chance("update", 0.15);
  draft.buffer({"in", Direction::in, {"$rows", "$cols"}, draft.init()});
  if (added) draft.buffer({"in2", Direction::in, {"$cols", "$rows"}, draft.init("init2")});
  draft.buffer({"out",
                update ? Direction::inout : Direction::out,
                {"$cols", "$rows"},
                update ? draft.init("init out") : ""});
  const std::string target = "$col * $rows + $row";
  const auto store = [&](const std::string& element) {
    std::vector<Operand> operands = {{moved(draft, element)}};
    operands[0].binding = Binding::choice;
    if (operands[0].text == draft.say(element)) operands[0].binding = Binding::primary;
    if (added) operands.push_back({"$in2[" + target + "]"});
    const std::string value = draft.expression("added", operands, 0);
    if (update) {
      draft.add("$out[" + target + "]", value);
    } else {
      draft.line("$out[" + target + "] = " + value + ";");
    }
  };
  if (dice.chance("through a tile", 0.3)) {
    store(turned_in_tile(draft, false));
    return draft.finish();
  }
  over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}}, {.loops = kRowLoops});
  if (dice.chance("local", 0.3)) {
    draft.line("$T $v = $in[$row * $cols + $col];");
    store("$v");
  } else {
    store("$in[$row * $cols + $col]");
  }
  return draft.finish();
}

GeneratedKernel write_permutation(const KernelPlace& place) {
  KernelDraft draft(
      place, {"permute", "reorder", "rearrange", "shuffle_axes", "copy_permuted", "swap_layout"});
  const Dice& dice = draft.dice();
  constexpr std::array<std::string_view, 3> kIndices = {"plane", "row", "col"};
  constexpr std::array<std::string_view, 3> kExtents = {"planes", "rows", "cols"};
  for (const std::string_view extent : kExtents)
    draft.size(extent, box_side(dice, extent, 40, 90));
  using Order = std::array<std::size_t, 3>;
  const Order order = dice.one_of<Order>(
      "order", {{0, 2, 1}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}});
  std::vector<std::string> shape;
  for (const std::size_t axis : order)
    shape.push_back(fmt::format("${}", kExtents[axis]));
  draft.buffer({"in", Direction::in, {"$planes", "$rows", "$cols"}, draft.init()});
  const bool update = dice.chance("update", 0.15);
  draft.buffer({"out", update ? Direction::inout : Direction::out, shape,
                update ? draft.init("init out") : ""});
  const bool tiled = order == Order{0, 2, 1} && dice.chance("tiled", 0.4);
  const auto place_in = [&](const Order& axes) {
    const auto index = [&](std::size_t at) { return fmt::format("${}", kIndices[axes[at]]); };
    const auto extent = [&](std::size_t at) { return fmt::format("${}", kExtents[axes[at]]); };
    if (dice.chance("nested", 0.6))
      return fmt::format("({} * {} + {}) * {} + {}", index(0), extent(1), index(1), extent(2),
                         index(2));
    return fmt::format("{} * {} * {} + {} * {} + {}", index(0), extent(1), extent(2), index(1),
                       extent(2), index(2));
  };
  std::string to = place_in(order);
  std::string element;
  if (tiled) {
    element = turned_in_tile(draft, true);
  } else {
    over_elements(draft, {{"plane", "$planes"}, {"row", "$rows"}, {"col", "$cols"}},
                  {.loops = kRowLoops});
    std::string from = place_in({0, 1, 2});
    if (dice.chance("named places", 0.4)) {
      draft.index("lo", from);
      draft.index("hi", to);
      from = "$lo";
      to = "$hi";
    }
    element = "$in[" + from + "]";
  }
  const std::string value = moved(draft, element);
  if (update) {
    draft.add("$out[" + to + "]", value);
  } else {
    draft.line("$out[" + to + "] = " + value + ";");
  }
  return draft.finish();
}

GeneratedKernel write_gather(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"gather", "look_up", "pick", "select_rows", "fetch", "take", "indexed_copy"});
  const Dice& dice = draft.dice();
  const bool rows = dice.chance("rows", 0.5);
  const auto entries = dice.one_of<std::int64_t>("entries", {100, 256, 500, 1000, 1024});
  const Buffer order = {"index",
                        Direction::in,
                        {rows ? "$rows" : "$n"},
                        fmt::format("int(0,{})", entries - 1),
                        Element::int32};
  const bool scaled = dice.chance("scaled", 0.3);
  std::vector<Operand> operands;
  std::string target = "$i";
  if (rows) {
    draft.size("rows", side(dice, "rows", 1500, 4000));
    draft.size("cols", side(dice, "cols", 50, 130));
  } else {
    draft.size("n", many_elements(dice, "n"));
  }
  draft.size("entries", fixed(entries));
  draft.buffer(
      {"table", Direction::in,
       rows ? std::vector<std::string>{"$entries", "$cols"} : std::vector<std::string>{"$entries"},
       draft.init()});
  draft.buffer(order);
  if (scaled)
    draft.buffer({"weights", Direction::in, {rows ? "$rows" : "$n"}, draft.init("weights")});
  draft.buffer(
      {"out", Direction::out,
       rows ? std::vector<std::string>{"$rows", "$cols"} : std::vector<std::string>{"$n"}});
  if (rows) {
    over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}}, {.loops = kRowLoops});
    target = "$row * $cols + $col";
  } else {
    over_elements(draft, {{"i", "$n"}});
  }
  std::string where = rows ? "$index[$row]" : "$index[$i]";
  if (dice.chance("safe", 0.3)) where += " % $entries";
  if (dice.chance("named", 0.5)) {
    draft.index("place", where);
    where = "$place";
  } else if (where.find('%') != std::string::npos) {
    where = "(" + where + ")";
  }
  operands.push_back({rows ? "$table[" + where + " * $cols + $col]" : "$table[" + where + "]"});
  if (scaled) operands.push_back({rows ? "$weights[$row]" : "$weights[$i]"});
  const auto size = static_cast<int>(dice.between("size", 0, 3));
  draft.line("$out[" + target + "] = " + draft.expression("value", operands, size) + ";");
  return draft.finish();
}

GeneratedKernel write_scatter(const KernelPlace& place) {
  KernelDraft draft(place, {"scatter", "spread", "distribute", "place_values", "put", "deal"});
  const Dice& dice = draft.dice();
  const bool rows = dice.chance("rows", 0.45);
  const std::string count = rows ? "$rows" : "$n";
  const std::string own = rows ? "$row" : "$i";
  if (rows) {
    draft.size("rows", side(dice, "rows", 1500, 4000));
    draft.size("cols", side(dice, "cols", 50, 130));
  } else {
    draft.size("n", many_elements(dice, "n"));
  }
  // No two elements may meet: every form is a bijection of 0 ... count - 1.
  const std::string form = dice.word("form", {"list", "list", "backward", "halves", "rotated"});
  const std::vector<std::string> shape =
      rows ? std::vector<std::string>{"$rows", "$cols"} : std::vector<std::string>{"$n"};
  const bool added = dice.chance("added", 0.3);
  draft.buffer({"in", Direction::in, shape, draft.init()});
  if (added) draft.buffer({"in2", Direction::in, shape, draft.init("init2")});
  if (form == "list") draft.buffer({"index", Direction::in, {count}, "iota", Element::int32});
  draft.buffer({"out", Direction::out, shape});
  if (rows) {
    over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}}, {.loops = kRowLoops});
  } else {
    over_elements(draft, {{"i", "$n"}});
  }
  std::string to = "$index[" + own + "]";
  if (form == "list" && dice.chance("shifted", 0.5)) {
    to = fmt::format("({} + {}) % {}", to, dice.between("shift", 1, 40), count);
  } else if (form == "backward") {
    to = count + " - 1 - " + own;
  } else if (form == "halves") {
    to = fmt::format("{0} % 2 == 0 ? {0} / 2 : ({1} + 1) / 2 + {0} / 2", own, count);
  } else if (form == "rotated") {
    to = fmt::format("({} + {} / {}) % {}", own, count, dice.between("part", 2, 5), count);
  }
  draft.index("place", to);
  const std::string here = rows ? "$row * $cols + $col" : "$i";
  std::vector<Operand> operands = {{"$in[" + here + "]"}};
  if (added) operands.push_back({"$in2[" + here + "]"});
  const auto size = static_cast<int>(dice.between("size", 0, 3));
  draft.line((rows ? "$out[$place * $cols + $col] = " : "$out[$place] = ") +
             draft.expression("value", operands, size) + ";");
  return draft.finish();
}

GeneratedKernel write_upsampling(const KernelPlace& place) {
  KernelDraft draft(place, {"upsample", "enlarge", "zoom", "expand", "magnify", "resize_up"});
  const Dice& dice = draft.dice();
  const std::int64_t factor = dice.between("factor", 2, 4);
  // The sizes that are passed are those of the source or those of the result.
  const bool from_source = dice.chance("from the source", 0.35);
  const bool of_source = from_source || dice.chance("sizes of the source", 0.4);
  const Extent high_extent = side(dice, "rows", 120, 300);
  const Extent wide_extent = side(dice, "cols", 120, 300);
  draft.size("rows", of_source ? high_extent : times(high_extent, factor));
  draft.size("cols", of_source ? wide_extent : times(wide_extent, factor));
  const auto larger = [&](const char* size) {
    return of_source ? fmt::format("({} * {})", size, factor) : std::string(size);
  };
  const auto smaller = [&](const char* size) {
    return of_source ? std::string(size) : fmt::format("({} / {})", size, factor);
  };
  const std::string wide = larger("$cols");
  const std::string high = larger("$rows");
  const std::string pitch = smaller("$cols");
  draft.buffer({"in", Direction::in, {smaller("$rows"), pitch}, draft.init()});
  draft.buffer({"out", Direction::out, {high, wide}});
  if (from_source) {
    // A thread writes all copies of its element.
    over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}});
    draft.line("$T $v = " + moved(draft, "$in[$row * $cols + $col]") + ";");
    draft.loop("dy", "0", std::to_string(factor));
    draft.loop("dx", "0", std::to_string(factor));
    draft.line(
        fmt::format("$out[($row * {0} + $dy) * {1} + $col * {0} + $dx] = $v;", factor, wide));
    return draft.finish();
  }
  over_elements(draft, {{"row", high}, {"col", wide}});
  draft.index("lo", fmt::format("$row / {}", factor));
  draft.index("hi", fmt::format("$col / {}", factor));
  const std::string near = "$in[$lo * " + pitch + " + $hi]";
  std::vector<Operand> operands = {{near}};
  if (draft.floating() && dice.chance("linear", 0.5)) {
    draft.index("place", "min($hi + 1, " + bare(pitch) + " - 1)");
    draft.line(fmt::format("$T $w = ($T)($col % {}) / {};", factor,
                           draft.literal(static_cast<double>(factor))));
    operands = {
        {"($one - $w) * " + near + " + $w * $in[$lo * " + pitch + " + $place]", 8.0, Binding::sum}};
  }
  const std::string value =
      draft.expression("value", operands, static_cast<int>(dice.between("size", 0, 3)));
  draft.line("$out[$row * " + wide + " + $col] = " + value + ";");
  return draft.finish();
}

}  // namespace regraph::dataset
