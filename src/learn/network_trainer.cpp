#include "learn/network_trainer.h"

#include <cmath>

namespace regraph::learn {

namespace {

constexpr double kFirstDecay = 0.9;
constexpr double kSecondDecay = 0.999;
constexpr double kTiny = 1e-8;
constexpr float kLastLayerScale = 0.1F;

// In [0, 1), the same on every machine (std::uniform_real_distribution need not be).
double unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1.0p-53;
}

}  // namespace

NetworkTrainer::NetworkTrainer(std::size_t inputs, std::size_t hidden, std::size_t outputs,
                               std::uint64_t seed, const AdamConfig& config)
    : NetworkTrainer(policy::DenseNetwork(inputs, hidden, outputs), seed, config) {
  const auto draw = [&](std::vector<float>& weights, std::size_t fan_in, float scale) {
    const double limit = std::sqrt(3.0 / static_cast<double>(fan_in));
    for (float& weight : weights)
      weight = scale * static_cast<float>((2.0 * unit(random_) - 1.0) * limit);
  };
  draw(network_.first_weights, inputs, 1.0F);
  draw(network_.second_weights, hidden, kLastLayerScale);
}

NetworkTrainer::NetworkTrainer(policy::DenseNetwork network, std::uint64_t seed,
                               const AdamConfig& config)
    : network_(std::move(network)), config_(config), random_(seed) {
  for (const std::vector<float>* part : parameters()) {
    gradient_.emplace_back(part->size());
    first_moments_.emplace_back(part->size());
    second_moments_.emplace_back(part->size());
  }
}

std::vector<std::vector<float>*> NetworkTrainer::parameters() {
  return {&network_.first_weights, &network_.first_biases, &network_.second_weights,
          &network_.second_biases};
}

NetworkTrainer::Pass NetworkTrainer::forward(std::span<const float> row, bool train) {
  Pass pass;
  pass.hidden = network_.first_biases;
  network_.accumulate(0, row, pass.hidden);
  const auto keep = static_cast<float>(1.0 - config_.dropout);
  for (float& value : pass.hidden) {
    if (!(value > 0.0F)) value = 0.0F;
    if (train && config_.dropout > 0.0)
      value = unit(random_) < config_.dropout ? 0.0F : value / keep;
  }
  pass.outputs.resize(network_.outputs);
  network_.finish(pass.hidden, pass.outputs);
  return pass;
}

void NetworkTrainer::backward(std::span<const float> row, const Pass& pass,
                              std::span<const float> slopes) {
  std::vector<float> hidden_slopes(network_.hidden);
  const auto keep = static_cast<float>(1.0 - config_.dropout);
  for (std::size_t unit = 0; unit < network_.hidden; ++unit) {
    if (pass.hidden[unit] == 0.0F) continue;
    float slope = 0.0F;
    for (std::size_t output = 0; output < network_.outputs; ++output) {
      const std::size_t at = unit * network_.outputs + output;
      slope += slopes[output] * network_.second_weights[at];
      gradient_[2][at] += slopes[output] * pass.hidden[unit];
    }
    hidden_slopes[unit] = config_.dropout > 0.0 ? slope / keep : slope;
  }
  for (std::size_t output = 0; output < network_.outputs; ++output)
    gradient_[3][output] += slopes[output];
  for (std::size_t unit = 0; unit < network_.hidden; ++unit)
    gradient_[1][unit] += hidden_slopes[unit];
  for (std::size_t input = 0; input < network_.inputs; ++input) {
    const float value = row[input];
    if (value == 0.0F) continue;
    float* part = gradient_[0].data() + input * network_.hidden;
    for (std::size_t unit = 0; unit < network_.hidden; ++unit)
      part[unit] += value * hidden_slopes[unit];
  }
}

void NetworkTrainer::step(double rate) {
  ++steps_;
  const double learning_rate = config_.learning_rate * rate;
  const auto first_scale = static_cast<float>(1.0 / (1.0 - std::pow(kFirstDecay, steps_)));
  const auto second_scale = static_cast<float>(1.0 / (1.0 - std::pow(kSecondDecay, steps_)));
  const auto parts = parameters();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const bool decays = part == 0 || part == 2;
    const auto decay = static_cast<float>(decays ? learning_rate * config_.weight_decay : 0.0);
    for (std::size_t at = 0; at < parts[part]->size(); ++at) {
      float& weight = (*parts[part])[at];
      float& slope = gradient_[part][at];
      float& first = first_moments_[part][at];
      float& second = second_moments_[part][at];
      first =
          static_cast<float>(kFirstDecay) * first + static_cast<float>(1.0 - kFirstDecay) * slope;
      second = static_cast<float>(kSecondDecay) * second +
               static_cast<float>(1.0 - kSecondDecay) * slope * slope;
      const float size = std::sqrt(second * second_scale) + static_cast<float>(kTiny);
      weight -= static_cast<float>(learning_rate) * first * first_scale / size + decay * weight;
      slope = 0.0F;
    }
  }
}

}  // namespace regraph::learn
