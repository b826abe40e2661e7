// How well predicted times stand for measured ones: errors, and what a search needs, the order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace regraph::calibration {

// Kendall's tau-b: (concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in
// y), -1 to 1 (Kendall 1945). Nothing when all of x or all of y are equal, or with fewer than two
// values. x and y have one length; values are finite. O(n^2).
[[nodiscard]] std::optional<double> kendall_tau(std::span<const double> x,
                                                std::span<const double> y);

// Spearman's rho: Pearson's correlation of the ranks; equal values share their mean rank. Nothing
// where kendall_tau gives nothing.
[[nodiscard]] std::optional<double> spearman(std::span<const double> x, std::span<const double> y);

// |predicted / measured - 1|, a fraction: its mean (MAPE) and its median over all values. Measured
// times are above 0; 0 for no values.
struct RelativeError {
  double mean = 0.0;
  double median = 0.0;
};
[[nodiscard]] RelativeError relative_error(std::span<const double> predicted,
                                           std::span<const double> measured);

// Measured time of the one predicted to be fastest over that of the one that is: 1 is perfect.
// Where several are predicted equally fast, the mean of theirs. 1 for no values.
[[nodiscard]] double regret_at_one(std::span<const double> predicted,
                                   std::span<const double> measured);

// How many belong to the best `share` of n: rounded up, so at least one of a non-empty set.
[[nodiscard]] std::size_t top_count(std::size_t n, double share);

// The chance, 0 to 1, that the one measured fastest is among the top_count(n, share) predicted
// fastest; ties at the border are broken by lot. 0 for no values.
[[nodiscard]] double recall_of_best(std::span<const double> predicted,
                                    std::span<const double> measured, double share);

// All of these.
struct RankQuality {
  std::size_t count = 0;
  std::optional<double> tau;
  std::optional<double> rho;
  RelativeError error;
  double regret = 1.0;
  double recall = 0.0;  // in the best kTopShare
};
inline constexpr double kTopShare = 0.10;
[[nodiscard]] RankQuality rank_quality(std::span<const double> predicted,
                                       std::span<const double> measured);

// Mean of the two middle values for an even count; 0 for none.
[[nodiscard]] double median_of(std::span<const double> values);

}  // namespace regraph::calibration
