#include "regraph/gain_statistics.h"

#include <cmath>

namespace regraph {

namespace {

template <typename Member>
std::int64_t total(const LearnedGains& gains, Member member) {
  std::int64_t sum = 0;
  for (const LearnedGains::ByDevice* devices : {&gains.predicted, &gains.measured}) {
    for (const auto& [device, statistics] : *devices)
      sum += statistics.*member;
  }
  return sum;
}

// Visits the ways of timing that bear on `source`, the one to start from first.
template <typename Visit>
void for_each_method(const LearnedGains& gains, const GainSource& source, Visit visit) {
  visit(gains.predicted);
  if (source.method == TimeMethod::measured) visit(gains.measured);
}

}  // namespace

double GainStatistics::shrunk(double prior, double weight) const {
  const double total_weight = weight + static_cast<double>(families);
  return total_weight > 0.0 ? (weight * prior + sum_positive) / total_weight : prior;
}

void GainStatistics::add(const GainStatistics& other) {
  families += other.families;
  kernels += other.kernels;
  observations += other.observations;
  sum_positive += other.sum_positive;
  tries += other.tries;
  verified += other.verified;
  sum_log_gain += other.sum_log_gain;
}

std::string GainStatistics::nonsense() const {
  for (const std::int64_t count : {families, kernels, observations, tries, verified}) {
    if (count < 0) return "a count is negative";
  }
  if (families > kernels || kernels > observations || observations > tries)
    return "there must be at least as many kernels as families, observations as kernels and tries "
           "as observations";
  if (verified > tries) return "more tries were verified than made";
  if (tries > 0 && families == 0) return "tries without a family";
  if (!std::isfinite(sum_positive) || !std::isfinite(sum_log_gain)) return "a sum is not finite";
  if (sum_positive < 0.0) return "a sum of positive parts is negative";
  if (sum_positive > kLargestLogGain * static_cast<double>(families))
    return "the families' votes are larger than any gain";
  if (std::abs(sum_log_gain) > kLargestLogGain * static_cast<double>(verified))
    return "the gains are larger than any gain";
  return {};
}

double LearnedGains::pooled(double prior, double weight, const GainSource& source) const {
  double expected = prior;
  for_each_method(*this, source, [&](const ByDevice& devices) {
    GainStatistics all;
    for (const auto& [device, statistics] : devices)
      all.add(statistics);
    expected = all.shrunk(expected, weight);
  });
  return expected;
}

double LearnedGains::own(double prior, double others_weight, double own_weight,
                         const GainSource& source) const {
  double expected = prior;
  for_each_method(*this, source, [&](const ByDevice& devices) {
    GainStatistics others;
    for (const auto& [device, statistics] : devices) {
      if (device != source.device) others.add(statistics);
    }
    expected = others.shrunk(expected, others_weight);
    if (const auto known = devices.find(source.device); known != devices.end())
      expected = known->second.shrunk(expected, own_weight);
  });
  return expected;
}

std::int64_t LearnedGains::tries() const {
  return total(*this, &GainStatistics::tries);
}

std::int64_t LearnedGains::verified() const {
  return total(*this, &GainStatistics::verified);
}

}  // namespace regraph
