// The evaluator for machines with a GPU: what the interpreter finds sound is run on the GPU between
// guard pages, then timed against the best kernel so far.
//
//   compile -> interpreter, model -> [ GPU: probation -> race -> outputs of timed launches
//                                             -> counters of the original and of each new best ]
//   any thread, several at once          one candidate at a time on each GPU, of all programs
//
// The model's prediction comes first and is cheap: a candidate that it puts far behind the best is
// not timed, and its time stays predicted, corrected by what this run has measured of its nearest
// relative. Nothing that was not measured can win: finalists are confirmed by measuring.
#pragma once

#include "eval/compile/compiler.h"
#include "eval/evaluator.h"
#include "eval/gpu/answer_sanitizer.h"
#include "eval/gpu/gpu_statistics.h"
#include "eval/gpu/timing/final_measurement.h"
#include "eval/model/device.h"
#include "eval/verify/verifier.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regraph::gpu {

struct GpuEvaluatorConfig {
  GpuWorkerConfiguration worker;
  DeviceSpec model;         // of the GPU, for predictions and facts
  bool model_first = true;  // false: every sound candidate is timed
  // Predicted, corrected, to take that many times as long as the best kernel so far was measured
  // to. What is left at 1.4 or 2 is near enough that its errors turn a search (docs/h200.md).
  double pruned_beyond = 4.0;
  std::vector<int> devices = {0};  // ordinals of equal GPUs; not empty
  // Their PCI bus ids, in that order: other programs are kept off a GPU while it is used. Fewer:
  // the rest are not reserved.
  std::vector<std::string> bus_ids;
  std::vector<std::string> cupti;  // files that may be CUPTI, best first; empty: no counters
  std::uint64_t seed = 0;
};

class GpuEvaluator final : public Evaluator {
 public:
  // The references must outlive the evaluator. `original` is the problem's plan, compiled.
  GpuEvaluator(Compiler& compiler, Verifier& verifier, const Problem& problem,
               CompiledPlan original, GpuEvaluatorConfig config);
  ~GpuEvaluator() override;

  // As Evaluator. A machine that fails (no memory, a worker that does not start) gives
  // Verdict::unsupported with what went wrong.
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;

  // What needs no GPU of evaluate(), kept for the candidates that were prepared last.
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::preparation; }
  [[nodiscard]] Evaluation prepare(const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation) override;
  void limit_threads(int threads) override;

  // The budget's wall time holds twice: before the GPU is free for the candidate, and from then on.
  [[nodiscard]] double longest_seconds(const EvaluationBudget& budget, int calls) const override;

  // The answer of a search beside the original, for the record. A failure says why there are no
  // such figures; one that is final and not CUDA's is the machine's, and says nothing about it.
  [[nodiscard]] Result<MeasuredSpeedup, Failure> measure_answer(const Candidate& best,
                                                                const Cancellation& cancellation);

  // The answer under a checking tool, as sanitize_answer. Best after measure_answer, which gives
  // back what the search held on the GPU.
  [[nodiscard]] SanitizerReport sanitize_answer(const Candidate& best,
                                                const SanitizerConfig& config,
                                                const Cancellation& cancellation);

  // While no call of evaluate() runs.
  [[nodiscard]] GpuStatistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraph::gpu
