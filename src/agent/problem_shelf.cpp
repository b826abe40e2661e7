#include "agent/problem_shelf.h"

#include "search/final_selection.h"
#include "session/candidate_file.h"
#include "session/initial_manifest.h"
#include "session/opened_problem.h"
#include "session/toolchain.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace regraph::agent {

namespace {

// That a problem remembers.
constexpr std::size_t kMostJudged = 1000;
constexpr std::size_t kMostRead = 64;

// As that of a search's run, so that pairs of both are of one kernel.
std::string name_of(const Session& session) {
  const std::string& kernel = session.problem().signature.name;
  return kernel + '/' + kernel;
}

// Opened to see what is missing. Error: nothing is, or it cannot be used at all.
Result<OpenedDefinition, SessionError> incomplete(SessionOptions options,
                                                  const Installation& installation,
                                                  SessionError error,
                                                  const Cancellation& cancellation) {
  if (error.cause != FailureCause::usage && error.cause != FailureCause::unusable_kernel)
    return error;
  options.open.fill_in = true;
  const auto session = Session::open(options, installation, cancellation);
  if (!session) return error;
  const OpenedProblem& opened = (*session)->opened();
  if (opened.to_fill_in.empty()) return error;
  return OpenedDefinition{nullptr, opened.to_fill_in, initial_manifest(opened)};
}

}  // namespace

AgentProblem::AgentProblem(std::string id, std::unique_ptr<Session> session,
                           std::shared_ptr<const SessionExpander> expander,
                           std::unique_ptr<Compiler> compiler, double candidate_seconds)
    : id_(std::move(id)),
      session_(std::move(session)),
      expander_(std::move(expander)),
      compiler_(std::move(compiler)),
      registered_(dataset::registered_problem(*session_, name_of(*session_),
                                              session_->problem().signature.name)),
      pairs_(*session_, registered_, "kernel.cu", "agent"),
      candidate_seconds_(candidate_seconds) {}

Result<Candidate, SessionError> AgentProblem::read(const std::string& source,
                                                   const std::string& launch,
                                                   const Cancellation& cancellation) {
  const Hash128 key = Hasher().add(source).add(launch).finish();
  if (const auto known = read_.find(key); known != read_.end()) return known->second;
  auto candidate = read_candidate_text(*session_, "the candidate", source, launch, cancellation);
  if (!candidate || cancellation.requested()) return candidate;
  if (read_.size() >= kMostRead) read_.clear();
  read_.emplace(key, *candidate);
  return candidate;
}

Evaluation AgentProblem::judge(const Candidate& candidate, const Cancellation& cancellation) {
  if (const auto known = judged_.find(candidate.identity); known != judged_.end())
    return known->second;
  EvaluationBudget budget = first_look(session_->configuration());
  budget.wall_seconds = std::min(budget.wall_seconds, candidate_seconds_);
  Evaluation evaluation = session_->evaluate(candidate, budget, cancellation);
  if (judged_.size() >= kMostJudged) judged_.clear();
  // What may be the machine's fault is not remembered.
  const bool doubtful =
      evaluation.verdict == Verdict::crash || evaluation.verdict == Verdict::timeout;
  if (!doubtful && !cancellation.requested()) judged_.emplace(candidate.identity, evaluation);
  return evaluation;
}

ProblemShelf::ProblemShelf(const Workspace& workspace, Installation installation, AgentFleet fleet,
                           double candidate_seconds, std::size_t most_open)
    : workspace_(workspace),
      installation_(std::move(installation)),
      fleet_(std::move(fleet)),
      candidate_seconds_(candidate_seconds),
      most_open_(std::max<std::size_t>(most_open, 1)) {}

SessionOptions ProblemShelf::options_of(const std::string& id,
                                        const ProblemDefinition& definition) const {
  SessionOptions options;
  options.problem.kernel_file = (workspace_.folder() / "problems" / id / "kernel.cu").string();
  options.problem.kernel = definition.kernel;
  options.problem.sizes = definition.sizes;
  options.problem.defines = definition.defines;
  options.problem.block = definition.block;
  options.problem.launch_line = definition.launch_line;
  options.device = definition.device;
  options.evaluator = definition.evaluator;
  options.open.evaluation_seconds = candidate_seconds_;
  if (fleet_.access) options.fleet = fleet_.access();
  return options;
}

AgentProblem* ProblemShelf::find_open(std::string_view id) {
  const auto found =
      std::ranges::find_if(open_, [&](const auto& problem) { return problem->id() == id; });
  if (found == open_.end()) return nullptr;
  open_.splice(open_.begin(), open_, found);
  return open_.front().get();
}

Result<AgentProblem*, SessionError> ProblemShelf::open_session(const std::string& id,
                                                               const ProblemDefinition& definition,
                                                               const Cancellation& cancellation) {
  if (AgentProblem* known = find_open(id)) return known;
  // Before another one takes memory on a GPU.
  std::erase_if(open_, [](const auto& problem) { return problem->session().measures(); });
  auto session = Session::open(options_of(id, definition), installation_, cancellation);
  if (!session) return std::move(session).error();
  (*session)->limit_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  auto expander = (*session)->expander({}, (*session)->configuration());
  if (!expander) return std::move(expander).error();
  auto toolchain = find_toolchain(installation_, (*session)->device().architecture);
  if (!toolchain) return std::move(toolchain).error();
  std::unique_ptr<Compiler> compiler = std::move(toolchain->compiler);
  // A source that NVRTC cannot take is compiled by the other one throughout.
  const auto& launches = (*session)->opened().compiled.launches;
  if (!launches.empty() && launches.front()->compiler == CudaCompiler::nvcc) {
    if (auto nvcc = compiler->with_nvcc()) compiler = std::move(nvcc);
  }
  while (open_.size() >= most_open_)
    open_.pop_back();
  open_.push_front(std::make_unique<AgentProblem>(id, std::move(*session), std::move(*expander),
                                                  std::move(compiler), candidate_seconds_));
  return open_.front().get();
}

Result<OpenedDefinition, SessionError> ProblemShelf::open(const ProblemDefinition& definition,
                                                          const Cancellation& cancellation) {
  if (Status allowed = check_definition(definition); !allowed)
    return session_error(std::move(allowed).error());
  const std::string id = problem_id(definition);
  if (AgentProblem* known = find_open(id)) return OpenedDefinition{known, {}, {}};
  if (Status written = write_definition(id, definition); !written)
    return session_error(std::move(written).error());
  auto problem = open_session(id, definition, cancellation);
  if (problem) return OpenedDefinition{*problem, {}, {}};
  return incomplete(options_of(id, definition), installation_, std::move(problem).error(),
                    cancellation);
}

Result<AgentProblem*, SessionError> ProblemShelf::find(std::string_view id,
                                                       const Cancellation& cancellation) {
  if (AgentProblem* known = find_open(id)) return known;
  auto definition = read_definition(id);
  if (!definition) return session_error(std::move(definition).error());
  // The files may have been put there by somebody else.
  if (Status allowed = check_definition(*definition); !allowed)
    return session_error(std::move(allowed).error());
  return open_session(std::string(id), *definition, cancellation);
}

}  // namespace regraph::agent
