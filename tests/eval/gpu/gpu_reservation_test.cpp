#include "eval/gpu/gpu_reservation.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regraph::gpu::gpu_reservation_test {
namespace {

using Clock = std::chrono::steady_clock;

TEST(GpuReservationTest, IsNamedAfterTheBusId) {
  EXPECT_EQ(GpuReservation::file_of("00000000:1B:00.0").filename(), "regraph-gpu-00000000-1B-00-0");
}

TEST(GpuReservationTest, OneAtATime) {
  const auto directory = TemporaryDirectory::create("regraph-reservation-");
  ASSERT_TRUE(directory.ok());
  const Cancellation never;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> turns = 0;
  const auto use = [&] {
    for (int turn = 0; turn < 5; ++turn) {
      const auto reservation = GpuReservation::wait(directory->path() / "gpu", never);
      ASSERT_TRUE(reservation.held());
      most = std::max(most.load(), ++inside);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --inside;
      ++turns;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(use);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 20);
}

TEST(GpuReservationTest, AnotherProcessIsWaitedForUntilItEnds) {
  const auto directory = TemporaryDirectory::create("regraph-reservation-");
  ASSERT_TRUE(directory.ok());
  const std::filesystem::path file = directory->path() / "gpu";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = GpuReservation::wait(file, Cancellation());
    (void)!write(ready[1], held.held() ? "y" : "n", 1);
    usleep(200'000);
    _exit(0);  // without giving it back
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  const auto start = Clock::now();
  EXPECT_TRUE(GpuReservation::wait(file, Cancellation()).held());
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(100));
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(GpuReservationTest, WhoComesAgainAtOnceWaitsForOthers) {
  const auto directory = TemporaryDirectory::create("regraph-reservation-");
  ASSERT_TRUE(directory.ok());
  const Cancellation never;
  std::atomic<bool> served = false;
  std::atomic<bool> waiting = false;
  std::thread patient;
  int turns_before = 0;
  for (int turn = 0; turn < 200 && !served; ++turn) {
    const auto greedy = GpuReservation::wait(directory->path() / "gpu", never);
    ASSERT_TRUE(greedy.held());
    if (turn == 0) {
      patient = std::thread([&] {
        waiting = true;
        const auto reservation = GpuReservation::wait(directory->path() / "gpu", never);
        served = true;
      });
    }
    while (!waiting)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++turns_before;
  }
  patient.join();
  // Its own turn, and those until the other stood in line.
  EXPECT_LE(turns_before, 5);
}

TEST(GpuReservationTest, WhoIsCancelledDoesNotWait) {
  const auto directory = TemporaryDirectory::create("regraph-reservation-");
  ASSERT_TRUE(directory.ok());
  const Cancellation never;
  const auto holder = GpuReservation::wait(directory->path() / "gpu", never);
  ASSERT_TRUE(holder.held());
  Cancellation cancelled;
  cancelled.request();
  EXPECT_FALSE(GpuReservation::wait(directory->path() / "gpu", cancelled).held());
}

TEST(GpuReservationTest, WithoutAFileTimingGoesOn) {
  const auto directory = TemporaryDirectory::create("regraph-reservation-");
  ASSERT_TRUE(directory.ok());
  EXPECT_FALSE(GpuReservation::wait(directory->path() / "absent" / "gpu", Cancellation()).held());
}

}  // namespace
}  // namespace regraph::gpu::gpu_reservation_test
