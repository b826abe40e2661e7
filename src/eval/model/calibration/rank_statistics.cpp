#include "eval/model/calibration/rank_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace regraph::calibration {
namespace {

int sign_of(double difference) {
  return difference > 0.0 ? 1 : difference < 0.0 ? -1 : 0;
}

std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t index) { return values[index]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]])
      ++last;
    for (std::size_t at = first; at < last; ++at)
      ranks[order[at]] = 0.5 * static_cast<double>(first + last - 1);
    first = last;
  }
  return ranks;
}

}  // namespace

std::optional<double> kendall_tau(std::span<const double> x, std::span<const double> y) {
  std::int64_t balance = 0;
  std::int64_t pairs_x = 0;
  std::int64_t pairs_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int by_x = sign_of(x[i] - x[j]);
      const int by_y = sign_of(y[i] - y[j]);
      balance += by_x * by_y;
      pairs_x += std::abs(by_x);
      pairs_y += std::abs(by_y);
    }
  }
  if (pairs_x == 0 || pairs_y == 0) return std::nullopt;
  return static_cast<double>(balance) /
         std::sqrt(static_cast<double>(pairs_x) * static_cast<double>(pairs_y));
}

std::optional<double> spearman(std::span<const double> x, std::span<const double> y) {
  const std::vector<double> ranks_x = mean_ranks(x);
  const std::vector<double> ranks_y = mean_ranks(y);
  const double mean = 0.5 * (static_cast<double>(x.size()) - 1.0);
  double xy = 0.0;
  double xx = 0.0;
  double yy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = ranks_x[i] - mean;
    const double dy = ranks_y[i] - mean;
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  if (!(xx > 0.0 && yy > 0.0)) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

RelativeError relative_error(std::span<const double> predicted, std::span<const double> measured) {
  if (predicted.empty()) return {};
  std::vector<double> errors(predicted.size());
  for (std::size_t i = 0; i < predicted.size(); ++i)
    errors[i] = std::abs(predicted[i] / measured[i] - 1.0);
  const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  return {sum / static_cast<double>(errors.size()), median_of(errors)};
}

double regret_at_one(std::span<const double> predicted, std::span<const double> measured) {
  if (predicted.empty()) return 1.0;
  const double first = *std::ranges::min_element(predicted);
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (predicted[i] != first) continue;
    sum += measured[i];
    count += 1.0;
  }
  return sum / count / *std::ranges::min_element(measured);
}

std::size_t top_count(std::size_t n, double share) {
  const double exact = share * static_cast<double>(n);
  // 10 % of 30 are 3, whatever rounding makes of it.
  return std::min(n, static_cast<std::size_t>(std::ceil(exact - 1e-9)));
}

double recall_of_best(std::span<const double> predicted, std::span<const double> measured,
                      double share) {
  if (predicted.empty()) return 0.0;
  const auto best = static_cast<std::size_t>(std::ranges::min_element(measured) - measured.begin());
  const auto ahead = static_cast<double>(
      std::ranges::count_if(predicted, [&](double p) { return p < predicted[best]; }));
  const auto tied = static_cast<double>(std::ranges::count(predicted, predicted[best]));
  const auto places = static_cast<double>(top_count(predicted.size(), share));
  return std::clamp((places - ahead) / tied, 0.0, 1.0);
}

RankQuality rank_quality(std::span<const double> predicted, std::span<const double> measured) {
  RankQuality quality;
  quality.count = predicted.size();
  quality.tau = kendall_tau(predicted, measured);
  quality.rho = spearman(predicted, measured);
  quality.error = relative_error(predicted, measured);
  quality.regret = regret_at_one(predicted, measured);
  quality.recall = recall_of_best(predicted, measured, kTopShare);
  return quality;
}

double median_of(std::span<const double> values) {
  if (values.empty()) return 0.0;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

}  // namespace regraph::calibration
