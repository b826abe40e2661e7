#include "agent/workspace.h"

#include "agent/call_record.h"
#include "base/files.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <sys/stat.h>

namespace regraph::agent::workspace_test {
namespace {

class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() : outside_(*TemporaryDirectory::create("regraph-workspace-")) {
    EXPECT_TRUE(write_file(outside_.path() / "secret", "secret").ok());
    workspace = std::make_unique<Workspace>(*Workspace::open(folder(), {}));
  }
  [[nodiscard]] std::filesystem::path folder() const { return outside_.path() / "inside"; }
  [[nodiscard]] std::filesystem::path outside() const { return outside_.path(); }
  void limit(const WorkspaceLimits& limits) {
    workspace = std::make_unique<Workspace>(*Workspace::open(folder(), limits));
  }
  [[nodiscard]] ErrorCode error_of(const std::string& name) const {
    const auto read = workspace->read(name);
    EXPECT_FALSE(read.ok()) << name;
    return read.ok() ? ErrorCode::internal : read.error().code;
  }

  std::unique_ptr<Workspace> workspace;

 private:
  TemporaryDirectory outside_;
};

TEST_F(WorkspaceTest, ReadsWhatItWrote) {
  ASSERT_TRUE(workspace->write("kernel.cu", "one").ok());
  ASSERT_TRUE(workspace->write("kernel.cu", "two").ok());
  ASSERT_TRUE(workspace->write("a/b/c.txt", "three").ok());
  ASSERT_TRUE(workspace->append("a/log", "x").ok());
  ASSERT_TRUE(workspace->append("a/log", "y").ok());
  EXPECT_EQ(*workspace->read("kernel.cu"), "two");
  EXPECT_EQ(*workspace->read("a/b/c.txt"), "three");
  EXPECT_EQ(*workspace->read("a/log"), "xy");
  EXPECT_TRUE(workspace->has("a/log"));
  EXPECT_FALSE(workspace->has("a/other"));
  EXPECT_EQ(error_of("missing.cu"), ErrorCode::not_found);
}

TEST_F(WorkspaceTest, LetsNoNameOut) {
  for (const std::string name : {"", "/etc/passwd", "../secret", "a/../../secret", "..", ".",
                                 "a//b", "a/", "./secret", "a\\b", "a\nb", "\xff"}) {
    EXPECT_EQ(error_of(name), ErrorCode::invalid_argument) << name;
    EXPECT_FALSE(workspace->write(name, "x").ok()) << name;
    EXPECT_FALSE(workspace->append(name, "x").ok()) << name;
  }
  EXPECT_EQ(error_of(std::string("a\0b", 3)), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(std::string(300, 'a')), ErrorCode::invalid_argument);
  EXPECT_EQ(*read_file(outside() / "secret", 100), "secret");
}

TEST_F(WorkspaceTest, FollowsNoSymbolicLink) {
  std::filesystem::create_symlink(outside() / "secret", folder() / "link.cu");
  std::filesystem::create_directory_symlink(outside(), folder() / "way");
  std::filesystem::create_symlink("kernel.cu", folder() / "inner.cu");
  ASSERT_TRUE(workspace->write("kernel.cu", "one").ok());
  EXPECT_EQ(error_of("link.cu"), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of("way/secret"), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of("inner.cu"), ErrorCode::invalid_argument);
  EXPECT_FALSE(workspace->append("link.cu", "x").ok());
  EXPECT_FALSE(workspace->write("way/new", "x").ok());
  EXPECT_FALSE(workspace->make_folder("way/new").ok());
  // It is replaced, not followed.
  EXPECT_TRUE(workspace->write("link.cu", "mine").ok());
  EXPECT_EQ(*read_file(outside() / "secret", 100), "secret");
  EXPECT_FALSE(std::filesystem::exists(outside() / "new"));
}

TEST_F(WorkspaceTest, TakesOnlyFiles) {
  std::filesystem::create_directory(folder() / "folder");
  ASSERT_EQ(::mkfifo((folder() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of("folder"), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of("pipe"), ErrorCode::invalid_argument);  // and does not wait for a writer
  EXPECT_FALSE(workspace->append("pipe", "x").ok());
}

TEST_F(WorkspaceTest, HasLimits) {
  limit({.file_bytes = 10, .files = 3, .bytes = 1000});
  EXPECT_FALSE(workspace->write("large", std::string(11, 'x')).ok());
  ASSERT_TRUE(write_file(folder() / "large", std::string(11, 'x')).ok());
  EXPECT_EQ(error_of("large"), ErrorCode::resource);
  EXPECT_TRUE(workspace->write("two", "x").ok());
  EXPECT_TRUE(workspace->write("three", "x").ok());
  EXPECT_TRUE(workspace->write("four", "x").ok());
  EXPECT_FALSE(workspace->write("five", "x").ok());
  EXPECT_EQ(workspace->append("log", "x").error().code, ErrorCode::resource);
}

TEST_F(WorkspaceTest, KeepsCalls) {
  CallRecorder recorder(*workspace, "session");
  CallRecord record;
  record.number = 4;
  record.client = "test 7";
  record.tool = "score";
  record.arguments = {{"source", "line\nline"}};
  record.outcome = "answered";
  record.result = {"EQUAL", {{"equal", true}}, false};
  ASSERT_TRUE(recorder.add(record).ok());
  ASSERT_TRUE(recorder.add(record).ok());
  const std::string text = *workspace->read(CallRecorder::kFileName);
  ASSERT_EQ(std::ranges::count(text, '\n'), 2);
  const auto json = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(json["schema"], "regraph-call/1");
  EXPECT_EQ(json["number"], 4);
  EXPECT_EQ(json["arguments"]["source"], "line\nline");
  EXPECT_EQ(json["structured"]["equal"], true);
}

}  // namespace
}  // namespace regraph::agent::workspace_test
