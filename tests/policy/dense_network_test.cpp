#include "policy/dense_network.h"

#include "policy/policy_case.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

namespace regraph::policy::dense_network_test {
namespace {

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float value : values)
    result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

DenseNetwork sampled(std::size_t inputs, std::size_t hidden, std::size_t outputs) {
  DenseNetwork network(inputs, hidden, outputs);
  std::size_t number = 0;
  for (auto* weights : {&network.first_weights, &network.first_biases, &network.second_weights,
                        &network.second_biases}) {
    for (float& weight : *weights)
      weight = test::sample(number++);
  }
  return network;
}

//   h = max(0, (0.5, -1) + (1, 2) x0 + (3, -4) x1)    y = (10, 20) + (1, 0.5) h0 + (-2, 4) h1
TEST(DenseNetwork, ComputesWhatIsWorkedOutByHand) {
  DenseNetwork network(2, 2, 2);
  network.first_weights = {1.0F, 2.0F, 3.0F, -4.0F};
  network.first_biases = {0.5F, -1.0F};
  network.second_weights = {1.0F, 0.5F, -2.0F, 4.0F};
  network.second_biases = {10.0F, 20.0F};
  const auto at = [&](float x0, float x1) { return network.evaluate(std::vector{x0, x1}); };
  EXPECT_EQ(at(0.0F, 0.0F), (std::vector{10.5F, 20.25F}));        // h = 0.5, -1
  EXPECT_EQ(at(2.0F, -1.0F), (std::vector{-4.0F, 48.0F}));        // h = -0.5, 7
  EXPECT_EQ(at(1.0F, 0.125F), (std::vector{10.875F, 22.9375F}));  // h = 1.875, 0.5
  EXPECT_EQ(at(-9.0F, 1.0F), (std::vector{10.0F, 20.0F}));        // h = -5.5, -23
}

TEST(DenseNetwork, StartsWithoutWeights) {
  const DenseNetwork network(3, 4, 2);
  EXPECT_EQ(network.first_weights.size(), 12U);
  EXPECT_EQ(network.second_weights.size(), 8U);
  EXPECT_EQ(network.evaluate(std::vector{1.0F, 2.0F, 3.0F}), (std::vector{0.0F, 0.0F}));
}

TEST(DenseNetwork, PartsAddUpToTheSameBits) {
  constexpr std::size_t kInputs = 23;
  const DenseNetwork network = sampled(kInputs, 17, 3);
  std::vector<float> values;
  for (std::size_t input = 0; input < kInputs; ++input)
    values.push_back(3.0F * test::sample(1000 + 3 * input));
  const auto whole = bits(network.evaluate(values));
  for (std::size_t split = 0; split <= kInputs; ++split) {
    std::vector<float> sums = network.first_biases;
    network.accumulate(0, std::span(values).first(split), sums);
    network.accumulate(split, std::span(values).subspan(split), sums);
    std::vector<float> result(3);
    network.finish(sums, result);
    EXPECT_EQ(bits(result), whole) << "split at " << split;
  }
}

// 1 is lost beside 2^24 and not after it is gone.
TEST(DenseNetwork, AddsInOrder) {
  DenseNetwork network(3, 1, 1);
  network.second_weights = {1.0F};
  network.first_weights = {16777216.0F, 1.0F, -16777216.0F};
  EXPECT_EQ(network.evaluate(std::vector{1.0F, 1.0F, 1.0F}), std::vector{0.0F});
  network.first_weights = {16777216.0F, -16777216.0F, 1.0F};
  EXPECT_EQ(network.evaluate(std::vector{1.0F, 1.0F, 1.0F}), std::vector{1.0F});
}

// (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24, which the rounding of a product by itself loses.
TEST(DenseNetwork, RoundsProductsBeforeItAdds) {
  const float factor = 1.0F + 0x1p-12F;
  DenseNetwork network(1, 1, 1);
  network.first_biases = {-(1.0F + 0x1p-11F)};
  network.first_weights = {factor};
  network.second_weights = {1.0F};
  EXPECT_EQ(network.evaluate(std::vector{factor}), std::vector{0.0F});
}

}  // namespace
}  // namespace regraph::policy::dense_network_test
