#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace regraph::make_problem_test {
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
  int smaller = 0;
  for (const Symbols& symbols : problem->tests) {
    if (symbols.at("R") != 5) {
      EXPECT_EQ(symbols.at("R"), 4);
      ++smaller;
    }
    EXPECT_GT(symbols.at("N"), 5);  // N = 1 would make y's extent negative
  }
  EXPECT_EQ(smaller, 1);  // a width is a parameter, too
}

TEST(MakeProblem, SizesAndScalarsMayBeFixed) {
  const KernelSignature signature = {
      "conv",
      {pointer("x", true), pointer("y", false), scalar("N", ScalarType::i32),
       scalar("R", ScalarType::i32), scalar("a", ScalarType::f32)}};
  const std::string rest =
      "args: {x: {shape: [N]}, y: {shape: [N]}, a: 2.5}\n"
      "launch: {block: 128, grid: \"cdiv(N, bx)\"}\n";
  const auto problem =
      join("sizes: {N: 1048576, R: 5}\nassume: {fixed: [R, a], finite: true}\n" + rest, signature);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_TRUE(problem->assume.finite);
  EXPECT_TRUE(problem->assume.is_fixed("a"));
  EXPECT_FALSE(problem->assume.is_fixed("N"));
  for (const Symbols& symbols : problem->tests)
    EXPECT_EQ(symbols.at("R"), 5);
  const auto unknown = join("sizes: {N: 1048576, R: 5}\nassume: {fixed: [x]}\n" + rest, signature);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'x' is no scalar and no size"), std::string::npos)
      << unknown.error().message;
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
  EXPECT_EQ(a.assume.precision, b.assume.precision);
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

// A sparse matrix, what it is multiplied with and a scalar of each kind.
KernelSignature sparse() {
  return {"spmv",
          {pointer("offsets", true, ScalarType::i32), pointer("columns", true, ScalarType::u32),
           pointer("values", true), pointer("y", false), pointer("order", true, ScalarType::i64),
           scalar("half", ScalarType::i32), scalar("scale", ScalarType::f32),
           scalar("length", ScalarType::i64), scalar("small", ScalarType::u8)}};
}

std::string sparse_yaml(const std::string& replaced = "", const std::string& by = "") {
  std::string yaml =
      "sizes: {rows: 100, cols: 80, nnz: 700}\n"
      "args:\n"
      "  offsets: {shape: [rows + 1], init: csr_offsets(nnz)}\n"
      "  columns: {shape: [nnz], init: csr_columns(cols)}\n"
      "  values: {shape: [nnz], init: \"constant(3.5)\"}\n"
      "  y: {dir: inout, shape: [rows], init: zeros}\n"
      "  order: {shape: [rows], init: permutation}\n"
      "  half: rows / 2\n"
      "  scale: {value: 2 * cols}\n"
      "  length: 9007199254740993\n"
      "  small: \"min(rows, 255)\"\n"
      "launch: {block: 32, grid: [\"cdiv(rows, bx)\"]}\n"
      "tests: [{rows: 7, cols: 5, nnz: 20}]\n";
  if (const auto at = yaml.find(replaced); !replaced.empty() && at != std::string::npos)
    yaml.replace(at, replaced.size(), by);
  return yaml;
}

TEST(MakeProblem, ValuesAndContentsFollowTheSizes) {
  const auto problem = join(sparse_yaml(), sparse());
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const Symbols& test = problem->tests.front();
  const auto value = [&](std::size_t argument, const Symbols& symbols) {
    const auto at = problem->arguments[argument].value->at(symbols);
    return at.ok() ? *at : -1.0;
  };
  EXPECT_EQ(value(5, test), 3.0);
  EXPECT_EQ(value(5, problem->sizes), 50.0);
  EXPECT_EQ(value(6, test), 10.0);
  EXPECT_EQ(value(8, test), 7.0);
  // A double would round it.
  const auto length = problem->arguments[7].value->integer_at(test);
  ASSERT_TRUE(length.ok() && length->has_value());
  EXPECT_EQ(**length, 9007199254740993);
  const auto offsets = problem->arguments[0].init.at(test);
  ASSERT_TRUE(offsets.ok());
  EXPECT_EQ(offsets->high, 20.0);
  // What may be relied on is said.
  EXPECT_EQ(problem->constant_contents(),
            (std::vector<std::string>{"'values' holds constant(3.5) before every launch",
                                      "'y' holds zeros before every launch"}));
  const auto notes = [&](std::string_view part) {
    return std::any_of(problem->notes.begin(), problem->notes.end(),
                       [&](const std::string& note) { return contains(note, part); });
  };
  EXPECT_TRUE(notes("'y' holds zeros"));
}

TEST(MakeProblem, ValuesAndContentsThatDoNotFitSaySo) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"rows / 2", "rows - 101", ""},
      {"rows / 2", "30000000 * rows",
       "bench: 'half': 30000000 * rows is 3000000000 at {cols: 80, nnz: 700, rows: 100}, which "
       "does "
       "not fit its type int"},
      {"rows / 2", "widths / 2", "k.yaml:8: 'half': widths / 2: unknown symbol 'widths'"},
      {"rows / 2", "1.5", "'half' is an integer, 1.5 is not"},
      {"rows / 2", "3000000000", "does not fit its type int"},
      {"\"min(rows, 255)\"", "rows - 10", "tests: 'small': rows - 10 is -3 at"},
      {"\"min(rows, 255)\"", "256", "does not fit its type unsigned char"},
      {"csr_offsets(nnz)", "csr_offsets(nz)", "k.yaml:3: init of 'offsets': nz: unknown symbol"},
      {"csr_offsets(nnz)", "csr_offsets(nnz - 100)", "tests: 'offsets': csr_offsets(nnz - 100)"},
      {"csr_columns(cols)", "csr_columns(cols - 5)", "has no column"},
      {"[rows + 1], init", "[1], init", "a place for each row and one more"},
      {"\"constant(3.5)\"", "permutation", "for buffers of integers"},
      {"\"constant(3.5)\"", "csr_offsets(nnz)", "for buffers of integers"},
      {"permutation", "\"int(5, rows - 3)\"", "holds nothing"},
      {"csr_columns(cols)", "\"int(-1, cols)\"", "-1 does not fit its type unsigned int"},
      {"csr_columns(cols)", "\"int(nnz - 800, cols)\"", "does not fit its type unsigned int"},
      {"csr_columns(cols)", "constant(0.5)", "does not fit its type unsigned int"},
  };
  for (const auto& [replaced, by, reason] : cases) {
    const std::string yaml = sparse_yaml(replaced, by);
    if (std::string_view(reason).empty()) {
      EXPECT_TRUE(join(yaml, sparse()).ok()) << by;
      continue;
    }
    const std::string message = error_of(yaml, sparse());
    EXPECT_TRUE(contains(message, reason)) << message;
  }
}

TEST(WriteManifest, ValuesAndContentsReadBack) {
  const char* const inits[] = {"zeros",
                               "ones",
                               "constant(-0.0)",
                               "constant(0.1)",
                               "\"int(0, rows - 1)\"",
                               "\"int(1 - rows, max(rows, cols))\"",
                               "iota"};
  for (const char* init : inits) {
    const auto problem = join(sparse_yaml("init: zeros", std::string("init: ") + init), sparse());
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    const std::string written = write_manifest(*problem, problem->launch);
    const auto again = join(written, sparse());
    ASSERT_TRUE(again.ok()) << again.error().message << "\n" << written;
    expect_same(*problem, *again);
    EXPECT_EQ(write_manifest(*again, again->launch), written);
  }
}

TEST(MakeProblem, ABlockMayFollowTheSizes) {
  const std::string launch = "block: 32, grid: [\"cdiv(rows, bx)\"]";
  const auto with_block = [&](const std::string& block) {
    return sparse_yaml(launch, "block: " + block + ", grid: [\"cdiv(rows, bx)\"]");
  };
  const auto problem = join(with_block("[\"min(cols, 64)\", 2]"), sparse());
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const Launch& one = problem->launch.launches.front();
  EXPECT_EQ(one.block, (Dim3{64, 2, 1}));
  EXPECT_EQ(concretise(one, problem->tests.front())->block, (Dim3{5, 2, 1}));
  const std::string written = write_manifest(*problem, problem->launch);
  EXPECT_TRUE(contains(written, "block: [\"min(cols, 64)\", 2, 1]")) << written;
  const auto again = join(written, sparse());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->launch, problem->launch);
  EXPECT_EQ(join(with_block("\"max(rows, 8)\""), sparse())->launch.launches.front().block,
            (Dim3{100, 1, 1}));

  EXPECT_TRUE(contains(error_of(with_block("[cols - 5]"), sparse()),
                       "tests: launch of 'spmv': a block of 0 (cols - 5) x 1 x 1 threads at {cols: "
                       "5, nnz: 20, rows: 7} is not possible"));
  for (const auto& [block, reason] :
       {std::pair{"2 * nnz", "k.yaml: launch.block: a block of 1400 (2 * nnz)"},
        std::pair{"[width]", "unknown symbol 'width' (known: cols, nnz, rows); add it to sizes"},
        std::pair{"bx", "unknown symbol 'bx'"}}) {
    const auto manifest = parse_manifest(with_block(block), "k.yaml");
    ASSERT_FALSE(manifest.ok()) << block;
    EXPECT_TRUE(contains(manifest.error().message, reason)) << manifest.error().message;
  }
}

}  // namespace
}  // namespace regraph::make_problem_test
