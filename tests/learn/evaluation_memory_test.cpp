#include "learn/evaluation_memory.h"

#include "base/files.h"
#include "search/landscape.h"

#include <gtest/gtest.h>

#include <thread>

namespace regraph::learn::evaluation_memory_test {
namespace {

using landscape::World;

// Says the same of the same, and counts.
class Counting final : public Evaluator {
 public:
  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation&) override {
    ++calls;
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.message = verdict == Verdict::correct ? "" : "why";
    const double seconds = 1e-3 * (1.0 + static_cast<double>(budget.seed));
    evaluation.time = {seconds, 0.9 * seconds, 1.1 * seconds, 3, TimeMethod::predicted};
    evaluation.resources.registers_per_thread = 40;
    evaluation.facts = {{"waves", 1.0 / 3.0}, {"occupancy", 0.5}};
    evaluation.bottleneck = "DRAM of " + candidate.source;
    evaluation.roofline_seconds = 5e-4;
    evaluation.machine_code = candidate.identity;
    return evaluation;
  }
  std::atomic<int> calls = 0;
  Verdict verdict = Verdict::correct;
};

class EvaluationMemoryTest : public ::testing::Test {
 protected:
  EvaluationMemoryTest() : directory_(*TemporaryDirectory::create("regraph-memory-")) {}

  [[nodiscard]] std::filesystem::path file() const {
    return directory_.path() / "below" / "evaluations.db";
  }
  [[nodiscard]] std::unique_ptr<EvaluationMemory> open(const std::string& scope = "scope") {
    auto memory = EvaluationMemory::open(inner_, file(), scope);
    EXPECT_TRUE(memory) << memory.error().message;
    return std::move(*memory);
  }
  static Evaluation evaluate(EvaluationMemory& memory, std::uint32_t candidate = 7,
                             const EvaluationBudget& budget = {}) {
    return memory.evaluate(World::candidate(candidate), budget, Cancellation{});
  }
  Counting inner_;

 private:
  TemporaryDirectory directory_;
};

TEST_F(EvaluationMemoryTest, RecallsWhatItHasSeen) {
  auto memory = open();
  const Evaluation first = evaluate(*memory);
  for (int sitting = 0; sitting < 2; ++sitting) {
    const Evaluation again = evaluate(*memory);
    EXPECT_EQ(again.verdict, Verdict::correct);
    EXPECT_EQ(again.time.median_seconds, first.time.median_seconds);
    EXPECT_EQ(again.time.low_seconds, first.time.low_seconds);
    EXPECT_EQ(again.time.high_seconds, first.time.high_seconds);
    EXPECT_EQ(again.time.samples, 3);
    EXPECT_EQ(again.resources.registers_per_thread, 40);
    EXPECT_EQ(again.facts, first.facts);
    EXPECT_EQ(again.bottleneck, "DRAM of 7");
    EXPECT_EQ(again.roofline_seconds, first.roofline_seconds);
    EXPECT_EQ(again.machine_code, first.machine_code);
    EXPECT_EQ(memory->recalled(), 1);
    EXPECT_EQ(memory->evaluated(), sitting == 0 ? 1 : 0);
    memory.reset();
    memory = open();
  }
  EXPECT_EQ(inner_.calls, 1);
}

TEST_F(EvaluationMemoryTest, RejectionsAreRecalledToo) {
  inner_.verdict = Verdict::wrong_result;
  const auto memory = open();
  static_cast<void>(evaluate(*memory));
  const Evaluation again = evaluate(*memory);
  EXPECT_EQ(again.verdict, Verdict::wrong_result);
  EXPECT_EQ(again.message, "why");
  EXPECT_EQ(inner_.calls, 1);
}

TEST_F(EvaluationMemoryTest, WhatAResultDependsOnIsTheKey) {
  auto memory = open();
  static_cast<void>(evaluate(*memory));
  static_cast<void>(evaluate(*memory, 8));
  EXPECT_EQ(inner_.calls, 2);
  EvaluationBudget budget;
  budget.seed = 1;
  EXPECT_NE(evaluate(*memory, 7, budget).time.median_seconds,
            evaluate(*memory).time.median_seconds);
  budget.repetitions = 2;
  static_cast<void>(evaluate(*memory, 7, budget));
  budget.effort = EvaluationBudget::Effort::confirmation;
  static_cast<void>(evaluate(*memory, 7, budget));
  budget.measured_over_predicted = 1.5;
  static_cast<void>(evaluate(*memory, 7, budget));
  EXPECT_EQ(inner_.calls, 6);
  budget.wall_seconds = 1.0;  // changes how long a call may last, not what it says
  static_cast<void>(evaluate(*memory, 7, budget));
  EXPECT_EQ(inner_.calls, 6);
  Candidate assuming = World::candidate(7);
  assuming.assumptions = {"noalias"};
  static_cast<void>(memory->evaluate(assuming, {}, Cancellation{}));
  assuming = World::candidate(7);
  assuming.plan.launches.push_back({"f", {32, 1, 1}});
  static_cast<void>(memory->evaluate(assuming, {}, Cancellation{}));
  EXPECT_EQ(inner_.calls, 8);
  memory.reset();
  memory = open("another scope");
  static_cast<void>(evaluate(*memory));
  EXPECT_EQ(inner_.calls, 9);
  memory.reset();
  memory = open();  // and the first one is still there
  static_cast<void>(evaluate(*memory));
  EXPECT_EQ(inner_.calls, 9);
}

TEST_F(EvaluationMemoryTest, TimeoutsAndCancelledCallsAreNotKept) {
  const auto memory = open();
  inner_.verdict = Verdict::timeout;
  EXPECT_EQ(evaluate(*memory).verdict, Verdict::timeout);
  inner_.verdict = Verdict::crash;
  Cancellation cancellation;
  cancellation.request();
  static_cast<void>(memory->evaluate(World::candidate(7), {}, cancellation));
  inner_.verdict = Verdict::correct;
  EXPECT_EQ(evaluate(*memory).verdict, Verdict::correct);
  EXPECT_EQ(inner_.calls, 3);
  EXPECT_EQ(memory->recalled(), 0);
  EXPECT_EQ(memory->evaluated(), 1);
}

TEST_F(EvaluationMemoryTest, ADamagedFileIsBegunAnew) {
  static_cast<void>(evaluate(*open()));
  std::string foreign(4096, 'x');
  ASSERT_TRUE(write_file(file(), foreign));
  for (int opened = 0; opened < 2; ++opened) {
    const auto memory = open();
    EXPECT_EQ(evaluate(*memory).verdict, Verdict::correct);
    EXPECT_EQ(memory->recalled(), opened);  // what is written then is kept
  }
  EXPECT_EQ(inner_.calls, 2);
}

TEST_F(EvaluationMemoryTest, ATableOfAnotherVersionIsBegunAnew) {
  std::filesystem::create_directories(file().parent_path());
  {
    auto database = SqliteDatabase::open(file(), SqliteDatabase::Mode::create);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("CREATE TABLE remembered (key TEXT PRIMARY KEY, odd TEXT)"));
  }
  for (int opened = 0; opened < 2; ++opened)
    static_cast<void>(evaluate(*open()));
  EXPECT_EQ(inner_.calls, 1);
}

TEST_F(EvaluationMemoryTest, DamagedRowsAreWorkedOutAgain) {
  static_cast<void>(evaluate(*open()));
  {
    auto database = SqliteDatabase::open(file(), SqliteDatabase::Mode::create);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("UPDATE remembered SET bottleneck = 'luck'"));
  }
  const auto memory = open();
  EXPECT_EQ(evaluate(*memory).bottleneck, "DRAM of 7");
  EXPECT_EQ(evaluate(*memory).bottleneck, "DRAM of 7");
  EXPECT_EQ(memory->recalled(), 1);
  EXPECT_EQ(inner_.calls, 2);
}

TEST_F(EvaluationMemoryTest, ThreadsMayShareIt) {
  const auto memory = open();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (std::uint32_t candidate = 0; candidate < 40; ++candidate)
          EXPECT_EQ(evaluate(*memory, candidate).machine_code,
                    World::candidate(candidate).identity);
      });
    }
  }
  EXPECT_EQ(memory->recalled() + memory->evaluated(), 160);
  EXPECT_EQ(inner_.calls, memory->evaluated());
}

}  // namespace
}  // namespace regraph::learn::evaluation_memory_test
