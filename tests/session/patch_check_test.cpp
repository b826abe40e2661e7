// Winners in the user's own files, and the user's own test of them.
#include "session/patch_check.h"

#include "base/files.h"
#include "report/run_report.h"
#include "session/folder_copy.h"
#include "session/kept_program.h"
#include "session/opened_session.h"
#include "session/search_evidence.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace regraph::patch_check_test {
namespace {

namespace fs = std::filesystem;

// Two kernels, launched with the same variables, and a test that prints PASS.
constexpr const char* kKernels = R"cuda(#include <cstdio>
#include <cstdlib>
#include <vector>

#define THREADS 128

// The sum of each row.
__global__ void row_sums(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) sum += in[row * columns + i];
  out[row] = sum;
}

// Twice of everything.
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}
)cuda";

constexpr const char* kLaunches = R"cuda(
  dim3 block(THREADS), grid((rows + THREADS - 1) / THREADS);
  row_sums<<<grid, block>>>(in, out, rows, columns);
  twice<<<grid, block>>>(out, rows);
)cuda";

std::string program(const std::string& helper, const std::string& launches) {
  return std::string(kKernels) + helper + R"cuda(
int main(int argc, char** argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 300, columns = 130;
  std::vector<float> x(rows * columns), y(rows);
  for (int i = 0; i < rows * columns; ++i) x[i] = i % 13 * 0.25f;
  float *in, *out;
  cudaMalloc(&in, x.size() * 4);
  cudaMalloc(&out, y.size() * 4);
  cudaMemcpy(in, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
)cuda" + launches +
         R"cuda(
  cudaMemcpy(y.data(), out, y.size() * 4, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += 2 * x[row * columns + i];
    if (y[row] - sum > 0.01 || sum - y[row] > 0.01) ++wrong;
  }
  printf(wrong == 0 ? "PASS\n" : "FAIL\n");
  return wrong != 0;
}
)cuda";
}

std::string in_main() {
  return program("", kLaunches);
}

std::string in_helper() {
  return program(
      std::string("\nstatic void launch(float* in, float* out, int rows, int columns) {") +
          kLaunches + "}\n",
      "  launch(in, out, rows, columns);\n");
}

class PatchCheckTest : public test::SessionTest {
 protected:
  // A folder of its own, so that copies beside it can be counted.
  void write_program(const std::string& source) {
    fs::create_directory(path("own"));
    write("own/main.cu", source);
    write("own/Makefile",
          std::string("main: main.cu\n\t") + REGRAPH_NVCC + " -O1 -arch=sm_90 main.cu -o main\n");
  }

  Result<SearchResult> search(const std::string& check, double seconds = 120.0) {
    SessionOptions options = this->options();
    options.problem.kernel_file = path("own/main.cu");
    options.problem.kernel = "row_sums";
    options.problem.sizes = {"rows=4096"};
    auto session = Session::open(options, installation, never);
    EXPECT_TRUE(session) << session.error().message;
    if (!session) return fail(ErrorCode::internal, "");
    SearchConfig config = (*session)->configuration();
    config.budget.evaluations = 4;
    config.jobs = 2;
    config.check_command = check;
    config.check_directory = path("own");
    config.check_seconds = seconds;
    const auto expander = (*session)->expander({}, config);
    EXPECT_TRUE(expander);
    auto found = (*session)->search({config, **expander});
    if (found) shown = (*session)->text(*found, config);
    EXPECT_TRUE(found) << found.error().message;
    // No copy is left.
    EXPECT_EQ(std::distance(fs::directory_iterator(path("own")), fs::directory_iterator()), 2);
    EXPECT_EQ(std::distance(fs::directory_iterator(path("")), fs::directory_iterator()), 1);
    return found;
  }

  std::string shown;
};

class BuiltPatchCheckTest : public PatchCheckTest {
 protected:
  void SetUp() override {
    if (std::string(REGRAPH_NVCC).empty()) GTEST_SKIP() << "there is no nvcc";
  }
};

TEST_F(BuiltPatchCheckTest, TheProgramsOwnTestPassesWithThePatch) {
  for (const std::string& source : {in_main(), in_helper()}) {
    write_program(source);
    const auto found = search("make -s && ./main 200");
    ASSERT_TRUE(found);
    ASSERT_TRUE(found->outcome.improved());
    const HandBackReport& back = *found->evidence->hand_back;
    EXPECT_EQ(back.why_not, "");
    EXPECT_EQ(back.files, std::vector<std::string>{"main.cu"});
    ASSERT_EQ(back.launches.size(), 1u);
    EXPECT_NE(back.patch.find("\n   twice<<<grid, block>>>(out, rows);"), std::string::npos)
        << back.patch;
    const CheckReport& check = *found->evidence->check;
    EXPECT_TRUE(check.ran) << check.trouble;
    EXPECT_TRUE(check.same) << check.trouble;
    EXPECT_EQ(check.notes, std::vector<std::string>{});
    EXPECT_EQ(check.launches, 1u);
    EXPECT_FALSE(check.on_gpu);
    EXPECT_NE(shown.find("passes as before"), std::string::npos) << shown;
  }
}

TEST_F(PatchCheckTest, AnAnswerThatFailsTheTestIsWithdrawn) {
  write_program(in_main());
  const auto found = search("echo same; if grep -q ReGraph main.cu; then exit 3; fi");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->outcome.improved());
  const CheckReport& check = *found->evidence->check;
  EXPECT_TRUE(check.ran);
  EXPECT_FALSE(check.same);
  EXPECT_EQ(check.baseline_exit_code, 0);
  EXPECT_EQ(check.patched_exit_code, 3);
  EXPECT_NE(shown.find("FAILS WITH THE PATCH"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("best.patch"), std::string::npos) << shown;
}

// A line of the answer that another faster candidate does not have.
std::string own_line(const SearchOutcome& outcome) {
  std::istringstream lines(outcome.best.source);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const bool is_quotable = line.size() > 12 && line.find_first_of("'\"#/") == std::string::npos;
    const bool lacks = std::ranges::any_of(outcome.finalists, [&](const FinalistRecord& one) {
      return outcome.states[one.state].candidate->source.find(line) == std::string::npos;
    });
    if (is_quotable && lacks) return line;
  }
  return "";
}

TEST_F(PatchCheckTest, TheNextBestTakesThePlaceOfOneThatFailsTheTest) {
  write_program(in_main());
  const auto best = search("true");
  ASSERT_TRUE(best);
  ASSERT_TRUE(best->outcome.improved());
  const std::string line = own_line(best->outcome);
  ASSERT_FALSE(line.empty()) << best->outcome.best.source;
  const auto found = search("if grep -qF -- '" + line + "' main.cu; then exit 3; fi");
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->outcome.improved());
  EXPECT_NE(found->outcome.best_state, best->outcome.best_state);
  EXPECT_TRUE(found->evidence->check->same);
  ASSERT_FALSE(found->notes.empty());
  EXPECT_NE(found->notes.back().find("passed over: with the patch"), std::string::npos)
      << found->notes.back();
}

TEST_F(PatchCheckTest, WhatIsWrittenIsCompared) {
  write_program(in_main());
  auto found = search("grep -c Made main.cu; true");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->outcome.improved());
  EXPECT_NE(found->evidence->check->trouble.find("line 1 differs"), std::string::npos)
      << found->evidence->check->trouble;
  // Another thing every time.
  found = search("date +%N; pwd");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->outcome.improved());
  EXPECT_TRUE(found->evidence->check->same) << found->evidence->check->trouble;
}

TEST_F(PatchCheckTest, ATestThatFailsAnywayHasNoVerdict) {
  write_program(in_main());
  auto found = search("echo broken >&2; false");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->outcome.improved());
  EXPECT_FALSE(found->evidence->check->ran);
  EXPECT_EQ(found->evidence->check->baseline_exit_code, 1);
  EXPECT_NE(found->evidence->check->trouble.find("without the patch, too: broken"),
            std::string::npos)
      << found->evidence->check->trouble;
  found = search("sleep 60", 0.3);
  ASSERT_TRUE(found);
  EXPECT_NE(found->evidence->check->trouble.find("does not end within 0.3 s"), std::string::npos)
      << found->evidence->check->trouble;
}

// As where times are measured: the command runs as it is.
TEST_F(PatchCheckTest, OnAGpuTheCommandRunsByItself) {
  write_program(in_main());
  SessionOptions options = this->options();
  options.problem.kernel_file = path("own/main.cu");
  options.problem.kernel = "row_sums";
  const auto session = Session::open(options, installation, never);
  ASSERT_TRUE(session) << session.error().message;
  WinnerPatch patch;
  patch.source = fs::canonical(path("own/main.cu"));
  patch.report.patch = "a patch";
  patch.files = {{patch.source, "patched\n"}};
  CheckRequest request{"pwd | wc -l; head -c 1 main.cu > /dev/null", 20.0, path("own"), true};
  CheckReport check = check_patch(request, patch, (*session)->opened(), installation, never);
  EXPECT_TRUE(check.ran && check.same) << check.trouble;
  EXPECT_TRUE(check.on_gpu);
  EXPECT_FALSE(check.launches.has_value());
  request.command = "echo wrong >&2; ! grep -q patched main.cu";
  check = check_patch(request, patch, (*session)->opened(), installation, never);
  EXPECT_TRUE(check.ran);
  EXPECT_FALSE(check.same);
  EXPECT_EQ(check.trouble, "it ends with 1 with the patch: wrong");
  request.command = "kill -9 $$";
  check = check_patch(request, patch, (*session)->opened(), installation, never);
  EXPECT_EQ(check.baseline_exit_code, 137);
  request.command = "sleep 30";
  request.seconds = 0.3;
  check = check_patch(request, patch, (*session)->opened(), installation, never);
  EXPECT_NE(check.trouble.find("does not end within 0.3 s ("), std::string::npos) << check.trouble;
  request.command = "if grep -q patched main.cu; then sleep 30; fi";
  request.seconds = 2.0;
  check = check_patch(request, patch, (*session)->opened(), installation, never);
  EXPECT_TRUE(check.ran);
  EXPECT_FALSE(check.same);
  EXPECT_NE(check.trouble.find("does not end within 2 s"), std::string::npos) << check.trouble;
  patch.report.patch.clear();
  patch.report.why_not = "a macro launches it";
  check = check_patch(request, patch, (*session)->opened(), installation, never);
  EXPECT_EQ(check.trouble, "there is no patch: a macro launches it");
}

TEST_F(PatchCheckTest, FoldersAreCopiedWithoutWhatIsNobodys) {
  for (const char* name :
       {"from/.git/config", "from/regraph-runs/k-1/run.db", "from/sub/small", "from/large"})
    write(name, std::string(std::string(name) == "from/large" ? 2000 : 10, 'x'));
  fs::create_symlink("../elsewhere", path("from/link"));
  fs::create_directory(path("to"));
  CopyLimits limits;
  limits.file_bytes = 1000;
  const auto left_out = copy_folder(path("from"), path("to"), limits, never);
  ASSERT_TRUE(left_out) << left_out.error().message;
  ASSERT_EQ(left_out->size(), 1u);
  EXPECT_NE(left_out->front().find("large"), std::string::npos);
  EXPECT_TRUE(fs::exists(path("to/sub/small")));
  EXPECT_EQ(fs::last_write_time(path("to/sub/small")), fs::last_write_time(path("from/sub/small")));
  EXPECT_EQ(fs::read_symlink(path("to/link")), "../elsewhere");
  EXPECT_FALSE(fs::exists(path("to/.git")));
  EXPECT_FALSE(fs::exists(path("to/regraph-runs")));
  EXPECT_FALSE(fs::exists(path("to/large")));
  empty_folder(path("to"));
  EXPECT_TRUE(fs::is_empty(path("to")));
  limits.all_bytes = 5;
  EXPECT_FALSE(copy_folder(path("from"), path("to"), limits, never));
}

TEST(FolderToCopy, IsWhereTheCommandIsTyped) {
  EXPECT_EQ(folder_to_copy("/home/me/p", "/home/me/p/src/k.cu"), "/home/me/p");
  EXPECT_EQ(folder_to_copy("/home/me/p/build", "/home/me/p/src/k.cu"), "/home/me/p");
  EXPECT_EQ(folder_to_copy("/home/me/p", "/opt/other/k.cu"), "/opt/other");
  EXPECT_EQ(folder_to_copy("/", "/home/me/k.cu"), "/home/me");
}

TEST_F(BuiltPatchCheckTest, ACapturedKernelIsHandedBackToItsProgram) {
  write_program(in_main());
  KeepRequest request;
  request.build = path("own/main.cu");
  request.commands = {{"500"}, {"90"}};
  request.keep.folder = path("kept");
  const auto kept = keep_program(request, installation, never);
  ASSERT_TRUE(kept) << kept.error().message;
  SessionOptions options = this->options();
  options.problem.kernel_file = path("kept/row_sums");
  const auto session = Session::open(options, installation, never);
  ASSERT_TRUE(session) << session.error().message;
  SearchConfig config = (*session)->configuration();
  config.budget.evaluations = 4;
  config.check_command = "make -s && ./main 100";
  config.check_directory = path("own");
  const auto expander = (*session)->expander({}, config);
  const auto found = (*session)->search({config, **expander});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->outcome.improved());
  EXPECT_TRUE(found->evidence->program->same);
  EXPECT_EQ(found->evidence->hand_back->why_not, "");
  EXPECT_EQ(found->evidence->hand_back->folder, fs::canonical(path("own")).string());
  EXPECT_TRUE(found->evidence->check->same) << found->evidence->check->trouble;
}

}  // namespace
}  // namespace regraph::patch_check_test
