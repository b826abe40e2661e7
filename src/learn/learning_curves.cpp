#include "learn/learning_curves.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>

namespace regraph::learn {

namespace {

constexpr double kNearlyAll = 0.95;
constexpr double kMissed = 1.5;  // budgets
constexpr int kResamples = 10'000;

double value_at(const RunDigest& digest, int evaluations) {
  if (digest.curve.empty() || evaluations < 1) return 0.0;
  const auto last = static_cast<int>(digest.curve.size());
  return digest.curve[static_cast<std::size_t>(std::min(evaluations, last) - 1)];
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

// Two-sided p of the differences' signed ranks; zeros are left out.
double wilcoxon(const std::vector<double>& differences) {
  std::vector<double> sorted;
  for (const double one : differences) {
    if (std::fabs(one) > 1e-12) sorted.push_back(one);
  }
  const auto count = static_cast<double>(sorted.size());
  if (sorted.size() < 2) return 1.0;
  std::ranges::sort(sorted, {}, [](double one) { return std::fabs(one); });
  double positive = 0.0;
  double ties = 0.0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin;
    while (end < sorted.size() && std::fabs(sorted[end]) - std::fabs(sorted[begin]) < 1e-12)
      ++end;
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);
    for (std::size_t at = begin; at < end; ++at)
      positive += sorted[at] > 0.0 ? rank : 0.0;
    const auto tied = static_cast<double>(end - begin);
    ties += tied * (tied * tied - 1.0);
    begin = end;
  }
  const double mean = count * (count + 1.0) / 4.0;
  const double variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - ties / 48.0;
  if (!(variance > 0.0)) return 1.0;
  const double z = std::max(std::fabs(positive - mean) - 0.5, 0.0) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace

std::map<std::string, double> best_known(std::span<const RunDigest> digests) {
  std::map<std::string, double> best;
  for (const RunDigest& digest : digests) {
    double& known = best[digest.kernel_hash];
    if (!digest.curve.empty()) known = std::max(known, digest.curve.back());
  }
  return best;
}

FamilyCurves curves_of(std::span<const RunDigest> digests, const std::string& label,
                       const std::map<std::string, double>& best, std::span<const int> at,
                       int budget, double least_speedup) {
  struct Values {
    std::vector<std::vector<double>> shares;  // [at][kernels]
    std::vector<double> evaluations;
    std::vector<double> log_speedups;
  };
  std::map<std::string, Values> families;
  for (const RunDigest& digest : digests) {
    if (digest.label != label) continue;
    const auto known = best.find(digest.kernel_hash);
    if (known == best.end() || known->second < std::log(least_speedup)) continue;
    Values& values = families[digest.family];
    values.shares.resize(at.size());
    for (std::size_t place = 0; place < at.size(); ++place)
      values.shares[place].push_back(value_at(digest, at[place]) / known->second);
    double needed = kMissed * budget;
    for (int evaluations = 1;
         evaluations <= std::min<int>(budget, static_cast<int>(digest.curve.size()));
         ++evaluations) {
      if (value_at(digest, evaluations) < kNearlyAll * known->second) continue;
      needed = evaluations;
      break;
    }
    values.evaluations.push_back(needed);
    values.log_speedups.push_back(value_at(digest, budget));
  }
  FamilyCurves result;
  for (const auto& [family, values] : families) {
    for (const std::vector<double>& shares : values.shares)
      result.share[family].push_back(mean_of(shares));
    result.evaluations_to_95[family] = mean_of(values.evaluations);
    result.log_speedup[family] = mean_of(values.log_speedups);
  }
  return result;
}

PairedDifference paired(const std::map<std::string, double>& one,
                        const std::map<std::string, double>& other) {
  std::vector<double> differences;
  for (const auto& [family, value] : one) {
    const auto match = other.find(family);
    if (match != other.end()) differences.push_back(value - match->second);
  }
  PairedDifference result;
  result.families = static_cast<int>(differences.size());
  if (differences.empty()) return result;
  result.mean = mean_of(differences);
  result.p = wilcoxon(differences);
  std::vector<double> means;
  for (int sample = 0; sample < kResamples; ++sample) {
    double sum = 0.0;
    for (std::size_t draw = 0; draw < differences.size(); ++draw)
      sum += differences[random_bits(std::uint64_t{7}, sample, draw) % differences.size()];
    means.push_back(sum / static_cast<double>(differences.size()));
  }
  std::ranges::sort(means);
  constexpr double kTail = 0.025;
  result.low = means[static_cast<std::size_t>(kTail * kResamples)];
  result.high = means[static_cast<std::size_t>((1.0 - kTail) * kResamples)];
  return result;
}

}  // namespace regraph::learn
