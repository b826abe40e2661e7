#include "fleet/gpu_choice.h"

#include "fleet/lanes.h"
#include "fleet/presence.h"
#include "fleet/queue/memory_broker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::fleet::gpu_choice_test {
namespace {

constexpr const char* kLane = "measure-some-gpu-1";

std::vector<FleetGpu> gpus(int count, int places) {
  std::vector<FleetGpu> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    all.push_back({"gpu-" + std::to_string(i), "worker" + std::to_string(i), places, 0});
  return all;
}

TEST(ChooseGpus, TakesPlacesForWhatIsUnderWay) {
  EXPECT_EQ(choose_gpus(gpus(8, 1), "run").size(), 4U);
  EXPECT_EQ(choose_gpus(gpus(8, 2), "run").size(), 2U);
  EXPECT_EQ(choose_gpus(gpus(8, 3), "run").size(), 2U);
  EXPECT_EQ(choose_gpus(gpus(8, 7), "run").size(), 1U);
  EXPECT_EQ(choose_gpus(gpus(1, 1), "run").size(), 1U);
  EXPECT_TRUE(choose_gpus({}, "run").empty());
}

TEST(ChooseGpus, TheIdlestComeFirst) {
  std::vector<FleetGpu> all = gpus(6, 2);
  for (FleetGpu& gpu : all)
    gpu.busy = 2;
  all[3].busy = 0;
  all[5].busy = 1;
  const auto chosen = choose_gpus(all, "run");
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].lane, "gpu-3");
  EXPECT_EQ(chosen[1].lane, "gpu-5");
}

// Searches that begin together see the same idle GPUs.
TEST(ChooseGpus, SearchesChooseDifferently) {
  std::map<std::string, int> used;
  for (int search = 0; search < 200; ++search) {
    for (const FleetGpu& gpu : choose_gpus(gpus(8, 2), "run " + std::to_string(search)))
      ++used[gpu.lane];
  }
  ASSERT_EQ(used.size(), 8U);
  for (const auto& [lane, count] : used) {
    EXPECT_GT(count, 25) << lane;  // 50 each
    EXPECT_LT(count, 80) << lane;
  }
  // The same one does so again.
  const auto once = choose_gpus(gpus(8, 2), "run 7");
  const auto again = choose_gpus(gpus(8, 2), "run 7");
  EXPECT_EQ(once[0].lane, again[0].lane);
}

struct GpuChoiceTest : testing::Test {
  void announce(const std::string& name, int places, int busy = 0) {
    WorkerPresence presence;
    presence.name = name;
    presence.lanes = {gpu_lane("1", name, "0"), kLane};
    presence.places = places;
    presence.busy = busy;
    ASSERT_TRUE(broker.post(Board::workers, name, presence_text(presence)).ok());
  }
  MemoryBroker broker;
  GpuChoice choice{broker, kLane, "run"};
};

TEST_F(GpuChoiceTest, AllAreUsedWhereThereAreFew) {
  EXPECT_FALSE(choice.confirming().has_value());
  announce("a", 2);
  announce("b", 2);
  EXPECT_FALSE(choice.begin_look().has_value());
  EXPECT_TRUE(choice.mine().empty());
  ASSERT_TRUE(choice.confirming().has_value());
  EXPECT_EQ(choice.there().front().lane, choice.confirming()->lane);
}

TEST_F(GpuChoiceTest, LooksAreSharedOut) {
  for (const char* name : {"a", "b", "c", "d"})
    announce(name, 2);
  std::map<std::string, int> looks;
  std::vector<FleetGpu> begun;
  for (int look = 0; look < 6; ++look) {
    begun.push_back(choice.begin_look().value());
    ++looks[begun.back().lane];
  }
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_EQ(looks.begin()->second, 3);
  choice.end_look(begun[0]);
  EXPECT_EQ(choice.begin_look().value().lane, begun[0].lane);
  EXPECT_TRUE(looks.contains(choice.confirming().value().lane));
}

TEST_F(GpuChoiceTest, OthersAreChosenOnceNoneIsLeft) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    announce(name, 2);
  const std::vector<FleetGpu> first = choice.mine();
  ASSERT_EQ(first.size(), 2U);
  choice.drop(first[0]);
  EXPECT_EQ(choice.begin_look().value().lane, first[1].lane);
  choice.drop(first[1]);
  const std::vector<FleetGpu> second = choice.mine();
  ASSERT_EQ(second.size(), 2U);
  for (const FleetGpu& gpu : second) {
    EXPECT_NE(gpu.lane, first[0].lane);
    EXPECT_NE(gpu.lane, first[1].lane);
  }
  // Three that were silent are reason to trust no notice.
  choice.drop(second[0]);
  EXPECT_FALSE(choice.begin_look().has_value());
}

TEST_F(GpuChoiceTest, WhatConfirmsStaysTheSame) {
  for (const char* name : {"a", "b", "c", "d"})
    announce(name, 1);
  const FleetGpu confirming = choice.confirming().value();
  for (const char* name : {"a", "b", "c", "d"})
    announce(name, 1, gpu_lane("1", name, "0") == confirming.lane ? 1 : 0);
  EXPECT_EQ(choice.confirming().value().lane, confirming.lane);
  EXPECT_EQ(choice.there().front().lane, confirming.lane);
  ASSERT_TRUE(broker.withdraw(Board::workers, confirming.worker).ok());
  EXPECT_NE(choice.confirming().value().lane, confirming.lane);
}

}  // namespace
}  // namespace regraph::fleet::gpu_choice_test
