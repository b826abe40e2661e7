// Whole searches on the shipped examples, with few evaluations.
#include "cli/search_program.h"

namespace regraph::search_test {
namespace {

using nlohmann::json;
using test::ProgramRun;

class Search : public test::SearchProgram {};

constexpr const char* kFiles[] = {"best.cu",     "best.regraph.yaml", "best.diff", "manifest.yaml",
                                  "result.json", "results.t4.json",   "run.db",    "report.html"};

TEST_F(Search, FindsAFasterTransposeThatIsAnInputItself) {
  const ProgramRun first = run({example("transpose"), "--device", "h200", "--evaluations", "8",
                                "--output", "out", "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.error;
  const json result = first.json();
  EXPECT_EQ(result.at("status"), "improved");
  EXPECT_EQ(result.at("method"), "predicted");
  EXPECT_EQ(result.at("verified"), true);
  EXPECT_GT(result.at("speedup").get<double>(), 1.3);
  EXPECT_GT(result.at("speedup_interval").at(0).get<double>(), 1.0);
  EXPECT_FALSE(result.at("best").at("steps").empty());
  EXPECT_LE(result.at("evaluations").get<int>(), 8);
  for (const char* name : kFiles)
    EXPECT_TRUE(std::filesystem::exists(path("out") / name)) << name;
  EXPECT_EQ(json::parse(content("out/result.json")), result);
  EXPECT_NE(content("out/best.diff").find("transpose"), std::string::npos);

  // The winner with its manifest is a problem of its own, and is as fast as was said.
  const ProgramRun again = run({"out/best.cu", "--device", "h200", "--dry-run", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_NEAR(again.json().at("baseline").at("seconds").get<double>(),
              result.at("best").at("seconds").get<double>(),
              0.001 * result.at("best").at("seconds").get<double>());
  const ProgramRun original = run({example("transpose"), "--manifest", "out/manifest.yaml",
                                   "--device", "h200", "--dry-run", "--json"});
  ASSERT_EQ(original.exit_code, 0) << original.error;
  EXPECT_EQ(original.json().at("baseline").at("seconds"), result.at("baseline").at("seconds"));
}

TEST_F(Search, ClaimsNothingForAKernelThatIsGoodAlready) {
  const ProgramRun done = run({example("vecadd"), "--device", "h200", "--evaluations", "6"});
  EXPECT_EQ(done.exit_code, 3) << done.error;
  EXPECT_NE(done.output.find("no candidate is faster"), std::string::npos) << done.output;
  EXPECT_EQ(done.output.find("speedup"), std::string::npos) << done.output;
  EXPECT_EQ(content("regraph-runs/vecadd-1/best.cu"), *read_file(example("vecadd"), 1 << 20));
  EXPECT_EQ(content("regraph-runs/vecadd-1/best.diff"), "");
}

TEST_F(Search, FindsTheSameWithAnyNumberOfJobs) {
  std::vector<json> results;
  for (const char* jobs : {"1", "2", "2"}) {
    const ProgramRun done =
        run({example("reduction"), "--device", "h200", "--evaluations", "6", "--seed", "3",
             "--jobs", jobs, "--json", "--output", "out" + std::to_string(results.size())});
    ASSERT_EQ(done.exit_code, 0) << done.error;
    results.push_back(done.json());
  }
  for (const json& result : results) {
    for (const char* key : {"speedup", "speedup_interval", "baseline", "evaluations", "verdicts",
                            "expansions", "transpositions", "machine_code_merges", "seed"}) {
      EXPECT_EQ(result.at(key), results[0].at(key)) << key;
    }
    EXPECT_EQ(result.at("best").at("steps"), results[0].at("best").at("steps"));
    EXPECT_EQ(result.at("best").at("facts"), results[0].at("best").at("facts"));
  }
  EXPECT_EQ(content("out0/best.cu"), content("out1/best.cu"));
  EXPECT_GT(results[0].at("speedup").get<double>(), 2.0);
}

TEST_F(Search, TheShippedPolicyIsUsedUnlessSomethingElseIsAskedFor) {
  const auto policy_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {example("vecadd"), "--device", "h200", "--dry-run"});
    return run(more).output.find(", policy ") != std::string::npos;
  };
  EXPECT_TRUE(policy_with({}));
  EXPECT_FALSE(policy_with({"--policy", "none"}));
  EXPECT_FALSE(policy_with({"--graph", "published"}));
  // It knows the rewriter's steps only.
  EXPECT_FALSE(policy_with({"--expander", "both", "--llm-model", "m", "--llm-url", "http://h"}));
}

TEST_F(Search, KeepsStandardOutputForTheResult) {
  const ProgramRun quiet =
      run({example("transpose"), "--device", "a100", "--evaluations", "2", "--json", "--quiet"});
  EXPECT_TRUE(quiet.exit_code == 0 || quiet.exit_code == 3) << quiet.exit_code;
  EXPECT_EQ(quiet.error, "");
  EXPECT_EQ(quiet.json().at("device"), "a100");
  const ProgramRun verbose =
      run({example("transpose"), "--device", "a100", "--evaluations", "2", "--json", "--verbose"});
  EXPECT_EQ(verbose.json().at("device"), "a100");
  EXPECT_TRUE(verbose.complains_of("baseline")) << verbose.error;
}

TEST_F(Search, SizesAndBlocksFromTheCommandLineCount) {
  const ProgramRun small = run({example("vecadd"), "--device", "h200", "--dry-run", "--json"});
  const ProgramRun large = run({example("vecadd"), "--device", "h200", "--dry-run", "--json",
                                "--size", "n=268435456", "--block", "512"});
  ASSERT_EQ(small.exit_code, 0) << small.error;
  ASSERT_EQ(large.exit_code, 0) << large.error;
  const auto seconds = [](const ProgramRun& run) {
    return run.json().at("baseline").at("seconds").get<double>();
  };
  EXPECT_NEAR(seconds(large) / seconds(small), 4.0, 0.4);
  EXPECT_EQ(large.json().at("baseline").at("facts").at("threads_per_block"), 512.0);
}

// The rewriter has no form for this loop; the search must say so and not fail.
TEST_F(Search, OpaqueCodeEndsWithoutAnImprovementAndANoteWhy) {
  file("opaque.cu", R"cuda(__global__ void opaque(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  int r = 0;
  again: if (++r < i % 3) goto again;
  out[i] = x + r;
}
)cuda");
  file("opaque.regraph.yaml", R"yaml(
sizes: {n: 100000}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 300}]
)yaml");
  const ProgramRun done = run({"opaque.cu", "--device", "h200", "--evaluations", "4", "--json"});
  EXPECT_EQ(done.exit_code, 3) << done.error;
  EXPECT_TRUE(done.complains_of("note: opaque.cu, line 6: 'again: if (")) << done.error;
  const std::string notes = done.json().at("notes").dump();
  EXPECT_NE(notes.find("line 6"), std::string::npos) << notes;
}

// The rewriter has no form for the third launch bound, a cluster's size, so it leaves all alone.
TEST_F(Search, AnUnrewritableKernelEndsWithoutAnImprovementAndSaysWhy) {
  file("bounded.cu", R"cuda(__global__ void __launch_bounds__(128, 1, 1)
bounded(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
)cuda");
  file("bounded.regraph.yaml", R"yaml(
sizes: {n: 100000}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 300}]
)yaml");
  const ProgramRun done = run({"bounded.cu", "--device", "h200", "--evaluations", "4", "--json"});
  EXPECT_EQ(done.exit_code, 3) << done.error;
  EXPECT_TRUE(done.complains_of("note: the built-in rewriter cannot work on this kernel"))
      << done.error;
  EXPECT_FALSE(done.json().at("opaque").get<std::string>().empty());
  EXPECT_EQ(done.json().at("evaluations"), 0);
}

// Sums in another order differ in their last bits, which this manifest does not allow.
TEST_F(Search, StepsThatWentWrongAreNamedWithTheReason) {
  file("sums.regraph.yaml", R"yaml(sizes: {rows: 4000, columns: 300}
args:
  x: {shape: [rows, columns]}
  y: {dir: out, shape: [rows]}
launch: {block: 128, grid: "cdiv(rows, bx)"}
tests: [{rows: 50, columns: 77}]
check: {tolerance: 0}
assume: {reassociate: true}
)yaml");
  const std::string source =
      file("sums.cu", R"cuda(__global__ void sums(const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[row * columns + c];
  y[row] = sum;
}
)cuda");
  const ProgramRun done =
      run({source, "--device", "h200", "--evaluator", "model", "--quiet", "--steps",
           "restrict_ldg; multi_accumulator(accumulators=4,loop=1)"});
  EXPECT_TRUE(
      done.complains_of("warning: --steps: multi_accumulator(accumulators=4, loop=1): "
                        "wrong_result: with {columns: 77, rows: 50}"))
      << done.error;
  EXPECT_FALSE(done.complains_of("restrict_ldg")) << done.error;
}

}  // namespace
}  // namespace regraph::search_test
