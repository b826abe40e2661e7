#include "regraph/expander.h"

#include <gtest/gtest.h>

namespace regraph::expander_test {
namespace {

TEST(StepProposal, TextNamesStepAndParameters) {
  EXPECT_EQ((StepProposal{"smem_pad", {}, 1}.text()), "smem_pad");
  EXPECT_EQ((StepProposal{"thread_coarsen", {{"factor", "4"}, {"axis", "x"}}, 1}.text()),
            "thread_coarsen(axis=x, factor=4)");
}

}  // namespace
}  // namespace regraph::expander_test
