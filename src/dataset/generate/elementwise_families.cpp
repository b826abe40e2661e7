// Families in which a thread computes from what lies at its own place.
#include "dataset/generate/families.h"
#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

namespace regraph::dataset {

namespace {

// One side or two; returns the index of an element.
std::string over_one_or_two(KernelDraft& draft, double two) {
  const Dice& dice = draft.dice();
  if (!dice.chance("two sides", two)) {
    over_elements(draft, {{"i", "$n"}});
    return "$i";
  }
  over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}}, {.loops = kRowLoops});
  return "$row * $cols + $col";
}

// The sizes for it. Returns the shape of a buffer.
std::vector<std::string> one_or_two_sides(KernelDraft& draft, double two) {
  const Dice& dice = draft.dice();
  if (!dice.chance("two sides", two)) {
    draft.size("n", many_elements(dice, "n"));
    return {"$n"};
  }
  draft.size("rows", side(dice, "rows", 300, 900));
  draft.size("cols", side(dice, "cols", 300, 900));
  return {"$rows", "$cols"};
}

}  // namespace

GeneratedKernel write_map(const KernelPlace& place) {
  KernelDraft draft(place, {"map", "apply", "transform", "activate", "map_values", "elementwise",
                            "update", "pointwise"});
  const Dice& dice = draft.dice();
  constexpr double kTwoSides = 0.4;
  const std::vector<std::string> shape = one_or_two_sides(draft, kTwoSides);
  const bool in_place = dice.chance("in place", 0.15);
  const bool two_inputs = dice.chance("two inputs", 0.35);
  const bool parameter = dice.chance("parameter", 0.3);
  const bool helper = dice.chance("helper", 0.2);
  draft.buffer({"in", in_place ? Direction::inout : Direction::in, shape, draft.init()});
  if (two_inputs) draft.buffer({"in2", Direction::in, shape, draft.init("init2")});
  if (!in_place) draft.buffer({"out", Direction::out, shape});
  if (parameter) draft.scalar("alpha", dice.one_of("alpha", {2.0, 3.0, 5.0}));
  if (helper) {
    draft.preamble("__device__ $T $helper($T u) {\n  return " +
                   draft.expression("helper", {{"u", 16.0}},
                                    static_cast<int>(dice.between("helper size", 1, 3))) +
                   ";\n}\n");
  }
  const std::string at = over_one_or_two(draft, kTwoSides);
  std::vector<Operand> operands;
  if (dice.chance("local", 0.5)) {
    draft.line("$T $v = $in[" + at + "];");
    operands.push_back({"$v"});
  } else {
    operands.push_back({"$in[" + at + "]"});
  }
  if (two_inputs) operands.push_back({"$in2[" + at + "]"});
  if (parameter) operands.push_back({"$alpha", 5.0});
  if (helper) operands[0] = {"$helper(" + operands[0].text + ")", 64.0};
  const auto size = static_cast<int>(dice.between("size", helper ? 0 : 1, 4));
  const std::string value = draft.expression("value", operands, size);
  draft.line((in_place ? "$in[" : "$out[") + at + "] = " + value + ";");
  return draft.finish();
}

GeneratedKernel write_combination(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"axpy", "combine", "blend", "mix", "weighted_sum", "add_scaled", "lincomb"});
  const Dice& dice = draft.dice();
  draft.size("n", many_elements(dice, "n"));
  const auto stride = dice.one_of("stride", {1, 1, 1, 2, 3, 4});
  const std::string at = stride == 1 ? "$i" : fmt::format("$i * {}", stride);
  const std::vector<std::string> strided = {stride == 1 ? "$n" : fmt::format("$n * {}", stride)};
  constexpr std::string_view kInputs[] = {"in", "in2", "in3", "in4"};
  const std::size_t inputs = dice.one_of<std::size_t>("inputs", {2, 2, 3, 4});
  const bool update = dice.chance("update", 0.35);
  std::vector<Operand> terms;
  for (std::size_t input = 0; input < inputs; ++input) {
    const std::string role(kInputs[input]);
    const bool plain = input > 0 && dice.chance("plain " + role, 0.5);
    draft.buffer({role, Direction::in, plain ? std::vector<std::string>{"$n"} : strided,
                  draft.init("init " + role)});
    terms.push_back({"$" + role + "[" + (plain ? "$i" : at) + "]"});
  }
  draft.buffer({"out",
                update ? Direction::inout : Direction::out,
                {"$n"},
                update ? draft.init("init out") : ""});
  if (update) terms.push_back({"$out[$i]"});
  draft.scalar("alpha", dice.one_of("alpha", {2.0, 3.0, 4.0}));
  terms[0] = {"$alpha * " + terms[0].text, 32.0, Binding::product};
  if (dice.chance("second factor", 0.6)) {
    draft.scalar("beta", dice.one_of("beta", {2.0, 5.0, 7.0}));
    terms.back() = {"$beta * " + terms.back().text, 56.0, Binding::product};
  }
  over_elements(draft, {{"i", "$n"}});
  const auto size = static_cast<int>(dice.between("size", 0, 2));
  draft.line("$out[$i] = " + draft.expression("value", terms, size) + ";");
  return draft.finish();
}

GeneratedKernel write_polynomial(const KernelPlace& place) {
  KernelDraft draft(place, {"polynomial", "horner", "eval_poly", "power_series", "series"},
                    kFloatingElement);
  const Dice& dice = draft.dice();
  constexpr double kTwoSides = 0.3;
  const std::vector<std::string> shape = one_or_two_sides(draft, kTwoSides);
  const bool literal = dice.chance("literal", 0.5);
  const std::int64_t terms = dice.between("terms", 4, 9);
  const std::string count = literal ? std::to_string(terms) : "$terms";
  if (!literal) draft.size("terms", fixed(terms));
  draft.buffer({"in", Direction::in, shape, "uniform(-1,1)"});
  draft.buffer({"weights", Direction::in, {count}, draft.init("coefficients")});
  draft.buffer({"out", Direction::out, shape});
  const std::string at = over_one_or_two(draft, kTwoSides);
  // Powers of large values would leave nothing of the rest.
  const std::string value = "$in[" + at + "]";
  const std::string inner = draft.expression(
      "inner", {{value, 1.0}}, static_cast<int>(dice.between("inner", 0, 1)), Binding::product);
  draft.line("$T $v = " + inner + " / ($one + " + draft.call("fabs", inner) + ");");
  const std::string term = draft.expression(
      "term", {{"$weights[$k]"}}, static_cast<int>(dice.between("term", 0, 1)), Binding::product);
  draft.line("$T $sum = $zero;");
  const bool horner = dice.chance("horner", 0.5);
  if (!horner) draft.line("$T $w = $one;");
  draft.loop("k", "0", count);
  if (horner) {
    draft.line("$sum = $sum * $v + " +
               std::string(term.find(' ') == std::string::npos ? term : "(" + term + ")") + ";");
  } else {
    draft.add("$sum", "$w * " + term);
    draft.line("$w *= $v;");
  }
  draft.close();
  const std::string result =
      draft.expression("result", {{"$sum", 64.0}}, static_cast<int>(dice.between("result", 0, 2)));
  draft.line("$out[" + at + "] = " + result + ";");
  return draft.finish();
}

GeneratedKernel write_iterated_map(const KernelPlace& place) {
  KernelDraft draft(place, {"iterate", "fixed_point", "relax", "repeat_map", "orbit", "settle"},
                    kFloatingElement);
  const Dice& dice = draft.dice();
  constexpr double kTwoSides = 0.3;
  const std::vector<std::string> shape = one_or_two_sides(draft, kTwoSides);
  const bool literal = dice.chance("literal", 0.5);
  const std::int64_t steps = dice.between("steps", 5, 32);
  if (!literal) draft.size("steps", fixed(steps));
  const bool forced = dice.chance("forced", 0.5);
  draft.buffer({"in", Direction::in, shape, draft.init()});
  if (forced) draft.buffer({"in2", Direction::in, shape, draft.init("force")});
  draft.buffer({"out", Direction::out, shape});
  const std::string at = over_one_or_two(draft, kTwoSides);
  draft.line("$T $v = $in[" + at + "];");
  std::vector<Operand> operands = {{"$v", 2.0}};
  if (forced) {
    draft.line("$T $w = $in2[" + at + "];");
    operands.push_back({"$w"});
  }
  draft.loop("k", "0", literal ? std::to_string(steps) : "$steps");
  const std::string step =
      draft.expression("step", operands, static_cast<int>(dice.between("size", 1, 3)));
  // Drawn to a tenth of something bounded: whatever the step is, differences die out.
  const std::string keep = draft.literal(dice.one_of("keep", {0.3, 0.5, 0.6, 0.75}));
  const std::string bounded = dice.word("bounded", {"tanh", "sin", "cos"});
  draft.line("$v = " + keep + " * $v + " + draft.literal(0.1) + " * " + draft.call(bounded, step) +
             ";");
  draft.close();
  draft.line("$out[" + at + "] = $v;");
  return draft.finish();
}

GeneratedKernel write_color_conversion(const KernelPlace& place) {
  KernelDraft draft(
      place, {"convert_color", "to_gray", "mix_channels", "recolor", "color_matrix", "luminance"});
  const Dice& dice = draft.dice();
  constexpr double kTwoSides = 0.5;
  const std::vector<std::string> shape = one_or_two_sides(draft, kTwoSides);
  const std::string area = shape.size() == 1 ? "$n" : "$rows * $cols";
  const auto channels = dice.one_of("channels", {2, 3, 3, 4});
  const auto results = dice.one_of("results", {1, 1, 2, 3});
  const bool planar = dice.chance("planar", 0.4);
  const auto sides = [&](int count) {
    std::vector<std::string> result = shape;
    result.insert(planar ? result.begin() : result.end(), std::to_string(count));
    return result;
  };
  const std::string init = draft.floating() ? "uniform(0,1)" : "int(0,255)";
  draft.buffer({"in", Direction::in, sides(channels), init});
  draft.buffer({"out", Direction::out, sides(results)});
  const std::string at = over_one_or_two(draft, kTwoSides);
  const bool named = shape.size() > 1;
  if (named) draft.index("k", at);
  const std::string first = named ? "$k" : at;
  const auto element = [&](std::string_view buffer, int channel, int count) {
    std::string place = first;
    if (planar && channel > 0)
      place = (channel > 1 ? fmt::format("{} * ", channel) : "") + area + " + " + first;
    if (!planar && count > 1) place = fmt::format("{} * {}", first, count);
    if (!planar && channel > 0) place += fmt::format(" + {}", channel);
    return fmt::format("${}[{}]", buffer, place);
  };
  constexpr std::string_view kChannels[] = {"red", "green", "blue", "opacity"};
  std::vector<Operand> operands;
  for (int channel = 0; channel < channels; ++channel) {
    const std::string name(kChannels[channel]);
    draft.line("$T " + name + " = " + element("in", channel, channels) + ";");
    const double weight = draft.floating() ? dice.one_of("weight " + name, {0.11, 0.3, 0.59, 0.25})
                                           : static_cast<double>(dice.between(name, 10, 150));
    operands.push_back({draft.literal(weight) + " * " + name, 32.0, Binding::product});
  }
  for (int result = 0; result < results; ++result) {
    const std::string site = fmt::format("result {}", result);
    const std::string value =
        draft.expression(site, operands, static_cast<int>(dice.between(site, 0, 2)));
    draft.line(element("out", result, results) + " = " + value + ";");
  }
  return draft.finish();
}

}  // namespace regraph::dataset
