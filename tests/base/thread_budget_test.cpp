#include "base/thread_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace regraph::thread_budget_test {
namespace {

using std::chrono::milliseconds;

TEST(ThreadBudget, DoesEachOnce) {
  for (const int threads : {1, 2, 7}) {
    ThreadBudget budget;
    budget.limit(threads);
    const ThreadBudget::Share calling = budget.enter();
    std::vector<std::atomic<int>> done(100);
    budget.for_each_index(done.size(), [&](std::size_t index) { ++done[index]; });
    for (const auto& one : done)
      EXPECT_EQ(one, 1);
  }
}

TEST(ThreadBudget, DoesNothingForNothing) {
  ThreadBudget budget;
  budget.limit(4);
  budget.for_each_index(0, [](std::size_t) { FAIL(); });
}

TEST(ThreadBudget, WithoutALimitTheCallerWorksAloneAndInOrder) {
  ThreadBudget budget;
  std::vector<std::size_t> order;
  budget.for_each_index(5, [&](std::size_t index) { order.push_back(index); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// Threads at once, at most, in `callers` calls that begin together.
int most_at_once(ThreadBudget& budget, int callers) {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  const auto call = [&] {
    const ThreadBudget::Share calling = budget.enter();
    budget.for_each_index(20, [&](std::size_t) {
      const int count = ++now;
      for (int seen = most; seen < count && !most.compare_exchange_weak(seen, count);) {
      }
      std::this_thread::sleep_for(milliseconds(2));
      --now;
    });
  };
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(callers));
  for (int i = 0; i < callers; ++i)
    threads.emplace_back(call);
  threads.clear();
  return most;
}

TEST(ThreadBudget, IsSharedByCallsAndKept) {
  ThreadBudget budget;
  budget.limit(4);
  EXPECT_EQ(most_at_once(budget, 1), 4);
  // Callers work whatever the budget says; helpers that were there before them end soon.
  const int crowd = most_at_once(budget, 6);
  EXPECT_GE(crowd, 6);
  EXPECT_LE(crowd, 6 + 3);
  EXPECT_EQ(most_at_once(budget, 1), 4) << "threads were not given back";
}

TEST(ThreadBudget, ThrowsWhatWasThrownOnceAllHaveReturned) {
  ThreadBudget budget;
  budget.limit(4);
  const ThreadBudget::Share calling = budget.enter();
  std::atomic<int> running{0};
  const auto work = [&](std::size_t index) {
    ++running;
    std::this_thread::sleep_for(milliseconds(1));
    --running;
    if (index == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(budget.for_each_index(50, work), std::runtime_error);
  EXPECT_EQ(running, 0);
}

}  // namespace
}  // namespace regraph::thread_budget_test
