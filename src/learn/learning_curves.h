// How fast searches find what there is to be found, over kernels and families.
#pragma once

#include "learn/run_digest.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace regraph::learn {

// Best known log-speedup by kernel hash, over all digests.
[[nodiscard]] std::map<std::string, double> best_known(std::span<const RunDigest> digests);

// Of one way of searching, by family; families are the sample, kernels of a family are averaged.
struct FamilyCurves {
  // Share of the best known log-speedup after so many evaluations, by family.
  std::map<std::string, std::vector<double>> share;
  // Evaluations to 95 % of it; a miss counts 1.5 budgets.
  std::map<std::string, double> evaluations_to_95;
  // Log-speedup at the end.
  std::map<std::string, double> log_speedup;
};

// `at`: evaluations at which shares are taken. Kernels whose best known speedup is below
// `least_speedup` are left out.
[[nodiscard]] FamilyCurves curves_of(std::span<const RunDigest> digests, const std::string& label,
                                     const std::map<std::string, double>& best,
                                     std::span<const int> at, int budget,
                                     double least_speedup = 1.2);

// A mean of differences over families, with its interval.
struct PairedDifference {
  double mean = 0.0;
  double low = 0.0;  // 95 %, bootstrap over families
  double high = 0.0;
  double p = 1.0;  // Wilcoxon's signed ranks, two-sided, normal approximation with ties
  int families = 0;
};
[[nodiscard]] PairedDifference paired(const std::map<std::string, double>& one,
                                      const std::map<std::string, double>& other);

}  // namespace regraph::learn
