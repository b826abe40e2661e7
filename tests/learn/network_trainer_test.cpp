#include "learn/network_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace regraph::learn::network_trainer_test {
namespace {

constexpr std::size_t kInputs = 5;
constexpr std::size_t kHidden = 7;
constexpr std::size_t kOutputs = 3;
using Row = std::vector<float>;

Row random_row(std::mt19937_64& random, std::size_t size) {
  Row row(size);
  for (float& value : row)
    value = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
  return row;
}

policy::DenseNetwork random_network(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  policy::DenseNetwork network(kInputs, kHidden, kOutputs);
  for (Row* part : {&network.first_weights, &network.first_biases, &network.second_weights,
                    &network.second_biases})
    *part = random_row(random, part->size());
  return network;
}

// Half the squared distance of outputs from targets, over all rows: quadratic in every one weight,
// as long as no unit changes sides.
double loss_of(NetworkTrainer& trainer, const std::vector<Row>& rows,
               const std::vector<Row>& targets, bool train, bool learn) {
  double loss = 0.0;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const NetworkTrainer::Pass pass = trainer.forward(rows[at], train);
    Row slopes(targets[at].size());
    for (std::size_t output = 0; output < slopes.size(); ++output) {
      slopes[output] = pass.outputs[output] - targets[at][output];
      loss += 0.5 * slopes[output] * slopes[output];
    }
    if (learn) trainer.backward(rows[at], pass, slopes);
  }
  return loss;
}

void expect_gradient(double dropout) {
  constexpr float kShift = 5e-3F;
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(100 + seed);
    std::vector<Row> rows;
    std::vector<Row> targets;
    for (int row = 0; row < 3; ++row) {
      rows.push_back(random_row(random, kInputs));
      targets.push_back(random_row(random, kOutputs));
    }
    // A trainer of the same seed leaves out the same units.
    const auto trainer_of = [&] {
      return NetworkTrainer(random_network(seed), seed, {1e-3, 0.0, dropout});
    };
    NetworkTrainer trainer = trainer_of();
    static_cast<void>(loss_of(trainer, rows, targets, true, true));
    for (std::size_t part = 0; part < trainer.gradient().size(); ++part) {
      for (std::size_t at = 0; at < trainer.gradient()[part].size(); ++at) {
        const auto shifted = [&](float shift) {
          NetworkTrainer other = trainer_of();
          (*other.parameters()[part])[at] += shift;
          return loss_of(other, rows, targets, true, false);
        };
        const double above = shifted(kShift);
        const double below = shifted(-kShift);
        const double slope = (above - below) / (2.0 * kShift);
        // A unit that changes sides has two slopes.
        const double half = (shifted(kShift / 2) - shifted(-kShift / 2)) / kShift;
        if (std::fabs(slope - half) > 1e-3) continue;
        EXPECT_NEAR(trainer.gradient()[part][at], slope, 2e-3) << part << ", " << at;
        moved += std::fabs(slope) > 0.05 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(moved, 100);
}

TEST(NetworkTrainer, GradientAgreesWithFiniteDifferences) {
  expect_gradient(0.0);
}

TEST(NetworkTrainer, GradientAgreesWithFiniteDifferencesUnderDropout) {
  expect_gradient(0.4);
}

TEST(NetworkTrainer, DropoutKeepsTheMean) {
  NetworkTrainer trainer(random_network(3), 5, {1e-3, 0.0, 0.3});
  std::mt19937_64 random(4);
  const Row row = random_row(random, kInputs);
  const NetworkTrainer::Pass whole = trainer.forward(row, false);
  EXPECT_EQ(whole.outputs, trainer.network().evaluate(row));
  std::vector<double> sums(kHidden);
  std::vector<int> zeros(kHidden);
  constexpr int kPasses = 20'000;
  for (int count = 0; count < kPasses; ++count) {
    const NetworkTrainer::Pass pass = trainer.forward(row, true);
    for (std::size_t unit = 0; unit < kHidden; ++unit) {
      sums[unit] += pass.hidden[unit];
      zeros[unit] += pass.hidden[unit] == 0.0F ? 1 : 0;
    }
  }
  int alive = 0;
  for (std::size_t unit = 0; unit < kHidden; ++unit) {
    EXPECT_NEAR(sums[unit] / kPasses, whole.hidden[unit], 0.03 * whole.hidden[unit]) << unit;
    if (whole.hidden[unit] == 0.0F) continue;
    ++alive;
    EXPECT_NEAR(static_cast<double>(zeros[unit]) / kPasses, 0.3, 0.02) << unit;
  }
  EXPECT_GE(alive, 2);
}

TEST(NetworkTrainer, AFirstStepOfAdamIsAsLongAsItsRate) {
  NetworkTrainer trainer(random_network(1), 1, {0.01, 0.0, 0.0});
  const policy::DenseNetwork before = trainer.network();
  std::mt19937_64 random(2);
  static_cast<void>(
      loss_of(trainer, {random_row(random, kInputs)}, {random_row(random, kOutputs)}, false, true));
  const std::vector<Row> gradient = trainer.gradient();
  trainer.step(0.5);
  for (std::size_t output = 0; output < kOutputs; ++output) {
    const float slope = gradient[3][output];
    ASSERT_GT(std::fabs(slope), 1e-3F);
    EXPECT_NEAR(trainer.network().second_biases[output] - before.second_biases[output],
                slope > 0.0F ? -0.005 : 0.005, 1e-6);
  }
  // The gradient is forgotten.
  for (const Row& part : trainer.gradient())
    EXPECT_TRUE(std::ranges::all_of(part, [](float value) { return value == 0.0F; }));
}

TEST(NetworkTrainer, WeightsDecayAndBiasesDoNot) {
  NetworkTrainer trainer(random_network(1), 1, {0.1, 0.2, 0.0});
  const policy::DenseNetwork before = trainer.network();
  trainer.step(1.0);
  for (std::size_t at = 0; at < before.first_weights.size(); ++at)
    EXPECT_NEAR(trainer.network().first_weights[at], 0.98F * before.first_weights[at], 1e-6);
  for (std::size_t at = 0; at < before.second_weights.size(); ++at)
    EXPECT_NEAR(trainer.network().second_weights[at], 0.98F * before.second_weights[at], 1e-6);
  EXPECT_EQ(trainer.network().first_biases, before.first_biases);
  EXPECT_EQ(trainer.network().second_biases, before.second_biases);
}

// Learns 2 x0 - x1 and so on; returns the trainer and the loss before and after.
NetworkTrainer trained(std::uint64_t seed, double* first = nullptr, double* last = nullptr) {
  NetworkTrainer trainer(2, 16, 1, seed, {0.01, 0.0, 0.1});
  std::mt19937_64 random(9);
  std::vector<Row> rows;
  std::vector<Row> targets;
  for (int row = 0; row < 64; ++row) {
    rows.push_back(random_row(random, 2));
    targets.push_back({2.0F * rows.back()[0] - std::fabs(rows.back()[1])});
  }
  if (first != nullptr) *first = loss_of(trainer, rows, targets, false, false);
  for (int step = 0; step < 300; ++step) {
    static_cast<void>(loss_of(trainer, rows, targets, true, true));
    trainer.step(1.0);
  }
  if (last != nullptr) *last = loss_of(trainer, rows, targets, false, false);
  return trainer;
}

TEST(NetworkTrainer, AdamLowersALoss) {
  double first = 0.0;
  double last = 0.0;
  static_cast<void>(trained(1, &first, &last));
  EXPECT_LT(last, first / 10.0);
}

TEST(NetworkTrainer, TheSameSeedGivesTheSameBytes) {
  const policy::DenseNetwork one = trained(1).network();
  const policy::DenseNetwork same = trained(1).network();
  EXPECT_EQ(one.first_weights, same.first_weights);
  EXPECT_EQ(one.first_biases, same.first_biases);
  EXPECT_EQ(one.second_weights, same.second_weights);
  EXPECT_EQ(one.second_biases, same.second_biases);
  EXPECT_NE(trained(2).network().first_weights, one.first_weights);
}

TEST(NetworkTrainer, ANewNetworkSaysLittle) {
  std::mt19937_64 random(6);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const NetworkTrainer trainer(40, 32, 3, seed, {});
    const Row row = random_row(random, 40);
    bool something = false;
    for (const float output : trainer.network().evaluate(row)) {
      EXPECT_LT(std::fabs(output), 0.5F);
      something = something || output != 0.0F;
    }
    EXPECT_TRUE(something);  // or it could never learn
  }
}

}  // namespace
}  // namespace regraph::learn::network_trainer_test
