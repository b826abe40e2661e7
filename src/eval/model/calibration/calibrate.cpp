#include "eval/model/calibration/calibrate.h"

#include <tbb/parallel_for.h>

#include <map>

namespace regraph::calibration {
namespace {

using Predictions = std::vector<double>;

Predictions predict_all(std::span<const Sample* const> samples, const DeviceSpec& device) {
  Predictions result(samples.size());
  tbb::parallel_for(std::size_t{0}, samples.size(),
                    [&](std::size_t i) { result[i] = samples[i]->predict(device); });
  return result;
}

Predictions measured_times(std::span<const Sample* const> samples) {
  Predictions result;
  for (const Sample* sample : samples)
    result.push_back(sample->measured_seconds);
  return result;
}

// Predictions of every judged variant by one of the three sets of numbers, family by family.
class Tally {
 public:
  explicit Tally(RankQuality Comparison::*column) : column_(column) {}

  void add(const Predictions& predicted, const Predictions& measured, Comparison& family) {
    const RankQuality quality = rank_quality(predicted, measured);
    family.*column_ = quality;
    predicted_.insert(predicted_.end(), predicted.begin(), predicted.end());
    measured_.insert(measured_.end(), measured.begin(), measured.end());
    if (quality.tau) taus_.push_back(*quality.tau);
    if (quality.rho) rhos_.push_back(*quality.rho);
    regrets_.push_back(quality.regret);
    recalls_ += quality.recall;
  }

  void finish(Comparison& overall) const {
    RankQuality& quality = overall.*column_;
    quality.count = predicted_.size();
    if (!taus_.empty()) quality.tau = median_of(taus_);
    if (!rhos_.empty()) quality.rho = median_of(rhos_);
    quality.error = relative_error(predicted_, measured_);
    if (regrets_.empty()) return;
    quality.regret = median_of(regrets_);
    quality.recall = recalls_ / static_cast<double>(regrets_.size());
  }

 private:
  RankQuality Comparison::*column_;
  Predictions predicted_;
  Predictions measured_;
  std::vector<double> taus_;
  std::vector<double> rhos_;
  std::vector<double> regrets_;
  double recalls_ = 0.0;
};

}  // namespace

Calibration calibrate(const DeviceSpec& start, std::span<const Sample> samples,
                      const Cancellation& cancellation) {
  Calibration result;
  result.parameters = fitted_parameters(start);
  std::vector<const Sample*> all;
  std::vector<const Sample*> fitting_only;
  std::map<std::string, std::vector<const Sample*>> families;
  for (const Sample& sample : samples) {
    all.push_back(&sample);
    if (sample.for_fitting_only) {
      fitting_only.push_back(&sample);
    } else {
      families[sample.family].push_back(&sample);
    }
  }
  result.fit = fit_device(start, all, result.parameters);
  result.fitting_only = fitting_only.size();
  const Predictions micro = measured_times(fitting_only);
  result.fitting_shipped = relative_error(predict_all(fitting_only, start), micro);
  result.fitting_fitted = relative_error(predict_all(fitting_only, result.fit.device), micro);
  Tally shipped(&Comparison::shipped);
  Tally left_out(&Comparison::left_out);
  Tally fitted(&Comparison::fitted);
  for (const auto& [name, members] : families) {
    if (cancellation.requested()) return result;
    std::vector<const Sample*> others;
    for (const Sample* sample : all) {
      if (sample->for_fitting_only || sample->family != name) others.push_back(sample);
    }
    FamilyResult family{name, {}, fit_device(start, others, result.parameters).device};
    const Predictions measured = measured_times(members);
    shipped.add(predict_all(members, start), measured, family.quality);
    left_out.add(predict_all(members, family.left_out), measured, family.quality);
    fitted.add(predict_all(members, result.fit.device), measured, family.quality);
    result.families.push_back(std::move(family));
  }
  for (const Tally* tally : {&shipped, &left_out, &fitted})
    tally->finish(result.overall);
  return result;
}

}  // namespace regraph::calibration
