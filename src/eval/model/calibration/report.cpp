#include "eval/model/calibration/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace regraph::calibration {
namespace {

constexpr double kSilent = 0.002;  // a sensitivity below this: no sample depends on the parameter

std::string correlation(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", 100.0 * fraction);
}

// One cell: the same quantity with the three sets of numbers.
template <typename Text>
std::string cell(const Comparison& quality, const Text& text) {
  return fmt::format("{} / {} / {}", text(quality.shipped), text(quality.left_out),
                     text(quality.fitted));
}

std::string row(const std::string& name, const Comparison& quality) {
  return fmt::format(
      "| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, quality.shipped.count,
      cell(quality, [](const RankQuality& q) { return correlation(q.tau); }),
      cell(quality, [](const RankQuality& q) { return correlation(q.rho); }),
      cell(quality, [](const RankQuality& q) { return percent(q.error.mean); }),
      cell(quality, [](const RankQuality& q) { return percent(q.error.median); }),
      cell(quality, [](const RankQuality& q) { return fmt::format("{:.3f}", q.regret); }),
      cell(quality, [](const RankQuality& q) { return fmt::format("{:.2g}", q.recall); }));
}

}  // namespace

std::string calibration_report(const DeviceSpec& start, const Calibration& calibration,
                               const std::string& source) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "# Calibration of the timing model: {}\n\n", start.name);
  fmt::format_to(out,
                 "{}\n\n{} variants of {} families; {} samples of micro-kernels for fitting only. "
                 "Each cell: numbers as\nshipped / fitted to the other families (and the "
                 "micro-kernels) / fitted to all.\n\n",
                 source, calibration.overall.shipped.count, calibration.families.size(),
                 calibration.fitting_only);
  text +=
      "| family | variants | Kendall tau-b | Spearman | MAPE | median error | regret@1 | best in "
      "top 10 % |\n|---|---|---|---|---|---|---|---|\n";
  for (const FamilyResult& family : calibration.families)
    text += row(family.family, family.quality);
  text += row("**overall**", calibration.overall);
  text +=
      "\nOverall: medians over the families of tau, rho and regret, the mean of the recalls, "
      "errors "
      "over all variants.\nregret@1: measured time of the variant predicted fastest over that of "
      "the fastest. Best in top 10 %: the chance\nthat the fastest is among the tenth (rounded up) "
      "predicted fastest.\n\n";
  if (calibration.fitting_only > 0) {
    fmt::format_to(
        out, "Micro-kernels: mean error {} as shipped, {} fitted; median {} and {}.\n\n",
        percent(calibration.fitting_shipped.mean), percent(calibration.fitting_fitted.mean),
        percent(calibration.fitting_shipped.median), percent(calibration.fitting_fitted.median));
  }
  fmt::format_to(out, "Objective {:.4g} before, {:.4g} after, {} rounds of predictions.\n\n",
                 calibration.fit.start_objective, calibration.fit.objective,
                 calibration.fit.predictions);
  text +=
      "| number | shipped | fitted | change | least and most with a family left out | sensitivity "
      "|\n|---|---|---|---|---|---|\n";
  for (std::size_t j = 0; j < calibration.parameters.size(); ++j) {
    const Parameter& parameter = calibration.parameters[j];
    const double before = parameter.field->get(start);
    const double after = parameter.field->get(calibration.fit.device);
    double least = after;
    double most = after;
    for (const FamilyResult& family : calibration.families) {
      least = std::min(least, parameter.field->get(family.left_out));
      most = std::max(most, parameter.field->get(family.left_out));
    }
    const double sensitivity = calibration.fit.sensitivity[j];
    const bool at_limit = after <= parameter.least * 1.0001 || after >= parameter.most * 0.9999;
    fmt::format_to(out, "| `{}` | {:.4g} | {:.4g}{} | {:+.1f} % | {:.4g} to {:.4g} | {:.3f}{} |\n",
                   parameter.field->name, before, after, at_limit ? " (limit)" : "",
                   100.0 * (after / before - 1.0), least, most, sensitivity,
                   sensitivity < kSilent ? " (no sample depends on it)" : "");
  }
  text +=
      "\nSensitivity: root mean square over the samples of d log(time) / d log(number). \"limit\": "
      "the fit would have gone\nfurther, so the number stands for something the model leaves "
      "out.\n";
  return text;
}

std::map<std::string, std::string> fitted_sources(const DeviceSpec& start,
                                                  const Calibration& calibration) {
  std::map<std::string, std::string> sources;
  for (const Parameter& parameter : calibration.parameters) {
    sources[parameter.field->name] = fmt::format("fitted, was {:.4g}", parameter.field->get(start));
  }
  return sources;
}

}  // namespace regraph::calibration
