// The evaluator for machines with a GPU: what the interpreter finds sound is run on the GPU between
// guard pages, then timed against the best kernel so far.
//
//   compile -> interpreter -> model -> [ GPU: probation -> race -> outputs of timed launches ]
//   any thread, several at once          one candidate at a time
//
// The model's prediction comes first and is cheap: a candidate that it puts far behind the best is
// not timed, and its time stays predicted, scaled to what was measured. Nothing that was not
// measured can win: finalists are confirmed by measuring.
#pragma once

#include "eval/compile/compiler.h"
#include "eval/evaluator.h"
#include "eval/gpu/timing_session.h"
#include "eval/model/device.h"
#include "eval/verify/verifier.h"

#include <cstdint>
#include <memory>
#include <mutex>

namespace regraph::gpu {

struct GpuEvaluatorConfig {
  GpuWorkerConfiguration worker;
  DeviceSpec model;         // of the GPU, for predictions and facts
  bool model_first = true;  // false: every sound candidate is timed
  // Predicted to take that many times as long as the best kernel so far is predicted to take.
  double pruned_beyond = 1.4;
  std::uint64_t seed = 0;
};

// Where the time went, and what was saved. Seconds are of all threads together.
struct GpuStatistics {
  int evaluated = 0;
  int timed = 0;
  int pruned = 0;         // left at their prediction
  int faults_on_gpu = 0;  // of candidates that the interpreter passed
  int workers = 0;        // processes started, of both kinds
  double compile_and_verify_seconds = 0.0;
  double model_seconds = 0.0;
  double probation_seconds = 0.0;
  double timing_seconds = 0.0;
  double waiting_seconds = 0.0;  // for the GPU
  double noise = 0.0;            // A/A of the present best, largest of the bench sizes
  double clock_hertz = 0.0;
};

// The harness's kernels for an architecture, as a worker needs them. Errors as Compiler::compile.
[[nodiscard]] Result<std::vector<std::uint8_t>> compile_harness(Compiler& compiler,
                                                                const std::string& architecture,
                                                                const Cancellation& cancellation);

class GpuEvaluator final : public Evaluator {
 public:
  // The references must outlive the evaluator. `original` is the problem's plan, compiled.
  GpuEvaluator(Compiler& compiler, Verifier& verifier, const Problem& problem,
               CompiledPlan original, GpuEvaluatorConfig config);
  ~GpuEvaluator() override;

  // As Evaluator. A machine that fails (no memory, a worker that does not start) gives
  // Verdict::unsupported with what went wrong.
  [[nodiscard]] Evaluation evaluate(const Problem& problem, const Candidate& candidate,
                                    const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;

  [[nodiscard]] GpuStatistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraph::gpu
