#include "learn/kernel_variation.h"

#include "learn/path_ablation.h"
#include "learn/studied_example.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regraph::learn::kernel_variation_test {
namespace {

constexpr const char* kSwap = "coalesce_swap";
constexpr const char* kRestrict = "restrict_ldg";
constexpr const char* kBlock = "block_size(block=64x4)";

class KernelVariationTest : public StudiedExample {
 protected:
  [[nodiscard]] VariationRequest request(std::vector<std::vector<std::string>> paths) const {
    return {place(), std::move(paths)};
  }
  [[nodiscard]] VariationReport vary(const VariationRequest& wanted) const {
    const auto done = vary_kernel(wanted, installation, never);
    EXPECT_TRUE(done) << done.error().message;
    const auto report = kept_report(wanted);
    EXPECT_TRUE(report);
    return report.value_or(VariationReport{});
  }
  static const KernelVariant* find(const VariationReport& report, const std::string& label) {
    const auto found = std::ranges::find(report.variants, label, &KernelVariant::label);
    return found == report.variants.end() ? nullptr : &*found;
  }
};

TEST_F(KernelVariationTest, AStepLeftOutIsLegalOrSkipped) {
  auto kernel = StudiedKernel::open(place(), installation, never);
  ASSERT_TRUE(kernel) << kernel.error().message;
  const Expander& expander = (*kernel)->expander().expander();
  const Candidate& original = (*kernel)->session().original();
  const auto ablated = ablate_path(original, expander, {kSwap, kRestrict, kBlock}, never);
  ASSERT_TRUE(ablated) << ablated.error().message;
  ASSERT_EQ(ablated->states.size(), 4U);
  EXPECT_EQ(ablated->states.front().identity, original.identity);
  // The last step leaves the beginning of the path.
  ASSERT_EQ(ablated->ablations.size(), 2U);
  EXPECT_EQ(ablated->ablations[0].step, kSwap);
  EXPECT_EQ(ablated->ablations[1].step, kRestrict);
  EXPECT_EQ(ablated->ablations[1].candidate.source.find("__restrict__"), std::string::npos);
  EXPECT_NE(ablated->ablations[0].candidate.source.find("__restrict__"), std::string::npos);
  for (const Ablation& ablation : ablated->ablations) {
    const Evaluation evaluation = (*kernel)->evaluator().evaluate(ablation.candidate, {}, never);
    EXPECT_TRUE(evaluation.correct()) << evaluation.message;
  }
  // Padding needs the tile, and so does nothing else.
  write("product.cu",
        "__global__ void product(const float* a, const float* b, float* c, int n) {\n"
        "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  int column = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (row >= n || column >= n) return;\n  float sum = 0.0f;\n"
        "  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];\n"
        "  c[row * n + column] = sum;\n}\n");
  write("product.regraph.yaml",
        "sizes: {n: 256}\nargs: {a: {shape: [n, n]}, b: {shape: [n, n]}, "
        "c: {dir: out, shape: [n, n]}}\n"
        "launch: {block: [16, 16], grid: ['cdiv(n, bx)', 'cdiv(n, by)']}\ntests: [{n: 33}]\n");
  auto product = StudiedKernel::open(place("product.cu"), installation, never);
  ASSERT_TRUE(product) << product.error().message;
  const auto tiled =
      ablate_path((*product)->session().original(), (*product)->expander().expander(),
                  {kRestrict, "smem_tile(depth=16, loop=1)", "smem_pad(pad=1)"}, never);
  ASSERT_TRUE(tiled) << tiled.error().message;
  ASSERT_EQ(tiled->ablations.size(), 1U);
  EXPECT_EQ(tiled->ablations[0].step, kRestrict);
  EXPECT_EQ(tiled->skipped,
            std::vector<std::string>{
                "without smem_tile(depth=16, loop=1) smem_pad(pad=1) is not offered"});
}

TEST_F(KernelVariationTest, PathsThatCannotBeDoneAreRefused) {
  auto kernel = StudiedKernel::open(place(), installation, never);
  ASSERT_TRUE(kernel) << kernel.error().message;
  const auto missing = ablate_path((*kernel)->session().original(),
                                   (*kernel)->expander().expander(), {kSwap, "magic"}, never);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::refused);
  EXPECT_EQ(missing.error().message, "magic is not offered");
  Cancellation stop;
  stop.request();
  const auto stopped =
      ablate_path((*kernel)->session().original(), (*kernel)->expander().expander(), {kSwap}, stop);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

TEST_F(KernelVariationTest, KeepsWhatIsCorrectAndSlower) {
  const VariationReport report = vary(request({{kSwap, kRestrict}, {kRestrict, kSwap}, {"magic"}}));
  EXPECT_EQ(report.device, "h200");
  EXPECT_EQ(report.method, TimeMethod::predicted);
  EXPECT_EQ(report.dropped.at("path that cannot be done again"), 1);
  // What is left of the first path is slow; restrict_ldg is worth nothing to the second.
  const KernelVariant* slow = find(report, "without_coalesce_swap");
  ASSERT_NE(slow, nullptr) << report_text(report);
  EXPECT_GT(slow->slowdown, kLeastSlowdown);
  EXPECT_EQ(slow->taken_away,
            "from the end of the path coalesce_swap > restrict_ldg: the step coalesce_swap");
  EXPECT_EQ(find(report, "without_restrict_ldg"), nullptr);
  int dropped = 0;
  for (const auto& [reason, count] : report.dropped)
    dropped += reason.starts_with("path") ? 0 : count;
  EXPECT_EQ(static_cast<int>(report.variants.size()) + dropped, report.tried);

  // Each is a kernel of its own, as slow as was said, and the step leads back from it.
  for (const KernelVariant& variant : report.variants) {
    SCOPED_TRACE(variant.label);
    EXPECT_GE(variant.slowdown, kLeastSlowdown);
    EXPECT_EQ(std::ranges::count(report.variants, variant.identity, &KernelVariant::identity), 1);
    EXPECT_NE(variant.identity, report.identity);
  }
  write("slow.cu", slow->source);
  write("slow.regraph.yaml", slow->manifest);
  auto kernel = StudiedKernel::open(place("slow.cu"), installation, never);
  ASSERT_TRUE(kernel) << kernel.error().message;
  const Candidate& original = (*kernel)->session().original();
  const auto back = ablate_path(original, (*kernel)->expander().expander(), {kSwap}, never);
  ASSERT_TRUE(back) << back.error().message;
  const Evaluation before = (*kernel)->evaluator().evaluate(original, {}, never);
  const Evaluation after = (*kernel)->evaluator().evaluate(back->states.back(), {}, never);
  ASSERT_TRUE(before.correct() && after.correct()) << before.message << after.message;
  EXPECT_NEAR(before.time.median_seconds / after.time.median_seconds, slow->slowdown, 1e-6);
}

TEST_F(KernelVariationTest, IsDoneOnce) {
  const VariationRequest once = request({});
  const VariationReport report = vary(once);
  EXPECT_TRUE(kept_report(once));
  EXPECT_FALSE(kept_report(request({{kSwap}})));
  write("columns.cu", std::string(kColumns) + "// changed\n");
  EXPECT_FALSE(kept_report(once));
  write("columns.cu", kColumns);
  EXPECT_TRUE(kept_report(once));
  write("work/slow.variants", "nonsense");
  EXPECT_FALSE(kept_report(once));
  EXPECT_EQ(report_text(vary(once)), report_text(report));
}

TEST_F(KernelVariationTest, UnusableKernelsAreErrors) {
  write("columns.cu", "__global__ void add(float* c) { c[0] = ; }\n");
  const auto done = vary_kernel(request({}), installation, never);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause, FailureCause::unusable_kernel);
  EXPECT_FALSE(std::filesystem::exists(variation_path(request({}))));
}

Evaluation timed(double low, double median, double high, TimeMethod method) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::correct;
  evaluation.time = {median, low, high, 1, method};
  return evaluation;
}

TEST(SlowdownOf, AsksForFivePercentAndSeparatedMeasurements) {
  const auto predicted = [](double seconds) {
    return timed(seconds * 0.8, seconds, seconds * 1.2, TimeMethod::predicted);
  };
  EXPECT_FALSE(slowdown_of(predicted(1.04), predicted(1.0)));
  EXPECT_FALSE(slowdown_of(predicted(0.5), predicted(1.0)));
  EXPECT_EQ(slowdown_of(predicted(1.5), predicted(1.0)), 1.5);
  const Evaluation fast = timed(0.9, 1.0, 1.1, TimeMethod::measured);
  EXPECT_FALSE(slowdown_of(timed(1.05, 1.2, 1.3, TimeMethod::measured), fast));
  EXPECT_EQ(slowdown_of(timed(1.15, 1.2, 1.3, TimeMethod::measured), fast), 1.2);
  Evaluation wrong = predicted(2.0);
  wrong.verdict = Verdict::wrong_result;
  EXPECT_FALSE(slowdown_of(wrong, predicted(1.0)));
  EXPECT_FALSE(slowdown_of(predicted(2.0), wrong));
  EXPECT_FALSE(slowdown_of(predicted(1.0), predicted(0.0 / 0.0)));
}

TEST(VariationText, SurvivesAndRefuses) {
  using Json = nlohmann::ordered_json;
  const VariationRequest request{{"a dir/\"odd\".cu", "h200", "replay", "work", true},
                                 {{"swap", "tile(a=1)"}, {}}};
  const auto again = read_variation(variation_text(request));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(variation_text(*again), variation_text(request));
  EXPECT_EQ(again->place.kernel, request.place.kernel);
  EXPECT_EQ(again->paths, request.paths);
  const Json good = Json::parse(variation_text(request));
  for (const auto& [key, value] : good.items()) {
    Json bad = good;
    bad.erase(key);
    EXPECT_FALSE(read_variation(bad.dump())) << key;
  }
  for (const char* text : {"", "null", "[]", "\xff"})
    EXPECT_FALSE(read_variation(text)) << text;

  VariationReport report;
  report.key = "k";
  report.device = "h200";
  report.method = TimeMethod::measured;
  report.identity = "i";
  report.tried = 7;
  report.dropped = {{"not slower", 3}};
  report.variants = {{"label", "words", 1.25, "text\n", "yaml\n", "id", "code"}};
  const auto read = read_variation_report(report_text(report), "r");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(report_text(*read), report_text(report));
  EXPECT_EQ(read->method, TimeMethod::measured);
  EXPECT_EQ(read->variants[0].machine_code, "code");
  const auto damaged = read_variation_report("{}", "r");
  ASSERT_FALSE(damaged);
  EXPECT_TRUE(damaged.error().message.starts_with("r: not a report of variants"));
}

}  // namespace
}  // namespace regraph::learn::kernel_variation_test
