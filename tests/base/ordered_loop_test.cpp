#include "base/ordered_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace regraph::ordered_loop_test {
namespace {

std::vector<std::size_t> upto(std::size_t count) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i)
    numbers.push_back(i);
  return numbers;
}

TEST(OrderedLoop, FinishesInOrderWhatWasPrepared) {
  for (const int most : {1, 2, 5}) {
    ThreadBudget threads;
    threads.limit(most);
    const ThreadBudget::Share calling = threads.enter();
    std::vector<std::atomic<bool>> prepared(40);
    std::vector<std::size_t> finished;
    for_each_in_order(
        threads, prepared.size(),
        [&](std::size_t i) {
          // Later ones are often ready first.
          std::this_thread::sleep_for(std::chrono::microseconds(i % 3 == 0 ? 300 : 10));
          prepared[i] = true;
        },
        [&](std::size_t i) {
          EXPECT_TRUE(prepared[i]);
          finished.push_back(i);
          return true;
        });
    EXPECT_EQ(finished, upto(40));
  }
}

TEST(OrderedLoop, EndsWhereToldTo) {
  for (const int most : {1, 2, 5}) {
    ThreadBudget threads;
    threads.limit(most);
    const ThreadBudget::Share calling = threads.enter();
    std::vector<std::size_t> finished;
    std::atomic<std::size_t> prepared{0};
    for_each_in_order(
        threads, 1000,
        [&](std::size_t) {
          ++prepared;
          std::this_thread::sleep_for(std::chrono::microseconds(100));
        },
        [&](std::size_t i) {
          finished.push_back(i);
          return i < 6;
        });
    EXPECT_EQ(finished, upto(7));
    if (most == 1) {
      EXPECT_EQ(prepared, 7U);
    }
  }
}

TEST(OrderedLoop, ThrowsWhatAnIterationThrows) {
  ThreadBudget threads;
  threads.limit(3);
  const auto nothing = [](std::size_t) {};
  const auto fails = [](std::size_t i) -> bool {
    if (i == 2) throw std::runtime_error("two");
    return true;
  };
  EXPECT_THROW(for_each_in_order(threads, 9, nothing, fails), std::runtime_error);
  EXPECT_THROW(for_each_in_order(
                   threads, 9, [](std::size_t) { throw std::runtime_error("all"); },
                   [](std::size_t) { return true; }),
               std::runtime_error);
}

}  // namespace
}  // namespace regraph::ordered_loop_test
