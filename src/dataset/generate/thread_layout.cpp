#include "dataset/generate/thread_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace regraph::dataset {

namespace {

std::vector<int> drawn_block(const Dice& dice, std::size_t axes) {
  using Shape = std::array<int, 3>;
  if (axes == 1)
    return {dice.one_of("block", {32, 64, 96, 128, 128, 192, 256, 256, 256, 512, 1024})};
  if (axes == 2) {
    const Shape shape = dice.one_of<Shape>("block", {{16, 16},
                                                     {16, 16},
                                                     {16, 16},
                                                     {32, 8},
                                                     {32, 8},
                                                     {8, 8},
                                                     {32, 4},
                                                     {16, 8},
                                                     {32, 32},
                                                     {64, 4},
                                                     {8, 32},
                                                     {32, 16},
                                                     {128, 1},
                                                     {4, 32}});
    return {shape[0], shape[1]};
  }
  const Shape shape = dice.one_of<Shape>(
      "block", {{8, 8, 4}, {8, 8, 8}, {32, 4, 2}, {16, 4, 4}, {4, 4, 4}, {32, 8, 1}, {16, 16, 1}});
  return {shape[0], shape[1], shape[2]};
}

// Returns early, or opens an if around what follows.
void guard(KernelDraft& draft, const std::vector<Axis>& axes) {
  const Dice& dice = draft.dice();
  std::string outside;
  std::string inside;
  for (const Axis& axis : axes) {
    if (!inside.empty()) {
      outside += " || ";
      inside += " && ";
    }
    outside += fmt::format("${} >= {}", axis.role, bare(axis.extent));
    inside += fmt::format("${} < {}", axis.role, bare(axis.extent));
  }
  if (dice.chance("guard", 0.5)) {
    draft.open("if (" + inside + ")");
  } else if (axes.size() > 1 && dice.chance("guards apart", 0.25)) {
    for (const Axis& axis : axes)
      draft.line(fmt::format("if (${} >= {}) return;", axis.role, bare(axis.extent)));
  } else {
    draft.line("if (" + outside + ") return;");
  }
}

std::string product(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes)
    text += (text.empty() ? "" : " * ") + axis.extent;
  return text;
}

// Takes `from` apart into the indices of `axes`, the last one running fastest.
void take_apart(KernelDraft& draft, std::vector<Axis> axes) {
  if (axes.size() == 2) {
    draft.index(axes[0].role, "$flat / " + axes[1].extent);
    draft.index(axes[1].role, "$flat % " + axes[1].extent);
    return;
  }
  if (draft.dice().chance("rest", 0.5)) {
    draft.index(axes[0].role, fmt::format("$flat / ({} * {})", axes[1].extent, axes[2].extent));
    draft.index("rest", fmt::format("$flat % ({} * {})", axes[1].extent, axes[2].extent));
    draft.index(axes[1].role, "$rest / " + axes[2].extent);
    draft.index(axes[2].role, "$rest % " + axes[2].extent);
    return;
  }
  draft.index(axes[2].role, "$flat % " + axes[2].extent);
  draft.index(axes[1].role, fmt::format("$flat / {} % {}", axes[2].extent, axes[1].extent));
  draft.index(axes[0].role, fmt::format("$flat / ({} * {})", axes[2].extent, axes[1].extent));
}

void one_number(KernelDraft& draft, std::vector<Axis> axes, const LayoutChoice& choice) {
  if (draft.dice().chance("swapped", choice.swapped)) std::ranges::reverse(axes);
  draft.index("flat", global_index(draft, 'x'));
  guard(draft, {{"flat", product(axes)}});
  take_apart(draft, axes);
  draft.launch(drawn_block(draft.dice(), 1), {"cdiv(" + product(axes) + ", bx)"});
}

}  // namespace

std::string global_index(const KernelDraft& draft, char axis) {
  const std::string spelling =
      draft.dice().word("index spelling", {"blockIdx.{0} * blockDim.{0} + threadIdx.{0}",
                                           "blockIdx.{0} * blockDim.{0} + threadIdx.{0}",
                                           "threadIdx.{0} + blockIdx.{0} * blockDim.{0}",
                                           "blockDim.{0} * blockIdx.{0} + threadIdx.{0}"});
  return fmt::format(fmt::runtime(spelling), axis);
}

void over_elements(KernelDraft& draft, const std::vector<Axis>& axes, const LayoutChoice& choice) {
  const Dice& dice = draft.dice();
  if (axes.size() > 1 && dice.chance("row loop", choice.loops)) {
    const std::vector<Axis> outer(axes.begin(), axes.end() - 1);
    LayoutChoice rest = choice;
    rest.loops = 0.0;
    over_elements(draft, outer, rest);
    draft.loop(axes.back().role, "0", bare(axes.back().extent));
    return;
  }
  if (axes.size() > 1 && dice.chance("flat", choice.flat)) {
    one_number(draft, axes, choice);
    return;
  }
  // x belongs to the last axis of `order`.
  std::vector<Axis> order = axes;
  if (dice.chance("swapped", choice.swapped)) std::ranges::reverse(order);
  const std::vector<int> block = drawn_block(dice, axes.size());
  std::vector<std::string> grid;
  constexpr std::string_view kAxes = "xyz";
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    const Axis& here = order[order.size() - 1 - axis];
    grid.push_back(fmt::format("cdiv({}, b{})", bare(here.extent), kAxes[axis]));
  }
  const bool inner_first = dice.chance("inner first", 0.5);
  for (std::size_t step = 0; step < order.size(); ++step) {
    const std::size_t axis = inner_first ? step : order.size() - 1 - step;
    draft.index(order[order.size() - 1 - axis].role, global_index(draft, kAxes[axis]));
  }
  guard(draft, axes);
  draft.launch(block, grid);
}

}  // namespace regraph::dataset
