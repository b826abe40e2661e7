// The stages of a candidate's evaluation that need no GPU, over one candidate that is compiled and
// loaded once. Evaluators call them in order and go on from there.
//
//   prepare             verify                predict            verify_bench
//   compile, admit,     test sizes, on the    time at the        bench sizes: paths and blocks,
//   load                interpreter           bench sizes        and whether the work is done
//
// Each takes what those before it found out and adds to it, so that every verdict comes with
// everything that was known by then.
#pragma once

#include "base/cancellation.h"
#include "base/deadline.h"
#include "eval/compile/compiler.h"
#include "eval/evaluator.h"
#include "eval/model/device.h"
#include "eval/model/gathered_launch.h"
#include "eval/model/work_witness.h"
#include "eval/rejection.h"
#include "eval/verify/prepared_candidate.h"
#include "eval/verify/verifier.h"
#include "kernel/candidate.h"
#include "kernel/problem.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace regraph {

// A candidate on its way through the stages.
struct StagedCandidate {
  std::shared_ptr<const PreparedCandidate> prepared;  // null before prepare
  VerificationResult tested;                          // set by verify
  double predict_seconds = 0.0;                       // that predict took
  std::vector<std::string> untaken;                   // set by verify_bench: VerificationResult
  std::size_t sampled_sizes = 0;                      // likewise
  Evaluation evaluation;                              // as far as it got; correct after predict
};

using StageResult = Result<void, Rejection>;

// Thread-safe: one object serves all candidates of a problem.
class CandidateStages {
 public:
  // The references must outlive the object; `verifier` must be of `problem`.
  CandidateStages(const Problem& problem, Compiler& compiler, Verifier& verifier, DeviceSpec device)
      : problem_(problem), compiler_(compiler), verifier_(verifier), device_(std::move(device)) {}

  // Sets `prepared`; resources and machine code, once compiled.
  [[nodiscard]] StageResult prepare(const Candidate& candidate, StagedCandidate& staged,
                                    const Cancellation& stop);
  // Sets `tested`.
  [[nodiscard]] StageResult verify(StagedCandidate& staged, std::uint64_t seed,
                                   const Cancellation& stop);
  // Sets time, facts, bottleneck and roofline, and the verdict to correct.
  [[nodiscard]] StageResult predict(StagedCandidate& staged, const Cancellation& stop);
  // verify and predict, at the same time where the verifier has a thread to spare; with `bench`,
  // verify_bench as well, else look_behind_branches. `staged` is as after all that passed; what is
  // returned is the same however many threads there were.
  struct Findings {
    StageResult verified;   // of verify; when it is not passed, the others say nothing
    StageResult predicted;  // of predict
    StageResult same_work;  // of verify_bench, or of look_behind_branches
    [[nodiscard]] StageResult first_failure() && {
      if (!verified) return std::move(verified);
      return predicted ? std::move(same_work) : std::move(predicted);
    }
  };
  [[nodiscard]] Findings verify_and_predict(StagedCandidate& staged, const EvaluationBudget& budget,
                                            bool bench, const Cancellation& stop);
  // For candidates whose outputs at the bench sizes nobody compares elsewhere.
  // Sets `untaken` and `sampled_sizes`.
  [[nodiscard]] StageResult verify_bench(StagedCandidate& staged, const EvaluationBudget& budget,
                                         const Cancellation& stop);

  // For those whose outputs there are compared on a GPU. Sets `untaken`.
  [[nodiscard]] StageResult look_behind_branches(StagedCandidate& staged,
                                                 const EvaluationBudget& budget,
                                                 const Cancellation& stop);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  // The threads that all candidates share.
  [[nodiscard]] ThreadBudget& threads() { return verifier_.threads(); }

 private:
  const Problem& problem_;
  Compiler& compiler_;
  Verifier& verifier_;
  const DeviceSpec device_;
  std::once_flag counting_chosen_;
  WorkCounting counting_ = WorkCounting::ptx;  // set once
  WorkWitness witness_;
};

// Says in the candidate's evaluation, where it is correct, what no run shows: branches that none
// took, bench sizes at which blocks alone were compared, lanes that may rely on lockstep.
void say_limits(StagedCandidate& staged);

// What was not finished in time has no other verdict than that.
void judge_by_time(Evaluation& evaluation, const Deadline& deadline, double wall_seconds);

}  // namespace regraph
