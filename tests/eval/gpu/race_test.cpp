#include "eval/gpu/timing/race.h"

#include "eval/gpu/noise_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace regraph::gpu::race_test {
namespace {

// A GPU that runs two kernels under a noise model. Time passes as the samples take, plus 0.1 ms a
// block.
struct SimulatedGpu {
  test::NoiseModel model;
  double seconds[2] = {100e-6, 100e-6};  // candidate, incumbent
  std::uint64_t trial = 0;
  std::uint64_t time = 0;
  double wall = 0.0;
  double waited = 0.0;
  std::function<double(int block)> clock = nullptr;  // share of the usual clock, of a block
  int block = 0;
  std::vector<RaceBlock> blocks = {};

  RaceBlockResult run(const RaceBlock& plan) {
    RaceBlockResult result;
    const double share = clock ? clock(block) : 1.0;
    wall += plan.wait_seconds + 1e-4;
    waited += plan.wait_seconds;
    result.clock_hertz = 1.98e9 * share * (clock ? 1.0 : model.clock(trial, time));
    for (const RaceSide side : plan.samples) {
      const int s = side == RaceSide::candidate ? 0 : 1;
      result.seconds.push_back(model.sample(seconds[s], trial, s, time++) / share);
      wall += result.seconds.back();
    }
    result.wall_since_start = wall;
    if (!plan.warm_up) ++block;
    blocks.push_back(plan);
    return result;
  }

  RaceOutcome race(Race& race) {
    for (int i = 0; i < 10000 && !race.finished(); ++i) {
      EXPECT_FALSE(race.next().samples.empty());
      const Status status = race.take(run(race.next()));
      EXPECT_TRUE(status.ok());
    }
    EXPECT_TRUE(race.finished());
    EXPECT_TRUE(race.next().samples.empty());
    return race.outcome();
  }
};

RaceIncumbent incumbent_of(const test::NoiseModel& model, double seconds, double noise) {
  SimulatedGpu gpu{.model = model, .seconds = {seconds, seconds}, .trial = 4711};
  Race race(std::nullopt);
  return {gpu.race(race).candidate, noise};
}

const test::NoiseModel kQuiet = {.name = "quiet", .spread = 0.005};

TEST(Race, ABaselineIsSampledAloneUntilPrecise) {
  SimulatedGpu gpu{.model = kQuiet};
  Race race(std::nullopt);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.end, RaceEnd::precise);
  EXPECT_FALSE(outcome.verdict.has_value());
  EXPECT_GE(outcome.candidate.count, 50);
  EXPECT_LE(outcome.candidate.count, 200);
  EXPECT_EQ(outcome.samples, outcome.candidate.count);
  EXPECT_NEAR(outcome.candidate.median, 100e-6, 1e-6);
  EXPECT_TRUE(gpu.blocks.front().warm_up);
  for (const RaceBlock& block : gpu.blocks)
    for (const RaceSide side : block.samples)
      EXPECT_EQ(side, RaceSide::candidate);
}

TEST(Race, NoisyKernelsGetAllSamples) {
  SimulatedGpu gpu{.model = {.name = "noisy", .spread = 0.2}};
  Race race(std::nullopt);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.end, RaceEnd::enough_samples);
  EXPECT_EQ(outcome.candidate.count, 200);
}

TEST(Race, MuchSlowerCandidatesCostTenSamples) {
  const RaceIncumbent incumbent = incumbent_of(kQuiet, 100e-6, 0.005);
  SimulatedGpu gpu{.model = kQuiet, .seconds = {150e-6, 100e-6}};
  Race race(incumbent);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.end, RaceEnd::dropped_at_first_look);
  EXPECT_EQ(outcome.samples, 10);
  ASSERT_TRUE(outcome.verdict.has_value());
  EXPECT_EQ(outcome.verdict->word, SpeedVerdict::slow);
  EXPECT_FALSE(outcome.incumbent.has_value());
}

TEST(Race, SlowerCandidatesCostFiftySamples) {
  const RaceIncumbent incumbent = incumbent_of(kQuiet, 100e-6, 0.005);
  SimulatedGpu gpu{.model = kQuiet, .seconds = {110e-6, 100e-6}};
  Race race(incumbent);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.end, RaceEnd::dropped_at_second_look);
  EXPECT_EQ(outcome.samples, 50);
  EXPECT_EQ(outcome.verdict->word, SpeedVerdict::slow);
}

TEST(Race, SurvivorsAreInterleaved) {
  const RaceIncumbent incumbent = incumbent_of(kQuiet, 100e-6, 0.002);
  SimulatedGpu gpu{.model = kQuiet, .seconds = {95e-6, 100e-6}};
  Race race(incumbent);
  const RaceOutcome outcome = gpu.race(race);
  ASSERT_TRUE(outcome.verdict.has_value());
  EXPECT_EQ(outcome.verdict->word, SpeedVerdict::fast) << outcome.verdict->reason;
  ASSERT_TRUE(outcome.incumbent.has_value());
  EXPECT_EQ(outcome.candidate.count, outcome.incumbent->count);
  EXPECT_EQ(outcome.samples, 50 + 2 * outcome.candidate.count);
  int leads[2] = {0, 0};
  for (const RaceBlock& block : gpu.blocks) {
    if (std::count(block.samples.begin(), block.samples.end(), RaceSide::incumbent) == 0) continue;
    ASSERT_EQ(block.samples.size(), 20u);
    for (std::size_t i = 0; i < 20; i += 4) {
      EXPECT_EQ(block.samples[i], block.samples[i + 3]);
      EXPECT_EQ(block.samples[i + 1], block.samples[i + 2]);
      EXPECT_NE(block.samples[i], block.samples[i + 1]);
    }
    ++leads[block.samples[0] == RaceSide::candidate ? 0 : 1];
  }
  EXPECT_LE(std::abs(leads[0] - leads[1]), 1);
}

// The whole machine, A against A: never FAST or SLOW, under any noise.
TEST(Race, AKernelNeverBeatsItself) {
  for (const test::NoiseModel& model : test::noise_models()) {
    // About the largest of ten differences of two normal offsets.
    const double persistent = 2.6 * model.persistent_sigma;
    for (const double seconds : {5e-6, 120e-6}) {
      const RaceIncumbent incumbent =
          incumbent_of(model, seconds, std::max(persistent, 0.3 * model.spread));
      for (std::uint64_t trial = 0; trial < 60; ++trial) {
        SimulatedGpu gpu{.model = model, .seconds = {seconds, seconds}, .trial = trial};
        Race race(incumbent, 0.0);
        const RaceOutcome outcome = gpu.race(race);
        EXPECT_NE(outcome.verdict->word, SpeedVerdict::fast) << model.name << trial;
        // A side that keeps an offset for the whole race may be dropped as slower: no claim of
        // speed is made, and a real session draws other buffers.
        if (model.persistent_sigma == 0.0) {
          EXPECT_NE(outcome.verdict->word, SpeedVerdict::slow) << model.name << trial;
        }
      }
    }
  }
}

TEST(Race, LongKernelsGetFewerSamples) {
  for (const double seconds : {0.01, 0.1, 1.0}) {
    const RaceIncumbent incumbent = incumbent_of(kQuiet, seconds, 0.002);
    SimulatedGpu gpu{.model = kQuiet, .seconds = {0.9 * seconds, seconds}};
    Race race(incumbent);
    const RaceOutcome outcome = gpu.race(race);
    EXPECT_EQ(outcome.verdict->word, SpeedVerdict::fast) << seconds << outcome.verdict->reason;
    EXPECT_LT(gpu.wall, 15.0 + 5.0 * seconds) << seconds;
    EXPECT_GE(outcome.candidate.count, 2) << seconds;
  }
}

TEST(Race, EndsWhenTheWallTimeIsUp) {
  const RaceIncumbent incumbent = incumbent_of(kQuiet, 20.0, 0.002);
  SimulatedGpu gpu{.model = kQuiet, .seconds = {10.0, 20.0}};
  Race race(incumbent);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.end, RaceEnd::wall_time);
  EXPECT_NE(outcome.verdict->word, SpeedVerdict::fast);  // never timed next to the incumbent
}

TEST(Race, BlocksUnderALowClockAreDiscardedAndRepeated) {
  const RaceIncumbent incumbent = incumbent_of(kQuiet, 100e-6, 0.002);
  SimulatedGpu gpu{.model = kQuiet, .seconds = {95e-6, 100e-6}};
  gpu.clock = [](int block) { return block == 5 || block == 6 ? 0.7 : 1.0; };
  Race race(incumbent, 1.98e9);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.discarded_blocks, 2);
  EXPECT_NEAR(gpu.waited, 0.05 + 0.075, 1e-9);
  EXPECT_LT(outcome.candidate.maximum, 100e-6);
  EXPECT_EQ(outcome.thermally_unstable, outcome.discarded_blocks > 0.2 * outcome.blocks);
  EXPECT_EQ(outcome.verdict->word, SpeedVerdict::fast);
}

TEST(Race, GivesUpWhenTheClockStaysLow) {
  const RaceIncumbent incumbent = incumbent_of(kQuiet, 100e-6, 0.002);
  SimulatedGpu gpu{.model = kQuiet, .seconds = {95e-6, 100e-6}};
  gpu.clock = [](int block) { return block % 2 == 0 ? 0.8 : 0.6; };
  Race race(incumbent, 1.98e9);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.end, RaceEnd::unstable_clock);
  EXPECT_TRUE(outcome.thermally_unstable);
  EXPECT_EQ(outcome.discarded_blocks, 5);
  EXPECT_EQ(outcome.verdict->word, SpeedVerdict::ambiguous);
}

// Tensor cores draw so much that they never run at the usual clock.
TEST(Race, AClockThatIsAlwaysTheSameIsTheKernels) {
  const RaceIncumbent incumbent = incumbent_of(kQuiet, 100e-6, 0.002);
  SimulatedGpu gpu{.model = kQuiet, .seconds = {50e-6, 100e-6}};
  gpu.clock = [](int block) { return block % 2 == 0 ? 0.87 : 0.86; };
  Race race(incumbent, 1.98e9);
  const RaceOutcome outcome = gpu.race(race);
  EXPECT_EQ(outcome.discarded_blocks, 5);
  EXPECT_NE(outcome.end, RaceEnd::unstable_clock);
  EXPECT_NEAR(outcome.candidate.median, 50e-6 / 0.865, 1e-6);
  EXPECT_EQ(outcome.verdict->word, SpeedVerdict::fast);
}

TEST(Race, RefusesWhatIsNoTime) {
  Race race(std::nullopt);
  EXPECT_FALSE(race.take({}).ok());
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    const Status status = race.take({{bad}, 0.0, 0.0});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(race.take({{1e-6, 1e-6}, 0.0, 0.0}).ok());
  EXPECT_TRUE(race.take({{1e-6}, 0.0, 0.0}).ok());
}

}  // namespace
}  // namespace regraph::gpu::race_test
