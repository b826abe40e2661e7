// Problems that NVRTC cannot take: nvcc compiles them and their candidates.
#include "session/opened_problem.h"
#include "session/opened_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdlib.h>

namespace regraph::nvcc_problem_test {
namespace {

constexpr const char* kStandardSums = R"(#include <cstdio>
#include <numeric>
#include <vector>
// kernel: row_sums
__global__ void row_sums(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  out[row] = std::accumulate(in + row * columns, in + (row + 1) * columns, 0.0f);
}
int main() { std::vector<float> host(4); std::printf("%f\n", host[0]); }
)";

std::string all_notes(const Session& session) {
  std::string notes;
  for (const std::string& note : session.problem().notes)
    notes += note + "\n";
  return notes;
}

class NvccProblem : public test::SessionTest {
 protected:
  void SetUp() override {
    const auto toolkit = find_cuda_toolkit();
    if (!toolkit.ok() || toolkit->nvcc.empty())
      GTEST_SKIP() << "no nvcc with a host compiler on this machine";
  }
  void write_standard_sums() const {
    write("k.cu", kStandardSums);
    write("k.regraph.yaml", test::kRowSumsManifest);
  }
};

TEST_F(NvccProblem, IsOpenedAndItsCandidatesAreJudged) {
  write_standard_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  const std::string notes = all_notes(**session);
  EXPECT_NE(notes.find("compiled with nvcc, because NVRTC said: k.cu"), std::string::npos) << notes;
  EXPECT_NE((*session)->problem().source.find("<numeric>"), std::string::npos);
  EXPECT_EQ((*session)->problem().source.find("main"), std::string::npos);
  EXPECT_TRUE((*session)->opened().rewritable) << (*session)->opened().opaque_reason;
  const auto& compiled = *(*session)->opened().compiled.launches.front();
  EXPECT_EQ(compiled.compiler, CudaCompiler::nvcc);
  EXPECT_TRUE((*session)->evaluate((*session)->original(), {.seed = 1}, never).correct());

  std::string faster = (*session)->problem().source;
  faster.replace(faster.find("0.0f"), 4, "0.0f, std::plus<float>()");
  const auto candidate = (*session)->read_candidate(faster, never);
  ASSERT_TRUE(candidate) << candidate.error().message;
  const Evaluation good = (*session)->evaluate(*candidate, {.seed = 1}, never);
  EXPECT_TRUE(good.correct()) << good.message;

  std::string wrong = (*session)->problem().source;
  wrong.replace(wrong.find("0.0f"), 4, "1.0f");
  const auto other = (*session)->read_candidate(wrong, never);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ((*session)->evaluate(*other, {.seed = 1}, never).verdict, Verdict::wrong_result);
}

TEST_F(NvccProblem, OthersStayWithNvrtc) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(all_notes(**session).find("nvcc"), std::string::npos);
  EXPECT_EQ((*session)->opened().compiled.launches.front()->compiler, CudaCompiler::nvrtc);
}

TEST_F(NvccProblem, WhatBothRefuseIsSaidOfBoth) {
  write("k.cu",
        "#include <numeric>\n"
        "__global__ void row_sums(float* a) { a[0] = std::no_such_thing(a); }\n");
  const auto session = open();
  ASSERT_FALSE(session);
  const std::string& message = session.error().message;
  EXPECT_EQ(session.error().cause, FailureCause::unusable_kernel);
  EXPECT_NE(message.find("k.cu:2: error"), std::string::npos) << message;
  EXPECT_NE(message.find("with nvcc, because NVRTC said"), std::string::npos) << message;
}

// A toolkit as NVIDIA's wheels make it: NVRTC and headers, no programs.
TEST_F(NvccProblem, WithoutNvccTheMessageSaysWhatWouldHelp) {
  const auto toolkit = find_cuda_toolkit();
  ASSERT_TRUE(toolkit.ok());
  const std::filesystem::path root = path("toolkit");
  std::filesystem::create_directory(root);
  std::filesystem::create_directory_symlink(toolkit->include, root / "include");
  std::filesystem::create_directory_symlink(toolkit->nvrtc_library.parent_path(), root / "lib");
  const char* const before = ::getenv("CUDA_HOME");
  const std::optional<std::string> kept =
      before ? std::optional<std::string>(before) : std::nullopt;
  ::setenv("CUDA_HOME", root.c_str(), 1);
  write_standard_sums();
  const auto session = open();
  if (kept) {
    ::setenv("CUDA_HOME", kept->c_str(), 1);
  } else {
    ::unsetenv("CUDA_HOME");
  }
  ASSERT_FALSE(session);
  const std::string& message = session.error().message;
  EXPECT_NE(message.find("namespace \"std\" has no member \"accumulate\""), std::string::npos);
  EXPECT_NE(message.find("nvcc may take it"), std::string::npos) << message;
}

}  // namespace
}  // namespace regraph::nvcc_problem_test
