#include "eval/compile/compiler_log.h"

#include "base/random.h"
#include "eval/compile/compiler.h"
#include "eval/compile/ptxas_report.h"

#include <gtest/gtest.h>

namespace regraph::compile_internal::compiler_log_test {
namespace {

TEST(CompilerLog, RewritesLinesAndPaths) {
  EXPECT_EQ(clean_log("kernel.cu(12): error: x\n  p[0] = 1\n", false),
            "kernel.cu:12: error: x\n  p[0] = 1");
  EXPECT_EQ(clean_log("/usr/local/cuda-13.0/include/cuda_fp16.h(7): warning #1: y\n", false),
            "cuda_fp16.h:7: warning #1: y");
  EXPECT_EQ(clean_log("cannot open \"/home/me/a b.h\"", false), "cannot open \"a b.h\"");
  // Source excerpts are not paths.
  EXPECT_EQ(clean_log("x = a / b / c; // note: a/b", false), "x = a / b / c; // note: a/b");
  EXPECT_EQ(clean_log("f(1): g", false), "f:1: g");
  EXPECT_EQ(clean_log("f(x): g (2): h", false), "f(x): g (2): h");
  EXPECT_EQ(clean_log(std::string("a\x1b[31m\tb\0c", 9), false), "a?[31m b?");
}

TEST(CompilerLog, StartsAtTheFirstErrorAndIsCapped) {
  EXPECT_EQ(clean_log("k(1): warning: w\nk(2): error: e\nk(3): warning: v\n", true),
            "k:2: error: e\nk:3: warning: v");
  EXPECT_EQ(clean_log("k(1): warning: w\n", true), "k:1: warning: w");
  std::string flood = "first error\n";
  for (int i = 0; i < 100000; ++i)
    flood += "another error line of some length\n";
  const std::string cleaned = clean_log(flood, true);
  EXPECT_LE(cleaned.size(), kLogLimitBytes);
  EXPECT_EQ(cleaned.substr(0, 12), "first error\n");
  EXPECT_LE(clean_log(std::string(1 << 20, 'x'), false).size(), kLogLimitBytes);
}

TEST(CompilerLog, TellsWhichNamesAreUndefined) {
  const std::string log =
      "a.cu:2: error: identifier \"__nv_bfloat16\" is undefined\n  __nv_bfloat16* x\n  ^\n\n"
      "a.cu:3: error: namespace \"at\" has no member \"Half\"\n  at::Half* y\n      ^\n\n"
      "a.cu:4: error: name followed by \"::\" must be a class or namespace name\n"
      "    wmma::fragment<A> a;\n    ^\n\n"
      "a.cu:5: error: identifier \"__nv_bfloat16\" is undefined\n"
      "a.cu:6: error: expected a \";\"\n"
      "a.cu:7: error: opmath_type is not a template\n"
      "a.cu:8: error: \"acc_type\" is not a template\n";
  EXPECT_EQ(undefined_names(log),
            (std::vector<std::string>{"__nv_bfloat16", "Half", "wmma", "opmath_type", "acc_type"}));
  EXPECT_TRUE(undefined_names("").empty());
  EXPECT_TRUE(
      undefined_names("error: name followed by \"::\" must be a class or namespace name").empty());
  EXPECT_TRUE(undefined_names("warning: identifier \"x\" is undefined").empty());
}

TEST(CompilerLog, SurvivesGarbage) {
  const std::string original =
      "/a/b/c.h(12): error: \"x\" at /usr/include/y(3): z\n  ptxas info : Used 3 registers\n";
  for (std::uint64_t round = 0; round < 20000; ++round) {
    std::string text = original;
    for (std::uint64_t edit = 0; edit < 1 + round % 9; ++edit) {
      text[random_bits(round, edit, 1) % text.size()] =
          static_cast<char>(random_bits(round, edit, 2));
    }
    for (const char c : clean_log(text, round % 2 == 0))
      EXPECT_TRUE(c == '\n' || (c >= 32 && c < 127));
  }
}

constexpr const char* kReport = R"log(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'other' for 'sm_90'
ptxas info    : Function properties for other
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 8 bytes cumulative stack size, 99 bytes smem
ptxas info    : Compiling entry function 'mine' for 'sm_90'
ptxas info    : Function properties for mine
ptxas         .     256 bytes stack frame, 1588 bytes spill stores, 1516 bytes spill loads
ptxas info    : Function properties for helper
ptxas         .     1 bytes stack frame, 2 bytes spill stores, 3 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 256 bytes cumulative stack size, 4096 bytes smem, 12 bytes cmem[2]
)log";

TEST(PtxasReport, ReadsTheFiguresOfTheNamedEntry) {
  const auto usage = parse_ptxas_report(kReport, "mine");
  ASSERT_TRUE(usage.has_value());
  EXPECT_EQ(usage->registers_per_thread, 64);
  EXPECT_EQ(usage->spill_store_bytes, 1588);
  EXPECT_EQ(usage->spill_load_bytes, 1516);
  EXPECT_EQ(usage->stack_bytes, 256);
  EXPECT_EQ(usage->static_shared_bytes, 4096);
  EXPECT_FALSE(parse_ptxas_report(kReport, "min").has_value());
  EXPECT_FALSE(parse_ptxas_report(kReport, "mine2").has_value());
  EXPECT_FALSE(parse_ptxas_report("", "mine").has_value());
}

TEST(PtxasReport, SurvivesGarbage) {
  const std::string original = kReport;
  for (std::uint64_t round = 0; round < 5000; ++round) {
    std::string text = original;
    for (std::uint64_t edit = 0; edit < 1 + round % 20; ++edit) {
      text[random_bits(round, edit, 1) % text.size()] =
          static_cast<char>(random_bits(round, edit, 2));
    }
    (void)parse_ptxas_report(text, "mine");
  }
}

}  // namespace
}  // namespace regraph::compile_internal::compiler_log_test
