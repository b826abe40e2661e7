#include "report/failed_steps.h"

#include <gtest/gtest.h>

namespace regraph::failed_steps_test {
namespace {

StateRecord state(std::uint32_t id, const char* step, Verdict verdict, const char* message) {
  StateRecord result;
  result.id = id;
  result.step.step = step;
  result.evaluation.verdict = verdict;
  result.evaluation.message = message;
  return result;
}

TEST(FailedSteps, SayWhyOfEveryStateThatIsNotCorrect) {
  SearchOutcome outcome;
  outcome.states = {state(0, "", Verdict::correct, ""),
                    state(1, "loop_unroll", Verdict::correct, ""),
                    state(2, "smem_tile", Verdict::compile_error,
                          "best.cu(3): warning: unused\nbest.cu(7): error: no x\nerror: more\n"),
                    state(3, "fast_math", Verdict::wrong_result, "with {n: 3}: 'y' differs\nmore"),
                    state(4, "row_kernel", Verdict::timeout, "")};
  EXPECT_EQ(failed_steps(outcome),
            (std::vector<std::string>{"smem_tile: compile_error: best.cu(7): error: no x",
                                      "fast_math: wrong_result: with {n: 3}: 'y' differs",
                                      "row_kernel: timeout"}));
  FinalistRecord dropped;
  dropped.state = 1;
  dropped.dropped = true;
  dropped.evaluation.verdict = Verdict::wrong_result;
  dropped.evaluation.message = "'y' differs";
  outcome.finalists = {dropped};
  EXPECT_EQ(failed_steps(outcome).front(),
            "loop_unroll: wrong_result with fresh inputs: 'y' differs");
}

}  // namespace
}  // namespace regraph::failed_steps_test
