#include "fleet_worker/fleet_worker.h"

#include "base/files.h"
#include "fleet/evaluation_job.h"
#include "fleet/problem_text.h"
#include "fleet/queue/memory_broker.h"
#include "fleet_worker/failure_notice.h"
#include "fleet_worker/fleet_status.h"
#include "fleet_worker/judge_request.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace regraph::fleet::fleet_worker_test {
namespace {

constexpr const char* kLane = "predict-1";

std::string some_problem() {
  RunDescription description;
  description.kernel = "a problem";
  return problem_text(description).text;
}
const std::string kProblem = some_problem();  // NOLINT(cert-err58-cpp)

// A worker that runs while it exists.
class RunningWorker {
 public:
  RunningWorker(Broker& broker, FleetWorkerOptions options)
      : worker_(broker, std::move(options)), thread_([this] { why_ = worker_.run(leave_); }) {}
  ~RunningWorker() { leave(); }
  void ask_to_leave() { leave_.request(); }
  void leave() {
    leave_.request();
    if (thread_.joinable()) thread_.join();
  }
  // Waits until it retires; returns why.
  std::string retirement() {
    thread_.join();
    return why_;
  }

 private:
  Cancellation leave_;
  FleetWorker worker_;
  std::string why_;
  std::thread thread_;
};

struct FleetWorkerTest : testing::Test {
  FleetWorkerTest() {
    const Cancellation never{};
    EXPECT_TRUE(broker.keep(hash_text(kProblem), kProblem, never).ok());
  }
  FleetWorkerOptions options(const std::string& name, int places = 1) {
    FleetWorkerOptions result;
    result.self.name = name;
    result.self.lanes = {kLane};
    result.self.places = places;
    result.judge.program = REGRAPH_FAKE_JUDGE;
    result.report = [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      said.push_back(text);
    };
    return result;
  }
  static Job job(const std::string& source, double wall_seconds = 60.0) {
    EvaluationJob evaluation;
    evaluation.problem = hash_text(kProblem);
    evaluation.candidate.source = source;
    evaluation.budget.wall_seconds = wall_seconds;
    return job_of(kLane, evaluation);
  }
  EvaluationAnswer ask(const Job& job) {
    const auto said_of_it = broker.ask(job, never);
    EXPECT_TRUE(said_of_it.ok()) << said_of_it.error().message;
    auto answer = read_answer(*said_of_it);
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? *answer : EvaluationAnswer{};
  }

  MemoryBroker broker{2.0};
  const Cancellation never{};
  std::mutex mutex;
  std::vector<std::string> said;
};

TEST_F(FleetWorkerTest, AnswersJobs) {
  const RunningWorker worker(broker, options("one", 2));
  const EvaluationAnswer fast = ask(job("0.5"));
  ASSERT_TRUE(fast.evaluation);
  EXPECT_EQ(fast.evaluation->time.median_seconds, 0.5);
  EXPECT_EQ(fast.evaluation->message, kProblem);
  EXPECT_EQ(fast.worker, "one");
  EXPECT_EQ(ask(job("wrong")).evaluation->verdict, Verdict::wrong_result);
}

TEST_F(FleetWorkerTest, BringsData) {
  const TemporaryDirectory folder = *TemporaryDirectory::create("regraph-fleet-test");
  FleetWorkerOptions with_files = options("one");
  with_files.files = folder.path() / "files";
  const ProblemFile file{hash_text("data"), "x.bin", ""};
  RunDescription description;
  description.manifest = travelling_name(file);
  const ProblemText problem = problem_text(description, {file});
  ASSERT_TRUE(broker.keep(problem.id, problem.text, never).ok());
  ASSERT_TRUE(broker.keep(file.id, "data", never).ok());
  const RunningWorker worker(broker, with_files);
  EvaluationJob evaluation;
  evaluation.problem = problem.id;
  evaluation.candidate.source = "1";
  const EvaluationAnswer answer = ask(job_of(kLane, evaluation));
  ASSERT_TRUE(answer.evaluation) << answer.trouble;
  const std::filesystem::path path = with_files.files / file.id.hex() / "x.bin";
  EXPECT_EQ(*read_file(path, 100), "data");
  EXPECT_NE(answer.evaluation->message.find(path.string()), std::string::npos);
  const auto mode = std::filesystem::status(path.parent_path()).permissions();
  EXPECT_EQ(mode & std::filesystem::perms::others_all, std::filesystem::perms::none);
}

TEST_F(FleetWorkerTest, DoesSeveralAtOnce) {
  const RunningWorker worker(broker, options("one", 4));
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::future<EvaluationAnswer>> answers;
  answers.reserve(4);
  for (int number = 0; number < 4; ++number) {
    answers.push_back(std::async(
        std::launch::async, [&, number] { return ask(job("wait 1." + std::to_string(number))); }));
  }
  for (auto& answer : answers)
    EXPECT_TRUE(answer.get().evaluation);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST_F(FleetWorkerTest, TriesAgainWhereAProcessDies) {
  const TemporaryDirectory folder = *TemporaryDirectory::create("regraph-fleet-test");
  const RunningWorker worker(broker, options("one"));
  const EvaluationAnswer answer = ask(job("die once " + (folder.path() / "died").string()));
  ASSERT_TRUE(answer.evaluation);
  EXPECT_TRUE(answer.evaluation->correct());
}

TEST_F(FleetWorkerTest, GivesPoisonUpAfterThreeTriesAndGoesOn) {
  const RunningWorker one(broker, options("one"));
  const RunningWorker two(broker, options("two"));
  const Job poison = job("die");
  const EvaluationAnswer answer = ask(poison);
  ASSERT_TRUE(answer.evaluation);
  EXPECT_EQ(answer.evaluation->verdict, Verdict::crash);
  EXPECT_NE(answer.evaluation->message.find("signal 9"), std::string::npos)
      << answer.evaluation->message;
  const auto text = broker.read(Board::failures, poison.id.hex());
  ASSERT_TRUE(text.ok());
  const auto notice = read_failure(*text);
  ASSERT_TRUE(notice.ok()) << *text;
  EXPECT_EQ(notice->tries.size(), 3U);
  EXPECT_TRUE(notice->given_up);
  EXPECT_TRUE(ask(job("1")).evaluation->correct());
  const auto status = read_status(broker);
  ASSERT_TRUE(status.ok());
  EXPECT_NE(status_text(*status).find("given up"), std::string::npos);
  EXPECT_NE(status_metrics(*status).find("regraph_jobs_given_up 1"), std::string::npos);
}

TEST_F(FleetWorkerTest, CallsWhatHangsATimeout) {
  FleetWorkerOptions impatient = options("one", 3);
  impatient.limits = {0.2, 0.2};
  const RunningWorker worker(broker, impatient);
  EXPECT_EQ(ask(job("hang", 0.2)).evaluation->verdict, Verdict::timeout);
}

TEST_F(FleetWorkerTest, SaysSoWhereItCannotJudge) {
  const RunningWorker worker(broker, options("one"));
  const EvaluationAnswer answer = ask(job("trouble"));
  EXPECT_FALSE(answer.evaluation);
  EXPECT_EQ(answer.trouble, "no toolkit here");
  EvaluationJob unknown;
  unknown.problem = hash_text("another");
  unknown.candidate.source = "1";
  EXPECT_NE(ask(job_of(kLane, unknown)).trouble.find("problem cannot be had"), std::string::npos);
  Job unreadable;
  unreadable.lane = kLane;
  unreadable.id = hash_text("u");
  unreadable.payload = "garbage";
  EXPECT_NE(ask(unreadable).trouble.find("cannot be read"), std::string::npos);
  EXPECT_EQ(ask(job("garbage")).evaluation->verdict, Verdict::crash);
}

TEST_F(FleetWorkerTest, AnotherFinishesWhatOneLeftBehind) {
  // Takes the job and never says anything.
  auto asked = std::async(std::launch::async, [&] { return ask(job("0.25")); });
  const std::vector<std::string> lanes = {kLane};
  std::unique_ptr<Lease> lost;
  while (lost == nullptr)
    lost = *broker.take(lanes, 1.0, never);
  const RunningWorker worker(broker, options("one"));
  EXPECT_EQ(asked.get().evaluation->time.median_seconds, 0.25);
  // It comes late, and does not count.
  const auto late = lost->finish("late", never);
  ASSERT_TRUE(late.ok());
  EXPECT_FALSE(*late);
}

TEST_F(FleetWorkerTest, LeavesNothingUnderWay) {
  FleetWorkerOptions hasty = options("hasty");
  hasty.leave_seconds = 0.2;
  auto asked = std::async(std::launch::async, [&] { return ask(job("wait 2")); });
  auto worker = std::make_unique<RunningWorker>(broker, hasty);
  while (broker.state(kLane)->under_way == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  worker->leave();
  EXPECT_EQ(broker.state(kLane)->under_way, 0U);
  EXPECT_TRUE(broker.notices(Board::workers, 10)->empty());
  const RunningWorker next(broker, options("next"));
  EXPECT_EQ(asked.get().worker, "next");
}

TEST_F(FleetWorkerTest, RetiresWhereItsMachineIsBroken) {
  const TemporaryDirectory folder = *TemporaryDirectory::create("regraph-fleet-test");
  FleetWorkerOptions broken = options("broken");
  broken.find_trouble = [](bool suspected) {
    return std::string(suspected ? "its GPU is gone" : "");
  };
  RunningWorker worker(broker, broken);
  EXPECT_TRUE(ask(job("1")).evaluation->correct());
  // Its judge dies: the job is not to blame, and another worker does it.
  const Job lost = job("die once " + (folder.path() / "died").string());
  auto asked = std::async(std::launch::async, [&] { return ask(lost); });
  EXPECT_EQ(worker.retirement(), "its GPU is gone");
  const auto notice = read_presence(broker.notices(Board::workers, 10)->at("broken"));
  ASSERT_TRUE(notice.ok());
  EXPECT_EQ(notice->state, "retired: its GPU is gone");
  EXPECT_TRUE(notice->lanes.empty());
  const RunningWorker next(broker, options("next"));
  EXPECT_EQ(asked.get().worker, "next");
  EXPECT_TRUE(broker.read(Board::failures, lost.id.hex())->empty());
}

TEST_F(FleetWorkerTest, IsNotBrokenBecauseAJobDies) {
  FleetWorkerOptions sound = options("sound");
  std::atomic<int> suspicions = 0;
  sound.find_trouble = [&](bool suspected) {
    suspicions += suspected ? 1 : 0;
    return std::string();
  };
  const RunningWorker worker(broker, sound);
  EXPECT_EQ(ask(job("die")).evaluation->verdict, Verdict::crash);
  EXPECT_EQ(suspicions.load(), 3);
  EXPECT_TRUE(ask(job("1")).evaluation->correct());
}

TEST_F(FleetWorkerTest, FinishesWhatItHasTimeFor) {
  auto asked = std::async(std::launch::async, [&] { return ask(job("wait 0.5")); });
  RunningWorker worker(broker, options("polite"));
  while (broker.state(kLane)->under_way == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  worker.leave();
  EXPECT_EQ(asked.get().worker, "polite");
}

TEST_F(FleetWorkerTest, IsSeen) {
  const RunningWorker worker(broker, options("one", 2));
  (void)ask(job("1"));
  std::map<std::string, std::string> notices;
  while (notices.empty())
    notices = *broker.notices(Board::workers, 10);
  const auto presence = read_presence(notices.at("one"));
  ASSERT_TRUE(presence.ok());
  EXPECT_EQ(presence->places, 2);
  EXPECT_EQ(presence->state, "working");
}

TEST(FleetStatus, IsSafeToShow) {
  MemoryBroker broker;
  WorkerPresence odd;
  odd.name = "a\x1b[31m\"b\\";
  odd.lanes = {"lane"};
  odd.state = "working\n\x07";
  ASSERT_TRUE(broker.post(Board::workers, "a", presence_text(odd)).ok());
  ASSERT_TRUE(broker.post(Board::workers, "b", "garbage").ok());
  ASSERT_TRUE(broker.post(Board::failures, "c", "{}").ok());
  const auto status = read_status(broker);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->unreadable, 2U);
  for (const std::string& text :
       {status_text(*status), status_metrics(*status), status_json(*status)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
  }
  EXPECT_NE(status_metrics(*status).find("worker=\"a [31m\\\"b\\\\\""), std::string::npos)
      << status_metrics(*status);
}

TEST(JudgeRequest, ComesBackAsItWas) {
  const std::string text = judge_request({"a\nproblem", "a job"});
  const auto read = read_judge_request(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->problem, "a\nproblem");
  EXPECT_EQ(read->evaluation, "a job");
  for (const char* damaged :
       {"", "1", "\n", "5\nabc", "x\nabc", "-1\nabc", "99999999999999999999\nabc"})
    EXPECT_FALSE(read_judge_request(damaged).ok()) << damaged;
}

}  // namespace
}  // namespace regraph::fleet::fleet_worker_test
