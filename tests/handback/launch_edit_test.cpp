#include "handback/launch_edit.h"

#include "handback/handback_support.h"

#include <gtest/gtest.h>

namespace regraph::handback::launch_edit_test {
namespace {

using test::kSums;
using test::SearchedSums;

// The launch of the only site in `host`, with eight rows a block of 256 instead of 128.
Result<EditedLaunch> edited(const std::string& host, bool changes = true,
                            const std::string& launch = "{block: 128, grid: \"cdiv(rows, bx)\"}",
                            const std::string& grid = "cdiv(rows, 8)") {
  SearchedSums searched(kSums, "sums", launch);
  if (changes) searched.set_launch({256, 1, 1}, grid);
  const KernelUses uses = find_kernel_uses(kSums + host, searched.problem.signature);
  EXPECT_EQ(uses.sites.size(), 1u);
  if (uses.sites.empty()) return fail(ErrorCode::not_found, "");
  return edit_launch(uses.sites[0], {searched.problem, searched.problem.launch.launches[0],
                                     searched.winner.plan.launches[0]});
}

std::string shape(const Result<EditedLaunch>& launch) {
  EXPECT_TRUE(launch.ok()) << launch.error().message;
  return launch.ok() ? launch->shape : "";
}

std::string why(const Result<EditedLaunch>& launch) {
  EXPECT_FALSE(launch.ok());
  return launch.ok() ? "" : launch.error().message;
}

TEST(LaunchEdit, TakesTheArgumentsForTheSizes) {
  EXPECT_EQ(shape(edited("void f(T v) { int b = 128; sums<<<(v.size() + b - 1) / b, b>>>(p, q, "
                         "v.size(), 3); }")),
            "(unsigned)(((long long)(v.size()) + 7) / 8), 256");
  EXPECT_EQ(shape(edited("void f(int n) { sums<<<32, 128>>>(p, q, 4096, n); }")),
            "(unsigned)((4096 + 7) / 8), 256");
}

TEST(LaunchEdit, KeepsSharedMemoryAndStream) {
  EXPECT_EQ(shape(edited("void f(int n, S s) { sums<<<(n + 127) / 128, dim3(128), 0, s>>>(p, q, n, "
                         "1); }")),
            "(unsigned)(((long long)n + 7) / 8), 256, 0, s");
}

TEST(LaunchEdit, FollowsMacrosAndSplitLines) {
  EXPECT_EQ(shape(edited("#define THREADS 128\n#define BLOCKS(n) n\nvoid f(int n) {\n  const int "
                         "blocks = (n + THREADS - 1) / THREADS;\n  sums\n    <<<blocks,\n       "
                         "THREADS>>>(p, q, n, 1);\n}")),
            "(unsigned)(((long long)n + 7) / 8), 256");
}

// What a function is given is known to its callers alone, also where another has a constant so
// called.
TEST(LaunchEdit, SaysWhatItTakesForGranted) {
  const std::string host =
      "void f(int n, int threads) { sums<<<(n + threads - 1) / threads, threads>>>(p, q, n, 1); }\n"
      "int main() { const int threads = 64; f(5, threads); }";
  for (const bool changes : {true, false}) {
    const auto launch = edited(host, changes);
    EXPECT_EQ(shape(launch), changes ? "(unsigned)(((long long)n + 7) / 8), 256"
                                     : "(unsigned)(((long long)n + 127) / 128), 128");
    ASSERT_TRUE(launch.ok());
    EXPECT_FALSE(launch->notes.empty());
  }
}

TEST(LaunchEdit, AnotherLaunchThanTheSearchesIsRefused) {
  EXPECT_NE(why(edited("void f(int n) { sums<<<(n + 63) / 64, 64>>>(p, q, n, 1); }", false))
                .find("blocks of 64"),
            std::string::npos);
  EXPECT_NE(why(edited("void f(int n) { sums<<<n / 128, 128>>>(p, q, n, 1); }")).find("its grid"),
            std::string::npos);
  EXPECT_NE(why(edited("void f(int n) { sums<<<(n + 127) / 128, 128, 64>>>(p, q, n, 1); }"))
                .find("dynamic shared memory"),
            std::string::npos);
}

TEST(LaunchEdit, AnArgumentThatDoesSomethingIsNotRepeated) {
  EXPECT_NE(why(edited("void f(int n) { sums<<<(n + 127) / 128, 128>>>(p, q, next(), 1); }"))
                .find("next()"),
            std::string::npos);
  EXPECT_NE(
      why(edited("void f(int n) { sums<<<(n + 127) / 128, 128>>>(p, q, n++, 1); }")).find("n++"),
      std::string::npos);
}

// A grid that only the program knows: a number of one capture is not its expression.
TEST(LaunchEdit, ANumberOfTheSearchIsNotTheProgramsExpression) {
  const std::string host = "void f(int n, int b) { sums<<<b, 128>>>(p, q, n, 1); }";
  EXPECT_NE(why(edited(host, true, "{block: 128, grid: 32}", "16")).find("as the number 32"),
            std::string::npos);
  EXPECT_EQ(shape(edited("void f() { sums<<<32, 128>>>(p, q, 4096, 1); }", true,
                         "{block: 128, grid: 32}", "16")),
            "16, 256");
}

TEST(LaunchEdit, IsPureKnowsWhatMayBeRepeated) {
  for (const char* text : {"n", "(int)n * 2", "v.size()", "static_cast<int>(n)", "a->n", "N - 1"})
    EXPECT_TRUE(is_pure(text)) << text;
  for (const char* text : {"n++", "--n", "next()", "n = 3", ""})
    EXPECT_FALSE(is_pure(text)) << text;
}

}  // namespace
}  // namespace regraph::handback::launch_edit_test
