#include "llm/expand/candidate_reader.h"

#include "llm/expand/expansion_case.h"

namespace regraph::test {
namespace {

using CandidateReader = ExpansionCase;

TEST_F(CandidateReader, KnowsTheSameKernelInAnotherHandwriting) {
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

TEST_F(CandidateReader, WhatHasNoFormIsKnownByItsTokens) {
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

TEST_F(CandidateReader, WhatDoesNotCompileIsLeftToTheEvaluator) {
  const auto read = reader->read(
      "__global__ void transpose(const float* in, float* out, int width, int height) "
      "{ out[0] = undeclared; }",
      problem.launch, problem.signature, {}, never);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->form, nullptr);
  EXPECT_EQ(evaluator->evaluate(*read, {}, never).verdict, Verdict::compile_error);
}

TEST_F(CandidateReader, OtherParametersAreRefused) {
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
  EXPECT_EQ(llm::token_text("int  a ; // b\n/* c */ int d;"), llm::token_text("int a;int d;"));
  EXPECT_NE(llm::token_text("int ab;"), llm::token_text("int a b;"));
  EXPECT_EQ(llm::token_text(""), "");
}

}  // namespace
}  // namespace regraph::test
