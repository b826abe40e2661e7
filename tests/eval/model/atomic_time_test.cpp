#include "eval/model/atomic_time.h"

#include <gtest/gtest.h>

#include <array>

namespace regraph::atomic_time_test {
namespace {

const DeviceSpec& h200() {
  static const DeviceSpec device = find_device("h200").value();
  return device;
}

// 32 lanes that add to word `word_of(lane)`, `requests` times.
template <typename WordOf>
double seconds(int requests, ptx::AtomicTraits traits, const WordOf& word_of) {
  ptx::AtomicContention contention;
  for (int request = 0; request < requests; ++request) {
    std::array<std::uint64_t, 32> addresses = {};
    for (std::uint64_t lane = 0; lane < 32; ++lane)
      addresses[lane] = 4 * word_of(static_cast<std::uint64_t>(request), lane);
    contention.add(addresses.data(), ~0U, 4, traits, 0, 1 << 30);
  }
  return global_atomic_seconds(contention.traffic(), h200());
}

TEST(GlobalAtomicSeconds, NoAtomicsTakeNoTime) {
  EXPECT_EQ(global_atomic_seconds({}, h200()), 0.0);
}

// bench/h200/atomics.txt: 0.731 ns an atomic on one counter, 1.755 ns of floats.
TEST(GlobalAtomicSeconds, OneCounterTakesLaneAfterLane) {
  const auto one = [](std::uint64_t, std::uint64_t) { return std::uint64_t{0}; };
  EXPECT_NEAR(seconds(1000, {}, one) / 32000, 0.731e-9, 0.01e-9);
  EXPECT_NEAR(seconds(1000, {.floating = true}, one) / 32000, 1.755e-9, 0.02e-9);
}

// Four lanes on each of eight counters: 0.0732 ns. Neighbouring words of a line: the same.
TEST(GlobalAtomicSeconds, FullSectorsAreFasterAndOneStretchIsSerial) {
  const auto eight = [](std::uint64_t, std::uint64_t lane) { return lane % 8; };
  const auto line = [](std::uint64_t, std::uint64_t lane) { return lane; };
  EXPECT_NEAR(seconds(1000, {}, eight) / 32000, 0.0732e-9, 0.005e-9);
  EXPECT_NEAR(seconds(1000, {}, line) / 32000, 0.0732e-9, 0.005e-9);
}

TEST(GlobalAtomicSeconds, SpreadingIsNeverSlower) {
  double before = 1.0;
  for (const std::uint64_t stretches : {1, 2, 8, 64, 512}) {
    const double now = seconds(1024, {}, [=](std::uint64_t request, std::uint64_t lane) {
      return request % stretches * 128 + lane;
    });
    EXPECT_LT(now, before);
    before = now;
  }
}

TEST(GlobalAtomicSeconds, ReturningCostsWhereNothingMeets) {
  const auto apart = [](std::uint64_t request, std::uint64_t lane) {
    return (request * 32 + lane) * 1024;
  };
  EXPECT_GT(seconds(1000, {.returns = true}, apart), 1.2 * seconds(1000, {}, apart));
}

}  // namespace
}  // namespace regraph::atomic_time_test
