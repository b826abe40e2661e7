// A small network of two dense layers with a rectifier between them, in float32.
//
//   h_j = max(0, b1_j + sum over i of w1_ij x_i)        i in order
//   y_k = b2_k + sum over j of w2_jk h_j                j in order
//
// Sums are made in a fixed order, without fused multiply-adds (the room is compiled with
// -ffp-contract=off): the same weights and inputs give the same bits on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace regraph::policy {

struct DenseNetwork {
  std::size_t inputs = 0;
  std::size_t hidden = 0;
  std::size_t outputs = 0;
  std::vector<float> first_weights;   // [inputs][hidden]
  std::vector<float> first_biases;    // [hidden]
  std::vector<float> second_weights;  // [hidden][outputs]
  std::vector<float> second_biases;   // [outputs]

  DenseNetwork() = default;
  // All weights zero.
  DenseNetwork(std::size_t inputs, std::size_t hidden, std::size_t outputs);

  // Adds the part of inputs `first`, `first` + 1, ... to the hidden sums, which start as
  // first_biases. Zeros are passed over: they add nothing.
  void accumulate(std::size_t first, std::span<const float> values, std::span<float> sums) const;
  // The outputs for hidden sums.
  void finish(std::span<const float> sums, std::span<float> result) const;
  // The outputs for a whole row of inputs.
  [[nodiscard]] std::vector<float> evaluate(std::span<const float> values) const;
};

}  // namespace regraph::policy
