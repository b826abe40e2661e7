// Families in which a few neighbours with fixed weights make an element.
#include "dataset/generate/families.h"
#include "dataset/generate/neighborhood.h"

#include <fmt/format.h>

namespace regraph::dataset {

namespace {

// Steps along one axis by 1 to `radius`, both ways.
std::vector<Offset> along(std::size_t axis, std::size_t axes, int radius) {
  std::vector<Offset> result;
  for (int step = 1; step <= radius; ++step) {
    Offset offset(axes, 0);
    offset[axis] = -step;
    result.push_back(offset);
    offset[axis] = step;
    result.push_back(offset);
  }
  return result;
}

std::vector<Offset> cross(std::size_t axes, int radius) {
  std::vector<Offset> result;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    for (const Offset& offset : along(axis, axes, radius))
      result.push_back(offset);
  }
  return result;
}

// Neighbours that share a weight are added first.
Operand weighted_neighbors(KernelDraft& draft, const Neighborhood& around,
                           const std::vector<Offset>& offsets, const std::string& site) {
  std::string sum;
  for (const Offset& offset : offsets) {
    if (!sum.empty()) sum += " + ";
    sum += around.element("in", offset);
  }
  const double weight = draft.floating()
                            ? draft.dice().one_of(site, {0.05, 0.1, 0.125, 0.15, 0.2, 0.25})
                            : static_cast<double>(draft.dice().between(site, 2, 5));
  if (offsets.size() > 1) sum = "(" + sum + ")";
  return {draft.literal(weight) + " * " + sum, 8.0, Binding::product};
}

// The rest of a stencil kernel, whose sizes are there: `groups` of neighbours with a weight each.
GeneratedKernel finish_stencil(KernelDraft& draft, Neighborhood& around,
                               const std::vector<std::vector<Offset>>& groups) {
  const Dice& dice = draft.dice();
  const bool source = dice.chance("source", 0.25);
  const bool parameter = dice.chance("parameter", 0.2);
  draft.buffer({"in", Direction::in, around.padded_shape(), draft.init()});
  if (source) draft.buffer({"in2", Direction::in, around.shape(), draft.init("source")});
  draft.buffer({"out", Direction::out, around.shape()});
  if (parameter) draft.scalar("alpha", dice.one_of("alpha", {2.0, 3.0}));
  around.begin("in");
  const Offset center(around.axes().size(), 0);
  std::vector<Operand> operands;
  if (dice.chance("center", 0.75)) {
    operands.push_back({around.element("in", center)});
    if (dice.chance("named center", 0.5)) {
      draft.line("$T $v = " + operands[0].text + ";");
      operands[0].text = "$v";
    }
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::string site = fmt::format("weight {}", group);
    operands.push_back(weighted_neighbors(draft, around, groups[group], site));
    if (dice.chance("named " + site, 0.35)) {
      const std::string name = fmt::format("part{}", group);
      draft.line("$T " + name + " = " + operands.back().text + ";");
      operands.back() = {name, 8.0};
    }
  }
  if (source) operands.push_back({"$in2[" + around.own() + "]"});
  if (parameter)
    operands[0] = {"$alpha * " + draft.expression("scaled", {operands[0]}, 0, Binding::product),
                   24.0, Binding::product};
  draft.line("$out[" + around.own() + "] = " +
             draft.expression("value", operands, static_cast<int>(dice.between("size", 0, 2))) +
             ";");
  return draft.finish();
}

}  // namespace

GeneratedKernel write_stencil_1d(const KernelPlace& place) {
  KernelDraft draft(place,
                    {"stencil", "smooth", "diffuse", "laplace_line", "blur_line", "neighbors"});
  const Dice& dice = draft.dice();
  draft.size("n", many_elements(dice, "n"));
  const auto radius = static_cast<int>(dice.between("radius", 1, 4));
  Neighborhood around(draft, {{"i", "$n"}}, radius);
  std::vector<std::vector<Offset>> groups;
  if (dice.chance("pairs", 0.5)) {
    for (int step = 1; step <= radius; ++step)
      groups.push_back({{-step}, {step}});
  } else {
    for (int step = -radius; step <= radius; ++step) {
      if (step != 0) groups.push_back({{step}});
    }
  }
  return finish_stencil(draft, around, groups);
}

GeneratedKernel write_stencil_2d(const KernelPlace& place) {
  KernelDraft draft(place, {"stencil2d", "jacobi", "heat_step", "diffuse_2d", "laplacian",
                            "relax_grid", "sharpen"});
  const Dice& dice = draft.dice();
  draft.size("rows", side(dice, "rows", 350, 800));
  draft.size("cols", side(dice, "cols", 350, 800));
  const std::string form =
      dice.word("form", {"cross", "cross", "split", "far", "diagonal", "box", "upwind"});
  const int radius = form == "far" ? 2 : 1;
  Neighborhood around(draft, {{"row", "$rows"}, {"col", "$cols"}}, radius);
  std::vector<std::vector<Offset>> groups = {cross(2, 1)};
  const std::vector<Offset> corners = {{-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
  if (form == "split") groups = {along(0, 2, 1), along(1, 2, 1)};
  if (form == "far") groups.push_back({{-2, 0}, {2, 0}, {0, -2}, {0, 2}});
  if (form == "diagonal") groups = {corners};
  if (form == "box") groups.push_back(corners);
  if (form == "upwind") groups = {{{-1, 0}}, {{0, -1}}};
  return finish_stencil(draft, around, groups);
}

GeneratedKernel write_stencil_3d(const KernelPlace& place) {
  KernelDraft draft(
      place, {"stencil3d", "heat_3d", "seven_point", "diffuse_volume", "smooth_3d", "volume_step"});
  const Dice& dice = draft.dice();
  for (const std::string_view extent : {"planes", "rows", "cols"})
    draft.size(extent, box_side(dice, extent, 40, 75));
  const std::string form = dice.word("form", {"cross", "cross", "split", "far", "planes"});
  Neighborhood around(draft, {{"plane", "$planes"}, {"row", "$rows"}, {"col", "$cols"}},
                      form == "far" ? 2 : 1);
  std::vector<std::vector<Offset>> groups = {cross(3, form == "far" ? 2 : 1)};
  if (form == "split") groups = {along(0, 3, 1), along(1, 3, 1), along(2, 3, 1)};
  if (form == "planes") groups = {along(0, 3, 1), {{0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}}};
  return finish_stencil(draft, around, groups);
}

}  // namespace regraph::dataset
