#include "eval/model/calibration/fit.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace regraph::calibration {
namespace {

constexpr double kNoise = 0.15;   // of log(predicted / measured) for kernels the model understands
constexpr double kHuber = 1.345;  // 95 % efficiency for normal errors (Huber 1981)
constexpr double kDifference = 2e-3;
constexpr int kMostIterations = 60;
constexpr double kEnough = 1e-5;  // relative gain of an iteration that is not worth another

double huber(double x) {
  const double a = std::abs(x);
  return a <= kHuber ? x * x : kHuber * (2.0 * a - kHuber);
}

// Solves the symmetric positive definite system by Cholesky's decomposition; nothing when it is
// not one.
std::optional<std::vector<double>> solve(std::vector<double> matrix, std::vector<double> right) {
  const std::size_t n = right.size();
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t row = column; row < n; ++row) {
      double sum = matrix[row * n + column];
      for (std::size_t k = 0; k < column; ++k)
        sum -= matrix[row * n + k] * matrix[column * n + k];
      if (row == column) {
        if (!(sum > 0.0)) return std::nullopt;
        matrix[row * n + row] = std::sqrt(sum);
      } else {
        matrix[row * n + column] = sum / matrix[column * n + column];
      }
    }
  }
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t k = 0; k < row; ++k)
      right[row] -= matrix[row * n + k] * right[k];
    right[row] /= matrix[row * n + row];
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t k = row + 1; k < n; ++k)
      right[row] -= matrix[k * n + row] * right[k];
    right[row] /= matrix[row * n + row];
  }
  return right;
}

class Minimiser {
 public:
  Minimiser(const DeviceSpec& start, std::span<const Sample* const> samples,
            std::span<const Parameter> parameters)
      : start_(start), samples_(samples), parameters_(parameters) {
    std::map<std::string, double> sizes;
    for (const Sample* sample : samples)
      sizes[sample->family] += 1.0;
    for (const Sample* sample : samples)
      weights_.push_back(1.0 / sizes[sample->family]);
    for (const Parameter& parameter : parameters)
      origin_.push_back(std::log(parameter.field->get(start)));
  }

  Fit run() {
    at_ = origin_;
    errors_ = errors(at_);
    Fit fit;
    fit.start_objective = objective(at_, errors_);
    double now = fit.start_objective;
    double damping = 1e-2;
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      differentiate();
      const double before = now;
      while (damping < 1e8) {
        const std::vector<double> next = step(damping);
        const std::vector<double> next_errors = errors(next);
        const double value = objective(next, next_errors);
        if (value < now) {
          now = value;
          at_ = next;
          errors_ = next_errors;
          damping = std::max(1e-6, damping / 5.0);
          break;
        }
        damping *= 4.0;
      }
      if (before - now <= kEnough * before) break;
    }
    differentiate();
    fit.device = device_at(at_);
    fit.objective = now;
    fit.predictions = predictions_;
    for (std::size_t j = 0; j < at_.size(); ++j) {
      double squares = 0.0;
      for (std::size_t i = 0; i < samples_.size(); ++i)
        squares += slope(i, j) * slope(i, j);
      fit.sensitivity.push_back(
          std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, samples_.size()))));
    }
    return fit;
  }

 private:
  [[nodiscard]] DeviceSpec device_at(const std::vector<double>& point) const {
    DeviceSpec device = start_;
    // Unmoved numbers stay bit for bit.
    for (std::size_t j = 0; j < point.size(); ++j) {
      if (point[j] != origin_[j]) parameters_[j].field->set(device, std::exp(point[j]));
    }
    return device;
  }

  std::vector<double> errors(const std::vector<double>& point) {
    const DeviceSpec device = device_at(point);
    std::vector<double> result(samples_.size());
    tbb::parallel_for(std::size_t{0}, samples_.size(), [&](std::size_t i) {
      result[i] = std::log(samples_[i]->predict(device) / samples_[i]->measured_seconds);
    });
    ++predictions_;
    return result;
  }

  [[nodiscard]] double objective(const std::vector<double>& point,
                                 const std::vector<double>& errors) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < errors.size(); ++i)
      sum += weights_[i] * huber(errors[i] / kNoise);
    for (std::size_t j = 0; j < point.size(); ++j) {
      const double away = (point[j] - origin_[j]) / parameters_[j].prior_deviation;
      sum += away * away;
    }
    return sum;
  }

  [[nodiscard]] double limited(std::size_t j, double value) const {
    return std::clamp(value, std::log(parameters_[j].least), std::log(parameters_[j].most));
  }

  void differentiate() {
    slopes_.assign(samples_.size() * at_.size(), 0.0);
    for (std::size_t j = 0; j < at_.size(); ++j) {
      std::vector<double> above = at_;
      std::vector<double> below = at_;
      above[j] = limited(j, at_[j] + kDifference);
      below[j] = limited(j, at_[j] - kDifference);
      const double distance = above[j] - below[j];
      if (!(distance > 0.0)) continue;
      const std::vector<double> high = errors(above);
      const std::vector<double> low = errors(below);
      for (std::size_t i = 0; i < samples_.size(); ++i)
        slopes_[i * at_.size() + j] = (high[i] - low[i]) / distance;
    }
  }

  [[nodiscard]] double slope(std::size_t sample, std::size_t parameter) const {
    return slopes_[sample * at_.size() + parameter];
  }

  // The next point: parameters that would leave their limits are held there and the others solved
  // for once more.
  [[nodiscard]] std::vector<double> step(double damping) const {
    const std::size_t n = at_.size();
    std::vector<bool> held(n, false);
    std::vector<double> next = at_;
    for (std::size_t round = 0; round <= n; ++round) {
      std::vector<double> matrix(n * n, 0.0);
      std::vector<double> right(n, 0.0);
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        const double size = std::abs(errors_[i] / kNoise);
        const double weight =
            weights_[i] * (size <= kHuber ? 1.0 : kHuber / size) / (kNoise * kNoise);
        for (std::size_t j = 0; j < n; ++j) {
          right[j] -= weight * slope(i, j) * errors_[i];
          for (std::size_t k = 0; k <= j; ++k)
            matrix[j * n + k] += weight * slope(i, j) * slope(i, k);
        }
      }
      for (std::size_t j = 0; j < n; ++j) {
        const double prior =
            1.0 / (parameters_[j].prior_deviation * parameters_[j].prior_deviation);
        matrix[j * n + j] = (matrix[j * n + j] + prior) * (1.0 + damping);
        right[j] -= prior * (at_[j] - origin_[j]);
        if (!held[j]) continue;
        right[j] = 0.0;
        for (std::size_t k = 0; k < n; ++k)
          (k < j ? matrix[j * n + k] : matrix[k * n + j]) = k == j ? 1.0 : 0.0;
      }
      const auto moves = solve(std::move(matrix), std::move(right));
      if (!moves) return at_;
      bool again = false;
      for (std::size_t j = 0; j < n; ++j) {
        const double wanted = at_[j] + (*moves)[j];
        next[j] = limited(j, wanted);
        if (next[j] != wanted && next[j] == at_[j] && !held[j]) again = held[j] = true;
      }
      if (!again) return next;
    }
    return next;
  }

  const DeviceSpec& start_;
  std::span<const Sample* const> samples_;
  std::span<const Parameter> parameters_;
  std::vector<double> weights_;
  std::vector<double> origin_;  // logarithms, as every point
  std::vector<double> at_;
  std::vector<double> errors_;  // log(predicted / measured) at `at_`
  std::vector<double> slopes_;  // d error / d parameter at `at_`, a row a sample
  int predictions_ = 0;
};

}  // namespace

std::vector<Parameter> fitted_parameters(const DeviceSpec& start) {
  struct Choice {
    const char* name;
    double factor;     // limits: the start over and times this
    double deviation;  // of the prior
  };
  // Left out: what is known from data sheets (SMs, lanes, sizes), the clock, which every time on
  // the SM side is a multiple of, and atomics and sectors written whole, which
  // bench/h200/atomics.cu and writes.cu measure one by one.
  constexpr std::array kChoices = {
      Choice{"kernel_launch_seconds", 4.0, 0.5},
      Choice{"block_launch_clocks", 8.0, 0.7},
      Choice{"dram_bytes_per_second", 2.0, 0.2},
      Choice{"l2_bytes_per_second", 4.0, 0.4},
      Choice{"l2_partial_write_bytes_per_second", 4.0, 0.4},
      Choice{"lsu_bytes_per_clock", 2.0, 0.2},
      Choice{"shared_latency", 3.0, 0.3},
      Choice{"l1_latency", 3.0, 0.3},
      Choice{"l2_latency", 3.0, 0.3},
      Choice{"dram_latency", 3.0, 0.3},
      Choice{"sm_norm", 4.0, 0.5},
      Choice{"memory_norm", 4.0, 0.5},
  };
  std::vector<Parameter> parameters;
  for (const Choice& choice : kChoices) {
    const DeviceField* field = find_device_field(choice.name);
    const double value = field->get(start);
    if (!(value > 0.0)) continue;  // has no logarithm
    Parameter parameter{field, std::max(field->least, value / choice.factor),
                        std::min(field->most, value * choice.factor), choice.deviation};
    if (parameter.field->name == std::string_view("dram_bytes_per_second"))
      parameter.most = std::min(parameter.most, start.peak_dram_bytes_per_second);
    parameters.push_back(parameter);
  }
  return parameters;
}

Fit fit_device(const DeviceSpec& start, std::span<const Sample* const> samples,
               std::span<const Parameter> parameters) {
  return Minimiser(start, samples, parameters).run();
}

}  // namespace regraph::calibration
