#include "llm/client/in_flight_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace regraph::llm::in_flight_gate_test {
namespace {

using Clock = std::chrono::steady_clock;
using Entry = InFlightGate::Entry;

TEST(InFlightGate, LetsNoMoreInThanItsLimit) {
  InFlightGate gate(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const Cancellation never;
      for (int k = 0; k < 50; ++k) {
        ASSERT_EQ(gate.enter(Clock::now() + std::chrono::seconds(60), never), Entry::entered);
        const int now = ++inside;
        int seen = most.load();
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --inside;
        gate.leave();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_LE(most.load(), 3);
  EXPECT_LE(gate.most(), 3);
  EXPECT_GE(gate.most(), 1);
}

TEST(InFlightGate, WaitersCanBeCancelledOrRunOutOfTime) {
  InFlightGate gate(1);
  Cancellation cancellation;
  ASSERT_EQ(gate.enter(Clock::now(), cancellation), Entry::entered);
  EXPECT_EQ(gate.enter(Clock::now() + std::chrono::milliseconds(5), cancellation),
            Entry::timed_out);
  std::thread canceller([&] { cancellation.request(); });
  EXPECT_EQ(gate.enter(Clock::now() + std::chrono::seconds(60), cancellation), Entry::cancelled);
  canceller.join();
  gate.leave();
  EXPECT_EQ(gate.enter(Clock::now(), cancellation), Entry::cancelled);
  const Cancellation never;
  EXPECT_EQ(gate.enter(Clock::now(), never), Entry::entered);
}

}  // namespace
}  // namespace regraph::llm::in_flight_gate_test
