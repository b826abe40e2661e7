#include "fleet/fleet_measurer.h"

#include "fleet/lanes.h"
#include "fleet/presence.h"
#include "fleet/queue/memory_broker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace regraph::fleet::fleet_measurer_test {
namespace {

constexpr const char* kLane = "measure-some-gpu-1";

Candidate candidate(const std::string& source) {
  Candidate result;
  result.source = source;
  Launch launch;
  launch.kernel = "f";
  result.plan.launches = {launch};
  return result;
}

EvaluationBudget confirmation() {
  EvaluationBudget budget;
  budget.effort = EvaluationBudget::Effort::confirmation;
  return budget;
}

// Verifies here: what begins with "bad" is wrong.
class Here final : public Evaluator {
 public:
  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget&,
                      const Cancellation&) override {
    ++calls;
    Evaluation evaluation;
    evaluation.verdict =
        candidate.source.starts_with("bad") ? Verdict::wrong_result : Verdict::correct;
    evaluation.time = {1.0, 1.0, 1.0, 1, TimeMethod::predicted};
    return evaluation;
  }
  std::atomic<int> calls = 0;
};

// A worker with one GPU: kernels take as many seconds there as their sources have letters, times
// its slowness. It is there while it exists.
class GpuWorker {
 public:
  GpuWorker(Broker& broker, const std::string& name, double slowness)
      : broker_(broker), name_(name), slowness_(slowness) {
    post();
    thread_ = std::thread([this] { work(); });
  }
  ~GpuWorker() {
    leave_.request();
    thread_.join();
    EXPECT_TRUE(broker_.withdraw(Board::workers, name_).ok());
  }

  [[nodiscard]] std::vector<std::string> done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  std::atomic<double> claimed_speedup = 2.0;  // of answers
  std::atomic<bool> stands = true;

  // Takes nothing from now on.
  void fall_silent() {
    silent_ = true;
    while (!is_silent_)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  void post() {
    WorkerPresence presence;
    presence.name = name_;
    presence.lanes = {own_lane(), kLane};
    presence.places = 1;
    presence.gpu.name = "some GPU";
    EXPECT_TRUE(broker_.post(Board::workers, name_, presence_text(presence)).ok());
  }
  [[nodiscard]] std::string own_lane() const { return gpu_lane("1", name_, "0"); }

  void work() {
    const std::vector<std::string> lanes = {own_lane(), kLane};
    while (!leave_.requested()) {
      if (silent_) {
        is_silent_ = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      auto lease = broker_.take(lanes, 0.02, leave_);
      if (!lease || *lease == nullptr) continue;
      const auto job = read_evaluation_job((*lease)->job().payload);
      ASSERT_TRUE(job.ok());
      {
        const std::lock_guard lock(mutex_);
        done_.push_back(job->candidate.source);
      }
      EXPECT_TRUE((*lease)->finish(answer_text(answer(*job)), leave_).ok());
    }
  }

  [[nodiscard]] EvaluationAnswer answer(const EvaluationJob& job) const {
    EvaluationAnswer answer;
    answer.worker = name_;
    if (job.task == EvaluationJob::Task::try_answer) {
      AnswerTrial& trial = answer.trial.emplace();
      if (!stands) trial.objections = {"no"};
      MeasuredSpeedup& speedup = trial.measurement.speedup.emplace();
      const double ratio = claimed_speedup;
      speedup.cold = speedup.hot = {ratio, ratio * 0.99, ratio * 1.01};
      const MeasuredSpeedup::Times times{2.0, 1.0, 10, speedup.cold};
      speedup.benches = {{{{"n", 1024}}, times, times}};
      if (job.sanitize) trial.measurement.sanitizer = SanitizerReport{{"memcheck"}, {}, {}};
      return answer;
    }
    const double seconds = slowness_ * static_cast<double>(job.candidate.source.size());
    answer.evaluation.emplace();
    answer.evaluation->verdict = Verdict::correct;
    answer.evaluation->time = {seconds, 0.9 * seconds, 1.1 * seconds, 10, TimeMethod::measured};
    answer.use.emplace();
    answer.use->gpu = "some GPU";
    answer.use->timed = 1;
    answer.use->original_seconds = slowness_ * 10.0;
    answer.process = 1;
    return answer;
  }

  Broker& broker_;
  const std::string name_;
  const double slowness_;
  mutable std::mutex mutex_;
  std::vector<std::string> done_;
  std::atomic<bool> silent_ = false;
  std::atomic<bool> is_silent_ = false;
  Cancellation leave_;
  std::thread thread_;
};

struct FleetMeasurerTest : testing::Test {
  FleetMeasurer make(int checked_share = 0) {
    return FleetMeasurer(broker, broker, here,
                         {.lane = kLane,
                          .problem = {"problem", hash_text("problem")},
                          .occasion = "run",
                          .checked_share = checked_share,
                          .look_seconds = 0.1,
                          .patience_seconds = patience_seconds,
                          .report = [this](const std::string& text) {
                            const std::lock_guard lock(mutex);
                            said.push_back(text);
                          }});
  }
  [[nodiscard]] bool was_said(const std::string& part) {
    const std::lock_guard lock(mutex);
    for (const std::string& one : said)
      if (one.find(part) != std::string::npos) return true;
    return false;
  }
  MemoryBroker broker;
  Here here;
  std::mutex mutex;
  std::vector<std::string> said;
  double patience_seconds = 120.0;
  const Cancellation never{};
};

TEST_F(FleetMeasurerTest, PutsTimesOfAllGpusIntoOneUnit) {
  FleetMeasurer fleet = make();
  {
    const GpuWorker first(broker, "first", 1.0);
    EXPECT_EQ(fleet.evaluate(candidate("0123456789"), {}, never).time.median_seconds, 10.0);
  }
  // Half as fast a GPU: what takes 8 s there is a candidate of 4 s here.
  const GpuWorker second(broker, "second", 2.0);
  const Evaluation slow = fleet.evaluate(candidate("abcd"), {}, never);
  EXPECT_DOUBLE_EQ(slow.time.median_seconds, 4.0);
  EXPECT_DOUBLE_EQ(slow.time.low_seconds, 3.6);
  EXPECT_DOUBLE_EQ(slow.time.high_seconds, 4.4);
  const AnswerTrial trial = fleet.try_answer(nullptr, true, never);
  EXPECT_EQ(trial.measurement.devices, 2);
  EXPECT_EQ(trial.measurement.timed, 2);
  EXPECT_EQ(trial.measurement.original_seconds, 10.0);
  EXPECT_FALSE(trial.measurement.speedup.has_value());
  EXPECT_EQ(here.calls, 0);
}

// With the first candidate, and never again.
TEST_F(FleetMeasurerTest, HasIdlePlacesGetReady) {
  FleetMeasurer fleet = make();
  const GpuWorker first(broker, "a", 1.0);
  const GpuWorker second(broker, "b", 1.0);
  const auto done = [&] { return first.done().size() + second.done().size(); };
  EXPECT_TRUE(fleet.evaluate(candidate("original"), {}, never).correct());
  for (int wait = 0; wait < 500 && done() < 2; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(done(), 2U);
  EXPECT_TRUE(fleet.evaluate(candidate("next"), {}, never).correct());
  EXPECT_EQ(done(), 3U);
  EXPECT_EQ(fleet.statistics().remote, 2U);
}

TEST_F(FleetMeasurerTest, ConfirmsOnOneGpuAsLongAsItIsThere) {
  FleetMeasurer fleet = make();
  auto first = std::make_unique<GpuWorker>(broker, "a", 1.0);
  auto second = std::make_unique<GpuWorker>(broker, "b", 1.0);
  EXPECT_TRUE(fleet.evaluate(candidate("ab"), confirmation(), never).correct());
  const std::string confirming = first->done().empty() ? "b" : "a";
  if (confirming == "b") std::swap(first, second);
  for (const char* source : {"abc", "abcd"})
    EXPECT_TRUE(fleet.evaluate(candidate(source), confirmation(), never).correct());
  EXPECT_EQ(first->done().size(), 3U);
  EXPECT_TRUE(second->done().empty());
  // It stops answering, and its notice runs out while a job waits for it.
  first->fall_silent();
  Evaluation last;
  std::thread waiting([&] { last = fleet.evaluate(candidate("abcdef"), confirmation(), never); });
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  first.reset();
  waiting.join();
  EXPECT_TRUE(last.correct());
  EXPECT_EQ(second->done(), std::vector<std::string>{"abcdef"});
  EXPECT_TRUE(was_said(confirming + " is gone"));
}

// Six GPUs of one place are more than a search keeps busy.
TEST_F(FleetMeasurerTest, UsesAsManyGpusAsItKeepsBusy) {
  std::vector<std::unique_ptr<GpuWorker>> workers;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    workers.push_back(std::make_unique<GpuWorker>(broker, name, 1.0));
  FleetMeasurer fleet = make();
  constexpr int kLooks = 24;
  std::vector<std::thread> looks;
  looks.reserve(kLooks);
  for (int look = 0; look < kLooks; ++look) {
    looks.emplace_back([&, look] {
      const std::string source(static_cast<std::size_t>(look) + 1, 'x');
      EXPECT_TRUE(fleet.evaluate(candidate(source), {}, never).correct());
    });
  }
  for (std::thread& one : looks)
    one.join();
  const auto used = [&] {
    return std::ranges::count_if(workers, [](const auto& one) { return !one->done().empty(); });
  };
  EXPECT_EQ(used(), kUnderWay);
  EXPECT_TRUE(fleet.evaluate(candidate("abc"), confirmation(), never).correct());
  EXPECT_EQ(used(), kUnderWay);
}

// Another GPU takes what one that falls silent was asked.
TEST_F(FleetMeasurerTest, ASilentGpuIsNotWaitedForForever) {
  patience_seconds = 0.05;
  std::vector<std::unique_ptr<GpuWorker>> workers;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    workers.push_back(std::make_unique<GpuWorker>(broker, name, 1.0));
  FleetMeasurer fleet = make();
  EvaluationBudget budget;
  budget.wall_seconds = 0.05;
  EXPECT_TRUE(fleet.evaluate(candidate("abc"), budget, never).correct());
  for (const auto& one : workers)
    if (!one->done().empty()) one->fall_silent();
  EXPECT_TRUE(fleet.evaluate(candidate("abcd"), budget, never).correct());
  EXPECT_TRUE(was_said("gone or silent"));
}

TEST_F(FleetMeasurerTest, ConfirmationsAreVerifiedHereOnce) {
  FleetMeasurer fleet = make();
  const GpuWorker worker(broker, "a", 1.0);
  EXPECT_TRUE(fleet.evaluate(candidate("abc"), confirmation(), never).correct());
  EvaluationBudget more = confirmation();
  more.repetitions = 32;
  EXPECT_TRUE(fleet.evaluate(candidate("abc"), more, never).correct());
  EXPECT_EQ(here.calls, 1);
  EXPECT_EQ(fleet.evaluate(candidate("bad"), confirmation(), never).verdict, Verdict::wrong_result);
  EXPECT_TRUE(was_said("it is broken or lies"));
  EXPECT_EQ(fleet.statistics().differing, 1U);
  // From then on first looks, too.
  EXPECT_TRUE(fleet.evaluate(candidate("x"), {}, never).correct());
}

TEST_F(FleetMeasurerTest, AShareIsVerifiedHere) {
  FleetMeasurer fleet = make(1);
  const GpuWorker worker(broker, "a", 1.0);
  EXPECT_TRUE(fleet.evaluate(candidate("abc"), {}, never).correct());
  EXPECT_EQ(fleet.evaluate(candidate("bad"), {}, never).verdict, Verdict::wrong_result);
  EXPECT_EQ(here.calls, 2);
}

TEST_F(FleetMeasurerTest, TheLowerOfTwoMeasurementsCounts) {
  FleetMeasurer fleet = make();
  GpuWorker honest(broker, "a", 1.0);
  GpuWorker boastful(broker, "b", 1.0);
  boastful.claimed_speedup = 1000.0;
  const Candidate best = candidate("abc");
  AnswerTrial trial = fleet.try_answer(&best, true, never);
  EXPECT_TRUE(trial.stands());
  ASSERT_TRUE(trial.measurement.speedup.has_value());
  EXPECT_EQ(trial.measurement.speedup->cold.ratio, 2.0);
  ASSERT_TRUE(trial.measurement.sanitizer.has_value());
  ASSERT_EQ(trial.notes.size(), 1U);
  EXPECT_NE(trial.notes[0].find("two GPUs: "), std::string::npos) << trial.notes[0];
  EXPECT_NE(trial.notes[0].find("a measures 2x"), std::string::npos) << trial.notes[0];
}

TEST_F(FleetMeasurerTest, OneThatDoesNotBearItOutIsEnough) {
  FleetMeasurer fleet = make();
  const GpuWorker first(broker, "a", 1.0);
  GpuWorker second(broker, "b", 1.0);
  second.stands = false;
  second.claimed_speedup = 1.0;
  const Candidate best = candidate("abc");
  const AnswerTrial trial = fleet.try_answer(&best, false, never);
  ASSERT_EQ(trial.objections.size(), 1U);
  EXPECT_EQ(trial.objections[0], "b: no");
}

TEST_F(FleetMeasurerTest, SaysThatOneGpuMeasuredAlone) {
  FleetMeasurer fleet = make();
  const GpuWorker only(broker, "a", 1.0);
  const Candidate best = candidate("abc");
  const AnswerTrial trial = fleet.try_answer(&best, false, never);
  ASSERT_TRUE(trial.measurement.speedup.has_value());
  EXPECT_FALSE(trial.measurement.sanitizer.has_value());
  ASSERT_EQ(trial.notes.size(), 1U);
  EXPECT_NE(trial.notes[0].find("one GPU alone"), std::string::npos);
}

TEST_F(FleetMeasurerTest, WithoutAGpuAnAnswerIsNotMeasured) {
  FleetMeasurer fleet = make();
  const Candidate best = candidate("abc");
  const AnswerTrial trial = fleet.try_answer(&best, false, never);
  EXPECT_TRUE(trial.stands());
  EXPECT_FALSE(trial.measurement.speedup.has_value());
  ASSERT_EQ(trial.notes.size(), 1U);
}

TEST_F(FleetMeasurerTest, WaitsUntilItIsCancelled) {
  FleetMeasurer fleet = make();
  Cancellation stop;
  std::thread stopping([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request();
  });
  EXPECT_EQ(fleet.evaluate(candidate("abc"), confirmation(), stop).verdict, Verdict::timeout);
  EXPECT_EQ(fleet.evaluate(candidate("abc"), {}, stop).verdict, Verdict::timeout);
  EXPECT_EQ(broker.state(kLane)->waiting, 0U);
  stopping.join();
}

}  // namespace
}  // namespace regraph::fleet::fleet_measurer_test
