#include "report/run_directory.h"

#include "base/files.h"
#include "base/unified_diff.h"
#include "report/report_test_support.h"
#include "report/t4_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::run_directory_test {
namespace {

namespace fs = std::filesystem;

// A fresh directory that is the current one while the object lives.
class Elsewhere {
 public:
  Elsewhere()
      : directory_(*TemporaryDirectory::create("regraph-report-")), before_(fs::current_path()) {
    fs::current_path(directory_.path());
  }
  ~Elsewhere() { fs::current_path(before_); }
  [[nodiscard]] const fs::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
  fs::path before_;
};

std::string content(const fs::path& path) {
  const auto text = read_file(path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text.ok() ? *text : "";
}

TEST(RunDirectory, IsNumberedByKernel) {
  const Elsewhere here;
  EXPECT_EQ(*create_run_directory("", "sgemm"), fs::path("regraph-runs/sgemm-1"));
  EXPECT_EQ(*create_run_directory("", "sgemm"), fs::path("regraph-runs/sgemm-2"));
  EXPECT_EQ(*create_run_directory("", "other"), fs::path("regraph-runs/other-1"));
  // A template's name must not leave the directory or need quoting.
  EXPECT_EQ(*create_run_directory("", "ns::k<float, 4>/../x"),
            fs::path("regraph-runs/ns_k_float_4_x-1"));
  EXPECT_EQ(*create_run_directory("", "<>"), fs::path("regraph-runs/kernel-1"));
}

TEST(RunDirectory, AWantedOneIsMadeOrTakenWhenEmpty) {
  const Elsewhere here;
  EXPECT_EQ(*create_run_directory("a/b", "k"), fs::path("a/b"));
  EXPECT_TRUE(fs::is_directory("a/b"));
  EXPECT_TRUE(create_run_directory("a/b", "k").ok());
}

TEST(RunDirectory, NothingIsOverwritten) {
  const Elsewhere here;
  ASSERT_TRUE(write_file("full/precious", "x").ok());
  const auto full = create_run_directory("full", "k");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(full.error().message.find("not empty"), std::string::npos) << full.error().message;
  ASSERT_TRUE(write_file("file", "").ok());
  const auto file = create_run_directory("file", "k");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(file.error().message.find("is a file"), std::string::npos) << file.error().message;
  const auto below = create_run_directory("file/below", "k");
  ASSERT_FALSE(below.ok());
  EXPECT_EQ(below.error().code, ErrorCode::invalid_argument) << below.error().message;
}

TEST(RunDirectory, TryingLeavesNothingBehind) {
  const Elsewhere here;
  EXPECT_TRUE(try_run_directory("").ok());
  EXPECT_TRUE(try_run_directory("a/b/").ok());
  EXPECT_TRUE(try_run_directory("a/../c").ok());
  EXPECT_TRUE(fs::is_empty("."));
  fs::create_directories("there/already");
  EXPECT_TRUE(try_run_directory("there/already").ok());
  EXPECT_TRUE(fs::is_empty("there/already"));
}

TEST(RunDirectory, TryingSaysWhatIsWrongWithAPlace) {
  const Elsewhere here;
  ASSERT_TRUE(write_file("full/precious", "x").ok());
  ASSERT_TRUE(write_file("file", "").ok());
  for (const char* place : {"/proc/nowhere", "/proc", "full", "file", "file/below"}) {
    const Status tried = try_run_directory(place);
    ASSERT_FALSE(tried.ok()) << place;
    EXPECT_EQ(tried.error().code, ErrorCode::invalid_argument) << tried.error().message;
    EXPECT_TRUE(tried.error().message.starts_with(std::string("--output ") + place))
        << tried.error().message;
  }
  // Half of a path that cannot be made as a whole does not stay.
  const std::string longer = "made/" + std::string(300, 'x');
  EXPECT_FALSE(try_run_directory(longer).ok());
  EXPECT_FALSE(fs::exists("made"));
}

TEST(RunDirectory, AnAbandonedOneGoesUnlessItHoldsFiles) {
  const Elsewhere here;
  abandon_run_directory(*create_run_directory("", "k"));
  EXPECT_FALSE(fs::exists("regraph-runs"));
  const auto kept = create_run_directory("", "k");
  ASSERT_TRUE(write_file(*kept / "best.cu", "x").ok());
  abandon_run_directory(*kept);
  EXPECT_TRUE(fs::exists(*kept / "best.cu"));
}

TEST(RunDirectory, HoldsTheWinnerItsManifestAndTheDifference) {
  const Elsewhere here;
  const test::Run run(true);
  const RunReport report = run.report(create_run_directory("out", "scale")->string());
  ASSERT_TRUE(write_run_directory(report).ok());
  EXPECT_EQ(content("out/best.cu"), test::kFaster);
  EXPECT_EQ(content("out/best.diff"),
            unified_diff(test::kOriginal, test::kFaster, "a/scale.cu", "b/scale.cu"));
  const auto best = read_manifest("out/best.regraph.yaml");
  ASSERT_TRUE(best.ok()) << best.error().message;
  EXPECT_EQ(best->launch->block, (Dim3{128, 1, 1}));
  const auto original = read_manifest("out/manifest.yaml");
  ASSERT_TRUE(original.ok()) << original.error().message;
  EXPECT_EQ(original->launch->block, (Dim3{256, 1, 1}));
  EXPECT_EQ(content("out/result.json"), result_json(report));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("out"))
    ++files;
  EXPECT_EQ(content("out/results.t4.json"), t4_json(report));
  EXPECT_EQ(files, 6u);
}

TEST(RunDirectory, WithoutAWinnerItHoldsTheOriginal) {
  const Elsewhere here;
  test::Run run(false);
  // What a search leaves in `best` must not matter when nothing was shown to be faster.
  run.outcome.best.source = "something else";
  run.outcome.best.plan.launches.front().block = {64, 1, 1};
  const RunReport report = run.report(create_run_directory("out", "scale")->string());
  ASSERT_TRUE(write_run_directory(report).ok());
  EXPECT_EQ(content("out/best.cu"), test::kOriginal);
  EXPECT_EQ(content("out/best.diff"), "");
  EXPECT_EQ(read_manifest("out/best.regraph.yaml")->launch->block, (Dim3{256, 1, 1}));
}

TEST(RunDirectory, SaysWhenItCannotBeWritten) {
  const Elsewhere here;
  const test::Run run(true);
  ASSERT_TRUE(write_file("file", "x").ok());
  const Status status = write_run_directory(run.report("file"));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("file"), std::string::npos);
}

TEST(RunDirectory, HoldsAPatchWhereThereIsOne) {
  for (const bool improved : {true, false}) {
    const Elsewhere here;
    const test::Run run(improved);
    RunReport report = run.report(here.path().string());
    ASSERT_TRUE(write_run_directory(report).ok());
    EXPECT_FALSE(fs::exists("best.patch"));
    report.hand_back = HandBackReport{"--- a/k.cu\n", "", "", {"k.cu"}, {}, {}};
    ASSERT_TRUE(write_run_directory(report).ok());
    EXPECT_EQ(fs::exists("best.patch"), improved);
    if (improved) {
      EXPECT_EQ(content("best.patch"), "--- a/k.cu\n");
    }
  }
}

}  // namespace
}  // namespace regraph::run_directory_test
