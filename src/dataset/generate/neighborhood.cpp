#include "dataset/generate/neighborhood.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::dataset {

namespace {

std::string stepped(const std::string& index, int step) {
  if (step == 0) return index;
  return fmt::format("{} {} {}", index, step > 0 ? '+' : '-', std::abs(step));
}

}  // namespace

Neighborhood::Neighborhood(KernelDraft& draft, std::vector<Axis> axes, int radius)
    : draft_(draft),
      axes_(std::move(axes)),
      radius_(radius),
      border_(draft.dice().one_of("border", {Border::padded, Border::padded, Border::clamped,
                                             Border::zero, Border::inner, Border::inner})) {}

std::string Neighborhood::extent(std::size_t axis) const {
  if (border_ != Border::padded) return axes_[axis].extent;
  return fmt::format("({} + {})", axes_[axis].extent, 2 * radius_);
}

std::vector<std::string> Neighborhood::padded_shape() const {
  std::vector<std::string> result;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    result.push_back(extent(axis));
  return result;
}

std::vector<std::string> Neighborhood::shape() const {
  std::vector<std::string> result;
  for (const Axis& axis : axes_)
    result.push_back(axis.extent);
  return result;
}

void Neighborhood::begin(std::string_view copied) {
  // Neighbours of a number that is taken apart are hard to tell: rarer than elsewhere.
  over_elements(draft_, axes_, {.flat = 0.1});
  if (border_ != Border::inner) return;
  std::string outside;
  for (const Axis& axis : axes_) {
    if (!outside.empty()) outside += " || ";
    outside += fmt::format("${0} < {1} || ${0} >= {2} - {1}", axis.role, radius_, axis.extent);
  }
  const std::string here = own();
  draft_.open("if (" + outside + ")");
  draft_.line(fmt::format("$out[{0}] = ${1}[{0}];", here, copied));
  draft_.otherwise();
}

std::string Neighborhood::coordinate(std::size_t axis, int step) const {
  const std::string index = "$" + axes_[axis].role;
  if (border_ == Border::padded) return stepped(index, step + radius_);
  if (border_ != Border::clamped || step == 0) return stepped(index, step);
  if (step < 0) return fmt::format("max({}, 0)", stepped(index, step));
  return fmt::format("min({}, {} - 1)", stepped(index, step), axes_[axis].extent);
}

std::string Neighborhood::place(const std::vector<std::string>& coordinates) const {
  std::string text = coordinates[0];
  for (std::size_t axis = 1; axis < coordinates.size(); ++axis) {
    if (text.find(' ') != std::string::npos && !text.starts_with("m"))
      text = fmt::format("({})", text);
    text += fmt::format(" * {} + {}", extent(axis), coordinates[axis]);
  }
  return text;
}

std::string Neighborhood::element(std::string_view buffer, const Offset& offset) const {
  std::vector<std::string> coordinates;
  std::string there;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    coordinates.push_back(coordinate(axis, offset[axis]));
    if (border_ != Border::zero || offset[axis] == 0) continue;
    if (!there.empty()) there += " && ";
    there += offset[axis] < 0
                 ? fmt::format("${} >= {}", axes_[axis].role, -offset[axis])
                 : fmt::format("${} < {} - {}", axes_[axis].role, axes_[axis].extent, offset[axis]);
  }
  const std::string element = fmt::format("${}[{}]", buffer, place(coordinates));
  return there.empty() ? element : "(" + there + " ? " + element + " : $zero)";
}

std::string Neighborhood::own() const {
  std::string text = "$" + axes_[0].role;
  for (std::size_t axis = 1; axis < axes_.size(); ++axis) {
    if (axis > 1) text = fmt::format("({})", text);
    text = fmt::format("{} * {} + ${}", text, axes_[axis].extent, axes_[axis].role);
  }
  return text;
}

}  // namespace regraph::dataset
