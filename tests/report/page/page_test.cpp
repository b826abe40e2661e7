#include "report/page/page.h"

#include "base/files.h"
#include "report/page/payload.h"
#include "report/page/run_files.h"
#include "report/report_test_support.h"
#include "report/run_directory.h"
#include "search/run_database.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace regraph::page_test {
namespace {

using nlohmann::json;

constexpr const char* kHostile =
    "</script><script>taken()</script><!-- <img src=x onerror=taken()> & \u2028 \u2029 ]]>";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// The directory of a measured run: the original, a faster state, a wrong one and a refused step.
class PageOfARun : public ::testing::Test {
 protected:
  PageOfARun() : folder(*TemporaryDirectory::create("regraph-page-")), run(true) {
    run.outcome.baseline_evaluation.time.method = TimeMethod::measured;
    run.outcome.best_evaluation.time.method = TimeMethod::measured;
  }

  // Empty manifests and sources are texts, too.
  void write(const std::string& manifest, const std::string& text) {
    RunDescription description;
    description.tool_version = "0.1.0";
    description.kernel = "scale";
    description.source_path = "scale.cu";
    description.source = test::kOriginal;
    description.manifest = manifest;
    auto database = RunDatabase::create(folder.path(), description);
    ASSERT_TRUE(database.ok()) << database.error().message;
    ASSERT_TRUE(
        (*database)->record_baseline({{}, {}, evaluation(Verdict::correct), {}, false}).ok());
    record(**database, 1, 0, {"restrict_ldg", {}, 1}, test::kFaster, Verdict::correct);
    record(**database, 2, 1, {"block_size", {{"x", text}}, 1}, test::kFaster + text,
           Verdict::wrong_result, text);
    ExpansionRecord refused;
    refused.step = {"smem_tile", {}, 1};
    refused.refusal = "refused";
    Ticket ticket;
    ticket.number = 20;
    ticket.parent = 1;
    ASSERT_TRUE((*database)->record_expansion(ticket, refused, true).ok());
    RunReport report = run.report(folder.path().string());
    report.measurement = Measurement{};
    report.measurement->gpu = "NVIDIA H200";
    ASSERT_TRUE(write_run_directory(report).ok());
  }

  static Evaluation evaluation(Verdict verdict, std::string message = "") {
    Evaluation result;
    result.verdict = verdict;
    result.message = std::move(message);
    result.time = {1e-3, 0.9e-3, 1.1e-3, 40, TimeMethod::measured};
    return result;
  }

  void record(RunDatabase& database, std::uint32_t node, std::uint32_t parent, StepProposal step,
              const std::string& source, Verdict verdict, const std::string& message = "") const {
    auto candidate = std::make_shared<Candidate>();
    candidate->source = source;
    candidate->plan = run.problem.launch;
    Ticket ticket;
    ticket.number = node;
    ticket.node = node;
    ticket.parent = parent;
    ASSERT_TRUE(
        database
            .record_measurement(
                ticket, {std::move(step), candidate, evaluation(verdict, message), {}, false})
            .ok());
  }

  [[nodiscard]] json payload() const {
    const auto files = read_run_files(folder.path());
    EXPECT_TRUE(files.ok()) << files.error().message;
    const auto text = page_payload(*files);
    EXPECT_TRUE(text.ok()) << text.error().message;
    return json::parse(*text);
  }
  [[nodiscard]] std::string page() const {
    const Status written = write_page(folder.path());
    EXPECT_TRUE(written.ok()) << written.error().message;
    return *read_file(folder.path() / "report.html", 1 << 24);
  }

  TemporaryDirectory folder;
  test::Run run;
};

// A value of a state by the name of its column.
json value(const json& payload, std::size_t state, const std::string& column) {
  const auto& columns = payload.at("columns");
  for (std::size_t at = 0; at < columns.size(); ++at) {
    if (columns[at] == column) return payload.at("states").at(state).at(at);
  }
  ADD_FAILURE() << "no column " << column;
  return {};
}

std::string text(const json& payload, std::size_t state, const std::string& column) {
  return payload.at("texts").at(value(payload, state, column).get<std::size_t>());
}

TEST_F(PageOfARun, KnowsItsStatesStepsAndResult) {
  write("sizes: {n: 1024}\n", "128");
  const json told = payload();
  EXPECT_EQ(told.at("result"), json::parse(*read_file(folder.path() / "result.json", 1 << 20)));
  EXPECT_EQ(told.at("result").at("method"), "measured");
  ASSERT_EQ(told.at("states").size(), 3u);
  EXPECT_EQ(value(told, 0, "parent"), json());
  EXPECT_EQ(value(told, 2, "parent"), 1);
  EXPECT_EQ(text(told, 1, "step"), "restrict_ldg");
  EXPECT_EQ(text(told, 2, "step"), "block_size(x=128)");
  EXPECT_EQ(text(told, 2, "verdict"), "wrong_result");
  EXPECT_EQ(text(told, 2, "message"), "128");
  EXPECT_EQ(text(told, 1, "method"), "measured");
  EXPECT_DOUBLE_EQ(value(told, 1, "seconds").get<double>(), 1e-3);
  EXPECT_DOUBLE_EQ(value(told, 1, "low").get<double>(), 0.9e-3);
  EXPECT_EQ(value(told, 2, "seconds"), json());  // a wrong kernel has no time
  ASSERT_EQ(told.at("refused").size(), 1u);
  EXPECT_EQ(told.at("refused")[0][0], 1);
  EXPECT_EQ(told.at("facts").at("occupancy")[0], "fraction");
}

TEST_F(PageOfARun, HoldsSourcesAsChanges) {
  write("", "128");
  const json told = payload();
  // The second state differs from the original in its first line.
  const json hunks = value(told, 1, "source");
  ASSERT_EQ(hunks.size(), 1u);
  EXPECT_EQ(hunks[0][0], 0);
  EXPECT_EQ(hunks[0][1], 1);
  const std::string line = told.at("lines").at(hunks[0][2][0].get<std::size_t>());
  EXPECT_EQ(line + "\n", std::string(test::kFaster).substr(0, line.size() + 1));
}

TEST_F(PageOfARun, IsTheSameEachTime) {
  write("", "128");
  const std::string first = page();
  EXPECT_TRUE(first == page());
}

TEST_F(PageOfARun, LetsNoTextBecomeMarkup) {
  run.outcome.path[0].step.parameters["by"] = kHostile;
  write("", kHostile);
  const std::string hostile = page();
  EXPECT_EQ(count(hostile, "</script>"), 3u);
  EXPECT_EQ(count(hostile, "<script"), 3u);
  EXPECT_EQ(count(hostile, "<img"), 0u);
  EXPECT_EQ(count(hostile, "<!--"), 0u);
  EXPECT_EQ(count(hostile, "\u2028"), 0u);
  EXPECT_EQ(count(hostile, "\u2029"), 0u);
  // It is there all the same, as text.
  EXPECT_EQ(text(payload(), 2, "message"), kHostile);
}

TEST_F(PageOfARun, MayNotTalkToAnybody) {
  write("", "128");
  const std::string text = page();
  EXPECT_NE(text.find("content=\"default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(text.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(text.find("{{"), std::string::npos);
  EXPECT_NE(text.find("Copyright 2022 Mike Bostock"), std::string::npos);  // D3's own notice
  EXPECT_NE(text.find("THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS"), std::string::npos);
}

TEST_F(PageOfARun, KeepsMessagesBackThatMayHoldCapturedData) {
  write("sizes: {n: 1024}\ncaptured:\n  - {sizes: {n: 1024}}\n", "secret-value");
  const json told = payload();
  EXPECT_EQ(told.at("run").at("captured"), true);
  EXPECT_EQ(text(told, 2, "message"), "");
}

TEST_F(PageOfARun, NeedsNoDatabaseAndNoResult) {
  write("", "128");
  std::filesystem::rename(folder.path() / "result.json", folder.path() / "kept");
  EXPECT_EQ(payload().at("result"), json());
  EXPECT_EQ(payload().at("states").size(), 3u);
  std::filesystem::rename(folder.path() / "kept", folder.path() / "result.json");
  RunDatabase::remove(folder.path());
  const json told = payload();
  EXPECT_EQ(told.at("states").size(), 0u);
  EXPECT_EQ(told.at("run").at("database"), false);
  EXPECT_TRUE(page().starts_with("<!DOCTYPE html>"));
}

TEST(Page, IsNotWrittenWhereThereIsNoRun) {
  const TemporaryDirectory folder = *TemporaryDirectory::create("regraph-page-");
  for (const auto& path : {folder.path(), folder.path() / "absent"}) {
    const Status written = write_page(path);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::not_found);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace regraph::page_test
