// --resume: a run goes on from its directory alone and comes to the answer it would have come to.
#include "base/directory_lock.h"
#include "base/sqlite.h"
#include "cli/running_program.h"

namespace regraph::resume_test {
namespace {

using nlohmann::json;
using test::ProgramRun;

constexpr int kUsage = 2;

class ResumeRun : public test::RunningProgram {
 protected:
  // A copy of an example in the test's own directory, so that it can be deleted.
  std::string copy(const std::string& name) const {
    const std::filesystem::path source(example(name));
    std::filesystem::path manifest = source;
    manifest.replace_extension(".regraph.yaml");
    std::filesystem::copy_file(source, path(name + ".cu"));
    std::filesystem::copy_file(manifest, path(name + ".regraph.yaml"));
    return name + ".cu";
  }
  // What must be equal: all but paths and seconds.
  static json answer(json result) {
    for (const char* key : {"source", "search_seconds", "workers"})
      result.erase(key);
    for (const char* written : {"best", "likely"}) {
      if (!result.contains(written) || result[written].is_null()) continue;
      result[written].erase("path");
      result[written].erase("manifest");
    }
    return result;
  }
  // Sends the signal once so many evaluations were reported. Returns the exit code.
  int interrupt_after(int evaluations, int signal, std::vector<std::string> arguments) const {
    arguments.emplace_back("--verbose");
    const pid_t child = start(std::move(arguments));
    char number[16];
    std::snprintf(number, sizeof(number), "] %4d ", evaluations);
    EXPECT_TRUE(wait_until_error_holds(number)) << content("error");
    kill(child, signal);
    return wait_for_end(child);
  }
  ProgramRun expect_usage(const std::vector<std::string>& parts,
                          std::vector<std::string> arguments) const {
    ProgramRun done = run(std::move(arguments));
    EXPECT_EQ(done.exit_code, kUsage) << done.error;
    EXPECT_EQ(done.output, "");
    EXPECT_EQ(std::count(done.error.begin(), done.error.end(), '\n'), 1) << done.error;
    for (const std::string& part : parts) {
      EXPECT_TRUE(done.complains_of(part)) << "wanted: " << part << "\ngot: " << done.error;
    }
    return done;
  }
  ProgramRun finished_run() const {
    ProgramRun done = run(
        {example("vecadd"), "--device", "h200", "--evaluations", "4", "--output", "out", "--json"});
    EXPECT_EQ(done.exit_code, 3) << done.error;
    return done;
  }
};

TEST_F(ResumeRun, GoesOnWithoutTheFilesItWasStartedWith) {
  const std::vector<std::string> settings = {"--device",      "h200", "--size", "width=2048",
                                             "--evaluations", "14",   "--seed", "9"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    return arguments;
  };
  const ProgramRun reference = run(with({example("transpose"), "--output", "whole", "--json"}));
  ASSERT_EQ(reference.exit_code, 0) << reference.error;

  const std::string kernel = copy("transpose");
  EXPECT_EQ(interrupt_after(5, SIGINT, with({kernel, "--output", "out", "--json"})), 130);
  EXPECT_EQ(json::parse(content("output")).at("stopped"), "cancelled");
  EXPECT_NE(content("error").find("--resume out"), std::string::npos) << content("error");
  std::filesystem::remove(path(kernel));
  file("transpose.regraph.yaml", "nonsense: [");

  EXPECT_EQ(interrupt_after(8, SIGTERM, {"--resume", "out", "--jobs", "1"}), 130);
  EXPECT_EQ(interrupt_after(11, SIGKILL, {"--resume", "out", "--jobs", "2"}), -1);
  const ProgramRun resumed = run({"--resume", "out", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  // A patch needs the file that it changes.
  json found = answer(resumed.json());
  const std::string why_not = found.at("patch").at("why_not");
  EXPECT_NE(why_not.find("is not there"), std::string::npos) << why_not;
  found.erase("patch");
  json expected = answer(reference.json());
  expected.erase("patch");
  EXPECT_EQ(found, expected);
  EXPECT_EQ(resumed.json().at("source"), kernel);
  for (const char* name : {"best.cu", "best.regraph.yaml", "manifest.yaml", "results.t4.json"})
    EXPECT_EQ(content(std::string("out/") + name), content(std::string("whole/") + name)) << name;
  EXPECT_EQ(json::parse(content("out/result.json")), resumed.json());
}

TEST_F(ResumeRun, AFinishedRunIsPrintedAgain) {
  const ProgramRun first = finished_run();
  const ProgramRun again = run({"--resume", "out", "--json"});
  EXPECT_EQ(again.exit_code, first.exit_code) << again.error;
  EXPECT_EQ(again.output, first.output);
  EXPECT_EQ(again.error, "");
  const ProgramRun text = run({"--resume", "out"});
  EXPECT_NE(text.output.find("no candidate is faster"), std::string::npos) << text.output;

  // Under another name its paths are made anew, and nothing else.
  std::filesystem::rename(path("out"), path("moved"));
  std::filesystem::remove(path("moved/result.json"));
  const ProgramRun moved = run({"--resume", "moved", "--json"});
  EXPECT_EQ(moved.exit_code, first.exit_code) << moved.error;
  EXPECT_EQ(answer(moved.json()), answer(first.json()));
  EXPECT_EQ(moved.json().at("best").at("path"), "moved/best.cu");
  EXPECT_EQ(json::parse(content("moved/result.json")), moved.json());
}

TEST_F(ResumeRun, TwoSignalsStopAtOnceAndLoseNothing) {
  const pid_t child = start({example("reduction"), "--device", "h200", "--evaluations", "7",
                             "--output", "out", "--verbose"});
  ASSERT_TRUE(wait_until_error_holds("]    2 ")) << content("error");
  kill(child, SIGINT);
  kill(child, SIGINT);
  wait_for_end(child);
  const ProgramRun resumed = run({"--resume", "out", "--json"});
  const ProgramRun whole = run({example("reduction"), "--device", "h200", "--evaluations", "7",
                                "--output", "whole", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(answer(resumed.json()), answer(whole.json()));
}

TEST_F(ResumeRun, TakesNothingThatWouldChangeTheRun) {
  expect_usage({"--seed", "--resume"}, {"--resume", "out", "--seed", "3"});
  expect_usage({"KERNEL.cu"}, {example("vecadd"), "--resume", "out"});
  expect_usage({"--search"}, {"--resume", "out", "--search", "beam", "--json"});
  expect_usage({"--beam-width"}, {"--resume", "out", "--beam-width", "3"});
}

TEST_F(ResumeRun, SaysWhatIsWrongWithADirectory) {
  expect_usage({"'nowhere'", "no directory"}, {"--resume", "nowhere"});
  std::filesystem::create_directory(path("empty"));
  expect_usage({"'empty'", "no run", "run.db"}, {"--resume", "empty"});
  file("empty/run.db", "");
  expect_usage({"'empty'", "before it had begun"}, {"--resume", "empty"});
  file("empty/run.db", std::string(5000, 'x'));
  expect_usage({"empty/run.db", "not a database", "start it again"}, {"--resume", "empty"});

  static_cast<void>(finished_run());
  const std::string whole = *read_file(path("out/run.db"), 10 << 20);
  const auto with_database = [&](const std::string& content) {
    std::filesystem::remove_all(path("broken"));
    file("broken/run.db", content);
    return std::vector<std::string>{"--resume", "broken"};
  };
  expect_usage({"broken/run.db", "start it again"},
               with_database(whole.substr(0, whole.size() / 2)));
  std::string zeros = whole;
  zeros.replace(zeros.size() / 3, zeros.size() / 3, zeros.size() / 3, '\0');
  expect_usage({"broken/run.db", "start it again"}, with_database(zeros));
  // One digit of one value: SQLite itself would not notice.
  std::string edited = whole;
  const std::size_t at = edited.find("\"status\": \"no_improvement\"");
  ASSERT_NE(at, std::string::npos);
  edited[at + 12] = 'g';
  expect_usage({"broken/run.db", "damaged", "start it again"}, with_database(edited));

  static_cast<void>(with_database(whole));
  {
    auto database = SqliteDatabase::open(path("broken/run.db"), SqliteDatabase::Mode::existing);
    ASSERT_TRUE(database && database->execute("PRAGMA user_version = 77"));
  }
  expect_usage({"'broken'", "schema 77", "another version"}, {"--resume", "broken"});

  const auto lock = DirectoryLock::take(path("out"));
  ASSERT_TRUE(lock);
  expect_usage({"'out'", "in use"}, {"--resume", "out"});
}

// On a disk of 400 KiB, which a mount namespace of its own gives the program where the system lets
// it.
TEST_F(ResumeRun, AFullDiskIsOneMessageAndNothingIsLost) {
  const std::string program = "'" + std::string(REGRAPH_SEARCH_PROGRAM) + "'";
  const std::string settings =
      " '" + example("transpose") + "' --device h200 --evaluations 14 --json --quiet --output ";
  const std::string script =
      "mkdir disk && mount -t tmpfs -o size=400k tmpfs disk || exit 77\n" +
      // The first run fills the compile cache.
      program + settings + "whole > whole.out || exit 1\n" +  //
      program + settings + "disk/out > full.out 2> full.err; echo $? > full.code\n" +
      "ls disk/out > full.files; mount -o remount,size=20m disk || exit 1\n" + program +
      " --resume disk/out --json > resumed.out 2> resumed.err\n";
  ChildRequest request;
  request.program = "/usr/bin/unshare";
  request.arguments = {"--mount", "--map-root-user", "/bin/sh", "-c", script};
  request.environment = environment();
  request.working_directory = path("");
  request.wall_seconds = 120.0;
  const Cancellation never;
  const auto done = run_child(request, never);
  if (!done.ok() || done->exit_code == 77 || !std::filesystem::exists(path("whole.out"))) {
    GTEST_SKIP() << "no mount namespaces here";
  }
  ASSERT_EQ(done->exit_code, 0) << done->error << content("resumed.err");
  EXPECT_EQ(content("full.code"), "1\n") << content("full.err");
  EXPECT_EQ(content("full.out"), "");
  const std::string error = content("full.err");
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
  EXPECT_NE(error.find("full"), std::string::npos) << error;
  EXPECT_NE(error.find("--resume disk/out"), std::string::npos) << error;
  EXPECT_EQ(content("full.files").find("result.json"), std::string::npos) << content("full.files");
  EXPECT_NE(content("resumed.err").find("resumed: "), std::string::npos) << content("resumed.err");
  EXPECT_EQ(answer(json::parse(content("resumed.out"))), answer(json::parse(content("whole.out"))));
}

}  // namespace
}  // namespace regraph::resume_test
