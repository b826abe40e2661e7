#include "dataset/collect_run.h"

#include "dataset/opened_kernel.h"
#include "dataset/pair_maker.h"
#include "dataset/prompt_maker.h"
#include "session/expanders.h"
#include "session/recorded_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace regraph::dataset {

namespace {

// A run that is over, done again from its records.
struct ReadRun {
  std::unique_ptr<RecordedRun> run;
  std::unique_ptr<Session> session;
  std::shared_ptr<const SessionExpander> expander;
  SearchOutcome outcome;
};

Result<ReadRun, SessionError> read_run(const std::filesystem::path& directory,
                                       const Installation& installation,
                                       const Cancellation& cancellation) {
  ReadRun read;
  auto run = RecordedRun::open(directory.string());
  if (!run) return std::move(run).error();
  read.run = std::move(*run);
  const auto finished = read.run->finished();
  if (!finished) return finished.error();
  if (!*finished) {
    return usage(
        fmt::format("{}: the run was cut short; go on with it first, by regraph-search "
                    "--resume {}",
                    directory.string(), directory.string()));
  }
  auto session = Session::reopen(read.run->description(), installation, cancellation);
  if (!session) return std::move(session).error();
  read.session = std::move(*session);
  const SearchConfig& config = read.run->description().config;
  auto expander = read.session->expander({}, config);
  if (!expander) return std::move(expander).error();
  read.expander = std::move(*expander);
  SearchRequest request{config, *read.expander};
  request.cancellation = &cancellation;
  auto result = read.run->search(*read.session, request);
  if (!result) return std::move(result).error();
  read.outcome = std::move(result->outcome);
  return read;
}

// One run's states, looked at from all sides.
class RunCollector {
 public:
  RunCollector(const ReadRun& run, const RunSource& source, const PromptMaker& prompts,
               const Cancellation& cancellation)
      : run_(run),
        source_(source),
        prompts_(prompts),
        cancellation_(cancellation),
        problem_(registered_problem(*run.session, source.name, source.family)),
        maker_(*run.session, problem_, run.run->description().source_path, "run") {}

  Collected collect() && {
    collected_.problems.push_back(problem_);
    for (const AttemptRecord* attempt : by_gain())
      consider(*attempt);
    for (const StateRecord* fast : far_from_the_original())
      consider_path(*fast);
    for (const AttemptRecord& attempt : run_.outcome.attempts)
      take_answer(attempt);
    return std::move(collected_);
  }

 private:
  [[nodiscard]] const StateRecord& state(std::uint32_t id) const { return run_.outcome.states[id]; }

  [[nodiscard]] std::vector<std::string> history_of(std::uint32_t id) const {
    std::vector<std::string> history;
    for (const StateRecord* at = &state(id); at->parent; at = &state(*at->parent))
      history.insert(history.begin(), at->step.step);
    return history;
  }

  // Verified gains, the largest first, as many as are wanted.
  [[nodiscard]] std::vector<const AttemptRecord*> by_gain() {
    std::vector<const AttemptRecord*> gains;
    for (const AttemptRecord& attempt : run_.outcome.attempts) {
      if (attempt.verified && attempt.child && attempt.log_gain > 0.0) gains.push_back(&attempt);
    }
    std::ranges::stable_sort(gains, std::greater<>{}, &AttemptRecord::log_gain);
    const auto most = static_cast<std::size_t>(source_.most_pairs);
    if (gains.size() > most) gains.resize(most);
    return gains;
  }

  // States that several steps lead to, the fastest first, as many as are wanted.
  [[nodiscard]] std::vector<const StateRecord*> far_from_the_original() const {
    std::vector<const StateRecord*> found;
    for (const StateRecord& one : run_.outcome.states) {
      const bool far = one.parent && *one.parent != 0 && !one.same_as;
      if (far && one.evaluation.correct() && one.log_speedup > 0.0) found.push_back(&one);
    }
    std::ranges::stable_sort(found, std::greater<>{}, &StateRecord::log_speedup);
    const auto most = static_cast<std::size_t>(source_.most_pairs);
    if (found.size() > most) found.resize(most);
    return found;
  }

  void consider(const AttemptRecord& attempt) {
    const StateRecord& before = state(attempt.parent);
    const StateRecord& after = state(*attempt.child);
    keep({*before.candidate, *after.candidate, attempt.step, history_of(attempt.parent),
          attempt.step.text()});
  }

  // The original and what several steps made of it.
  void consider_path(const StateRecord& fast) {
    std::vector<std::string> steps;
    for (const StateRecord* at = &fast; at->parent; at = &state(*at->parent))
      steps.insert(steps.begin(), at->step.text());
    keep(
        {*state(0).candidate, *fast.candidate, {}, {}, fmt::format("{}", fmt::join(steps, " > "))});
  }

  void keep(const PairRequest& request) {
    if (cancellation_.requested()) return;
    ++collected_.considered;
    auto pair = maker_.make(request, cancellation_);
    if (pair) {
      collected_.pairs.push_back(std::move(*pair));
    } else {
      ++collected_.dropped[pair.error().message];
    }
  }

  // What a model would have been asked, and this as its answer.
  void take_answer(const AttemptRecord& attempt) {
    if (!attempt.child || state(attempt.parent).candidate == nullptr) return;
    const StateRecord& before = state(attempt.parent);
    const StateRecord& after = state(*attempt.child);
    if (after.candidate == nullptr || !before.evaluation.correct()) return;
    const bool chooses = source_.task == score::Task::choose;
    if (chooses && attempt.step.parameters.contains(kAppliedBy)) return;
    StepProposal open;
    if (!chooses) open.step = attempt.step.step;
    score::RegisteredState asked =
        registered_state(problem_, *before.candidate, open, history_of(attempt.parent));
    asked.task = source_.task;
    asked.id = score::state_id(asked);
    if (asked_.insert(asked.id).second) {
      Prompt prompt = chooses ? prompts_.choose(*before.candidate, before.evaluation)
                              : prompts_.apply(*before.candidate, before.evaluation, open);
      const auto settings =
          std::ranges::count(before.proposals, attempt.step.step, &StepProposal::step);
      collected_.states.push_back({score::state_text(asked), asked.id, problem_.kernel,
                                   problem_.family, open.step, stage_of(attempt.step.step),
                                   static_cast<int>(settings), std::move(prompt.system),
                                   std::move(prompt.user)});
    }
    AnswerItem answer;
    answer.state = asked.id;
    answer.kernel = problem_.kernel;
    answer.family = problem_.family;
    answer.step = attempt.step.step;
    answer.completion = chooses ? choice_of(attempt.step)
                                : answer_for(*before.candidate, *after.candidate,
                                             run_.session->problem().signature.name);
    put_judgement(before.evaluation, after.evaluation, answer);
    answer.origin = "run";
    collected_.answers.push_back(std::move(answer));
  }

  const ReadRun& run_;
  const RunSource& source_;
  const PromptMaker& prompts_;
  const Cancellation& cancellation_;
  const score::RegisteredProblem problem_;
  PairMaker maker_;
  std::set<std::string> asked_;
  Collected collected_;
};

}  // namespace

Result<Collected, SessionError> collect_run(const RunSource& source,
                                            const Installation& installation,
                                            const Cancellation& cancellation) {
  auto run = read_run(source.directory, installation, cancellation);
  if (!run) return std::move(run).error();
  RunSource named = source;
  const std::string& kernel = run->session->problem().signature.name;
  const std::filesystem::path file(run->run->description().source_path);
  if (named.family.empty() && source.family_by_folder)
    named.family = file.parent_path().filename().string();
  if (named.family.empty()) named.family = kernel;
  if (named.name.empty()) named.name = named.family + '/' + kernel;
  const auto prompts = PromptMaker::make(*run->session, source.prompts);
  if (!prompts) return prompts.error();
  Collected collected = RunCollector(*run, named, *prompts, cancellation).collect();
  if (cancellation.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
  return collected;
}

}  // namespace regraph::dataset
