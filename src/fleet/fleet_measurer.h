// An evaluator whose times are measured on the GPUs of a fleet's workers.
//
//   the original   ──> as many places as are idle, so that none has to get ready later
//   first looks    ──> the search's GPUs ──> their times, times the ratio of the original's there
//                      (gpu_choice.h)        and on the GPU that answered first
//   confirmations  ──> one of them, for as long as it is there
//   the answer     ──> that and another one, beside the original; the lower speedup counts
//
// A worker races a candidate against what it has seen itself, the original first: times of two GPUs
// are never set against each other but by the original's on both.
#pragma once

#include "eval/evaluator.h"
#include "eval/measurer.h"
#include "fleet/evaluation_job.h"
#include "fleet/gpu_choice.h"
#include "fleet/problem_desk.h"
#include "fleet/problem_text.h"
#include "fleet/queue/job_queue.h"
#include "fleet/queue/notice_board.h"
#include "fleet/spot_check.h"
#include "kernel/measurement.h"

#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace regraph::fleet {

struct FleetMeasurerOptions {
  std::string lane;  // of all GPUs that may measure (lanes.h)
  ProblemText problem;
  std::string occasion;  // of this use: what another one measured is not taken for it
  // Of how many candidates one is verified here, too; 0: none. Workers cannot tell which.
  int checked_share = 16;
  double look_seconds = 10.0;  // after which it is seen whether a GPU that was chosen is there yet
  // After which a first look, beyond what it may take, is for any GPU: the chosen one is silent.
  double patience_seconds = 120.0;
  FleetReport report;  // told of workers that could not or that lie
};

// Thread-safe.
class FleetMeasurer final : public Evaluator, public Measurer {
 public:
  // All must outlive this. `here` verifies; its times do not count.
  FleetMeasurer(JobQueue& queue, NoticeBoard& board, Evaluator& here, FleetMeasurerOptions options);
  ~FleetMeasurer() override;
  FleetMeasurer(const FleetMeasurer&) = delete;
  FleetMeasurer& operator=(const FleetMeasurer&) = delete;

  // As Evaluator. Where no worker can, Verdict::unsupported with the reason.
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;
  // Workers may be away for hours: a search waits.
  [[nodiscard]] double longest_seconds(const EvaluationBudget& budget, int calls) const override;
  void limit_threads(int threads) override;
  // How the fleet's GPUs were used and, where there is an answer, what they make of it. Cancelled
  // or without a worker that can, a note says so.
  [[nodiscard]] AnswerTrial try_answer(const Candidate* answer, bool sanitize,
                                       const Cancellation& cancellation) override;
  // How the fleet's GPUs were used so far.
  [[nodiscard]] Measurement measurement() const override;

  [[nodiscard]] FleetCounts statistics() const { return spot_check_.counts(); }

 private:
  // Has idle places evaluate the first candidate, too, for nothing: each opens the problem and
  // times the original before whatever it is asked first.
  void make_ready(const EvaluationJob& first);
  [[nodiscard]] EvaluationJob job_for(const Candidate& candidate,
                                      const EvaluationBudget& budget) const;
  // Asks one of the search's GPUs; any where it uses all, or where that one does not answer.
  [[nodiscard]] Result<EvaluationAnswer> ask_for_look(const EvaluationJob& evaluation,
                                                      const Cancellation& cancellation);
  // Asks the GPU that confirms, which is another one where it goes away.
  [[nodiscard]] Result<EvaluationAnswer> ask_one_gpu(const EvaluationJob& evaluation,
                                                     const Cancellation& cancellation);
  // Takes what a GPU makes of the answer into `trial`; whether it was measured.
  [[nodiscard]] static bool add_trial(const FleetGpu& gpu, Result<AnswerTrial> said,
                                      AnswerTrial& trial, std::vector<std::string>& asked);
  // Nothing once the GPU is gone, or has been silent for so many seconds.
  [[nodiscard]] std::optional<Result<EvaluationAnswer>> ask_gpu(
      const FleetGpu& gpu, const EvaluationJob& evaluation, const Cancellation& cancellation,
      double patience_seconds = kLongestFleetSeconds);
  [[nodiscard]] std::optional<Result<AnswerTrial>> try_on(const FleetGpu& gpu,
                                                          const EvaluationJob& evaluation,
                                                          const Cancellation& cancellation);
  // Waits for one.
  [[nodiscard]] std::optional<FleetGpu> confirming(const Cancellation& cancellation);
  // Puts the time into the search's unit.
  void take_up(EvaluationAnswer& answer);
  [[nodiscard]] bool is_first_confirmation(const Candidate& candidate);
  // What it is, where it was verified here, too.
  [[nodiscard]] Evaluation verified(Evaluation remote, Evaluation here, const std::string& worker,
                                    const Cancellation& cancellation);

  Evaluator& here_;
  const FleetMeasurerOptions options_;
  ProblemDesk desk_;
  SpotCheck spot_check_;
  GpuChoice gpus_;
  mutable std::mutex mutex_;
  double unit_seconds_ = 0.0;  // the original's, on the GPU that answered first
  std::map<std::pair<std::string, std::uint64_t>, Measurement> uses_;  // by worker and process
  std::unordered_set<Hash128> verified_;  // candidates that were confirmed here, too
  std::once_flag ready_once_;
  Cancellation nobody_waits_;  // for places that get ready
  std::vector<std::future<void>> ready_;
};

}  // namespace regraph::fleet
