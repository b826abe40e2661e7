#include "score/server/score_workers.h"

#include "fake_workers.h"

#include <atomic>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>

namespace regraph::score::score_workers_test {
namespace {

using learn::AnswerOutcome;
using test::comes_true;
using test::item;

class Workers : public test::FakeWorkers {};

TEST_F(Workers, SayWhatAnswersAreWorth) {
  const auto workers = start(options(2));
  const Score fast = workers->score(item("s", "2", "mine"), "p", Cancellation());
  EXPECT_EQ(fast.id, "mine");
  EXPECT_EQ(fast.facts.outcome, AnswerOutcome::correct);
  EXPECT_DOUBLE_EQ(fast.facts.seconds, 0.5e-3);
  const Score wrong = workers->score(item("s", "wrong"), "p", Cancellation());
  EXPECT_EQ(wrong.facts.outcome, AnswerOutcome::wrong);
  EXPECT_EQ(wrong.verdict, Verdict::wrong_result);
  const ScoreWorkersCounts counts = workers->counts();
  EXPECT_EQ(counts.workers, 2);
  EXPECT_EQ(counts.alive, 2);
  EXPECT_EQ(counts.scored, 2U);
  EXPECT_EQ(counts.restarts, 0U);
  EXPECT_EQ(counts.queued + counts.running, 0U);
}

TEST_F(Workers, GoOnWhereOneDied) {
  std::mutex mutex;
  std::vector<std::string> reports;
  ScoreWorkersOptions two = options(2);
  two.report = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    reports.push_back(text);
  };
  const auto workers = start(two);
  EXPECT_EQ(workers->score(item("a", "die once"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::correct);
  const auto asked_twice = asked("a");
  ASSERT_EQ(asked_twice.size(), 2U);
  EXPECT_NE(asked_twice[0].process, asked_twice[1].process);

  const Score none = workers->score(item("b", "die"), "p", Cancellation());
  EXPECT_EQ(none.facts.outcome, AnswerOutcome::no_verdict);
  EXPECT_NE(none.message.find("signal 9"), std::string::npos) << none.message;
  EXPECT_EQ(asked("b").size(), 2U);

  EXPECT_EQ(workers->score(item("c", "noise once"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::correct);
  EXPECT_EQ(workers->score(item("d", "noise"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::no_verdict);
  EXPECT_EQ(workers->score(item("e", "1"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::correct);
  EXPECT_TRUE(comes_true([&] { return workers->counts().alive == 2; }));
  EXPECT_EQ(workers->counts().restarts, 6U);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(reports.size(), 6U);
}

TEST_F(Workers, GoOnWithOneAlone) {
  const auto workers = start(options(1));
  EXPECT_EQ(workers->score(item("a", "die once"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::correct);
  EXPECT_EQ(workers->score(item("b", "die"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::no_verdict);
  EXPECT_EQ(workers->score(item("c", "1"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::correct);
}

TEST_F(Workers, AreKilledByOthers) {
  const auto workers = start(options(2));
  std::thread killer([&] {
    ASSERT_TRUE(comes_true([&] { return asked("a").size() == 1; }));
    ::kill(asked("a")[0].process, SIGKILL);
    ASSERT_TRUE(comes_true([&] { return asked("a").size() == 2; }));
    make_file("go");
  });
  const Score score = workers->score(item("a", "wait go"), "p", Cancellation());
  killer.join();
  EXPECT_EQ(score.facts.outcome, AnswerOutcome::correct);
  EXPECT_EQ(asked("a").size(), 2U);
}

TEST_F(Workers, AreNotWaitedForWithoutEnd) {
  ScoreWorkersOptions two = options(2);
  two.worker.candidate_seconds = 0.1;
  two.worker.margin_seconds = 0.1;
  two.worker.opening_seconds = 1.8;  // a process starts slowly under a sanitizer
  const auto workers = start(two);
  Score once;
  std::thread other([&] { once = workers->score(item("a", "hang once"), "p", Cancellation()); });
  const Score none = workers->score(item("b", "hang"), "q", Cancellation());
  other.join();
  EXPECT_EQ(once.facts.outcome, AnswerOutcome::correct);
  EXPECT_EQ(none.facts.outcome, AnswerOutcome::no_verdict);
  EXPECT_NE(none.message.find("no answer within"), std::string::npos) << none.message;
}

TEST_F(Workers, KeepToTheirProblems) {
  const auto workers = start(options(2));
  std::thread first([&] {
    EXPECT_TRUE(comes_true([&] { return asked("a").size() == 1; }));
    // The other worker is free now.
    EXPECT_EQ(workers->score(item("b", "1"), "q", Cancellation()).facts.outcome,
              AnswerOutcome::correct);
    make_file("go");
  });
  EXPECT_EQ(workers->score(item("a", "wait go"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::correct);
  first.join();
  std::set<int> of_p;
  std::set<int> of_q;
  for (int i = 0; i < 10; ++i) {
    for (const char* problem : {"q", "p"}) {
      // A worker is idle a moment after its answer.
      ASSERT_TRUE(comes_true([&] { return workers->counts().idle == 2; }));
      const std::string state = *problem == 'p' ? "a" : "b";
      (void)workers->score(item(state, std::to_string(i)), problem, Cancellation());
    }
  }
  for (const test::Asked& one : asked("a"))
    of_p.insert(one.process);
  for (const test::Asked& one : asked("b"))
    of_q.insert(one.process);
  EXPECT_EQ(of_p.size(), 1U);
  EXPECT_EQ(of_q.size(), 1U);
  EXPECT_NE(of_p, of_q);
  EXPECT_EQ(asked().size(), 22U);
}

TEST_F(Workers, LeaveAProblemToTheWorkerThatHasIt) {
  const auto workers = start(options(2));
  std::atomic<int> ended{0};
  const auto submit = [&](const ScoreItem& what, const std::string& problem) {
    workers->submit(what, problem, std::make_shared<Cancellation>(),
                    [&](const Score&) { ++ended; });
  };
  submit(item("a", "wait go last"), "p");
  submit(item("b", "wait go"), "r");
  ASSERT_TRUE(comes_true([&] { return asked().size() == 2; }));
  submit(item("c", "1"), "p");
  submit(item("d", "1"), "q");
  make_file("go");  // b's worker is free: p has a worker, q has none
  EXPECT_TRUE(comes_true([&] { return ended == 3; }));
  make_file("go last");
  EXPECT_TRUE(comes_true([&] { return ended == 4; }));
  const auto order = asked();
  ASSERT_EQ(order.size(), 4U);
  EXPECT_EQ(order[2].state, "d");
  EXPECT_EQ(order[3].state, "c");
  EXPECT_EQ(order[3].process, asked("b")[0].process);  // sooner than to wait
}

TEST_F(Workers, DropWhatNobodyWaitsFor) {
  const auto workers = start(options(1));
  Cancellation gone;
  std::thread first(
      [&] { EXPECT_EQ(workers->score(item("a", "wait go"), "p", gone).message, "cancelled"); });
  ASSERT_TRUE(comes_true([&] { return asked("a").size() == 1; }));
  std::thread second(
      [&] { EXPECT_EQ(workers->score(item("b", "1"), "p", gone).message, "cancelled"); });
  ASSERT_TRUE(comes_true([&] { return workers->counts().queued == 1; }));
  gone.request();
  first.join();
  second.join();
  make_file("go");  // the worker goes on with what it has begun
  EXPECT_EQ(workers->score(item("c", "1"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::correct);
  EXPECT_TRUE(asked("b").empty());
  EXPECT_EQ(workers->counts().restarts, 0U);
}

TEST_F(Workers, StopAtOnce) {
  const auto workers = start(options(1));
  std::atomic<int> ended{0};
  for (int i = 0; i < 5; ++i) {
    workers->submit(item("a", "wait for ever", std::to_string(i)), "p",
                    std::make_shared<Cancellation>(), [&](const Score& score) {
                      EXPECT_EQ(score.facts.outcome, AnswerOutcome::no_verdict);
                      ++ended;
                    });
  }
  ASSERT_TRUE(comes_true([&] { return asked("a").size() == 1; }));
  workers->stop();
  EXPECT_TRUE(comes_true([&] { return ended == 5; }));
  EXPECT_EQ(workers->score(item("a", "1"), "p", Cancellation()).facts.outcome,
            AnswerOutcome::no_verdict);
}

TEST_F(Workers, ThatCannotWorkAreNoticedAtTheStart) {
  ScoreWorkersOptions broken = options(2);
  broken.worker.program.program = "/nowhere/at/all";
  const auto missing = ScoreWorkers::start(broken, Cancellation());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  broken.worker.program.program = "/bin/sh";
  broken.worker.program.arguments = {"-c", "echo 'no such device' >&2; exit 5"};
  const auto useless = ScoreWorkers::start(broken, Cancellation());
  ASSERT_FALSE(useless.ok());
  EXPECT_NE(useless.error().message.find("no such device"), std::string::npos);
}

}  // namespace
}  // namespace regraph::score::score_workers_test
