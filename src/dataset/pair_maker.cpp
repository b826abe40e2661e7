#include "dataset/pair_maker.h"

#include "base/random.h"
#include "kernel/manifest.h"
#include "llm/prompt/problem_text.h"
#include "search/journal_rows.h"
#include "session/kernel_comparison.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace regraph::dataset {

namespace {

// Mixed into seeds, so that inputs are others than a search's.
constexpr std::uint64_t kDataSetPurpose = 0xDA7A5E7;
// Samples of a measured kernel.
constexpr int kPairRepetitions = 16;
// A pair is written where the lower bound of its speedup is above the first, and holds where it is
// above the second: of measured pairs that were hardly faster than noise, one in six was not when
// they were executed again.
constexpr double kLeastToWrite = 1.02;
constexpr double kLeastToHold = 1.0;

Error no_pair(std::string reason) {
  return fail(ErrorCode::refused, std::move(reason));
}

EvaluationBudget execution_budget(const Session& session, std::uint64_t seed) {
  const SearchConfig config = session.configuration();
  EvaluationBudget budget;
  budget.effort = EvaluationBudget::Effort::confirmation;
  budget.seed = random_bits(config.seed, kDataSetPurpose, seed);
  budget.repetitions = kPairRepetitions;
  budget.wall_seconds = config.evaluation_wall_seconds;
  return budget;
}

// What two executions come to: the speedup, or why they are no pair.
Result<SpeedupEstimate> judged_speedup(const Evaluation& slow, const Evaluation& fast, double least,
                                       const Cancellation& cancellation) {
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  for (const Evaluation* one : {&slow, &fast}) {
    if (!one->correct()) return no_pair(fmt::format("not reproduced: {}", name(one->verdict)));
  }
  const SpeedupEstimate speedup = speedup_of(slow.time, fast.time);
  if (!(speedup.ratio > 1.0)) return no_pair("not reproduced: not faster");
  if (!(speedup.low > 1.0)) return no_pair("the interval of the speedup touches 1");
  if (!(speedup.low > least))
    return no_pair(fmt::format("faster by less than {:.0f} %, by the interval's lower bound",
                               100.0 * (least - 1.0)));
  return speedup;
}

void put_times(const Evaluation& slow, const Evaluation& fast, const SpeedupEstimate& speedup,
               PairRecord& pair) {
  pair.method = name(fast.time.method);
  pair.seconds_slow = slow.time.median_seconds;
  pair.seconds_slow_low = slow.time.low_seconds;
  pair.seconds_slow_high = slow.time.high_seconds;
  pair.seconds_fast = fast.time.median_seconds;
  pair.seconds_fast_low = fast.time.low_seconds;
  pair.seconds_fast_high = fast.time.high_seconds;
  pair.speedup = speedup.ratio;
  pair.speedup_low = speedup.low;
  pair.speedup_high = speedup.high;
}

}  // namespace

score::RegisteredProblem registered_problem(const Session& session, const std::string& name,
                                            const std::string& family) {
  const Problem& problem = session.problem();
  score::RegisteredProblem registered;
  registered.kernel = name;
  registered.family = family;
  registered.source = session.original().source;
  registered.manifest = write_manifest(problem, problem.launch);
  registered.id = score::problem_id(registered);
  return registered;
}

score::RegisteredState registered_state(const score::RegisteredProblem& problem,
                                        const Candidate& candidate, const StepProposal& step,
                                        const std::vector<std::string>& history) {
  score::RegisteredState state;
  state.problem = problem.id;
  state.source = candidate.source;
  state.plan = journal::plan_text(candidate.plan);
  state.assumptions = candidate.assumptions;
  state.step = step.step;
  state.parameters = step.parameters;
  state.history = history;
  state.id = score::state_id(state);
  return state;
}

PairMaker::PairMaker(const Session& session, score::RegisteredProblem problem,
                     std::string source_file, std::string origin, std::uint64_t seed)
    : session_(session),
      problem_(std::move(problem)),
      source_file_(std::move(source_file)),
      origin_(std::move(origin)),
      seed_(seed) {}

const Evaluation& PairMaker::execute(const Candidate& candidate, const Cancellation& cancellation) {
  const auto known = executed_.find(candidate.identity);
  if (known != executed_.end()) return known->second;
  return executed_
      .emplace(candidate.identity,
               session_.evaluate(candidate, execution_budget(session_, seed_), cancellation))
      .first->second;
}

Result<PairRecord> PairMaker::make(const PairRequest& request, const Cancellation& cancellation) {
  const Evaluation& slow = execute(request.slow, cancellation);
  const Evaluation& fast = execute(request.fast, cancellation);
  const auto speedup = judged_speedup(slow, fast, kLeastToWrite, cancellation);
  if (!speedup) return speedup.error();
  const Problem& problem = session_.problem();
  PairRecord pair;
  pair.benchmark = problem_.kernel;
  pair.source_file = std::filesystem::path(source_file_).filename().string();
  pair.description = request.description;
  pair.slow = request.slow.source;
  pair.fast = request.fast.source;
  pair.problem = problem_.id;
  pair.kernel = problem.signature.name;
  pair.family = problem_.family;
  pair.step = request.step.step;
  pair.parameters = journal::parameters_text(request.step.parameters);
  pair.history = journal::texts_text(request.history);
  pair.launch_slow = journal::plan_text(request.slow.plan);
  pair.launch_fast = journal::plan_text(request.fast.plan);
  pair.manifest = write_manifest(problem, request.slow.plan);
  pair.assumptions = journal::texts_text(request.fast.assumptions);
  pair.device = session_.device().name;
  put_times(slow, fast, *speedup, pair);
  pair.verdict = name(fast.verdict);
  pair.verification = fmt::format(
      "both against the original at {} test sizes and the bench size, twice, the second time with "
      "other inputs",
      problem.tests.size());
  pair.tolerance = llm::tolerance_text(problem.check);
  pair.origin = origin_;
  pair.tool_version = REGRAPH_VERSION;
  pair.fingerprint = pair_fingerprint(pair);
  pair.id = pair_id(pair);
  return pair;
}

Result<PairExecution> execute_pair(const PairRecord& pair, const Session& session,
                                   std::uint64_t seed, const Cancellation& cancellation) {
  if (pair.id != pair_id(pair)) return no_pair("the id is not the content's: it was changed");
  struct Side {
    const std::string& source;
    const std::string& plan;
    const char* words;
  };
  std::vector<Evaluation> evaluations;
  const auto assumptions = journal::read_texts(pair.assumptions);
  for (const Side& side :
       {Side{pair.slow, pair.launch_slow, "slow"}, Side{pair.fast, pair.launch_fast, "fast"}}) {
    const auto plan = journal::read_plan(side.plan);
    if (!plan || !assumptions)
      return no_pair(fmt::format("the launch of the {} kernel cannot be read", side.words));
    const auto candidate = session.read_candidate(side.source, *plan, *assumptions, cancellation);
    if (!candidate)
      return no_pair(fmt::format("the {} kernel: {}", side.words, candidate.error().message));
    evaluations.push_back(
        session.evaluate(*candidate, execution_budget(session, seed), cancellation));
    if (!evaluations.back().correct() && !cancellation.requested()) {
      return no_pair(fmt::format("the {} kernel: {}: {}", side.words,
                                 name(evaluations.back().verdict), evaluations.back().message));
    }
  }
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  if (name(evaluations[1].time.method) != pair.method) return PairExecution{};
  const auto speedup = judged_speedup(evaluations[0], evaluations[1], kLeastToHold, cancellation);
  if (!speedup) return speedup.error();
  return PairExecution{true};
}

}  // namespace regraph::dataset
