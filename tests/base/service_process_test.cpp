#include "base/service_process.h"

#include "base/frame_stream.h"
#include "base/shared_memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace regraph::service_process_test {
namespace {

constexpr double kPatience = 20.0;

SpawnRequest shell(const std::string& script) {
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", script};
  return request;
}

std::string answer_of(const std::string& script, double seconds = kPatience) {
  auto process = ServiceProcess::start(shell(script));
  if (!process.ok()) return process.error().message;
  const auto answer = process->ask("question", seconds, Cancellation());
  EXPECT_EQ(process->alive(), answer.ok());
  return answer.ok() ? "answer: " + *answer : answer.error().message;
}

TEST(ServiceProcess, AnswersOneMessageAfterTheOther) {
  SpawnRequest request;
  request.program = "/bin/cat";  // says every message again
  auto process = ServiceProcess::start(request);
  ASSERT_TRUE(process.ok());
  const std::string long_one(3 << 20, 'x');
  for (const std::string& message : {std::string("one"), std::string(), long_one}) {
    const auto answer = process->ask(message, kPatience, Cancellation());
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(*answer, message);
  }
  EXPECT_TRUE(process->alive());
  process->kill();
  EXPECT_FALSE(process->alive());
  EXPECT_FALSE(process->ask("again", kPatience, Cancellation()).ok());
}

TEST(ServiceProcess, SaysHowAnotherEnded) {
  EXPECT_EQ(answer_of("echo 'out of paper' >&2; exit 3"),
            "the process ended without an answer (exit code 3): out of paper");
  EXPECT_EQ(answer_of("kill -SEGV $$"), "the process ended without an answer (signal 11)");
  EXPECT_EQ(answer_of("printf '\\005\\000\\000\\000abc'"),
            "the process ended without an answer (exit code 0)");
}

TEST(ServiceProcess, GivesUpOnSilence) {
  EXPECT_EQ(answer_of("exec sleep 100", 0.1), "no answer within 0.1 seconds");
  EXPECT_EQ(answer_of("printf '\\377\\377\\377\\377'; exec sleep 100"),
            "the process answers with too long a message");
  EXPECT_EQ(answer_of("printf '\\001\\000\\000\\000ab'; exec sleep 100"),
            "the process says more than it was asked");
}

TEST(ServiceProcess, StopsWhenAsked) {
  auto process = ServiceProcess::start(shell("exec sleep 100"));
  ASSERT_TRUE(process.ok());
  Cancellation cancellation;
  std::thread other([&] { cancellation.request(); });
  const auto answer = process->ask("question", kPatience, cancellation);
  other.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
}

TEST(ServiceProcess, LeavesNoProcessBehind) {
  pid_t grandchild = 0;
  {
    auto process =
        ServiceProcess::start(shell("sleep 100 & printf '\\012\\000\\000\\000%010d' $!; wait"));
    ASSERT_TRUE(process.ok());
    const auto answer = process->ask("question", kPatience, Cancellation());
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    grandchild = std::stoi(*answer);
    EXPECT_EQ(::kill(grandchild, 0), 0);
  }
  for (int i = 0; i < 200 && ::kill(grandchild, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(::kill(grandchild, 0), 0);
}

TEST(ServiceProcess, IsLeftToEndByItself) {
  // Says more than is read before it ends.
  auto process =
      ServiceProcess::start(shell("cat; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"));
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(process->ask("question", kPatience, Cancellation()).ok());
  EXPECT_TRUE(process->finish(kPatience, Cancellation()).ok());
  EXPECT_FALSE(process->alive());
  EXPECT_TRUE(process->finish(kPatience, Cancellation()).ok());  // nothing is left to do

  auto silent = ServiceProcess::start(shell("exec sleep 100"));
  ASSERT_TRUE(silent.ok());
  const Status late = silent->finish(0.1, Cancellation());
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::resource);
  EXPECT_FALSE(silent->alive());
}

TEST(ServiceProcess, MayCleanUpWithinItsGrace) {
  auto memory = SharedMemory::create();
  ASSERT_TRUE(memory.ok());
  SpawnRequest request = shell(
      "trap 'printf clean >&3; exit' TERM; printf '\\000\\000\\000\\000'; while :; do sleep 0.01; "
      "done");
  request.descriptors = {memory->descriptor()};
  {
    auto process = ServiceProcess::start(request, kPatience);
    ASSERT_TRUE(process.ok());
    ASSERT_TRUE(process->ask("", kPatience, Cancellation()).ok());
  }
  ASSERT_TRUE(memory->refresh().ok());
  EXPECT_EQ(memory->bytes().size(), 5U);

  // One that does not listen is killed after that.
  auto process = ServiceProcess::start(
      shell("trap '' TERM; printf '\\000\\000\\000\\000'; while :; do sleep 0.01; done"), 0.1);
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(process->ask("", kPatience, Cancellation()).ok());
  process->kill();
  EXPECT_FALSE(process->alive());
}

TEST(FrameStream, ReadsWhatWasWritten) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  for (const std::string& message : {std::string("one"), std::string(), std::string("\0x", 2)}) {
    ASSERT_TRUE(write_frame(writing.get(), message));
    EXPECT_EQ(read_frame(reading.get()), message);
  }
  ASSERT_EQ(::write(writing.get(), "\005\0\0\0abc", 7), 7);  // broken off
  writing.reset();
  EXPECT_FALSE(read_frame(reading.get()));
  EXPECT_FALSE(read_frame(reading.get()));  // the end
}

TEST(SharedMemory, IsSeenByTheChild) {
  auto memory = SharedMemory::create();
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(memory->grow(5).ok());
  const std::string text = "hello";
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(memory->bytes().data()));
  SpawnRequest request = shell("printf '\\005\\000\\000\\000'; cat <&3; exec sleep 100");
  request.descriptors = {memory->descriptor()};
  auto process = ServiceProcess::start(request);
  ASSERT_TRUE(process.ok());
  const auto answer = process->ask("", kPatience, Cancellation());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, text);
}

TEST(SharedMemory, GrowsAndKeepsWhatItHolds) {
  auto memory = SharedMemory::create();
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(memory->grow(100).ok());
  memory->bytes()[99] = std::byte{42};
  auto other = SharedMemory::attach(FileDescriptor(::dup(memory->descriptor())));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->bytes().size(), 100U);
  ASSERT_TRUE(memory->grow(1 << 20).ok());
  EXPECT_EQ(memory->bytes()[99], std::byte{42});
  ASSERT_TRUE(other->refresh().ok());
  EXPECT_EQ(other->bytes().size(), std::size_t{1} << 20);
  EXPECT_EQ(other->bytes()[99], std::byte{42});
  EXPECT_FALSE(SharedMemory::attach(FileDescriptor(-1)).ok());
}

}  // namespace
}  // namespace regraph::service_process_test
