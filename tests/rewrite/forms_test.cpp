// What is said in a roundabout way gets the steps of its plain twin.
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/form_checks.h"
#include "rewrite/forms/normal_form.h"
#include "rewrite/step_checks.h"
#include "source/printer.h"

#include <gtest/gtest.h>

#include <set>

namespace regraph::test::forms_test {
namespace {

std::set<std::string> proposals(const KernelCase& kernel) {
  std::set<std::string> result;
  const rewrite::KernelAnalysis shared = kernel.analysis(kernel.original());
  for (const rewrite::StepRewriter* step : rewrite::built_in_steps()) {
    // It works on what coarsening leaves, where rows and columns of a flat number are taken apart
    // for each element; such kernels have vectorize_global.
    if (step->id() == "vectorize_window") continue;
    for (const StepParameters& parameters : step->settings()) {
      const StepProposal proposal{std::string(step->id()), parameters, 1};
      if (step->match(shared, parameters)) result.insert(proposal.text());
    }
  }
  return result;
}

TEST(Forms, GetTheStepsOfTheirPlainTwins) {
  const std::string ending = "_plain";
  int pairs = 0;
  for (const SampleKernel& plain : idiom_kernels()) {
    if (!plain.name.ends_with(ending)) continue;
    const std::string name = plain.name.substr(0, plain.name.size() - ending.size());
    const auto kernel = sample(name);
    const auto twin = sample(plain.name);
    ASSERT_TRUE(kernel && twin);
    const std::set<std::string> expected = proposals(*twin);
    EXPECT_GE(expected.size(), 5u) << name;
    const rewrite::KernelAnalysis analysis = kernel->analysis(kernel->original());
    source::Unit unit = kernel->original().unit;
    unit.kernel = analysis.kernel();
    EXPECT_EQ(proposals(*kernel), expected) << name << source::print(unit);
    rewrite::KernelState state = kernel->original();
    state.unit = unit;
    EXPECT_EQ(kernel->verdict(state), "correct") << name;
    ++pairs;
  }
  EXPECT_GE(pairs, 10);
}

TEST(ForwardedLoads, StayInFrontOfWhatChangesMemory) {
  const auto has_name = [](const std::string& between) {
    auto kernel = KernelCase::make(
        "__global__ void f(const float* a, int* b, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n"
        "    int s = 0;\n    for (int k = 0; k < 4; ++k) {\n      int t = b[4 * i + k];\n" +
            between + "      s += t + o;\n    }\n    b[4 * i] = s;\n  }\n}",
        "sizes: {n: 64}\nargs: {a: {dir: in, shape: [n]}, b: {dir: inout, shape: [4 * n]}}\n"
        "launch: {block: 32, grid: 'cdiv(n, bx)'}\ntests: [{n: 40}]\n");
    EXPECT_TRUE(kernel.ok()) << kernel.error().message;
    if (!kernel.ok()) return false;
    const auto normal = rewrite::normalised((*kernel)->original().unit.kernel);
    EXPECT_TRUE(normal.ok());
    return normal.ok() && source::print(normal->body, 0).find("int t") != std::string::npos;
  };
  EXPECT_FALSE(has_name("      int o = k;\n"));
  EXPECT_TRUE(has_name("      int o = atomicAdd(&b[4 * i + k], 1);\n"));
}

TEST(IfConversion, KeepWhatRoundsDifferently) {
  // As one expression both sides would be double before they are stored.
  const std::string text =
      plain_text("  if (i < n) { float v; if (a[i] > 0.5f) v = 0.1; else v = i; b[i] = v; }\n");
  EXPECT_NE(text.find("? (float)0.1 : (float)i"), std::string::npos) << text;
}

TEST(GuardsFirst, TurnZerosOutsideRound) {
  const std::string turned = plain_text("  if (i < n) b[i] = i >= m || i == 3 ? 0.0f : a[i];\n");
  EXPECT_NE(turned.find("i < m && i != 3 ? a[i] : 0.0f"), std::string::npos) << turned;
  // What compares numbers that may be none, and what is chosen from two values.
  const std::string kept = plain_text(
      "  if (i < n) { b[i] = a[i] > 1.0f ? 0.0f : a[i]; c[i] = i >= m ? 2.0f : a[i]; }\n");
  EXPECT_NE(kept.find("a[i] > 1.0f ? 0.0f : a[i]"), std::string::npos) << kept;
  EXPECT_NE(kept.find("i >= m ? 2.0f : a[i]"), std::string::npos) << kept;
}

TEST(DeadGuards, AreThoseThatFollow) {
  const std::string text = plain_text(
      "  if (i < n) {\n    float s = 0.0f;\n"
      "    for (int k = 0; k < m; ++k) {\n      if (k < m && i < n && i >= 0) s += a[i * m + k];\n"
      "      if (k + 1 < m) s += a[i * m + k + 1];\n      if (k >= m) s = 7.0f;\n    }\n"
      "    b[i] = i < n + 1 ? s : 0.0f;\n  }\n");
  EXPECT_EQ(text.find("k < m &&"), std::string::npos) << text;
  EXPECT_NE(text.find("if (k + 1 < m)"), std::string::npos) << text;
  EXPECT_EQ(text.find("7.0f"), std::string::npos) << text;
  EXPECT_EQ(text.find('?'), std::string::npos) << text;
  // Unsigned numbers that wrap: the guard of the first element.
  const std::string wraps =
      plain_text("  if (i < n) { unsigned before = i - 1; if (before < n) b[i] += a[before]; }\n");
  EXPECT_NE(wraps.find("if (before < n)"), std::string::npos) << wraps;
}

}  // namespace
}  // namespace regraph::test::forms_test
