#include "policy/dense_network.h"

#include <algorithm>
#include <cassert>

namespace regraph::policy {

DenseNetwork::DenseNetwork(std::size_t input_count, std::size_t hidden_count,
                           std::size_t output_count)
    : inputs(input_count),
      hidden(hidden_count),
      outputs(output_count),
      first_weights(input_count * hidden_count),
      first_biases(hidden_count),
      second_weights(hidden_count * output_count),
      second_biases(output_count) {}

void DenseNetwork::accumulate(std::size_t first, std::span<const float> values,
                              std::span<float> sums) const {
  assert(first + values.size() <= inputs && sums.size() == hidden);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const float value = values[at];
    if (value == 0.0F) continue;
    const float* weights = first_weights.data() + (first + at) * hidden;
    for (std::size_t unit = 0; unit < hidden; ++unit)
      sums[unit] += weights[unit] * value;
  }
}

void DenseNetwork::finish(std::span<const float> sums, std::span<float> result) const {
  std::ranges::copy(second_biases, result.begin());
  for (std::size_t unit = 0; unit < hidden; ++unit) {
    if (!(sums[unit] > 0.0F)) continue;
    for (std::size_t output = 0; output < outputs; ++output)
      result[output] += second_weights[unit * outputs + output] * sums[unit];
  }
}

std::vector<float> DenseNetwork::evaluate(std::span<const float> values) const {
  std::vector<float> sums = first_biases;
  accumulate(0, values, sums);
  std::vector<float> result(outputs);
  finish(sums, result);
  return result;
}

}  // namespace regraph::policy
