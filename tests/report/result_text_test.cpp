#include "report/report_test_support.h"

#include <gtest/gtest.h>

namespace regraph::result_text_test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DurationText, ShowsThreeDigitsInTheUnitThatFits) {
  const std::pair<double, const char*> cases[] = {
      {0.0, "0.00 us"},     {4.2e-9, "0.00 us"},  {1.234e-6, "1.23 us"}, {12.34e-6, "12.3 us"},
      {123.4e-6, "123 us"}, {999.4e-6, "999 us"}, {999.6e-6, "1.00 ms"}, {9.996e-3, "10.0 ms"},
      {99.96e-3, "100 ms"}, {272e-3, "272 ms"},   {1.0, "1.00 s"},       {0.9996, "1.00 s"},
      {61.26, "61.3 s"},    {86400.0, "86400 s"},
  };
  for (const auto& [seconds, text] : cases)
    EXPECT_EQ(duration_text(seconds), text) << seconds;
}

TEST(ResultText, TellsAnImprovement) {
  const test::Run run(true);
  const std::string text = result_text(run.report());
  for (const char* part :
       {"scale on h200", "predicted by the model, no GPU was used", "1.00 ms", "250 us", "4.00x",
        "[2.67x, 6.00x]", "restrict_ldg", "block_size(x=128)", "DRAM bandwidth",
        "80 % of the roofline", "9 correct, 3 wrong_result", "out/best.cu", "out/best.regraph.yaml",
        "out/best.diff", "out/manifest.yaml", "out/result.json", "buffers do not overlap"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
}

TEST(ResultText, TellsBothLaunchesAndThePatch) {
  const test::Run run(true);
  RunReport report = run.report();
  EXPECT_TRUE(contains(result_text(report),
                       "  launch      block 128, grid cdiv(n, bx) = 8\n"
                       "              before: block 256, grid cdiv(n, bx) = 4\n"))
      << result_text(report);
  EXPECT_FALSE(contains(result_text(report), "best.patch"));
  HandBackReport back;
  back.why_not = "a macro launches it";
  report.hand_back = back;
  EXPECT_TRUE(contains(result_text(report), "  patch       none: a macro launches it\n"));
  EXPECT_FALSE(contains(result_text(report), "best.patch"));
  back = {"--- a/k.cu\n", "", "/src", {"k.cu"}, {{"k.cu", 7, "g, b", "g, 128"}}, {"a note"}};
  report.hand_back = back;
  const std::string text = result_text(report);
  EXPECT_TRUE(contains(text,
                       "  patch       of k.cu in /src\n"
                       "              line 7 of k.cu: <<<g, b>>> becomes <<<g, 128>>>\n"
                       "              a note\n"))
      << text;
  EXPECT_TRUE(contains(text, "patch -d /src -p1 < out/best.patch")) << text;
}

TEST(ResultText, TellsWhatTheOwnCheckSaid) {
  const test::Run run(true);
  RunReport report = run.report();
  CheckReport check;
  check.command = "make test";
  check.trouble = "it ends with 2 without the patch, too";
  report.check = check;
  EXPECT_TRUE(contains(result_text(report), "  check       no verdict of 'make test': it ends"));
  check.ran = check.same = true;
  check.baseline_seconds = 2.0;
  check.patched_seconds = 1.0;
  report.check = check;
  EXPECT_TRUE(contains(result_text(report),
                       "  check       'make test' passes as before (2.00 s "
                       "without the patch, 1.00 s with it, on the "
                       "interpreter)\n"))
      << result_text(report);
  check.launches = 0;
  report.check = check;
  EXPECT_TRUE(contains(result_text(report), "ends as before, but never launched the kernel"));
  check.same = false;
  check.trouble = "line 1 differs";
  report.check = check;
  EXPECT_TRUE(contains(result_text(report), "FAILS WITH THE PATCH"));
}

TEST(ResultText, DoesNotClaimWhatIsNotThere) {
  const test::Run run(false);
  const std::string text = result_text(run.report());
  EXPECT_TRUE(contains(text, "no candidate is faster")) << text;
  EXPECT_TRUE(contains(text, "the original, as nothing was faster")) << text;
  EXPECT_FALSE(contains(text, "speedup")) << text;
  EXPECT_FALSE(contains(text, "steps\n")) << text;
}

TEST(ResultText, SaysThatTheTimeWasUpBeforeAnythingWasTried) {
  test::Run run(false);
  run.outcome.evaluations = 0;
  run.outcome.stopped = StopReason::budget;
  const std::string text = result_text(run.report());
  EXPECT_TRUE(contains(text, "no candidate was evaluated before the time was up")) << text;
  EXPECT_FALSE(contains(text, "no candidate is faster")) << text;
}

TEST(ResultText, SaysWhyTheRewriterCouldNotWork) {
  const test::Run run(false);
  RunReport report = run.report();
  report.rewritable = false;
  report.opaque_reason = "k.cu:3: a do loop";
  EXPECT_TRUE(contains(result_text(report), "k.cu:3: a do loop"));
}

// 1 ms -> 0.25 ms as searched, a little less when it was measured once more.
Measurement measurement() {
  Measurement one;
  one.gpu = "NVIDIA H200";
  one.timed = 20;
  one.pruned = 5;
  one.noise = 0.0033;
  MeasuredSpeedup last;
  last.processes = 3;
  last.cold = {3.9, 3.85, 3.95};
  last.hot = {4.4, 4.3, 4.5};
  last.benches.push_back(
      {{{"n", 1024}}, {1e-3, 0.256e-3, 600, last.cold}, {0.9e-3, 0.2e-3, 600, last.hot}});
  one.speedup = last;
  return one;
}

TEST(ResultText, WhatWasMeasuredLastIsWhatIsQuoted) {
  const test::Run run(true);
  RunReport report = run.report();
  report.measurement = measurement();
  const std::string text = result_text(report);
  for (const char* part :
       {"measured on NVIDIA H200", "3.90x", "[3.85x, 3.95x]", "20 candidates", "5 left", "0.33 %",
        "600 samples of each in 3 fresh processes", "cold 1.00 ms -> 256 us",
        "hot 900 us -> 200 us, 4.40x [4.30x, 4.50x]"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
  EXPECT_FALSE(contains(text, "counters")) << text;
  report.measurement->no_counters = "permission denied";
  EXPECT_TRUE(contains(result_text(report), "none: permission denied"));
}

TEST(ResultText, SaysWhatDisturbedAndWhatTheSanitizerFound) {
  const test::Run run(true);
  RunReport report = run.report();
  report.measurement = measurement();
  EXPECT_FALSE(contains(result_text(report), "disturbed"));
  EXPECT_FALSE(contains(result_text(report), "sanitizer"));
  report.measurement->disturbances = {"process 7 uses the GPU (512 MiB)", "heat"};
  report.measurement->sanitizer = SanitizerReport{{"memcheck", "racecheck"}, {}, {"a note"}};
  std::string text = result_text(report);
  EXPECT_TRUE(contains(text, "disturbed   perhaps: process 7 uses the GPU (512 MiB); heat"))
      << text;
  EXPECT_TRUE(contains(text, "sanitizer   memcheck, racecheck: no objection")) << text;
  EXPECT_TRUE(contains(text, "              a note\n")) << text;
  report.measurement->sanitizer = SanitizerReport{{"memcheck"}, {"memcheck: Invalid read"}, {}};
  text = result_text(report);
  EXPECT_TRUE(contains(text, "which is withdrawn: memcheck: Invalid read")) << text;
  report.measurement->sanitizer = SanitizerReport{{}, {}, {"memcheck did not run: why"}};
  text = result_text(report);
  EXPECT_TRUE(contains(text, "sanitizer   did not run\n              memcheck did not run: why"))
      << text;
}

TEST(ResultText, NoKernelIsSaidToBeatTheDevice) {
  test::Run run(true);
  Evaluation& best = run.outcome.best_evaluation;
  best.roofline_seconds = 1.05 * best.time.median_seconds;
  ASSERT_LT(best.roofline_seconds, best.time.high_seconds);
  std::string text = result_text(run.report());
  EXPECT_NE(text.find("; at the roofline ("), std::string::npos) << text;
  best.roofline_seconds = 9.58 * best.time.median_seconds;
  text = result_text(run.report());
  EXPECT_NE(text.find("faster than the roofline of its counters"), std::string::npos) << text;
  EXPECT_EQ(text.find("% of the roofline"), std::string::npos) << text;
}

}  // namespace
}  // namespace regraph::result_text_test
