// Families in which a thread goes through a whole row.
#include "dataset/generate/families.h"
#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

namespace regraph::dataset {

namespace {

// Rows and columns as parameters, and their buffer "in"; says where element $k of the thread's row
// is. Now and then rows are stored as columns, which threads read together.
class RowProblem {
 public:
  explicit RowProblem(KernelDraft& draft) : draft_(draft) {
    const Dice& dice = draft.dice();
    draft.size("rows", side(dice, "rows", 1000, 4000));
    draft.size("cols", side(dice, "cols", 64, 260));
    as_columns_ = dice.chance("as columns", 0.2);
    draft.buffer({"in", Direction::in, shape(), draft.init()});
  }

  [[nodiscard]] std::vector<std::string> shape() const {
    return as_columns_ ? std::vector<std::string>{"$cols", "$rows"}
                       : std::vector<std::string>{"$rows", "$cols"};
  }
  // Element `at` of the thread's row of a buffer of that shape.
  [[nodiscard]] std::string element(std::string_view buffer, std::string_view at = "$k") const {
    const bool first = at == "0";
    if (as_columns_)
      return fmt::format(fmt::runtime(first ? "${}[$row]" : "${}[{} * $rows + $row]"), buffer, at);
    const std::string row = named_ ? "$lo" : "$row * $cols";
    if (first) return fmt::format("${}[{}]", buffer, row);
    return fmt::format("${}[{} + {}]", buffer, row, at);
  }
  void begin() {
    over_elements(draft_, {{"row", "$rows"}});
    named_ = !as_columns_ && draft_.dice().chance("named row", 0.3);
    if (named_) draft_.index("lo", "$row * $cols");
  }
  void loop(std::string_view counter = "k") { draft_.loop(counter, "0", "$cols"); }

 private:
  KernelDraft& draft_;
  bool as_columns_ = false;
  bool named_ = false;
};

int operations(const Dice& dice, std::string_view site, int low, int high) {
  return static_cast<int>(dice.between(site, low, high));
}

// Keeps the larger (or smaller) of two in one of the ways it is written.
void keep_extreme(KernelDraft& draft, const std::string& kept, const std::string& value,
                  bool larger) {
  const std::string name = larger ? "fmax" : "fmin";
  if (draft.dice().chance("extreme by if", 0.4)) {
    draft.open("if (" + value + (larger ? " > " : " < ") + kept + ")");
    draft.line(kept + " = " + value + ";");
    draft.close();
  } else {
    draft.line(kept + " = " + draft.call(name, kept + ", " + value) + ";");
  }
}

}  // namespace

GeneratedKernel write_row_reduction(const KernelPlace& place) {
  KernelDraft draft(
      place, {"row_sums", "reduce_rows", "row_totals", "sum_lines", "row_energy", "per_row"});
  const Dice& dice = draft.dice();
  RowProblem problem(draft);
  const bool weighted = dice.chance("weighted", 0.25);
  if (weighted) draft.buffer({"weights", Direction::in, {"$cols"}, draft.init("weights")});
  draft.buffer({"out", Direction::out, {"$rows"}});
  const bool second = dice.chance("second", 0.25);
  if (second) draft.buffer({"out2", Direction::out, {"$rows"}});
  problem.begin();
  const bool extreme = dice.chance("extreme", 0.25);
  const bool larger = dice.chance("larger", 0.5);
  draft.line("$T $sum = " + draft.say(extreme ? problem.element("in", "0") : "$zero") + ";");
  if (second) draft.line("$T $sum2 = $zero;");
  problem.loop();
  std::vector<Operand> operands = {{problem.element("in")}};
  if (weighted) operands.push_back({"$weights[$k]"});
  if (second || extreme || dice.chance("local", 0.4)) {
    draft.line("$T $v = " + draft.expression("term", operands, operations(dice, "size", 0, 3)) +
               ";");
    operands = {{"$v"}};
  }
  if (extreme) {
    keep_extreme(draft, "$sum", "$v", larger);
  } else {
    draft.add("$sum", draft.expression("summand", operands, operations(dice, "more", 0, 2)));
  }
  if (second)
    draft.add("$sum2", draft.expression("other", {{"$v"}}, operations(dice, "other size", 1, 2)));
  draft.close();
  std::string result = "$sum";
  if (!extreme && draft.floating() && dice.chance("mean", 0.3)) result = "$sum / $cols";
  const Binding binding = result == "$sum" ? Binding::primary : Binding::product;
  result = draft.expression("result", {{result, 64.0, binding}}, operations(dice, "after", 0, 2));
  draft.line("$out[$row] = " + result + ";");
  if (second) draft.line("$out2[$row] = $sum2;");
  return draft.finish();
}

GeneratedKernel write_row_norm(const KernelPlace& place) {
  KernelDraft draft(
      place,
      {"normalize_rows", "row_norm", "standardize", "unit_rows", "center_rows", "layer_scale"},
      kFloatingElement);
  const Dice& dice = draft.dice();
  RowProblem problem(draft);
  const bool weighted = dice.chance("weighted", 0.4);
  const bool shifted = dice.chance("shifted", 0.3);
  const bool centered = dice.chance("centered", 0.5);
  if (weighted) draft.buffer({"weights", Direction::in, {"$cols"}, draft.init("weights")});
  if (shifted) draft.buffer({"bias", Direction::in, {"$cols"}, draft.init("bias")});
  draft.buffer({"out", Direction::out, problem.shape()});
  problem.begin();
  std::vector<Operand> centred = {{problem.element("in")}};
  if (centered) {
    draft.line("$T $mean = $zero;");
    problem.loop();
    draft.add("$mean", problem.element("in"));
    draft.close();
    draft.line(dice.chance("divide", 0.5) ? "$mean /= $cols;" : "$mean = $mean / $cols;");
    centred = {{problem.element("in") + " - $mean", 16.0, Binding::sum}};
  }
  draft.line("$T $sum = $zero;");
  problem.loop();
  draft.line("$T $diff = " + draft.expression("spread", centred, 0) + ";");
  const std::string power = dice.word("power", {"$diff * $diff", "$diff * $diff", "magnitude"});
  draft.add("$sum", power == "magnitude" ? draft.call("fabs", "$diff") : power);
  draft.close();
  const std::string small = draft.literal(dice.one_of("epsilon", {0.00001, 0.001, 0.01, 0.5}));
  const std::string mean_square = dice.word("mean square", {"$sum / $cols", "$sum"});
  const std::string inside = mean_square + " + " + small;
  const std::string scale = dice.chance("root", 0.5)
                                ? draft.call("rsqrt", inside)
                                : draft.say("$one / ") + draft.call("sqrt", inside);
  draft.line("$T $scale = " + scale + ";");
  problem.loop("l");
  std::vector<Operand> operands = {{problem.element("in", "$l")}};
  if (centered) operands = {{problem.element("in", "$l") + " - $mean", 16.0, Binding::sum}};
  operands[0] = {"(" + operands[0].text + ") * $scale", 8.0, Binding::product};
  if (!centered) operands[0].text = problem.element("in", "$l") + " * $scale";
  if (weighted) operands[0].text += " * $weights[$l]";
  if (shifted) operands[0] = {operands[0].text + " + $bias[$l]", 8.0, Binding::sum};
  draft.line(problem.element("out", "$l") + " = " +
             draft.expression("value", operands, operations(dice, "after", 0, 2)) + ";");
  return draft.finish();
}

GeneratedKernel write_softmax_row(const KernelPlace& place) {
  KernelDraft draft(
      place,
      {"softmax", "row_softmax", "normalize_exp", "probabilities", "log_softmax", "soft_weights"},
      kFloatingElement);
  const Dice& dice = draft.dice();
  RowProblem problem(draft);
  const bool scaled = dice.chance("scaled", 0.3);
  const bool biased = dice.chance("biased", 0.3);
  if (biased) draft.buffer({"bias", Direction::in, {"$cols"}, draft.init("bias")});
  draft.buffer({"out", Direction::out, problem.shape()});
  if (scaled) draft.scalar("alpha", dice.one_of("alpha", {0.125, 0.5, 0.75}));
  problem.begin();
  const int size = dice.one_of("size", {0, 0, 1, 2});
  const auto score = [&](std::string_view at) {
    std::vector<Operand> operands = {{problem.element("in", at)}};
    if (scaled) operands[0] = {"$alpha * " + operands[0].text, 8.0, Binding::product};
    if (biased) operands.push_back({fmt::format("$bias[{}]", at)});
    return draft.expression("score", operands, size, Binding::sum);
  };
  draft.line("$T $best = " + score("0") + ";");
  draft.loop("k", "1", "$cols");
  if (dice.chance("local", 0.4)) {
    draft.line("$T $v = " + score("$k") + ";");
    keep_extreme(draft, "$best", "$v", true);
  } else {
    draft.line("$best = " + draft.call("fmax", "$best, " + score("$k")) + ";");
  }
  draft.close();
  draft.line("$T $sum = $zero;");
  const bool kept = dice.chance("kept", 0.4);
  problem.loop("l");
  const std::string power = draft.call("exp", score("$l") + " - $best");
  if (kept) {
    draft.line(problem.element("out", "$l") + " = " + power + ";");
    draft.add("$sum", problem.element("out", "$l"));
  } else {
    draft.add("$sum", power);
  }
  draft.close();
  const bool logarithm = !kept && dice.chance("logarithm", 0.35);
  if (logarithm) draft.line("$T $scale = $best + " + draft.call("log", "$sum") + ";");
  const bool inverse = !logarithm && dice.chance("inverse", 0.5);
  if (inverse) draft.line("$T $scale = $one / $sum;");
  problem.loop("dx");
  const std::string whole = inverse ? " * $scale" : " / $sum";
  if (kept) {
    draft.line(problem.element("out", "$dx") + (inverse ? " *= $scale;" : " /= $sum;"));
  } else if (logarithm) {
    draft.line(problem.element("out", "$dx") + " = " + score("$dx") + " - $scale;");
  } else {
    draft.line(problem.element("out", "$dx") + " = " +
               draft.call("exp", score("$dx") + " - $best") + whole + ";");
  }
  return draft.finish();
}

GeneratedKernel write_row_scan(const KernelPlace& place) {
  KernelDraft draft(
      place, {"row_scan", "prefix", "cumulate", "running", "accumulate_rows", "smooth_rows"});
  const Dice& dice = draft.dice();
  RowProblem problem(draft);
  draft.buffer({"out", Direction::out, problem.shape()});
  const std::string form = dice.word("form", {"sum", "sum", "largest", "decay"});
  problem.begin();
  draft.line("$T $sum = " + draft.say(form == "largest" ? problem.element("in", "0") : "$zero") +
             ";");
  problem.loop();
  const bool backward = form != "largest" && dice.chance("backward", 0.25);
  std::string at = "$k";
  if (backward) {
    draft.index("place", "$cols - 1 - $k");
    at = "$place";
  }
  const std::string value = draft.expression("value", {{problem.element("in", at)}},
                                             operations(dice, "size", 0, 3), Binding::sum);
  const bool exclusive = form == "sum" && dice.chance("exclusive", 0.35);
  const std::string result =
      draft.expression("result", {{"$sum", 64.0}}, operations(dice, "after", 0, 2));
  const std::string store = problem.element("out", at) + " = " + result + ";";
  if (exclusive) draft.line(store);
  if (form == "sum") {
    draft.add("$sum", value);
  } else if (form == "largest") {
    draft.line("$T $v = " + value + ";");
    keep_extreme(draft, "$sum", "$v", dice.chance("larger", 0.5));
  } else if (draft.floating()) {
    const std::string keep = draft.literal(dice.one_of("keep", {0.25, 0.5, 0.75, 0.9}));
    draft.line("$sum = " + keep + " * $sum + " + value + ";");
  } else {
    draft.line("$sum = ($sum >> 1) + " + value + ";");
  }
  if (!exclusive) draft.line(store);
  return draft.finish();
}

GeneratedKernel write_arg_max(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"arg_max", "find_best", "row_peak", "strongest", "nearest_index", "winner"});
  const Dice& dice = draft.dice();
  RowProblem problem(draft);
  const bool weighted = dice.chance("weighted", 0.3);
  const bool value_too = dice.chance("value too", 0.5);
  if (weighted) draft.buffer({"weights", Direction::in, {"$cols"}, draft.init("weights")});
  draft.buffer({"out", Direction::out, {"$rows"}, "", Element::int32});
  if (value_too) draft.buffer({"out2", Direction::out, {"$rows"}});
  problem.begin();
  const int size = operations(dice, "size", 0, 3);
  const auto score = [&](std::string_view at) {
    std::vector<Operand> operands = {{problem.element("in", at)}};
    if (weighted) operands.push_back({fmt::format("$weights[{}]", at)});
    return draft.expression("score", operands, size);
  };
  draft.line("$T $best = " + score("0") + ";");
  draft.line("int $place = 0;");
  draft.loop("k", "1", "$cols");
  draft.line("$T $v = " + score("$k") + ";");
  const bool larger = dice.chance("larger", 0.6);
  draft.open(std::string("if ($v ") + (larger ? ">" : "<") + " $best)");
  draft.line("$best = $v;");
  draft.line("$place = $k;");
  draft.close();
  draft.close();
  draft.line("$out[$row] = $place;");
  if (value_too)
    draft.line("$out2[$row] = " +
               draft.expression("value", {{"$best"}}, operations(dice, "after", 0, 2)) + ";");
  return draft.finish();
}

}  // namespace regraph::dataset
