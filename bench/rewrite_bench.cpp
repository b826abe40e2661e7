// The rewriter alone: the time to find all steps of one state, and to apply one of them.
//
// States: examples/sgemm and examples/softmax as they are, and each after three steps, when the
// code is several times as long. A search proposes once for every state it opens.
//
//   bin/rewrite_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include "kernel_state.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

namespace regraph {
namespace {

std::unique_ptr<bench::KernelState> example_state(const std::string& example,
                                                  const std::vector<StepProposal>& steps) {
  return bench::make_state("examples/" + example + "/" + example, steps);
}

void propose(benchmark::State& run, const std::string& example,
             const std::vector<StepProposal>& steps) {
  const auto state = example_state(example, steps);
  for (auto _ : run) {
    benchmark::DoNotOptimize(state->rewriter->propose(state->candidate, {}, Cancellation()));
  }
  run.counters["offered"] = static_cast<double>(state->proposals.size());
  run.counters["source_bytes"] = static_cast<double>(state->candidate.source.size());
}

void apply(benchmark::State& run, const std::string& example,
           const std::vector<StepProposal>& steps) {
  const auto state = example_state(example, steps);
  std::size_t next = 0;
  for (auto _ : run) {
    const StepProposal& proposal = state->proposals[next++ % state->proposals.size()];
    benchmark::DoNotOptimize(
        state->rewriter->apply(state->candidate, proposal, 0, {}, Cancellation()));
  }
}

const std::vector<StepProposal>& sgemm_steps() {
  static const std::vector<StepProposal> kSteps = {
      {.step = "coalesce_swap", .parameters = {}},
      {.step = "thread_coarsen", .parameters = {{"axis", "x"}, {"factor", "4"}}},
      {.step = "smem_tile", .parameters = {{"depth", "16"}, {"loop", "1"}}}};
  return kSteps;
}

const std::vector<StepProposal>& softmax_steps() {
  static const std::vector<StepProposal> kSteps = {
      {.step = "cross_thread_reduction",
       .parameters = {{"threads_per_row", "256"}, {"rows_per_block", "1"}}},
      {.step = "multi_accumulator", .parameters = {{"accumulators", "4"}, {"loop", "1"}}},
      {.step = "restrict_ldg", .parameters = {}}};
  return kSteps;
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
