// What users choose from: options, help texts and choices follow these lists.
#include "session/choose_device.h"
#include "session/evaluators.h"
#include "session/expanders.h"
#include "session/installation.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace regraph::kinds_test {
namespace {

TEST(ExpanderKinds, AreFoundByName) {
  std::set<std::string_view> names;
  for (const ExpanderKind& kind : expander_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " is listed twice";
    EXPECT_FALSE(kind.description.empty());
    EXPECT_TRUE(kind.model_applies || kind.rewrites) << kind.name << " applies no step";
    EXPECT_TRUE(kind.asks_model || !kind.model_applies) << kind.name << " asks nobody";
    EXPECT_EQ(find_expander_kind(kind.name), &kind);
  }
  EXPECT_EQ(find_expander_kind("nobody"), nullptr);
}

TEST(EvaluatorKinds, AreToldApart) {
  std::set<std::string_view> names;
  for (const EvaluatorKind& kind : evaluator_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " is listed twice";
    EXPECT_FALSE(kind.description.empty());
  }
  EXPECT_TRUE(names.contains("auto"));
  EXPECT_EQ(find_evaluator_kind("nobody"), nullptr);
  EXPECT_EQ(find_evaluator_kind("gpu-only")->gpu, EvaluatorKind::Gpu::required);
  EXPECT_EQ(find_evaluator_kind("model")->gpu, EvaluatorKind::Gpu::not_used);
}

TEST(ExpanderKinds, SayWhetherAModelIsAsked) {
  LanguageModelOptions options;
  for (const ExpanderKind& kind : expander_kinds()) {
    options.expander = kind.name;
    EXPECT_EQ(options.asks(), kind.asks_model) << kind.name;
    EXPECT_EQ(options.applies(), kind.model_applies) << kind.name;
  }
  options.expander = "nobody";
  EXPECT_FALSE(options.asks());
}

TEST(ChooseDevice, PredictsForADeviceThatIsNotHere) {
  const DeviceRequest request{"h200", "", "model"};
  const auto chosen = choose_device(request, "/nowhere/regraph-eval", Cancellation());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->device.architecture, "sm_90");
  EXPECT_FALSE(chosen->gpu);
}

TEST(ChooseDevice, MeasuresOnlyWhatIsHere) {
  const DeviceRequest request{"h200", "", "gpu-only"};
  const auto chosen = choose_device(request, "/nowhere/regraph-eval", Cancellation());
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().cause, FailureCause::no_device);
}

TEST(ChooseDevice, KnowsFilesByTheirEnding) {
  EXPECT_TRUE(is_device_file("mine.yaml"));
  EXPECT_TRUE(is_device_file("mine.yml"));
  EXPECT_FALSE(is_device_file("h200"));
}

TEST(Installation, FindsWhatLiesBesideAProgram) {
  const Installation installation = Installation::at("/opt/regraph");
  EXPECT_EQ(installation.compile_worker(), "/opt/regraph/bin/regraph-compile-worker");
  EXPECT_EQ(installation.shipped("cuda.yaml"), "/opt/regraph/share/regraph/cuda.yaml");
}

}  // namespace
}  // namespace regraph::kinds_test
