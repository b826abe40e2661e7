#include "session/compile_commands.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace regraph::compile_commands_test {
namespace {

namespace fs = std::filesystem;
using Defines = std::vector<std::pair<std::string, std::string>>;
using Folders = std::vector<fs::path>;

CompileFlags flags(std::vector<std::string> arguments) {
  return flags_of({"/home/a/project", "/home/a/project/k.cu", std::move(arguments)});
}

TEST(CompileCommands, KnowsTheSpellingsOfBothCompilers) {
  const CompileFlags found =
      flags({"nvcc", "-Iinclude", "-I", "../common", "--include-path=a,b", "-isystem", "/opt/x",
             "--system-include", "y", "-O3", "-DTILE=16", "-D", "FAST", "--define-macro=N=4",
             "-DTILE=32", "-DGONE", "-UGONE", "-o", "k"});
  EXPECT_EQ(found.include_directories,
            (Folders{"/home/a/project/include", "/home/a/common", "/home/a/project/a",
                     "/home/a/project/b", "/opt/x", "/home/a/project/y"}));
  EXPECT_EQ(found.defines, (Defines{{"FAST", "1"}, {"N", "4"}, {"TILE", "32"}}));
}

TEST(CompileCommands, PassesOverWhatIsNoFlagOfTheirs) {
  EXPECT_EQ(flags({"nvcc", "-Xcompiler", "-Wall", "-diag-suppress", "177", "k.cu"}),
            CompileFlags{});
  EXPECT_EQ(flags({"nvcc", "-I/usr/include/x", "-D"}), CompileFlags{});
  EXPECT_EQ(flags({"nvcc", "-DF(x)=x", "-D1=2", "-DA=1\n#error no"}), CompileFlags{});
}

TEST(CompileCommands, ACallHasAnEntryForEachSource) {
  const auto commands = commands_of_call(
      "/p", {"nvcc", "-o", "out.cu", "a.cu", "-MF", "b.cpp", "sub/../c.cpp", "d.o", "-DX"});
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].file, "/p/a.cu");
  EXPECT_EQ(commands[1].file, "/p/c.cpp");
}

TEST(CompileCommands, AHeaderHasWhatItsFolderHasInCommon) {
  const std::vector<CompileCommand> commands = {
      {"/p", "/p/a.cu", {"nvcc", "-DALL", "-DONE", "-Iinc"}},
      {"/p", "/p/b.cu", {"nvcc", "-DALL", "-Iinc"}},
      {"/p", "/p/host.cpp", {"g++", "-DHOST"}},
      {"/q", "/q/c.cu", {"nvcc", "-DOTHER"}}};
  EXPECT_EQ(flags_for(commands, "/p/a.cu").defines, (Defines{{"ALL", "1"}, {"ONE", "1"}}));
  const CompileFlags header = flags_for(commands, "/p/deep/k.cuh");
  EXPECT_EQ(header.defines, (Defines{{"ALL", "1"}}));
  EXPECT_EQ(header.include_directories, (Folders{"/p/inc"}));
  EXPECT_EQ(flags_for({}, "/p/a.cu"), CompileFlags{});
}

TEST(CompileCommands, ReadsWhatItWrites) {
  const auto folder = TemporaryDirectory::create("regraph-commands-");
  ASSERT_TRUE(folder);
  const fs::path file = folder->path() / kCompileCommandsFile;
  ASSERT_TRUE(write_file(
      file, compile_commands_text(commands_of_call("/p", {"nvcc", "-DTEXT=\"a b\"", "a.cu"}))));
  const auto read = read_compile_commands(file);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(flags_of(read->front()).defines, (Defines{{"TEXT", "\"a b\""}}));
}

// As CMake writes it.
TEST(CompileCommands, SplitsCommandsAsAShellDoes) {
  const auto folder = TemporaryDirectory::create("regraph-commands-");
  ASSERT_TRUE(folder);
  const fs::path file = folder->path() / kCompileCommandsFile;
  ASSERT_TRUE(write_file(file, R"([{"directory": "/p", "file": "a.cu",
    "command": "nvcc  '-DA=x y' -DB=\\\"z\\\" \"-DC=1 2\" a.cu"}])"));
  const auto read = read_compile_commands(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().file, "/p/a.cu");
  EXPECT_EQ(flags_of(read->front()).defines, (Defines{{"A", "x y"}, {"B", "\"z\""}, {"C", "1 2"}}));
}

TEST(CompileCommands, RefusesWhatIsNone) {
  const auto folder = TemporaryDirectory::create("regraph-commands-");
  ASSERT_TRUE(folder);
  const fs::path file = folder->path() / kCompileCommandsFile;
  for (const char* text : {"", "{", "[1]", R"([{"directory": "/p"}])", R"([{"file": 3}])",
                           R"([{"directory": "/p", "file": "a.cu"}])"}) {
    ASSERT_TRUE(write_file(file, text));
    const auto read = read_compile_commands(file);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("compile commands"), std::string::npos);
  }
}

TEST(CompileCommands, DefinesAreDirectives) {
  EXPECT_EQ(defines_text({{}, {{"A", "x y"}}}), "#ifndef A\n#define A x y\n#endif\n");
  EXPECT_EQ(defines_text({}), "");
}

}  // namespace
}  // namespace regraph::compile_commands_test
