#include "eval/model/candidate_stages.h"

#include "eval/compile/compiled_plan.h"
#include "eval/model/predict_time.h"
#include "eval/verify/examination.h"
#include "eval/verify/fault_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

namespace regraph {
namespace {

// Of the kernel that is optimised.
const ResourceUsage& resources_of(const Problem& problem, const CompiledPlan& compiled,
                                  const LaunchPlan& plan) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    if (plan.launches[i].kernel == problem.signature.name) return compiled.launches[i]->resources;
  }
  return compiled.launches.front()->resources;
}

StageResult result_of(const VerificationResult& verification) {
  if (verification.correct()) return {};
  return Rejection{verification.verdict, verification.message};
}

}  // namespace

StageResult CandidateStages::prepare(const Candidate& candidate, StagedCandidate& staged,
                                     const Cancellation& stop) {
  auto compiled =
      compile_plan(compiler_, candidate.source, candidate.plan, device_.architecture, stop);
  if (!compiled)
    return Rejection{verify::verdict_of(compiled.error().code), compiled.error().message};
  staged.evaluation.resources = resources_of(problem_, *compiled, candidate.plan);
  staged.evaluation.machine_code = compiled->machine_code();
  auto prepared = verifier_.prepare(std::move(*compiled), candidate.plan);
  if (!prepared)
    return Rejection{verify::launch_verdict(prepared.error().code), prepared.error().message};
  staged.prepared = std::move(*prepared);
  return {};
}

StageResult CandidateStages::verify(StagedCandidate& staged, std::uint64_t seed,
                                    const Cancellation& stop) {
  staged.tested = verifier_.verify(*staged.prepared, seed, stop);
  return result_of(staged.tested);
}

CandidateStages::Findings CandidateStages::verify_and_predict(StagedCandidate& staged,
                                                              const EvaluationBudget& budget,
                                                              bool bench,
                                                              const Cancellation& stop) {
  // Predicting needs nothing that verifying finds out.
  StagedCandidate predicted;
  predicted.prepared = staged.prepared;
  predicted.evaluation = staged.evaluation;
  Findings findings;
  std::atomic<bool> wrong{false};
  threads().for_each_index(2, [&](std::size_t part) {
    if (part == 0) {
      findings.verified = verify(staged, budget.seed, stop);
      wrong = !findings.verified;
      if (!findings.verified) return;
      findings.same_work =
          bench ? verify_bench(staged, budget, stop) : look_behind_branches(staged, budget, stop);
    } else if (!wrong) {
      findings.predicted = predict(predicted, stop);
    }
  });
  if (!findings.verified) return findings;
  staged.evaluation = std::move(predicted.evaluation);
  staged.predict_seconds = predicted.predict_seconds;
  say_limits(staged);
  return findings;
}

StageResult CandidateStages::predict(StagedCandidate& staged, const Cancellation& stop) {
  const auto start = std::chrono::steady_clock::now();
  std::call_once(counting_chosen_,
                 [this] { counting_ = choose_counting(compiler_, device_.architecture); });
  auto predicted = predict_time(device_, problem_, staged.prepared->compiled,
                                staged.prepared->loaded, stop, counting_, &threads());
  staged.predict_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!predicted) return std::move(predicted).error();
  Evaluation& evaluation = staged.evaluation;
  evaluation.time = predicted->time;
  evaluation.facts = std::move(predicted->facts);
  evaluation.bottleneck = std::move(predicted->bottleneck);
  evaluation.roofline_seconds = predicted->roofline_seconds;
  evaluation.verdict = Verdict::correct;
  return {};
}

StageResult CandidateStages::verify_bench(StagedCandidate& staged, const EvaluationBudget& budget,
                                          const Cancellation& stop) {
  if (verifier_.original() == nullptr) return {};
  const VerificationResult compared =
      verifier_.verify_bench(*staged.prepared, staged.tested, budget.seed, budget.effort, stop);
  if (!compared.correct()) return result_of(compared);
  staged.untaken = compared.untaken;
  staged.sampled_sizes = compared.sampled_sizes;
  const auto less =
      witness_.missing(problem_, *verifier_.original(), staged.prepared->loaded, stop);
  if (less) return Rejection{Verdict::suspicious, *less};
  return {};
}

StageResult CandidateStages::look_behind_branches(StagedCandidate& staged,
                                                  const EvaluationBudget& budget,
                                                  const Cancellation& stop) {
  const VerificationResult looked =
      verifier_.look_behind_branches(*staged.prepared, staged.tested, budget.seed, stop);
  if (!looked.correct()) return result_of(looked);
  staged.untaken = looked.untaken;
  return {};
}

void say_limits(StagedCandidate& staged) {
  constexpr std::size_t kMostNamed = 3;
  Evaluation& evaluation = staged.evaluation;
  const std::vector<std::string>& untaken = staged.untaken;
  if (!evaluation.correct()) return;
  if (staged.sampled_sizes > 0)
    evaluation.facts[kSampledBenchSizes] = static_cast<double>(staged.sampled_sizes);
  const bool reads_volatile =
      std::ranges::any_of(staged.prepared->compiled.launches, [](const auto& launch) {
        return launch->ptx.find("ld.volatile.shared") != std::string::npos;
      });
  if (reads_volatile) evaluation.facts[kVolatileShared] = 1.0;
  if (untaken.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(untaken.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + untaken[i];
  if (untaken.size() > kMostNamed) text += fmt::format(" and {} more", untaken.size() - kMostNamed);
  evaluation.message = "except behind branches that no run took: " + text;
  evaluation.facts[kUntakenBranches] = static_cast<double>(untaken.size());
}

void judge_by_time(Evaluation& evaluation, const Deadline& deadline, double wall_seconds) {
  if (!deadline.expired() || evaluation.correct()) return;
  evaluation.verdict = Verdict::timeout;
  evaluation.message = fmt::format("not judged within {:g} seconds", wall_seconds);
}

}  // namespace regraph
