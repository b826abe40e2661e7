#include "session/recorded_build.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace regraph::recorded_build_test {
namespace {

namespace fs = std::filesystem;

// An nvcc of the test's stands on PATH: what reaches it is what a build asked for.
class RecordedBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create("regraph-recorded-");
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    const fs::path nvcc = folder->path() / "nvcc";
    ASSERT_TRUE(write_file(nvcc,
                           "#!/bin/sh\n"
                           "echo \"$NVCC_APPEND_FLAGS|$*\" >>\"" +
                               (folder->path() / "reached").string() + "\"\n"));
    fs::permissions(nvcc, fs::perms::owner_all);
    path = std::getenv("PATH");
    ::setenv("PATH", (folder->path().string() + ":" + path).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path.c_str(), 1); }

  [[nodiscard]] Result<std::vector<CompileCommand>, SessionError> build(
      const std::string& command, CapturePlace place = CapturePlace::interpreter) const {
    const Cancellation never;
    return run_recorded_build("cd '" + folder->path().string() + "' && " + command, place, never);
  }
  [[nodiscard]] std::string reached() const {
    const auto text = read_file(folder->path() / "reached", 1 << 20);
    return text ? *text : std::string();
  }

  std::optional<TemporaryDirectory> folder;
  std::string path;
};

TEST_F(RecordedBuildTest, WritesCallsDownAndPassesThemOn) {
  const auto commands = build("nvcc -DA='x y' -Iinc a.cu -o a && (cd / && nvcc -c tmp/b.cu)");
  ASSERT_TRUE(commands) << commands.error().message;
  ASSERT_EQ(commands->size(), 2U);
  const fs::path root = fs::canonical(folder->path());
  const CompileFlags flags = flags_for(*commands, root / "a.cu");
  ASSERT_EQ(flags.defines.size(), 1U);
  EXPECT_EQ(flags.defines.front().second, "x y");
  EXPECT_EQ(flags.include_directories.front(), root / "inc");
  EXPECT_EQ(reached(), "-cudart shared|-DA=x y -Iinc a.cu -o a\n-cudart shared|-c tmp/b.cu\n");
}

TEST_F(RecordedBuildTest, ProgramsForAGpuAreBuiltAsTheyAre) {
  ASSERT_TRUE(build("nvcc a.cu", CapturePlace::gpu));
  EXPECT_EQ(reached(), "|a.cu\n");
}

TEST_F(RecordedBuildTest, CallsByPathAreNotSeen) {
  const auto commands = build("./nvcc a.cu");
  ASSERT_TRUE(commands) << commands.error().message;
  EXPECT_TRUE(commands->empty());
  EXPECT_EQ(reached(), "-cudart shared|a.cu\n");
}

TEST_F(RecordedBuildTest, SaysWhatAFailedBuildSaid) {
  const auto commands = build("echo 'no rule for it' >&2; exit 3");
  ASSERT_FALSE(commands);
  EXPECT_EQ(commands.error().cause, FailureCause::usage);
  EXPECT_NE(commands.error().message.find("no rule for it"), std::string::npos);
}

}  // namespace
}  // namespace regraph::recorded_build_test
