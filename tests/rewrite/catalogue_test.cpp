// The shipped ReGraph and the built-in steps must tell the same story.
#include "regraph/regraph_yaml.h"
#include "rewrite/steps/step_rewriter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace regraph::test::catalogue_test {
namespace {

TEST(Catalogue, DescribesEveryBuiltInStepWithItsParameters) {
  const auto graph = load_regraph(std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml");
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::set<std::string> built_in;
  for (const rewrite::StepRewriter* rewriter : rewrite::built_in_steps()) {
    built_in.insert(std::string(rewriter->id()));
    const Step* step = graph->find(rewriter->id());
    ASSERT_NE(step, nullptr) << rewriter->id();
    EXPECT_TRUE(step->rewriter) << rewriter->id();
    std::map<std::string, std::set<std::string>> offered;
    for (const StepParameters& choice : rewriter->settings()) {
      for (const auto& [name, value] : choice)
        offered[name].insert(value);
    }
    std::map<std::string, std::set<std::string>> described;
    for (const auto& [name, values] : step->parameters)
      described[name].insert(values.begin(), values.end());
    EXPECT_EQ(offered, described) << rewriter->id();
  }
  for (const Step* step : graph->steps()) {
    EXPECT_EQ(step->rewriter, built_in.contains(step->id)) << step->id;
  }
}

}  // namespace
}  // namespace regraph::test::catalogue_test
