// Families in which a thread loops over a window of its input.
#include "dataset/generate/families.h"
#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

namespace regraph::dataset {

namespace {

std::string result_of(KernelDraft& draft, std::string_view sum) {
  return draft.expression("result", {{std::string(sum), 64.0}},
                          static_cast<int>(draft.dice().between("after", 0, 2)));
}

// The length of a filter: a number in the text, a macro, or a parameter.
std::string filter_length(KernelDraft& draft, std::int64_t taps, bool may_be_parameter) {
  const std::string form = draft.dice().word("length", {"number", "number", "macro", "parameter"});
  if (form == "parameter" && may_be_parameter) {
    draft.size("taps", fixed(taps));
    return "$taps";
  }
  if (form == "macro") {
    std::string name = draft.dice().word("macro", {"TAPS", "WIDTH", "WINDOW", "FILTER"});
    draft.preamble(fmt::format("#define {} {}", name, taps));
    return name;
  }
  return std::to_string(taps);
}

std::string weighted(KernelDraft& draft, const std::string& element, const std::string& weight) {
  const Dice& dice = draft.dice();
  if (dice.chance("plain", 0.7))
    return dice.chance("weight first", 0.5) ? weight + " * " + element : element + " * " + weight;
  return weight + " * " +
         draft.expression("element", {{element}}, static_cast<int>(dice.between("pre", 1, 2)),
                          Binding::primary);
}

// A term that is added where `inside` holds.
void add_inside(KernelDraft& draft, const std::string& inside, const std::string& term) {
  draft.open("if (" + inside + ")");
  draft.add("$sum", term);
  draft.close();
}

}  // namespace

GeneratedKernel write_convolution_1d(const KernelPlace& place) {
  KernelDraft draft(
      place, {"convolve", "fir", "filter_signal", "correlate", "weighted_window", "smooth_signal"});
  const Dice& dice = draft.dice();
  const std::int64_t taps = dice.between("taps", 1, 8) * 2 + 1;
  const bool channels = dice.chance("channels", 0.3);
  if (channels) {
    draft.size("rows", side(dice, "rows", 60, 200));
    draft.size("n", side(dice, "n", 800, 1600));
  } else {
    draft.size("n", many_elements(dice, "n"));
  }
  const std::string length = filter_length(draft, taps, true);
  const std::string span = std::to_string(taps - 1);
  const std::string padded = length == "$taps" ? "($n + $taps - 1)" : "($n + " + span + ")";
  const bool centered = !channels && dice.chance("centered", 0.4);
  const std::string extent = centered ? "$n" : padded;
  std::vector<std::string> from = {extent};
  std::vector<std::string> to = {"$n"};
  if (channels) {
    from.insert(from.begin(), "$rows");
    to.insert(to.begin(), "$rows");
  }
  draft.buffer({"in", Direction::in, from, draft.init()});
  draft.buffer({"weights",
                Direction::in,
                {length == "$taps" ? length : std::to_string(taps)},
                draft.init("weights")});
  draft.buffer({"out", Direction::out, to});
  if (channels) {
    over_elements(draft, {{"row", "$rows"}, {"i", "$n"}});
  } else {
    over_elements(draft, {{"i", "$n"}});
  }
  draft.line("$T $sum = $zero;");
  draft.loop("k", "0", length);
  const std::string weight =
      dice.chance("mirrored", 0.25) ? "$weights[" + length + " - 1 - $k]" : "$weights[$k]";
  if (centered) {
    draft.index("place", "$i + $k - " + length + " / 2");
    add_inside(draft, "$place >= 0 && $place < $n", weighted(draft, "$in[$place]", weight));
  } else {
    const std::string at = channels ? "$row * " + extent + " + $i + $k" : "$i + $k";
    draft.add("$sum", weighted(draft, "$in[" + at + "]", weight));
  }
  draft.close();
  draft.line(std::string(channels ? "$out[$row * $n + $i] = " : "$out[$i] = ") +
             result_of(draft, "$sum") + ";");
  return draft.finish();
}

GeneratedKernel write_convolution_2d(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"convolve2d", "filter_image", "blur", "conv", "apply_mask", "image_filter"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 180, 400));
  draft.size("cols", side(dice, "cols", 180, 400));
  const std::int64_t taps = dice.one_of<std::int64_t>("taps", {3, 3, 5, 5, 7});
  const std::string length = filter_length(draft, taps, false);
  const std::string number = std::to_string(taps);
  const bool border = dice.chance("border", 0.45);
  const std::string wide = border ? "$cols" : fmt::format("($cols + {})", taps - 1);
  const std::string high = border ? "$rows" : fmt::format("($rows + {})", taps - 1);
  draft.buffer({"in", Direction::in, {high, wide}, draft.init()});
  draft.buffer({"weights", Direction::in, {number, number}, draft.init("weights")});
  draft.buffer({"out", Direction::out, {"$rows", "$cols"}});
  over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}});
  draft.line("$T $sum = $zero;");
  const bool columns_first = dice.chance("columns first", 0.2);
  draft.loop(columns_first ? "dx" : "dy", "0", length);
  draft.loop(columns_first ? "dy" : "dx", "0", length);
  const std::string weight = "$weights[$dy * " + length + " + $dx]";
  if (border) {
    draft.index("lo", "$row + $dy - " + length + " / 2");
    draft.index("hi", "$col + $dx - " + length + " / 2");
    const std::string element = "$in[$lo * $cols + $hi]";
    if (dice.chance("clamped", 0.3)) {
      draft.add("$sum", weighted(draft,
                                 "$in[min(max($lo, 0), $rows - 1) * $cols + min(max($hi, 0), "
                                 "$cols - 1)]",
                                 weight));
    } else {
      add_inside(draft, "$lo >= 0 && $lo < $rows && $hi >= 0 && $hi < $cols",
                 weighted(draft, element, weight));
    }
  } else {
    draft.add("$sum", weighted(draft, "$in[($row + $dy) * " + wide + " + $col + $dx]", weight));
  }
  draft.close();
  draft.close();
  draft.line("$out[$row * $cols + $col] = " + result_of(draft, "$sum") + ";");
  return draft.finish();
}

GeneratedKernel write_pooling(const KernelPlace& place) {
  KernelDraft draft(place, {"pool", "max_pool", "avg_pool", "downsample", "shrink", "window_peak"});
  const Dice& dice = draft.dice();
  const std::int64_t window = dice.between("window", 2, 4);
  const std::int64_t stride = dice.chance("overlapping", 0.3) ? 1 : window;
  draft.size("rows", side(dice, "rows", 200, 420));
  draft.size("cols", side(dice, "cols", 200, 420));
  const auto extent = [&](const char* count) {
    return stride == 1 ? fmt::format("({} + {})", count, window - 1)
                       : fmt::format("({} * {})", count, stride);
  };
  const std::string wide = extent("$cols");
  const bool planes = dice.chance("planes", 0.25);
  std::vector<std::string> from = {extent("$rows"), wide};
  std::vector<std::string> to = {"$rows", "$cols"};
  if (planes) {
    draft.size("planes", Extent{dice.between("planes", 2, 5), {3, 2, 1}});
    from.insert(from.begin(), "$planes");
    to.insert(to.begin(), "$planes");
  }
  draft.buffer({"in", Direction::in, from, draft.init()});
  draft.buffer({"out", Direction::out, to});
  std::vector<Axis> axes = {{"row", "$rows"}, {"col", "$cols"}};
  if (planes) axes.insert(axes.begin(), {"plane", "$planes"});
  over_elements(draft, axes);
  const auto first = [&](const char* index) {
    return stride == 1 ? std::string(index) : fmt::format("{} * {}", index, stride);
  };
  const std::string line = planes ? "$plane * " + from[1] + " + " : "";
  const auto element = [&](const std::string& dy, const std::string& dx) {
    return "$in[(" + line + first("$row") + dy + ") * " + wide + " + " + first("$col") + dx + "]";
  };
  const std::string form = dice.word("form", {"fmax", "fmax", "fmin", "sum"});
  const bool sum = form == "sum";
  draft.line("$T $sum = " + (sum ? "$zero" : element("", "")) + ";");
  draft.loop("dy", "0", std::to_string(window));
  draft.loop("dx", "0", std::to_string(window));
  const std::string value = draft.expression("element", {{element(" + $dy", " + $dx")}},
                                             sum ? static_cast<int>(dice.between("pre", 0, 2)) : 0);
  if (sum) {
    draft.add("$sum", value);
  } else if (dice.chance("by if", 0.4)) {
    draft.line("$T $v = " + value + ";");
    draft.open(std::string("if ($v ") + (form == "fmax" ? ">" : "<") + " $sum)");
    draft.line("$sum = $v;");
    draft.close();
  } else {
    draft.line("$sum = " + draft.call(form, "$sum, " + value) + ";");
  }
  draft.close();
  draft.close();
  std::string result = "$sum";
  if (sum && draft.floating() && dice.chance("mean", 0.6))
    result = "($sum * " + draft.literal(1.0 / static_cast<double>(window * window)) + ")";
  const std::string target =
      planes ? "$out[($plane * $rows + $row) * $cols + $col]" : "$out[$row * $cols + $col]";
  draft.line(target + " = " + result_of(draft, result) + ";");
  return draft.finish();
}

}  // namespace regraph::dataset
