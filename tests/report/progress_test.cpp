#include "report/progress.h"

#include "report/report_test_support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraph::progress_test {
namespace {

// Feeds a reporter the events of a short search.
class Feed {
 public:
  explicit Feed(ProgressReporter::Style style, SearchBudget budget = {.evaluations = 10})
      : reporter_(style, budget, [this](const std::string& text) { output_ += text; }) {}

  void evaluated(std::uint32_t state, Verdict verdict, bool improved, double speedup,
                 double fraction = 0.5) {
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.message = verdict == Verdict::correct ? "" : "C[0] is 1, expected 2";
    evaluation.time = test::predicted_time(1e-3 / speedup);
    ++counts_[static_cast<std::size_t>(verdict)];
    best_ = std::max(best_, std::log(speedup));
    const StepProposal step = {"smem_pad", {{"pad", "1"}}, 1};
    const Candidate candidate;
    reporter_.on_evaluated({.state = state,
                            .parent = 0,
                            .step = step,
                            .candidate = candidate,
                            .evaluation = evaluation,
                            .log_speedup = std::log(speedup),
                            .improved = improved,
                            .best_log_speedup = best_,
                            .evaluations = static_cast<int>(state),
                            .verdict_counts = counts_,
                            .budget_fraction = fraction});
  }
  ProgressReporter& reporter() { return reporter_; }
  std::string take() { return std::exchange(output_, ""); }

 private:
  std::string output_;
  std::array<int, kVerdictCount> counts_{};
  double best_ = 0.0;
  ProgressReporter reporter_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Progress, LinesTellTheBaselineAndImprovementsOnly) {
  Feed feed(ProgressReporter::Style::lines);
  feed.evaluated(0, Verdict::correct, false, 1.0);
  EXPECT_TRUE(contains(feed.take(), "baseline: 1.00 ms (1.00x)\n"));
  feed.evaluated(1, Verdict::correct, false, 0.9);
  feed.evaluated(2, Verdict::wrong_result, false, 1.0);
  EXPECT_EQ(feed.take(), "");
  feed.evaluated(3, Verdict::correct, true, 2.0);
  EXPECT_TRUE(contains(feed.take(), "smem_pad(pad=1): 500 us (2.00x)\n"));
  feed.reporter().on_final_selection(3);
  feed.reporter().finish();
  EXPECT_EQ(feed.take(), "");
}

TEST(Progress, VerboseLinesTellEverything) {
  Feed feed(ProgressReporter::Style::verbose_lines);
  feed.evaluated(2, Verdict::wrong_result, false, 1.0);
  EXPECT_TRUE(contains(feed.take(), "wrong_result: C[0] is 1, expected 2\n"));
  feed.reporter().on_final_selection(3);
  EXPECT_TRUE(contains(feed.take(), "3 finalists"));
}

TEST(Progress, TheTerminalLineIsRewrittenAndWipedInTheEnd) {
  Feed feed(ProgressReporter::Style::terminal);
  feed.evaluated(9, Verdict::correct, true, 12.0);
  const std::string longer = feed.take();
  EXPECT_EQ(longer.front(), '\r');
  EXPECT_FALSE(contains(longer, "\n"));
  EXPECT_TRUE(contains(longer, "best 12.00x")) << longer;
  EXPECT_TRUE(contains(longer, "evaluated 9/10")) << longer;
  EXPECT_TRUE(contains(longer, "s left")) << longer;
  // Nothing of a longer line may stay behind a shorter one.
  feed.evaluated(9, Verdict::timeout, false, 1.0, 0.0);
  const std::string shorter = feed.take();
  EXPECT_EQ(shorter.size(), longer.size());
  EXPECT_FALSE(contains(shorter, "s left")) << shorter;
  EXPECT_TRUE(contains(shorter, "failed 1")) << shorter;
  feed.reporter().finish();
  const std::string wiped = feed.take();
  EXPECT_EQ(wiped.front(), '\r');
  EXPECT_EQ(wiped.back(), '\r');
  feed.reporter().finish();
  EXPECT_EQ(feed.take(), "");
}

TEST(Progress, WithoutALimitOfEvaluationsNoneIsShown) {
  Feed feed(ProgressReporter::Style::terminal, {.evaluations = 0, .wall_seconds = 60.0});
  feed.evaluated(5, Verdict::correct, false, 1.0);
  EXPECT_TRUE(contains(feed.take(), "evaluated 5 "));
}

}  // namespace
}  // namespace regraph::progress_test
