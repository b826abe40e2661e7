// regraph-dataset: sources that cannot be used, folders that are none, and what is left of them.
#include "cli/train_program.h"

#include <gtest/gtest.h>

namespace regraph::test::dataset_test {
namespace {

class Dataset : public Train {
 protected:
  ProgramRun dataset(std::vector<std::string> arguments) const {
    return run_program(REGRAPH_DATASET_PROGRAM, std::move(arguments));
  }
};

TEST_F(Dataset, SourcesThatCannotBeUsedAreCountedAndTheOthersCount) {
  file("kernels/broken/broken.cu", "__global__ void broken(float* x) { x[0] = undeclared; }\n");
  const ProgramRun run = dataset({"build", "kernels", "--walks", "3", "--depth", "2", "--judged",
                                  "0", "--output", "set", "--no-parquet", "--jobs", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.output.find("1: source that could not be used"), std::string::npos) << run.output;
  EXPECT_TRUE(run.complains_of("broken.cu: left out")) << run.error;
  const ProgramRun verified = dataset({"verify", "set"});
  EXPECT_EQ(verified.exit_code, 0) << verified.error;
}

TEST_F(Dataset, BadInputIsNamed) {
  EXPECT_EQ(dataset({"build", "nowhere", "--walks", "1", "--output", "set"}).exit_code, 2);
  const ProgramRun kernels = dataset({"build", "kernels", "--output", "set"});
  EXPECT_EQ(kernels.exit_code, 2);
  EXPECT_TRUE(kernels.complains_of("--walks")) << kernels.error;
  EXPECT_EQ(dataset({"verify", "kernels"}).exit_code, 2);
  EXPECT_EQ(dataset({"show", "kernels", "0"}).exit_code, 2);
  EXPECT_EQ(dataset({"generate", "--families", "no_such", "--output", "out"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("set")));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(Dataset, NothingOfUseIsNoDataSet) {
  file("only/broken.cu", "__global__ void broken(float* x) { x[0] = undeclared; }\n");
  const ProgramRun run = dataset({"build", "only", "--walks", "1", "--output", "set", "-q"});
  EXPECT_EQ(run.exit_code, 4) << run.error;
  EXPECT_FALSE(std::filesystem::exists(path("set")));
}

}  // namespace
}  // namespace regraph::test::dataset_test
