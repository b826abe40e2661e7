#include "base/child_process.h"

#include <gtest/gtest.h>

#include <fstream>
#include <signal.h>
#include <string>
#include <sys/types.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regraph::child_process_test {
namespace {

ChildRequest shell(std::string script) {
  ChildRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", std::move(script)};
  request.environment = {"PATH=/usr/bin:/bin"};
  return request;
}

ChildOutcome run(const ChildRequest& request) {
  const Cancellation never;
  const Result<ChildOutcome> outcome = run_child(request, never);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? *outcome : ChildOutcome{};
}

// Whether a process with this id runs (a zombie does not).
bool alive(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string id;
  std::string name;
  std::string state;
  return static_cast<bool>(file >> id >> name >> state) && state != "Z" && state != "X";
}

TEST(ChildProcess, PassesInputAndCollectsBothOutputs) {
  ChildRequest request = shell("cat; echo problem >&2; exit 3");
  request.input = "hello";
  const ChildOutcome outcome = run(request);
  EXPECT_EQ(outcome.end, ChildEnd::exited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.output, "hello");
  EXPECT_EQ(outcome.error, "problem\n");
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_GT(outcome.peak_memory_bytes, 0u);
}

TEST(ChildProcess, MovesMegabytesBothWays) {
  std::string input;
  for (int i = 0; i < 400000; ++i)
    input += std::to_string(i) + "\n";
  ChildRequest request = shell("cat");
  request.input = input;
  EXPECT_EQ(run(request).output, input);
}

TEST(ChildProcess, AChildThatDoesNotReadItsInputIsNoProblem) {
  const std::string input(8 << 20, 'x');
  ChildRequest request = shell("exit 0");
  request.input = input;
  EXPECT_TRUE(run(request).succeeded());
}

TEST(ChildProcess, EnvironmentIsExactlyTheGivenOne) {
  ChildRequest request;
  request.program = "/usr/bin/env";
  request.environment = {"ONLY=this"};
  EXPECT_EQ(run(request).output, "ONLY=this\n");
}

TEST(ChildProcess, RunsInTheGivenDirectory) {
  ChildRequest request = shell("pwd");
  request.working_directory = "/usr";
  EXPECT_EQ(run(request).output, "/usr\n");
}

TEST(ChildProcess, TimeoutKillsTheWholeGroup) {
  ChildRequest request = shell("sleep 1000 & echo $!; wait");
  request.wall_seconds = 0.3;
  const ChildOutcome outcome = run(request);
  EXPECT_EQ(outcome.end, ChildEnd::timed_out);
  const pid_t grandchild = std::stoi(outcome.output);
  for (int i = 0; i < 500 && alive(grandchild); ++i)
    ::usleep(10000);
  EXPECT_FALSE(alive(grandchild));
}

TEST(ChildProcess, NoGrandchildOutlivesAChildThatEnded) {
  const ChildOutcome outcome = run(shell("sleep 1000 & echo $!"));
  EXPECT_TRUE(outcome.succeeded());
  const pid_t grandchild = std::stoi(outcome.output);
  for (int i = 0; i < 500 && alive(grandchild); ++i)
    ::usleep(10000);
  EXPECT_FALSE(alive(grandchild));
}

TEST(ChildProcess, ReportsTheSignalThatKilledIt) {
  const ChildOutcome outcome = run(shell("kill -SEGV $$"));
  EXPECT_EQ(outcome.end, ChildEnd::signalled);
  EXPECT_EQ(outcome.signal, SIGSEGV);
}

TEST(ChildProcess, TooMuchOutputKillsTooMuchErrorIsDropped) {
  ChildRequest request = shell("yes");
  request.output_limit_bytes = 100000;
  const ChildOutcome outcome = run(request);
  EXPECT_EQ(outcome.end, ChildEnd::output_limit);
  EXPECT_EQ(outcome.output.size(), 100000u);

  request = shell("yes | head -c 1000000 >&2");
  request.error_limit_bytes = 5000;
  const ChildOutcome noisy = run(request);
  EXPECT_TRUE(noisy.succeeded());
  EXPECT_EQ(noisy.error.size(), 5000u);
}

TEST(ChildProcess, LimitsHold) {
  ChildRequest request = shell("ulimit -n; ulimit -c; ulimit -t; ulimit -v; ulimit -f");
  request.limits = {std::uint64_t{1} << 30, 7, std::uint64_t{512} * 1024, 32};
  EXPECT_EQ(run(request).output, "32\n0\n7\n1048576\n1024\n");

  request = shell("while :; do :; done");
  request.limits.cpu_seconds = 1;
  const ChildOutcome outcome = run(request);
  EXPECT_EQ(outcome.end, ChildEnd::signalled);
}

TEST(ChildProcess, NoDescriptorLeaksIn) {
  std::ifstream held("/etc/hostname");  // not opened close-on-exec by every library
  const int raw = ::dup(0);
  const ChildOutcome outcome = run(shell("ls /proc/self/fd | wc -l"));
  ::close(raw);
  EXPECT_EQ(std::stoi(outcome.output), 4);  // 0, 1, 2 and ls' own directory
}

TEST(ChildProcess, AMissingProgramIsNotFound) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer makes a fork of vfork, and the child's error stays in the child";
#endif
  ChildRequest request;
  request.program = "/nonexistent/program";
  const Cancellation never;
  const auto outcome = run_child(request, never);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::not_found);
  EXPECT_NE(outcome.error().message.find("/nonexistent/program"), std::string::npos);

  request.program = "/etc/hostname";
  const auto not_a_program = run_child(request, never);
  ASSERT_FALSE(not_a_program.ok());
  EXPECT_EQ(not_a_program.error().code, ErrorCode::io);
}

TEST(ChildProcess, CancellationEndsIt) {
  Cancellation cancellation;
  std::thread canceller([&] {
    ::usleep(100000);
    cancellation.request();
  });
  const auto outcome = run_child(shell("sleep 1000"), cancellation);
  canceller.join();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, ChildEnd::cancelled);
}

TEST(ChildProcess, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> good(8, 0);
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([t, &good] {
      for (int i = 0; i < 20; ++i) {
        const std::string text = std::to_string(t) + ":" + std::to_string(i);
        ChildRequest request = shell("cat");
        request.input = text;
        const Cancellation never;
        const auto outcome = run_child(request, never);
        if (outcome.ok() && outcome->output == text) ++good[t];
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const int count : good)
    EXPECT_EQ(count, 20);
}

}  // namespace
}  // namespace regraph::child_process_test
