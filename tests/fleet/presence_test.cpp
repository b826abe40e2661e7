#include "fleet/presence.h"

#include "fleet/evaluator_version.h"
#include "fleet/lanes.h"

#include <gtest/gtest.h>

namespace regraph::fleet::presence_test {
namespace {

WorkerPresence some_worker() {
  WorkerPresence worker;
  worker.name = "host-1";
  worker.host = "host";
  worker.version = "v";
  worker.lanes = {"predict-v", "measure-v"};
  worker.places = 4;
  worker.busy = 1;
  worker.done = 10;
  worker.state = "working";
  return worker;
}

TEST(WorkerPresence, ComesBackAsItWas) {
  const auto read = read_presence(presence_text(some_worker()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->name, "host-1");
  EXPECT_EQ(read->lanes, some_worker().lanes);
  EXPECT_EQ(read->places, 4);
  EXPECT_EQ(read->done, 10U);
}

TEST(WorkerPresence, HasTheGpuItMeasuresOn) {
  WorkerPresence worker = some_worker();
  worker.device = worker.gpu.name = "NVIDIA H200";
  worker.gpu.architecture = "sm_90";
  worker.gpu.bus_id = "0000:01:00.0";
  worker.gpu.total_bytes = std::uint64_t{139} << 30;
  worker.gpu.sm_count = 132;
  worker.gpu.clock_hertz = 1.98e9;
  worker.gpu.device_reads_host_memory = true;
  const auto read = read_presence(presence_text(worker));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->gpu.name, "NVIDIA H200");
  EXPECT_EQ(read->gpu.architecture, "sm_90");
  EXPECT_EQ(read->gpu.bus_id, "0000:01:00.0");
  EXPECT_EQ(read->gpu.total_bytes, worker.gpu.total_bytes);
  EXPECT_EQ(read->gpu.sm_count, 132);
  EXPECT_EQ(read->gpu.clock_hertz, 1.98e9);
  EXPECT_TRUE(read->gpu.device_reads_host_memory);
  EXPECT_TRUE(read_presence(presence_text(some_worker()))->gpu.name.empty());
}

TEST(WorkerPresence, IsReadAsForeign) {
  std::string odd_gpu = presence_text(some_worker());
  odd_gpu.insert(odd_gpu.size() - 1, R"(, "gpu": {"name": "x"})");
  EXPECT_FALSE(read_presence(odd_gpu).ok());
  WorkerPresence greedy = some_worker();
  greedy.places = 1'000'000;
  EXPECT_FALSE(read_presence(presence_text(greedy)).ok());
  WorkerPresence wordy = some_worker();
  wordy.doing = std::string(5000, 'x');
  EXPECT_FALSE(read_presence(presence_text(wordy)).ok());
  WorkerPresence many = some_worker();
  many.lanes.assign(100, "lane");
  EXPECT_FALSE(read_presence(presence_text(many)).ok());
  for (const char* text :
       {"", "{}", "null", R"({"worker": {}, "lanes": []})", R"({"worker": [], "lanes": {}})"})
    EXPECT_FALSE(read_presence(text).ok()) << text;
}

TEST(WorkerPresence, PlacesAreThoseOfALane) {
  WorkerPresence other = some_worker();
  other.lanes = {"predict-w"};
  const std::vector<WorkerPresence> workers = {some_worker(), some_worker(), other};
  EXPECT_EQ(places_of(workers, "predict-v"), 8);
  EXPECT_EQ(places_of(workers, "predict-w"), 4);
  EXPECT_EQ(places_of(workers, "predict-x"), 0);
}

TEST(Lanes, NameDevicesAndVersions) {
  EXPECT_EQ(prediction_lane("1"), "predict-1");
  EXPECT_NE(gpu_lane("1", "host", "0000:01:00.0"), gpu_lane("1", "host", "0000:02:00.0"));
  EXPECT_NE(gpu_lane("1", "host", "0000:01:00.0"), gpu_lane("1", "other", "0000:01:00.0"));
  EXPECT_EQ(gpu_lane("1", "host", "0000:01:00.0"), gpu_lane("1", "host", "0000:01:00.0"));
  EXPECT_EQ(measurement_lane("1", "NVIDIA H100 80GB HBM3"), "measure-nvidia-h100-80gb-hbm3-1");
}

TEST(EvaluatorVersion, IsOfTheBuildAndTheCompiler) {
  const std::string one = evaluator_version("/proc/self/exe");
  EXPECT_EQ(one, evaluator_version("/proc/self/exe"));
  EXPECT_NE(one, evaluator_version("/bin/sh"));
  EXPECT_LE(one.size(), 60U);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef.-"), std::string::npos) << one;
}

}  // namespace
}  // namespace regraph::fleet::presence_test
