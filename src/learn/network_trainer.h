// Gradient descent for a DenseNetwork: forward with dropout, backward, Adam.
#pragma once

#include "policy/dense_network.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace regraph::learn {

struct AdamConfig {
  double learning_rate = 3e-3;
  double weight_decay = 1e-3;  // of weights, not of biases; beside the gradient (AdamW)
  double dropout = 0.2;        // share of hidden units left out of a pass
};

class NetworkTrainer {
 public:
  // Weights drawn from `seed`; the last layer starts small, so that a new network says nothing.
  NetworkTrainer(std::size_t inputs, std::size_t hidden, std::size_t outputs, std::uint64_t seed,
                 const AdamConfig& config);
  // Goes on with a network.
  NetworkTrainer(policy::DenseNetwork network, std::uint64_t seed, const AdamConfig& config);

  [[nodiscard]] const policy::DenseNetwork& network() const { return network_; }

  // One pass over a row, kept for backward().
  struct Pass {
    std::vector<float> hidden;  // after the rectifier and dropout
    std::vector<float> outputs;
  };
  // `train`: with dropout.
  [[nodiscard]] Pass forward(std::span<const float> row, bool train);
  // Adds to the gradient what `slopes` (of the loss by output) give for that row.
  void backward(std::span<const float> row, const Pass& pass, std::span<const float> slopes);
  // A step of Adam along the gradient, which is then forgotten. `rate`: share of learning_rate.
  void step(double rate);

  // Weights and biases one after the other, and their gradient: for tests of it.
  [[nodiscard]] std::vector<std::vector<float>*> parameters();
  [[nodiscard]] const std::vector<std::vector<float>>& gradient() const { return gradient_; }

 private:
  policy::DenseNetwork network_;
  AdamConfig config_;
  std::mt19937_64 random_;
  std::vector<std::vector<float>> gradient_;  // as parameters()
  std::vector<std::vector<float>> first_moments_;
  std::vector<std::vector<float>> second_moments_;
  std::int64_t steps_ = 0;
};

}  // namespace regraph::learn
