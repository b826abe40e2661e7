#include "eval/gpu/driver/nvml.h"

#include "eval/gpu/driver/gpu_disturbances.h"
#include "with_environment.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace regraph::gpu::nvml_test {
namespace {

using test::WithEnvironment;

constexpr const char* kBusId = "0000:1b:00.0";

std::vector<std::string> library(const std::string& folder) {
  return {std::string(REGRAPH_FAKE_NVML) + "/" + folder + "/libnvidia-ml.so.1"};
}

Result<GpuState> read(const std::string& folder) {
  return read_gpu_state(kBusId, library(folder));
}

TEST(Nvml, EverythingThatIsKnownIsRead) {
  const auto state = read("full");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->name, "NVIDIA Fake");
  EXPECT_EQ(state->driver, "580.1");
  EXPECT_EQ(state->persistent, true);
  EXPECT_EQ(state->sm_clock_hertz, 345e6);
  EXPECT_EQ(state->most_sm_clock_hertz, 1980e6);
  EXPECT_EQ(state->memory_clock_hertz, 3201e6);
  EXPECT_FALSE(state->most_memory_clock_hertz);  // refused
  EXPECT_EQ(state->clock_events, 1U);
  EXPECT_EQ(state->celsius, 34.0);
  EXPECT_NEAR(*state->watts, 75.4, 1e-9);
  EXPECT_EQ(state->most_watts, 700.0);
  EXPECT_EQ(state->used_bytes, 400ULL << 20);
  ASSERT_TRUE(state->users);
  EXPECT_TRUE(state->users->empty());
  EXPECT_EQ(state_text(*state),
            "SM 345 of 1980 MHz, memory 3201 MHz; clocks held by: idle; 34 C, 75 of 700 W; 400 MiB "
            "in use; persistence mode on; driver 580.1");
}

TEST(Nvml, AnOlderLibrarySaysLess) {
  const auto state = read("old");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->sm_clock_hertz, 345e6);
  EXPECT_EQ(state->clock_events, 1U);  // by its old name
  EXPECT_FALSE(state->persistent);
  EXPECT_FALSE(state->celsius);
  EXPECT_FALSE(state->watts);
  EXPECT_FALSE(state->used_bytes);
  EXPECT_FALSE(state->users);
  EXPECT_TRUE(disturbances(*state, false).empty());
}

TEST(Nvml, WhatCannotBeReadIsAnError) {
  const std::vector<std::string> nowhere = {"/nonexistent/libnvidia-ml.so.1"};
  const auto none = read_gpu_state(kBusId, nowhere);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);

  const auto empty = read("empty");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::unsupported);

  const auto refused = read("refused");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::permission);
  EXPECT_NE(refused.error().message.find("Insufficient Permissions"), std::string::npos)
      << refused.error().message;

  const auto other = read_gpu_state("0000:99:00.0", library("full"));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::not_found);
  EXPECT_NE(other.error().message.find("0000:99:00.0"), std::string::npos);
}

TEST(Nvml, OtherProcessesAreNamed) {
  const WithEnvironment who("FAKE_PROCESS", std::to_string(::getppid()));
  const WithEnvironment many("FAKE_PROCESSES", "40");  // more than the first list has room for
  const auto state = read("full");
  ASSERT_TRUE(state.ok()) << state.error().message;
  ASSERT_TRUE(state->users);
  ASSERT_EQ(state->users->size(), 40U);
  EXPECT_EQ(state->users->front().process, ::getppid());
  EXPECT_TRUE(state->users->front().visible);
  EXPECT_EQ(state->users->front().bytes, 512ULL << 20);
  EXPECT_FALSE(state->users->back().bytes);
  const auto words = disturbances(*state, true);
  ASSERT_EQ(words.size(), 40U);
  EXPECT_EQ(words.front(), "process " + std::to_string(::getppid()) + " uses the GPU (512 MiB)");
  EXPECT_EQ(words.back(), "process " + std::to_string(::getppid()) + " uses the GPU");
}

TEST(Nvml, OurOwnProcessesAreNot) {
  const WithEnvironment one("FAKE_PROCESSES", "1");
  {
    const WithEnvironment who("FAKE_PROCESS", std::to_string(::getpid()));
    EXPECT_TRUE(read("full")->users->empty());
  }
  int pair[2];
  ASSERT_EQ(::pipe(pair), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // A worker below a tool: a grandchild.
    const pid_t grandchild = ::fork();
    if (grandchild != 0 && ::write(pair[1], &grandchild, sizeof(grandchild)) < 0) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(pair[0], &grandchild, sizeof(grandchild)),
            static_cast<ssize_t>(sizeof(grandchild)));
  {
    const WithEnvironment who("FAKE_PROCESS", std::to_string(grandchild));
    EXPECT_TRUE(read("full")->users->empty());
  }
  ::kill(grandchild, SIGKILL);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pair[0]);
  ::close(pair[1]);
}

TEST(Nvml, AProcessThatCannotBeSeenCountsOnlyWhileWeHaveNone) {
  const WithEnvironment one("FAKE_PROCESSES", "1");
  const WithEnvironment who("FAKE_PROCESS", "2147483647");  // above any that Linux gives
  const auto state = read("full");
  ASSERT_EQ(state->users->size(), 1U);
  EXPECT_FALSE(state->users->front().visible);
  EXPECT_EQ(disturbances(*state, false).size(), 1U);
  EXPECT_TRUE(disturbances(*state, true).empty());
}

TEST(Nvml, HeatAndPowerSupplyDisturb) {
  EXPECT_EQ(clock_event_words(0x1 | 0x40 | 0x1000),
            (std::vector<std::string>{"idle", "hardware thermal slowdown", "0x1000"}));
  EXPECT_EQ(slowing_clock_events(0x1 | 0x2 | 0x4 | 0x10 | 0x100), 0U);
  EXPECT_EQ(slowing_clock_events(0xffff), 0x8U | 0x20U | 0x40U | 0x80U);
  const WithEnvironment hot("FAKE_CLOCK_EVENTS", "0xA4");
  DisturbanceLog log({kBusId}, library("full"));
  EXPECT_EQ(log.look(false),
            std::vector<std::string>{
                "clocks are held down by software thermal slowdown, hardware power brake"});
  (void)log.look(true);
  EXPECT_EQ(log.seen().size(), 1U);  // the same again
  DisturbanceLog two({kBusId, "0000:99:00.0"}, library("full"));
  EXPECT_EQ(two.look(false).front().find("GPU 0000:1b:00.0: "), 0U);
}

}  // namespace
}  // namespace regraph::gpu::nvml_test
