#include "search/search_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph {

namespace {

// A call may overrun its own limit by this much before its worker is written off: killing compiler
// processes and unwinding take a moment.
constexpr double kGraceShare = 0.5;
constexpr double kGraceSeconds = 1.0;

// Under a budget of evaluations, those started early know little; so only this share of the tickets
// issued so far may be under way.
constexpr double kRampShare = 0.1;

}  // namespace

SearchRun::SearchRun(const SearchInputs& inputs, std::unique_ptr<Searcher> searcher)
    : inputs_(inputs),
      searcher_(std::move(searcher)),
      started_(WorkerPool::Clock::now()),
      pool_(inputs.config.jobs) {}

Result<SearchOutcome> SearchRun::run(const Candidate& baseline) {
  if (Status judged = judge_baseline(baseline); !judged) return judged.error();
  search();
  choose_answer();

  const SearchCounts& counts = searcher_->counts();
  outcome_.expansions = counts.expansions;
  outcome_.transpositions = counts.transpositions;
  outcome_.machine_code_merges = counts.machine_code_merges;
  outcome_.duplicates = counts.duplicates;
  outcome_.back_edges = counts.back_edges;
  outcome_.nodes = static_cast<int>(searcher_->graph().node_count());
  for (StateRecord& state : outcome_.states) {
    const NodeState kind = searcher_->graph().node(state.id).state;
    if (kind == NodeState::measured) state.visits = searcher_->graph().visits(state.id);
    if (kind == NodeState::alias) {
      state.same_as = searcher_->graph().find(searcher_->graph().identity(state.id));
    }
  }
  outcome_.wall_seconds = elapsed_seconds();
  return std::move(outcome_);
}

Status SearchRun::judge_baseline(const Candidate& baseline) {
  StateRecord root;
  root.candidate = std::make_shared<const Candidate>(baseline);
  outcome_.states.push_back(std::move(root));

  EvaluationBudget budget;
  budget.seed = inputs_.config.seed;
  budget.wall_seconds = inputs_.config.evaluation_wall_seconds;
  auto job = std::make_shared<EvaluateJob>(inputs_, outcome_.states[0].candidate, budget, true);
  pool_.submit(job);
  std::shared_ptr<Job> finished;
  while (finished == nullptr) {
    finished = pool_.wait(kPollInterval);
    if (inputs_.cancellation.requested()) {
      return fail(ErrorCode::cancelled, "cancelled before the original kernel was judged");
    }
    if (finished == nullptr && pool_.write_off(patience()) != nullptr) {
      return fail(ErrorCode::resource, "the original kernel's evaluation does not come to an end");
    }
  }
  if (job->threw) return fail(ErrorCode::internal, "the original kernel's evaluation crashed");
  if (!job->evaluation.correct()) {
    return fail(ErrorCode::invalid_argument,
                std::string("the original kernel does not pass its own verification (") +
                    name(job->evaluation.verdict) + "): " + job->evaluation.message);
  }
  outcome_.states[0].evaluation = job->evaluation;
  outcome_.baseline_evaluation = job->evaluation;
  proposals_.push_back(job->proposals);
  searcher_->start(baseline.identity, executable(outcome_.states[0]), seeds(0, job->proposals));
  announce(0, false);
  return {};
}

void SearchRun::search() {
  for (;;) {
    if (inputs_.cancellation.requested()) {
      outcome_.stopped = StopReason::cancelled;
      break;
    }
    if (time_is_up()) break;
    issue_tickets();
    if (outstanding_.empty()) {
      if (searcher_->exhausted()) outcome_.stopped = StopReason::exhausted;
      return;
    }
    if (Outstanding* ready = next_to_commit()) {
      const Outstanding taken = *ready;
      outstanding_.erase(taken.ticket.number);
      commit(taken);
    } else if (!wait_for_progress()) {
      outcome_.stopped = StopReason::workers_lost;
      break;
    }
  }
  for (const auto& [number, entry] : outstanding_)
    searcher_->abandon(number);
  outstanding_.clear();
  pool_.cancel_all();
}

void SearchRun::issue_tickets() {
  const SearchConfig& config = inputs_.config;
  for (;;) {
    const int limit = config.budget.evaluations;
    const auto under_way = static_cast<int>(outstanding_.size());
    int window = config.window;
    if (limit > 0) {
      // Each expansion may need an evaluation, so one is kept for it.
      if (outcome_.evaluations + under_way >= limit) return;
      window = std::min(window, std::max(1, static_cast<int>(kRampShare * issued_)));
    }
    if (under_way >= window) return;
    const std::optional<Ticket> ticket = searcher_->next(budget_fraction());
    if (!ticket) return;
    ++issued_;
    submit(*ticket);
  }
}

void SearchRun::submit(const Ticket& ticket) {
  Outstanding entry;
  entry.ticket = ticket;
  if (ticket.kind == TicketKind::expand) {
    entry.job = std::make_shared<ExpandJob>(inputs_, outcome_.states[ticket.parent].candidate,
                                            proposals_[ticket.parent][ticket.proposal],
                                            static_cast<int>(ticket.variant));
  } else {
    EvaluationBudget budget;
    budget.seed = inputs_.config.seed;
    budget.wall_seconds = inputs_.config.evaluation_wall_seconds;
    entry.job = std::make_shared<EvaluateJob>(inputs_, outcome_.states[ticket.node].candidate,
                                              budget, true);
  }
  pool_.submit(entry.job);
  outstanding_.emplace(ticket.number, std::move(entry));
}

// Waits for a result for a moment. Returns false when too many workers are gone to go on.
bool SearchRun::wait_for_progress() {
  const auto complete = [&](const std::shared_ptr<Job>& job, bool lost) {
    for (auto& [number, entry] : outstanding_) {
      if (entry.job != job) continue;
      entry.complete = true;
      entry.lost = lost;
    }
  };
  if (const std::shared_ptr<Job> job = pool_.wait(kPollInterval)) complete(job, false);
  while (const std::shared_ptr<Job> job = pool_.write_off(patience())) {
    ++outcome_.lost_workers;
    complete(job, true);
  }
  return !pool_.crippled();
}

// The order of commits depends on ticket numbers only. Expansions go first when they are cheap: the
// evaluation that follows can start while others run. Otherwise strictly by number.
SearchRun::Outstanding* SearchRun::next_to_commit() {
  Outstanding* next = nullptr;
  for (auto& [number, entry] : outstanding_) {
    if (next == nullptr) next = &entry;
    if (!inputs_.config.expansions_first) break;
    if (entry.ticket.kind == TicketKind::expand) {
      next = &entry;
      break;
    }
  }
  return next != nullptr && next->complete ? next : nullptr;
}

void SearchRun::commit(const Outstanding& outstanding) {
  if (outstanding.ticket.kind == TicketKind::expand) {
    commit_expansion(outstanding.ticket, static_cast<const ExpandJob&>(*outstanding.job),
                     outstanding.lost);
  } else {
    commit_measurement(outstanding.ticket, static_cast<const EvaluateJob&>(*outstanding.job),
                       outstanding.lost);
  }
}

void SearchRun::commit_expansion(const Ticket& ticket, const ExpandJob& job, bool lost) {
  std::optional<Hash128> identity;
  std::shared_ptr<const Candidate> child;
  if (lost) {  // the job may still be running: do not look at it
    refusals_[ticket.number] = "timeout";
  } else if (job.threw) {
    refusals_[ticket.number] = "crash";
  } else if (job.child == nullptr) {
    refusals_[ticket.number] = name(job.refusal.code);
  } else {
    child = job.child;
    identity = child->identity;
  }
  const Commit committed = searcher_->commit_expansion(ticket.number, identity);
  for (const Resolution& resolution : committed.resolved)
    note(resolution);
  if (!committed.measure) return;

  StateRecord state;
  state.id = committed.measure->node;
  state.parent = ticket.parent;
  state.step = proposals_[ticket.parent][ticket.proposal];
  state.variant = static_cast<int>(ticket.variant);
  state.candidate = std::move(child);
  outcome_.states.push_back(std::move(state));
  proposals_.emplace_back();
  submit(*committed.measure);
}

void SearchRun::commit_measurement(const Ticket& ticket, const EvaluateJob& job, bool lost) {
  StateRecord& state = outcome_.states[ticket.node];
  if (lost) {
    state.evaluation.verdict = Verdict::timeout;
    state.evaluation.message = "the evaluation did not come to an end and was written off";
  } else if (job.threw) {
    state.evaluation.verdict = Verdict::crash;
    state.evaluation.message = "the evaluator ended with an exception";
  } else {
    state.evaluation = job.evaluation;
    proposals_[ticket.node] = job.proposals;
  }
  ++outcome_.evaluations;
  ++outcome_.verdict_counts[static_cast<std::size_t>(state.evaluation.verdict)];

  MeasurementResult result;
  result.correct = state.evaluation.correct();
  bool improved = false;
  if (result.correct) {
    state.log_speedup = std::log(outcome_.baseline_evaluation.time.median_seconds /
                                 state.evaluation.time.median_seconds);
    result.score = state.log_speedup;
    result.executable = executable(state);
    result.proposals = seeds(ticket.node, proposals_[ticket.node]);
    improved = state.log_speedup > best_log_speedup_;
    if (improved) {
      best_log_speedup_ = state.log_speedup;
      best_state_ = ticket.node;
    }
  }
  const Commit committed = searcher_->commit_measurement(ticket.number, result);
  for (const Resolution& resolution : committed.resolved)
    note(resolution);
  announce(ticket.node, improved);
}

void SearchRun::note(const Resolution& resolution) {
  const Ticket& ticket = resolution.expansion;
  const StateRecord& parent = outcome_.states[ticket.parent];
  AttemptRecord attempt;
  attempt.parent = ticket.parent;
  attempt.from = parent.parent ? parent.step.step : std::string(ReGraph::kInit);
  attempt.step = proposals_[ticket.parent][ticket.proposal];
  attempt.variant = static_cast<int>(ticket.variant);
  attempt.verified = resolution.edge != EdgeState::failed;
  if (resolution.child != kNoNode) {
    const StateRecord& child = outcome_.states[resolution.child];
    attempt.child = resolution.child;
    if (attempt.verified) {
      attempt.log_gain = child.log_speedup - parent.log_speedup;
    } else {
      attempt.reason = name(child.evaluation.verdict);
    }
  } else {
    attempt.reason = refusals_.extract(ticket.number).mapped();
  }
  if (!attempt.verified) ++outcome_.failures[attempt.reason];
  outcome_.attempts.push_back(std::move(attempt));
}

void SearchRun::announce(std::uint32_t state_id, bool improved) {
  if (inputs_.observer == nullptr) return;
  const StateRecord& state = outcome_.states[state_id];
  inputs_.observer->on_evaluated(
      SearchEvent{state_id, state.parent.value_or(0), state.step, state.variant, *state.candidate,
                  state.evaluation, state.log_speedup, improved, best_state_, best_log_speedup_,
                  outcome_.evaluations, outcome_.verdict_counts, searcher_->counts().transpositions,
                  budget_fraction()});
}

std::vector<EdgeSeed> SearchRun::seeds(std::uint32_t state,
                                       const std::vector<StepProposal>& proposals) const {
  const std::vector<double> priors = inputs_.graph.priors(
      history(state), outcome_.states[state].evaluation.facts, inputs_.config.device, proposals);
  std::vector<EdgeSeed> result;
  for (std::size_t index = 0; index < proposals.size(); ++index) {
    const int variants = std::clamp(proposals[index].variant_limit, 1,
                                    std::max(inputs_.config.selection.variant_limit, 1));
    result.push_back({priors[index], variants});
  }
  return result;
}

// The states from the original (not included) to `state`, along the steps that first made them.
std::vector<std::uint32_t> SearchRun::states_to(std::uint32_t state) const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t at = state; outcome_.states[at].parent; at = *outcome_.states[at].parent) {
    result.push_back(at);
  }
  std::ranges::reverse(result);
  return result;
}

std::vector<std::string> SearchRun::history(std::uint32_t state) const {
  std::vector<std::string> result;
  for (const std::uint32_t id : states_to(state))
    result.push_back(outcome_.states[id].step.step);
  return result;
}

// Machine code alone does not tell states apart: another launch plan may run the same code.
Hash128 SearchRun::executable(const StateRecord& state) const {
  const Hash128& code = state.evaluation.machine_code;
  if (code == Hash128{}) return {};
  return Hasher().add(code.low).add(code.high).add(state.candidate->plan.text()).finish();
}

double SearchRun::elapsed_seconds() const {
  return std::chrono::duration<double>(WorkerPool::Clock::now() - started_).count();
}

// By evaluations when they are limited, so that the clock cannot influence the search.
double SearchRun::budget_fraction() const {
  const SearchBudget& budget = inputs_.config.budget;
  const double used = budget.evaluations > 0
                          ? static_cast<double>(outcome_.evaluations) / budget.evaluations
                          : elapsed_seconds() / budget.wall_seconds;
  return std::clamp(used, 0.0, 1.0);
}

bool SearchRun::time_is_up() const {
  const double limit = inputs_.config.budget.wall_seconds;
  return limit > 0.0 && elapsed_seconds() >= limit;
}

WorkerPool::Clock::duration SearchRun::patience() const {
  const double seconds =
      inputs_.config.evaluation_wall_seconds * (1.0 + kGraceShare) + kGraceSeconds;
  return std::chrono::duration_cast<WorkerPool::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace regraph
