// Fits numbers of a DeviceSpec to measured times.
#pragma once

#include "eval/model/device.h"
#include "eval/model/device_table.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace regraph::calibration {

struct Sample {
  std::string name;               // for people
  std::string family;             // what is left out together
  bool for_fitting_only = false;  // a micro-kernel: its family is not left out and not judged
  double measured_seconds = 0.0;  // above 0
  // The model's time, above 0, as a function of the device alone. Called by several threads.
  std::function<double(const DeviceSpec&)> predict;
};

// A number that may be changed, by its logarithm.
struct Parameter {
  const DeviceField* field = nullptr;
  double least = 0.0;  // absolute, within the field's own limits
  double most = 0.0;
  // Standard deviation of the natural logarithm around the starting table: how far it is believed
  // to be off when no sample says anything.
  double prior_deviation = 0.0;
};

// The twelve that are fitted, with limits around `start`.
[[nodiscard]] std::vector<Parameter> fitted_parameters(const DeviceSpec& start);

struct Fit {
  DeviceSpec device;
  double objective = 0.0;        // at `device`
  double start_objective = 0.0;  // at the start
  int predictions = 0;           // of all samples at one device, how often
  // By parameter: root mean square over the samples of d log(time) / d log(parameter) at `device`.
  // Near 0: no sample says anything about it.
  std::vector<double> sensitivity;
};

// Minimises
//
//   sum_i w_i H(log(predicted_i / measured_i) / 0.15) + sum_j (log(p_j / start_j) / deviation_j)^2
//
// with Huber's function H (1964; quadratic up to 1.345, linear beyond, so that a kernel the model
// cannot express does not bend the numbers) and w_i = 1 / samples of its family: variants of one
// kernel share what the model gets wrong about it, so a family is one observation.
// Levenberg-Marquardt (Marquardt 1963) on the reweighted least squares, derivatives by differences,
// steps cut off at the limits. Samples are predicted in parallel; the result does not depend on the
// number of threads. With no samples the start is returned.
[[nodiscard]] Fit fit_device(const DeviceSpec& start, std::span<const Sample* const> samples,
                             std::span<const Parameter> parameters);

}  // namespace regraph::calibration
