#include "candidate/candidate_reader.h"

#include "base/files.h"
#include "kernel/manifest.h"
#include "source/printer.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace regraph::candidate_reader_test {
namespace {

// Of examples/transpose.
class CandidateReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    CompilerConfiguration configuration;
    configuration.toolkit = *find_cuda_toolkit();
    configuration.worker = REGRAPH_COMPILE_WORKER;
    const source::FrontEndConfiguration front_end =
        *source::default_front_end(configuration.toolkit.root, "sm_90");
    compiler = std::make_unique<Compiler>(std::move(configuration));
    reader = std::make_unique<CandidateReader>(*compiler, front_end, "sm_90");
    const std::string base = std::string(REGRAPH_SOURCE_DIR) + "/examples/transpose/transpose";
    const std::string source = *read_file(base + ".cu", 1 << 20);
    const auto manifest = *parse_manifest(*read_file(base + ".regraph.yaml", 1 << 20), "t.yaml");
    const auto parsed = *source::parse_kernel(source, "t.cu", "", front_end);
    problem = *make_problem(manifest, parsed.signature, "t.cu", source);
    original = source::make_candidate(*parsed.unit, problem.launch);
  }

  Cancellation never;
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<CandidateReader> reader;
  Problem problem;
  Candidate original;
};

TEST_F(CandidateReaderTest, KnowsTheSameKernelInAnotherHandwriting) {
  const std::string other = R"(
__global__ void transpose(const float *source, float *target, int width, int height)
{
  int column = blockIdx.x * blockDim.x + threadIdx.x; // of the input
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) { target[column * height + row] = source[row * width + column]; }
})";
  const auto read = reader->read(other, problem.launch, problem.signature, {}, never);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_NE(read->form, nullptr);
  // Parameters keep their names, which are the problem's; locals do not count.
  const auto same = reader->read(problem.source, problem.launch, problem.signature, {}, never);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->identity, original.identity);
}

TEST_F(CandidateReaderTest, WhatHasNoFormIsKnownByItsTokens) {
  const std::string moving =
      "__global__ void transpose(const float* in, float* out, int width, int height) "
      "{ out[0] = unknown; }";
  const auto read = reader->read(moving, problem.launch, problem.signature, {"a"}, never);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->form, nullptr);
  EXPECT_EQ(read->assumptions, std::vector<std::string>{"a"});
  const auto spaced =
      reader->read("/* x */ " + moving + "\n\n", problem.launch, problem.signature, {}, never);
  EXPECT_EQ(spaced->identity, read->identity);
  LaunchPlan wider = problem.launch;
  wider.launches[0].block.x = 64;
  EXPECT_NE(reader->read(moving, wider, problem.signature, {}, never)->identity, read->identity);
}

TEST_F(CandidateReaderTest, WhatDoesNotCompileIsLeftToTheEvaluator) {
  const auto read = reader->read(
      "__global__ void transpose(const float* in, float* out, int width, int height) "
      "{ out[0] = undeclared; }",
      problem.launch, problem.signature, {}, never);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->form, nullptr);
  EXPECT_NE(read->identity, original.identity);
}

TEST_F(CandidateReaderTest, OtherParametersAreRefused) {
  for (const char* parameters : {"const double* in, float* out, int width, int height",
                                 "const float* in, float* out, int width",
                                 "const float* in, float* out, int width, int height, int more",
                                 "const float4* in, float* out, int width, int height"}) {
    const auto read = reader->read(
        std::string("__global__ void transpose(") + parameters + ") { out[0] = 0.0f; }",
        problem.launch, problem.signature, {}, never);
    ASSERT_FALSE(read) << parameters;
    EXPECT_EQ(read.error().code, ErrorCode::refused);
  }
}

TEST(TokenText, LeavesOutCommentsAndBlanks) {
  EXPECT_EQ(token_text("int  a ; // b\n/* c */ int d;"), token_text("int a;int d;"));
  EXPECT_NE(token_text("int ab;"), token_text("int a b;"));
  EXPECT_EQ(token_text(""), "");
}

}  // namespace
}  // namespace regraph::candidate_reader_test
