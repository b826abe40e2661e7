// The rewriter alone: the time to find all steps of one state, and to apply one of them.
//
// States: examples/sgemm and examples/softmax as they are, and each after three steps, when the
// code is several times as long. A search proposes once for every state it opens.
//
//   bin/rewrite_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include "base/files.h"
#include "eval/model/device.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"
#include "rewrite/ast_rewriter.h"
#include "source/clang_frontend.h"
#include "source/printer.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace regraph {
namespace {

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

// A problem with its rewriter and the candidate that some steps lead to.
struct State {
  Problem problem;
  std::unique_ptr<rewrite::AstRewriter> rewriter;
  Candidate candidate;
  std::vector<StepProposal> proposals;
};

std::unique_ptr<State> make_state(const std::string& example,
                                  const std::vector<StepProposal>& steps) {
  const std::filesystem::path root =
      std::filesystem::path(REGRAPH_CUDA_INCLUDE_DIRECTORY).parent_path();
  const std::string base = std::string(REGRAPH_SOURCE_DIR) + "/examples/" + example + "/" + example;
  const std::string source = value_of(read_file(base + ".cu", 1 << 20));
  const Manifest manifest = value_of(read_manifest(base + ".regraph.yaml"));
  auto parsed = value_of(source::parse_kernel(source, base + ".cu", manifest.kernel.value_or(""),
                                              value_of(source::default_front_end(root, "sm_90"))));
  auto state = std::make_unique<State>();
  state->problem = value_of(make_problem(manifest, parsed.signature, base + ".cu", source));
  state->rewriter = std::make_unique<rewrite::AstRewriter>(
      state->problem, limits_of(value_of(find_device("h200"))));
  state->candidate = source::make_candidate(std::move(*parsed.unit), state->problem.launch);
  for (const StepProposal& step : steps) {
    state->candidate =
        value_of(state->rewriter->apply(state->candidate, step, 0, {}, Cancellation()));
  }
  state->proposals = state->rewriter->propose(state->candidate, {}, Cancellation());
  return state;
}

void propose(benchmark::State& run, const std::string& example,
             const std::vector<StepProposal>& steps) {
  const auto state = make_state(example, steps);
  for (auto _ : run) {
    benchmark::DoNotOptimize(state->rewriter->propose(state->candidate, {}, Cancellation()));
  }
  run.counters["offered"] = static_cast<double>(state->proposals.size());
  run.counters["source_bytes"] = static_cast<double>(state->candidate.source.size());
}

void apply(benchmark::State& run, const std::string& example,
           const std::vector<StepProposal>& steps) {
  const auto state = make_state(example, steps);
  std::size_t next = 0;
  for (auto _ : run) {
    const StepProposal& proposal = state->proposals[next++ % state->proposals.size()];
    benchmark::DoNotOptimize(
        state->rewriter->apply(state->candidate, proposal, 0, {}, Cancellation()));
  }
}

const std::vector<StepProposal>& sgemm_steps() {
  static const std::vector<StepProposal> steps = {
      {.step = "coalesce_swap", .parameters = {}},
      {.step = "thread_coarsen", .parameters = {{"axis", "x"}, {"factor", "4"}}},
      {.step = "smem_tile", .parameters = {{"depth", "16"}, {"loop", "1"}}}};
  return steps;
}

const std::vector<StepProposal>& softmax_steps() {
  static const std::vector<StepProposal> steps = {
      {.step = "cross_thread_reduction",
       .parameters = {{"threads_per_row", "256"}, {"rows_per_block", "1"}}},
      {.step = "multi_accumulator", .parameters = {{"accumulators", "4"}, {"loop", "1"}}},
      {.step = "restrict_ldg", .parameters = {}}};
  return steps;
}

BENCHMARK_CAPTURE(propose, sgemm, "sgemm", {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(propose, sgemm_after_three, "sgemm", sgemm_steps())
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(propose, softmax, "softmax", {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(propose, softmax_after_three, "softmax", softmax_steps())
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(apply, sgemm, "sgemm", {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(apply, sgemm_after_three, "sgemm", sgemm_steps())->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace regraph

BENCHMARK_MAIN();
