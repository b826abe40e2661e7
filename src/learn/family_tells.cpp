#include "learn/family_tells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace regraph::learn {

namespace {

constexpr double kUnvaried = 1e-9;
constexpr double kTie = 1e-9;

struct Point {
  std::string family;
  std::string kernel;
  std::vector<double> values;
};

// The mean over what is known; NaN where nothing is.
double mean_known(const auto& values) {
  double sum = 0.0;
  double count = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    count += 1.0;
  }
  return count == 0.0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
}

std::vector<Point> originals(std::span<const SiblingGroup> groups, std::size_t inputs) {
  std::vector<Point> points;
  for (const SiblingGroup& group : groups) {
    if (!group.at_original) continue;
    Point point{group.family, group.kernel, {}};
    for (std::size_t input = 0; input < inputs; ++input) {
      std::vector<double> values;
      for (const SiblingEdge& edge : group.edges)
        values.push_back(edge.row[input]);
      point.values.push_back(mean_known(values));
    }
    points.push_back(std::move(point));
  }
  return points;
}

// Makes each input's mean 0 and deviation 1; says which are not the same everywhere.
std::vector<bool> standardise(std::vector<Point>& points, std::size_t inputs) {
  std::vector<bool> varied(inputs);
  for (std::size_t input = 0; input < inputs; ++input) {
    std::vector<double> values;
    std::vector<double> squares;
    values.reserve(points.size());
    squares.reserve(points.size());
    for (const Point& point : points)
      values.push_back(point.values[input]);
    const double mean = mean_known(values);
    for (const double value : values)
      squares.push_back((value - mean) * (value - mean));
    const double deviation = std::sqrt(mean_known(squares));
    varied[input] = deviation > kUnvaried;  // not so for NaN
    for (Point& point : points) {
      double& value = point.values[input];
      value = varied[input] && std::isfinite(value) ? (value - mean) / deviation : 0.0;
    }
  }
  return varied;
}

double distance(const Point& one, const Point& other, std::span<const std::size_t> inputs) {
  double sum = 0.0;
  for (const std::size_t input : inputs) {
    const double difference = one.values[input] - other.values[input];
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

// The share of the nearest other kernels, or of all others, that are of the point's family; nothing
// is asked where the family has no other.
struct Neighbours {
  double nearest_own = 0.0;
  double own = 0.0;
};
Neighbours neighbours(const std::vector<Point>& points, const Point& point,
                      std::span<const std::size_t> inputs) {
  double least = std::numeric_limits<double>::infinity();
  double nearest = 0.0;
  double nearest_own = 0.0;
  double others = 0.0;
  double own = 0.0;
  for (const Point& other : points) {
    if (other.kernel == point.kernel) continue;
    const double same = other.family == point.family ? 1.0 : 0.0;
    others += 1.0;
    own += same;
    const double far = distance(point, other, inputs);
    if (far > least + kTie) continue;
    if (far < least - kTie) {
      nearest = 0.0;
      nearest_own = 0.0;
    }
    least = std::min(least, far);
    nearest += 1.0;
    nearest_own += same;
  }
  return {nearest == 0.0 ? 0.0 : nearest_own / nearest, others == 0.0 ? 0.0 : own / others};
}

}  // namespace

std::vector<FamilyTell> family_tells(std::span<const SiblingGroup> groups,
                                     const policy::FeatureLayout& layout) {
  std::vector<Point> points = originals(groups, layout.size());
  const std::vector<bool> varied = standardise(points, layout.size());
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::size_t>> inputs;
  constexpr const char* kAll = "all";
  for (std::size_t at = 0; at < layout.size(); ++at) {
    const std::string& name = layout.names()[at];
    const std::string beginning = name.substr(0, name.find('.'));
    if (std::ranges::find(names, beginning) == names.end()) names.push_back(beginning);
    if (!varied[at]) continue;
    inputs[beginning].push_back(at);
    inputs[kAll].push_back(at);
  }
  names.emplace_back(kAll);

  std::vector<FamilyTell> tells;
  for (const std::string& name : names) {
    FamilyTell tell;
    tell.inputs = name;
    tell.varied = inputs[name].size();
    for (const Point& point : points) {
      const Neighbours found = neighbours(points, point, inputs[name]);
      if (found.own == 0.0) continue;
      ++tell.kernels;
      tell.found += found.nearest_own;
      tell.chance += found.own;
    }
    if (tell.kernels == 0) return {};
    tell.found /= static_cast<double>(tell.kernels);
    tell.chance /= static_cast<double>(tell.kernels);
    tells.push_back(std::move(tell));
  }
  return tells;
}

std::string tells_text(std::span<const FamilyTell> tells) {
  if (tells.empty()) return {};
  std::string text = fmt::format(
      "inputs that give a family away: how often the nearest of the other kernels is of the same "
      "family ({} kernels)\n  {:<10} {:>6} {:>6} {:>7}\n",
      tells[0].kernels, "inputs", "varied", "found", "chance");
  for (const FamilyTell& tell : tells)
    text += fmt::format("  {:<10} {:>6} {:>6.2f} {:>7.2f}\n", tell.inputs, tell.varied, tell.found,
                        tell.chance);
  return text;
}

}  // namespace regraph::learn
