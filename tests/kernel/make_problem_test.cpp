#include "kernel/manifest.h"

#include <gtest/gtest.h>

namespace regraph {
namespace {

Parameter pointer(std::string name, bool to_const, ScalarType type = ScalarType::f32) {
  return {std::move(name), type, true, to_const, 1};
}
Parameter scalar(std::string name, ScalarType type) {
  return {std::move(name), type, false, false, 1};
}

KernelSignature sgemm() {
  return {"sgemm",
          {pointer("A", true), pointer("B", true), pointer("C", false),
           scalar("alpha", ScalarType::f32), scalar("M", ScalarType::i32),
           scalar("N", ScalarType::i32), scalar("K", ScalarType::i32)}};
}

constexpr const char* kMinimal = R"yaml(
sizes: {M: 4096, N: 4096, K: 4096}
args: {A: {shape: [M, K]}, B: {shape: [K, N]}, C: {shape: [M, N]}}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
)yaml";

Result<Problem> join(std::string_view yaml, const KernelSignature& signature) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  if (!manifest.ok()) return manifest.error();
  return make_problem(*manifest, signature, "k.cu", "source");
}

std::string error_of(std::string_view yaml, const KernelSignature& signature) {
  const auto problem = join(yaml, signature);
  EXPECT_FALSE(problem.ok()) << yaml;
  return problem.ok() ? "" : problem.error().message;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(MakeProblem, FillsDefaultsAndSaysSo) {
  const auto problem = join(kMinimal, sgemm());
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  ASSERT_EQ(problem->arguments.size(), 7u);
  EXPECT_EQ(problem->arguments[0].direction, Direction::in);
  EXPECT_EQ(problem->arguments[2].direction, Direction::inout);
  EXPECT_EQ(problem->arguments[3].value, 1.5);
  EXPECT_FALSE(problem->arguments[4].value.has_value());  // a size symbol
  EXPECT_EQ(problem->launch.launches.at(0).kernel, "sgemm");
  EXPECT_EQ(problem->bench, std::vector<Symbols>{problem->sizes});
  EXPECT_EQ(problem->tests.size(), 3u);
  for (const Symbols& symbols : problem->tests)
    EXPECT_EQ(symbols.size(), 3u);
  EXPECT_EQ(problem->tests.back(), (Symbols{{"M", 1}, {"N", 1}, {"K", 1}}));
  std::string notes;
  for (const std::string& note : problem->notes)
    notes += note + "\n";
  EXPECT_TRUE(contains(notes, "alpha"));
  EXPECT_TRUE(contains(notes, "'C' is not const"));
  EXPECT_TRUE(contains(notes, "tests"));
  EXPECT_EQ(problem->arguments[0].element_count(problem->tests[2]).value(), 1);
}

TEST(MakeProblem, DerivedTestsKeepStructuralSizesAndStayFeasible) {
  const KernelSignature signature = {"conv",
                                     {pointer("x", true), pointer("y", false),
                                      scalar("N", ScalarType::i32), scalar("R", ScalarType::i32)}};
  const auto problem = join(
      "sizes: {N: 1048576, R: 5}\n"
      "args: {x: {shape: [N]}, y: {shape: [N - R]}}\n"
      "launch: {block: 128, grid: \"cdiv(N - R, bx)\"}\n",
      signature);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  ASSERT_FALSE(problem->tests.empty());
  for (const Symbols& symbols : problem->tests) {
    EXPECT_EQ(symbols.at("R"), 5);
    EXPECT_GT(symbols.at("N"), 5);  // N = 1 would make y's extent negative
  }
}

TEST(MakeProblem, DerivedTestsOfSquareMatricesAreSmall) {
  const KernelSignature signature = {
      "square", {pointer("x", true), pointer("y", false), scalar("N", ScalarType::i32)}};
  const auto problem = join(
      "sizes: {N: 4096}\n"
      "args: {x: {shape: [N, N]}, y: {shape: [N * N]}}\n"
      "launch: {block: 128, grid: \"cdiv(N, bx)\"}\n",
      signature);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  for (const Symbols& symbols : problem->tests)
    EXPECT_LE(symbols.at("N"), 256);
}

TEST(MakeProblem, ShapesGrowWithAPowerOfTheirSymbols) {
  const auto growth = [](const std::string& text) {
    return shape_growth({*IntegerExpression::parse(text)});
  };
  EXPECT_EQ(growth("7"), 0u);
  EXPECT_EQ(growth("cdiv(n, 256)"), 1u);
  EXPECT_EQ(growth("n * n + n"), 2u);
  EXPECT_EQ(growth("a * b * c"), 3u);
}

TEST(MakeProblem, PartialListsAreCompletedFromSizes) {
  const auto problem = join(std::string(kMinimal) + "tests: [{M: 7}]\nbench: [{K: 64}]\n", sgemm());
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->tests.at(0), (Symbols{{"M", 7}, {"N", 4096}, {"K", 4096}}));
  EXPECT_EQ(problem->bench.at(0).at("K"), 64);
}

TEST(MakeProblem, ErrorsNameTheArgumentAndTheCure) {
  const std::string launch =
      "launch: {block: [16, 16], grid: [\"cdiv(N, bx)\", \"cdiv(M, by)\"]}\n";
  const std::string sizes = "sizes: {M: 64, N: 64, K: 64}\n";
  std::string message =
      error_of(sizes + launch + "args: {A: {shape: [M, K]}, C: {shape: [M, N]}}\n", sgemm());
  EXPECT_TRUE(contains(message, "'B'") && contains(message, "shape")) << message;

  message = error_of(sizes + "args: {A: {shape: [M, K]}, B: {shape: [K, N]}, C: {shape: [M, N]}}\n",
                     sgemm());
  EXPECT_TRUE(contains(message, "launch")) << message;

  message = error_of(sizes + launch + "args: {A: {shape: [Q]}}\n", sgemm());
  EXPECT_TRUE(contains(message, "'Q'") && contains(message, "k.yaml:3:")) << message;

  message = error_of(sizes + launch + "args: {Z: 3}\n", sgemm());
  EXPECT_TRUE(contains(message, "'Z'") && contains(message, "alpha")) << message;

  message = error_of(sizes + launch + "args: {A: {shape: [M, K], dir: out}}\n", sgemm());
  EXPECT_TRUE(contains(message, "const")) << message;

  message = error_of(sizes + launch + "args: {A: 4}\n", sgemm());
  EXPECT_TRUE(contains(message, "pointer")) << message;

  message = error_of("sizes: {M: 64, N: 64}\n" + launch +
                         "args: {A: {shape: [M]}, B: {shape: [N]}, C: {shape: [M, N]}}\n",
                     sgemm());
  EXPECT_TRUE(contains(message, "'K'") && contains(message, "sizes")) << message;

  message = error_of(std::string(kMinimal) + "counters: {flops: 2*X}\n", sgemm());
  EXPECT_TRUE(contains(message, "'X'")) << message;

  message = error_of(std::string(kMinimal) + "tests: [{M: 0}]\n", sgemm());
  EXPECT_TRUE(contains(message, "tests")) << message;
}

void expect_same(const Problem& a, const Problem& b) {
  EXPECT_EQ(a.sizes, b.sizes);
  EXPECT_EQ(a.tests, b.tests);
  EXPECT_EQ(a.bench, b.bench);
  EXPECT_EQ(a.launch, b.launch);
  EXPECT_EQ(a.flops, b.flops);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.check.relative_tolerance, b.check.relative_tolerance);
  EXPECT_EQ(a.check.seeds, b.check.seeds);
  EXPECT_EQ(a.assume.noalias, b.assume.noalias);
  EXPECT_EQ(a.assume.align, b.assume.align);
  EXPECT_EQ(a.assume.reassociate, b.assume.reassociate);
  EXPECT_EQ(a.assume.fast_math, b.assume.fast_math);
  EXPECT_EQ(a.assume.keep_precision, b.assume.keep_precision);
  ASSERT_EQ(a.arguments.size(), b.arguments.size());
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    EXPECT_EQ(a.arguments[i].name, b.arguments[i].name);
    EXPECT_EQ(a.arguments[i].direction, b.arguments[i].direction);
    EXPECT_EQ(a.arguments[i].shape, b.arguments[i].shape);
    EXPECT_EQ(a.arguments[i].init, b.arguments[i].init);
    EXPECT_EQ(a.arguments[i].value, b.arguments[i].value);
  }
}

TEST(WriteManifest, ReadsBackToTheSameProblem) {
  const std::string variants[] = {
      "",
      "check: {tolerance: 1e-4, seeds: 9}\n",
      "assume: {noalias: false, align: 4, reassociate: false, fast_math: true, precision: any}\n",
      "counters: {flops: 2*M*N*K, bytes: 4*(M*K + K*N + 2*M*N)}\n",
      "tests: [{M: 70, N: 50, K: 45}, {M: 1, N: 1, K: 1}]\nbench: [{M: 8192}, {K: 64}]\n",
  };
  const char* const inits[] = {"normal", "iota", "\"uniform(-0.1,0.30000000000000004)\"",
                               "\"int(-1000000007,3)\"", "\"uniform(-1e300,1e-300)\""};
  for (const std::string& variant : variants) {
    for (const char* init : inits) {
      const std::string yaml =
          "sizes: {M: 4096, N: 4096, K: 4096}\n"
          "args:\n"
          "  A: {shape: [M, K], init: " +
          std::string(init) +
          "}\n"
          "  B: {shape: [\"max(K, 1)\", N]}\n"
          "  C: {dir: out, shape: [M * N]}\n"
          "  alpha: 0.1\n"
          "launch: {block: 32x8, grid: [\"cdiv(N, 4 * bx)\", \"cdiv(M, by)\", 2], smem: "
          "4*bx*by}\n" +
          variant;
      const auto problem = join(yaml, sgemm());
      ASSERT_TRUE(problem.ok()) << problem.error().message;
      const std::string written = write_manifest(*problem, problem->launch);
      const auto again = join(written, sgemm());
      ASSERT_TRUE(again.ok()) << again.error().message << "\n" << written;
      expect_same(*problem, *again);
      EXPECT_EQ(write_manifest(*again, again->launch), written);
    }
  }
}

}  // namespace
}  // namespace regraph
