#include "eval/gpu/timing/timing_verdict.h"

#include "eval/gpu/noise_models.h"

#include <gtest/gtest.h>

#include <map>

namespace regraph::gpu::timing_verdict_test {
namespace {

constexpr double kUsualHertz = 1.98e9;

struct Trial {
  std::vector<double> seconds[2];
  std::vector<double> clocks[2];
};

// ABBA samples of a candidate (side 0) and an incumbent, as the race takes them.
Trial interleaved(const test::NoiseModel& model, double candidate, double incumbent,
                  std::uint64_t trial, int count) {
  Trial out;
  for (std::uint64_t i = 0; i < 2u * static_cast<unsigned>(count); ++i) {
    const int side = i % 4 == 0 || i % 4 == 3 ? 0 : 1;
    out.seconds[side].push_back(model.sample(side == 0 ? candidate : incumbent, trial, side, i));
    out.clocks[side].push_back(kUsualHertz * model.clock(trial, i));
  }
  return out;
}

TimingVerdict judged(const Trial& t, double noise, bool clocks) {
  const std::span<const double> none;
  return gpu::judge({t.seconds[0], clocks ? std::span<const double>(t.clocks[0]) : none},
                    {t.seconds[1], clocks ? std::span<const double>(t.clocks[1]) : none}, noise);
}

double calibrated(const test::NoiseModel& model, double seconds, std::uint64_t seed) {
  std::vector<double> medians[2];
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    const Trial t = interleaved(model, seconds, seconds, random_bits(seed, trial, 9), 50);
    medians[0].push_back(median(t.seconds[0]));
    medians[1].push_back(median(t.seconds[1]));
  }
  return aa_noise(medians[0], medians[1]);
}

// Twelve kinds of noise, kernels of 5, 25 and 120 us, 100 trials each: 3600 comparisons of a kernel
// with itself, with the noise calibrated as a session does.
TEST(TimingVerdict, AKernelIsNeverFasterOrSlowerThanItself) {
  int same = 0;
  int trials = 0;
  for (const test::NoiseModel& model : test::noise_models()) {
    for (const double seconds : {5e-6, 25e-6, 120e-6}) {
      for (std::uint64_t trial = 0; trial < 100; ++trial) {
        const std::uint64_t key = random_bits(trial, static_cast<std::uint64_t>(seconds * 1e9));
        const double noise = calibrated(model, seconds, key);
        const Trial t = interleaved(model, seconds, seconds, key, 200);
        const TimingVerdict verdict = judged(t, noise, trial % 2 == 0);
        EXPECT_NE(verdict.word, SpeedVerdict::fast) << model.name << " " << verdict.reason;
        EXPECT_NE(verdict.word, SpeedVerdict::slow) << model.name << " " << verdict.reason;
        ++trials;
        if (verdict.word == SpeedVerdict::same) ++same;
      }
    }
  }
  EXPECT_GT(same, trials / 3);  // and where it is quiet, it says so
}

TEST(TimingVerdict, FindsThreePercentAtHalfAPercentOfNoise) {
  const test::NoiseModel model = {.name = "", .spread = 0.005};
  int fast = 0;
  int slow = 0;
  constexpr int kTrials = 500;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    const double noise = calibrated(model, 100e-6, trial);
    if (judged(interleaved(model, 97e-6, 100e-6, trial, 200), noise, true).word ==
        SpeedVerdict::fast)
      ++fast;
    if (judged(interleaved(model, 100e-6, 97e-6, trial, 200), noise, true).word ==
        SpeedVerdict::slow)
      ++slow;
  }
  EXPECT_GE(fast, 0.95 * kTrials);
  EXPECT_GE(slow, 0.95 * kTrials);
}

TEST(TimingVerdict, DifferencesBelowAPercentAreNotClaimed) {
  const test::NoiseModel model = {.name = "", .spread = 0.0005};
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const TimingVerdict verdict =
        judged(interleaved(model, 99.2e-6, 100e-6, trial, 100), 0.0, false);
    EXPECT_EQ(verdict.word, SpeedVerdict::ambiguous);
  }
}

// Twice the speed under another clock: seconds say FAST, cycles say that nothing changed.
TEST(TimingVerdict, AnotherClockIsNoGain) {
  const test::NoiseModel model = {.name = "", .spread = 0.002};
  Trial t;
  for (std::uint64_t i = 0; i < 100; ++i) {
    t.seconds[0].push_back(model.sample(90e-6, 1, 0, i));
    t.clocks[0].push_back(kUsualHertz / 0.9);
    t.seconds[1].push_back(model.sample(100e-6, 1, 1, i));
    t.clocks[1].push_back(kUsualHertz);
  }
  EXPECT_EQ(judged(t, 0.002, false).word, SpeedVerdict::fast);
  const TimingVerdict verdict = judged(t, 0.002, true);
  EXPECT_EQ(verdict.word, SpeedVerdict::ambiguous);
  EXPECT_NE(verdict.reason.find("clock cycles"), std::string::npos);
  EXPECT_NEAR(verdict.speedup, 1 / 0.9, 0.01);
}

// 5.24 and 5.26 us on a grid of half a microsecond may read 5.0 and 5.5.
TEST(TimingVerdict, ATickIsNoGain) {
  const std::vector<double> low(100, 5.0e-6);
  const std::vector<double> high(100, 5.5e-6);
  EXPECT_EQ(gpu::judge({low, {}}, {high, {}}, 0.0).word, SpeedVerdict::ambiguous);
  EXPECT_EQ(gpu::judge({low, {}}, {low, {}}, 0.0).word, SpeedVerdict::same);
  std::vector<double> mostly_low = low;
  mostly_low[0] = 5.5e-6;
  std::vector<double> mostly_high = high;
  mostly_high[0] = 6.0e-6;
  EXPECT_EQ(gpu::judge({mostly_low, {}}, {mostly_high, {}}, 0.0).word, SpeedVerdict::ambiguous);
  std::vector<double> far(100, 7.0e-6);
  far[0] = 7.5e-6;
  EXPECT_EQ(gpu::judge({mostly_low, {}}, {far, {}}, 0.0).word, SpeedVerdict::fast);
}

TEST(TimingVerdict, SwappingTheSidesSwapsTheWord) {
  const std::map<SpeedVerdict, SpeedVerdict> swapped = {
      {SpeedVerdict::fast, SpeedVerdict::slow},
      {SpeedVerdict::slow, SpeedVerdict::fast},
      {SpeedVerdict::same, SpeedVerdict::same},
      {SpeedVerdict::ambiguous, SpeedVerdict::ambiguous}};
  for (const test::NoiseModel& model : test::noise_models()) {
    for (std::uint64_t trial = 0; trial < 40; ++trial) {
      const double candidate = 100e-6 * (0.9 + 0.005 * static_cast<double>(trial));
      Trial t = interleaved(model, candidate, 100e-6, trial, 60);
      const TimingVerdict forward = judged(t, 0.003, true);
      std::swap(t.seconds[0], t.seconds[1]);
      std::swap(t.clocks[0], t.clocks[1]);
      EXPECT_EQ(judged(t, 0.003, true).word, swapped.at(forward.word)) << model.name;
    }
  }
}

TEST(TimingVerdict, TooFewSamplesClaimNothing) {
  const std::vector<double> one = {1e-6};
  const std::vector<double> many(50, 2e-6);
  EXPECT_EQ(gpu::judge({one, {}}, {many, {}}, 0.0).word, SpeedVerdict::ambiguous);
  EXPECT_EQ(gpu::judge({{}, {}}, {many, {}}, 0.0).word, SpeedVerdict::ambiguous);
}

TEST(TimingVerdict, NoiseOfTrials) {
  const std::vector<double> a = {1.0, 1.0};
  const std::vector<double> b = {1.01, 0.98};
  EXPECT_NEAR(aa_noise(a, b), 0.0202, 1e-4);
  EXPECT_EQ(aa_noise({}, {}), 0.0);
}

}  // namespace
}  // namespace regraph::gpu::timing_verdict_test
