#include "score/score_problem.h"

#include "base/files.h"
#include "search/journal_rows.h"
#include "session/session_policy.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace regraph::score {

namespace {

// What may be the checker's fault as well as the candidate's.
bool is_doubtful(Verdict verdict) {
  return verdict == Verdict::crash || verdict == Verdict::timeout;
}

}  // namespace

Result<std::unique_ptr<ScoreProblem>, SessionError> ScoreProblem::open(
    const RegisteredProblem& problem, const OpeningPlace& place, const Installation& installation,
    const Cancellation& cancellation) {
  const auto folder = TemporaryDirectory::create("regraph-score-");
  if (!folder) return session_error(folder.error());
  const std::filesystem::path file = folder->path() / "kernel.cu";
  for (const auto& [path, text] : {std::pair{file, &problem.source},
                                   {folder->path() / "kernel.regraph.yaml", &problem.manifest}}) {
    if (Status written = write_file(path, *text); !written)
      return SessionError{FailureCause::internal, written.error().message};
  }
  SessionOptions options;
  options.problem.kernel_file = file.string();
  options.device = place.device;
  options.evaluator = place.evaluator;
  options.policy = kNoPolicy;
  options.fleet = place.fleet;
  auto session = Session::open(options, installation, cancellation);
  if (!session) {
    SessionError error = std::move(session).error();
    error.message = fmt::format("{}: {}", problem.kernel, error.message);
    return error;
  }
  std::unique_ptr<ScoreProblem> opened(new ScoreProblem);
  opened->session_ = std::move(*session);
  opened->candidate_seconds_ = place.candidate_seconds;
  auto rewriter = opened->session_->expander({}, opened->session_->configuration());
  if (!rewriter) return std::move(rewriter).error();
  opened->rewriter_ = std::move(*rewriter);
  return opened;
}

Evaluation ScoreProblem::judge(const Candidate& candidate, const Cancellation& cancellation) {
  if (const auto known = judged_.find(candidate.identity); known != judged_.end())
    return known->second;
  EvaluationBudget budget;
  budget.seed = session_->configuration().seed;
  budget.wall_seconds = candidate_seconds_;
  Evaluation evaluation = session_->evaluate(candidate, budget, cancellation);
  if (is_doubtful(evaluation.verdict) && !cancellation.requested())
    evaluation = session_->evaluate(candidate, budget, cancellation);
  if (!cancellation.requested()) judged_.emplace(candidate.identity, evaluation);
  return evaluation;
}

Result<Candidate> ScoreProblem::parent(const RegisteredState& state,
                                       const Cancellation& cancellation) {
  if (const auto known = parents_.find(state.id); known != parents_.end()) return known->second;
  const auto plan = journal::read_plan(state.plan);
  if (!plan) return fail(ErrorCode::parse, "the launches of the state cannot be read");
  auto read = session_->read_candidate(state.source, *plan, state.assumptions, cancellation);
  if (read && !cancellation.requested()) parents_.emplace(state.id, *read);
  return read;
}

}  // namespace regraph::score
