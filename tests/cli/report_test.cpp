// The page of a run, as the program writes it.
#include "base/sqlite.h"
#include "cli/search_program.h"

namespace regraph::report_test {
namespace {

using test::ProgramRun;

class ReportPage : public test::SearchProgram {};

TEST_F(ReportPage, IsWrittenWithTheRunAndTheSameAfterwards) {
  const ProgramRun searched =
      run({example("vecadd"), "--device", "h200", "--evaluations", "3", "--output", "out"});
  ASSERT_EQ(searched.exit_code, 3) << searched.error;
  EXPECT_NE(searched.output.find("out/report.html"), std::string::npos) << searched.output;
  const std::string page = content("out/report.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  std::filesystem::remove(path("out/report.html"));
  const ProgramRun again = run({"--report", "out"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(again.output, "out/report.html\n");
  EXPECT_TRUE(content("out/report.html") == page) << "the two pages differ";
  // Elsewhere, too.
  std::filesystem::rename(path("out"), path("moved"));
  EXPECT_EQ(run({"--report", "moved"}).exit_code, 0);
  EXPECT_TRUE(content("moved/report.html") == page) << "the two pages differ";
}

TEST_F(ReportPage, IsRefusedForWhatIsNoRun) {
  std::filesystem::create_directory(path("empty"));
  for (const char* folder : {"empty", "absent"}) {
    const ProgramRun refused = run({"--report", folder});
    EXPECT_EQ(refused.exit_code, 2) << folder;
    EXPECT_TRUE(refused.complains_of(std::string("'") + folder + "'")) << refused.error;
    EXPECT_EQ(refused.output, "");
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("empty")));
  EXPECT_EQ(run({"--report", ""}).exit_code, 2);
}

TEST_F(ReportPage, IsRefusedForDamagedFiles) {
  for (const char* damaged : {"{", "[]", R"({"schema": "other/1"})"}) {
    std::filesystem::create_directories(path("run"));
    file("run/result.json", damaged);
    const ProgramRun refused = run({"--report", "run"});
    EXPECT_EQ(refused.exit_code, 2) << damaged;
    EXPECT_TRUE(refused.complains_of("result.json")) << refused.error;
    EXPECT_FALSE(std::filesystem::exists(path("run/report.html")));
  }
  file("run/result.json", R"({"schema": "regraph-result/1", "kernel": "k"})");
  file("run/run.db", "this is no database");
  const ProgramRun refused = run({"--report", "run"});
  EXPECT_EQ(refused.exit_code, 2) << refused.error;
  EXPECT_TRUE(refused.complains_of("run.db")) << refused.error;
}

TEST_F(ReportPage, IsNotMadeOfWhatSomebodyChanged) {
  ASSERT_EQ(run({example("vecadd"), "--device", "h200", "--evaluations", "3", "--output", "out"})
                .exit_code,
            3);
  std::filesystem::remove(path("out/report.html"));
  {
    auto database = SqliteDatabase::open(path("out/run.db"), SqliteDatabase::Mode::existing);
    ASSERT_TRUE(database.ok()) << database.error().message;
    ASSERT_TRUE(database->execute("UPDATE measurement SET median_seconds = 1e-9").ok());
  }
  const ProgramRun refused = run({"--report", "out"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_TRUE(refused.complains_of("of table measurement is not as the run wrote it"))
      << refused.error;
  EXPECT_FALSE(std::filesystem::exists(path("out/report.html")));
}

TEST_F(ReportPage, IsAskedForAlone) {
  const ProgramRun refused = run({"--report", "out", "--device", "h200"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(refused.complains_of("--device cannot be given with it")) << refused.error;
}

}  // namespace
}  // namespace regraph::report_test
