// What a policy costs a state that a search opens: looking at what its steps would make (view_of,
// which applies the rewriter's steps), the rows of its edges, and the opinions of three networks of
// 32 units on all inputs that there are.
//
// States: kernels of the corpus as they are, which have some forty proposals. Of these 20 are
// taken, evenly, or so many more times that there are 100: more than any state of these kernels
// has, as settings of steps multiply. The time of an iteration is that of a state. Weights are
// drawn: a network costs the same whatever they are.
//
//   bin/policy_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include "base/random.h"
#include "kernel_state.h"
#include "policy/edge_features.h"
#include "policy/policy_model.h"
#include "regraph/regraph_yaml.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph {
namespace {

constexpr std::size_t kNetworks = 3;
constexpr std::size_t kHidden = 32;
constexpr const char* kDevice = "h200";

const StepGraph& shipped_graph() {
  static const StepGraph kGraph =
      bench::value_of(load_regraph(std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml"));
  return kGraph;
}

policy::FeatureLayout full_layout() {
  std::vector<std::string> steps;
  for (const Step* step : shipped_graph().steps()) {
    if (step->rewriter) steps.push_back(step->id);
  }
  return policy::FeatureLayout(std::move(steps));
}

policy::PolicyModel drawn_model() {
  policy::PolicyModel model;
  const policy::FeatureLayout layout = full_layout();
  model.steps = layout.steps();
  model.inputs = layout.names();
  model.means.assign(layout.size(), 0.1F);
  model.scales.assign(layout.size(), 0.7F);
  std::uint64_t drawn = 0;
  for (std::size_t number = 0; number < kNetworks; ++number) {
    policy::DenseNetwork& network =
        model.networks.emplace_back(layout.size(), kHidden, policy::kOpinionSize);
    for (auto* weights : {&network.first_weights, &network.first_biases, &network.second_weights,
                          &network.second_biases}) {
      for (float& weight : *weights)
        weight = static_cast<float>(to_unit_interval(splitmix64(++drawn)) - 0.5);
    }
  }
  return model;
}

// A state and a policy for it.
struct Case {
  std::unique_ptr<bench::KernelState> state;
  ExpansionContext context;
  policy::PolicyReader reader = bench::value_of(policy::PolicyReader::make(drawn_model()));
  policy::EdgeFeatures features{reader.layout(), shipped_graph(), kDevice};

  [[nodiscard]] policy::StateView view() const {
    return policy::view_of(state->candidate, context, state->proposals, *state->rewriter);
  }
};

std::unique_ptr<Case> make_case(const benchmark::State& run, const std::string& kernel) {
  auto made = std::make_unique<Case>();
  made->state = bench::make_state("bench/corpus/" + kernel + "/a_textbook", {});
  const auto wanted = static_cast<std::size_t>(run.range(0));
  const std::vector<StepProposal> offered = std::exchange(made->state->proposals, {});
  for (std::size_t number = 0; number < wanted; ++number)
    made->state->proposals.push_back(offered[number * offered.size() / wanted]);
  made->context.original_seconds = 2.0;
  made->context.evaluation.time.median_seconds = 1.0;
  constexpr std::string_view kFact = "fact.";
  for (const std::string& name : made->reader.layout().names()) {
    if (name.starts_with(kFact)) made->context.evaluation.facts[name.substr(kFact.size())] = 0.5;
  }
  return made;
}

void view(benchmark::State& run, const std::string& kernel) {
  const auto of = make_case(run, kernel);
  for (auto _ : run)
    benchmark::DoNotOptimize(of->view());
}

void rows(benchmark::State& run, const std::string& kernel) {
  const auto of = make_case(run, kernel);
  const policy::StateView view = of->view();
  for (auto _ : run)
    benchmark::DoNotOptimize(of->features.rows(view));
  run.counters["inputs"] = static_cast<double>(of->reader.layout().size());
}

void opinions(benchmark::State& run, const std::string& kernel) {
  const auto of = make_case(run, kernel);
  const auto numbers = of->features.rows(of->view());
  for (auto _ : run)
    benchmark::DoNotOptimize(of->reader.opinions(numbers));
}

// For the rewriter's own part of opening a state.
void propose(benchmark::State& run, const std::string& kernel) {
  const auto state = bench::make_state("bench/corpus/" + kernel + "/a_textbook", {});
  for (auto _ : run)
    benchmark::DoNotOptimize(state->rewriter->propose(state->candidate, {}, Cancellation()));
  run.counters["proposals"] = static_cast<double>(state->proposals.size());
}

// How many proposals, and microseconds.
void settings(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("proposals")->Arg(20)->Arg(100)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(rows, matrix_product, "matrix_product")->Apply(settings);
BENCHMARK_CAPTURE(rows, softmax_rows, "softmax_rows")->Apply(settings);
BENCHMARK_CAPTURE(opinions, matrix_product, "matrix_product")->Apply(settings);
BENCHMARK_CAPTURE(opinions, softmax_rows, "softmax_rows")->Apply(settings);
BENCHMARK_CAPTURE(view, matrix_product, "matrix_product")->Apply(settings);
BENCHMARK_CAPTURE(view, softmax_rows, "softmax_rows")->Apply(settings);
BENCHMARK_CAPTURE(propose, matrix_product, "matrix_product")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(propose, softmax_rows, "softmax_rows")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace regraph

BENCHMARK_MAIN();
