// A search whose times are measured by a worker of a fleet, its judges and this GPU.
#include "base/files.h"
#include "fleet/lanes.h"
#include "fleet/queue/memory_broker.h"
#include "fleet_worker/fleet_worker.h"
#include "fleet_worker/gpu_health.h"
#include "gpu_machine.h"
#include "report/run_report.h"
#include "session/expanders.h"
#include "session/session.h"

#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regraph::fleet_gpu_test {
namespace {

constexpr const char* kVersion = "1";
constexpr const char* kSource = R"cuda(
__global__ void twice(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = (int)((long long)i * 4097 % n);
  if (i < n) out[j] = 2.0f * in[j];
}
)cuda";
constexpr const char* kFast = R"cuda(
__global__ void twice(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
)cuda";
constexpr const char* kWrong = R"cuda(
__global__ void twice(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i == 4000000 ? 0.0f : 2.0f * in[i];
}
)cuda";
// 4097 has no factor in common with n, so that all elements are there once.
constexpr const char* kManifest = R"yaml(
sizes: {n: 1024}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}, {n: 256}]
bench: [{n: 8388608}]
)yaml";

class MeasuredByAFleet : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    auto made = TemporaryDirectory::create("regraph-fleet-gpu");
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    kernel = folder->path() / "twice.cu";
    ASSERT_TRUE(write_file(kernel, kSource));
    ASSERT_TRUE(write_file(folder->path() / "twice.regraph.yaml", kManifest));
    installation = Installation::of_program(test::beside_this_program("gpu_test"));
    installation.cache_directory = folder->path() / "cache";
  }
  void TearDown() override {
    leave.request();
    for (std::thread& one : workers)
      one.join();
  }

  // A worker with `places` judges on this GPU, as the GPU `number` of a host of that name.
  void begin_worker(const std::string& name, int places) {
    fleet::FleetWorkerOptions options;
    options.self.name = name;
    options.self.version = kVersion;
    options.self.gpu = machine().device();
    options.self.device = options.self.gpu.name;
    options.self.places = places;
    options.self.lanes = {fleet::gpu_lane(kVersion, name, options.self.gpu.bus_id),
                          fleet::measurement_lane(kVersion, options.self.gpu.name)};
    options.limits.turns = places + 1;
    options.judge.program = test::beside_this_program("regraph-judge");
    for (char** variable = environ; *variable != nullptr; ++variable)
      options.judge.environment.emplace_back(*variable);
    options.files = folder->path() / "files";
    options.leave_seconds = 5.0;
    options.report = [](const std::string& text) { std::printf("%s\n", text.c_str()); };
    const auto health =
        fleet::health_of_gpu(test::beside_this_program("regraph-eval"), 0, options.self.gpu.bus_id);
    options.find_trouble = [health](bool suspected) { return health->trouble(suspected); };
    workers.emplace_back([this, options = std::move(options)] {
      EXPECT_EQ(fleet::FleetWorker(*broker, options).run(leave), "");
    });
  }

  std::unique_ptr<Session> open() {
    SessionOptions options;
    options.problem.kernel_file = kernel.string();
    options.evaluator = "gpu-only";
    options.policy = "none";
    options.fleet = {broker, kVersion, {machine().device()}, [](const std::string& text) {
                       std::printf("%s\n", text.c_str());
                     }};
    auto session = Session::open(options, installation, machine().never());
    EXPECT_TRUE(session) << session.error().message;
    return session ? std::move(*session) : nullptr;
  }

  std::optional<TemporaryDirectory> folder;
  std::filesystem::path kernel;
  Installation installation;
  std::shared_ptr<fleet::MemoryBroker> broker = std::make_shared<fleet::MemoryBroker>();
  Cancellation leave;
  std::vector<std::thread> workers;
};

TEST_F(MeasuredByAFleet, AnswersAreTriedOnTwoWorkers) {
  begin_worker("a", 1);
  begin_worker("b", 2);
  const std::unique_ptr<Session> session = open();
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(session->measures());
  const auto fast = session->read_candidate(kFast, machine().never());
  ASSERT_TRUE(fast.ok()) << fast.error().message;
  const KernelComparison comparison = session->compare(*fast, machine().never());
  ASSERT_TRUE(comparison.confirmed) << comparison.candidate.message;
  EXPECT_EQ(comparison.verdict, SpeedVerdict::fast);
  EXPECT_EQ(comparison.original.time.method, TimeMethod::measured);
  ASSERT_TRUE(comparison.measured.has_value());
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_NE(comparison.notes[0].find("measured on two GPUs"), std::string::npos);
  std::printf("%.2fx [%.2f, %.2f]; %s\n", comparison.speedup.ratio, comparison.speedup.low,
              comparison.speedup.high, comparison.notes[0].c_str());
  // Beyond what the interpreter sees.
  const auto wrong = session->read_candidate(kWrong, machine().never());
  ASSERT_TRUE(wrong.ok());
  const Evaluation found = session->evaluate(*wrong, {}, machine().never());
  EXPECT_EQ(found.verdict, Verdict::wrong_result) << found.message;
}

TEST_F(MeasuredByAFleet, ASearchIsAsOnThisMachine) {
  begin_worker("a", 2);
  const std::unique_ptr<Session> session = open();
  ASSERT_NE(session, nullptr);
  SearchConfig config = session->configuration();
  EXPECT_EQ(config.evaluator, "gpu-only");
  config.budget.evaluations = 6;
  config.jobs = 2;
  const auto expander = session->expander({}, config);
  ASSERT_TRUE(expander);
  const auto found = session->search({config, **expander});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const RunReport report = session->report(*found, config, "");
  ASSERT_TRUE(report.measurement.has_value());
  EXPECT_EQ(report.measurement->gpu, machine().device().name);
  EXPECT_EQ(report.measurement->devices, 1);
  EXPECT_GT(report.measurement->timed, 3);
  EXPECT_GT(report.measurement->original_seconds, 0.0);
  std::printf("%s", session->text(*found, config).c_str());
}

}  // namespace
}  // namespace regraph::fleet_gpu_test
