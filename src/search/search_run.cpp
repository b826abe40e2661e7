#include "search/search_run.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace regraph {

namespace {

// Under a budget of evaluations, those started early know little; so only this share of the tickets
// issued so far may be under way.
constexpr double kRampShare = 0.1;

}  // namespace

SearchRun::SearchRun(const SearchInputs& inputs, std::unique_ptr<Searcher> searcher)
    : inputs_(inputs),
      searcher_(std::move(searcher)),
      started_(WorkerPool::Clock::now()),
      earlier_seconds_(inputs.journal == nullptr ? 0.0 : inputs.journal->progress().seconds),
      pool_(inputs.config.jobs + inputs.config.extra_workers) {}

Result<SearchOutcome> SearchRun::run(const Candidate& baseline) {
  if (Status judged = judge_baseline(baseline); !judged) return judged.error();
  search();
  if (!failure_) choose_answer();
  if (failure_) return *failure_;

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

  MeasurementRecord record;
  bool recalled = false;
  if (inputs_.journal != nullptr) {
    Result<std::optional<MeasurementRecord>> known = inputs_.journal->baseline();
    if (!known) require(known.error());
    if (failure_) return *failure_;
    recalled = known->has_value();
    if (recalled) record = std::move(**known);
  }
  if (!recalled) {
    Result<MeasurementRecord> judged = evaluate_baseline();
    if (!judged) return judged.error();
    record = std::move(*judged);
    if (inputs_.journal != nullptr) {
      inputs_.journal->advance(0, elapsed_seconds());
      require(inputs_.journal->record_baseline(record));
      if (failure_) return *failure_;
    }
  }
  outcome_.states[0].evaluation = record.evaluation;
  outcome_.baseline_evaluation = record.evaluation;
  proposals_.push_back(record.proposals);
  searcher_->start(baseline.identity, executable(outcome_.states[0]), seeds(0, record.proposals));
  announce(0, false, recalled);
  return {};
}

Result<MeasurementRecord> SearchRun::evaluate_baseline() {
  EvaluationBudget budget;
  budget.seed = inputs_.config.seed;
  budget.wall_seconds = inputs_.config.evaluation_wall_seconds;
  auto job = std::make_shared<EvaluateJob>(inputs_, outcome_.states[0].candidate, budget,
                                           ExpansionContext{});
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
  MeasurementRecord record;
  record.candidate = outcome_.states[0].candidate;
  record.evaluation = std::move(job->evaluation);
  record.proposals = std::move(job->proposals);
  return record;
}

void SearchRun::search() {
  for (;;) {
    if (failure_) break;
    if (inputs_.cancellation.requested()) {
      outcome_.stopped = StopReason::cancelled;
      break;
    }
    if (ended_before()) {
      outcome_.stopped = *inputs_.journal->progress().end;
      break;
    }
    if (time_is_up()) break;
    issue_tickets();
    if (outstanding_.empty()) {
      if (searcher_->exhausted()) outcome_.stopped = StopReason::exhausted;
      break;
    }
    if (Outstanding* ready = next_to_commit()) {
      Outstanding taken = std::move(*ready);
      outstanding_.erase(taken.ticket.number);
      commit(std::move(taken));
    } else if (over_already() && nothing_under_way()) {
      require(
          fail(ErrorCode::parse, "the run's records say that more of it was done than they hold"));
    } else if (!wait_for_progress()) {
      outcome_.stopped = StopReason::workers_lost;
      break;
    }
  }
  // What has come in by now is kept; what comes later was told to stop.
  while (const std::shared_ptr<Job> job = pool_.wait(std::chrono::milliseconds(0)))
    complete(job, false);
  for (const auto& [number, entry] : outstanding_)
    searcher_->abandon(number);
  outstanding_.clear();
  pool_.cancel_all();
  if (inputs_.journal == nullptr || failure_ || outcome_.stopped == StopReason::cancelled) return;
  inputs_.journal->advance(commits_, elapsed_seconds());
  if (!inputs_.journal->progress().end) require(inputs_.journal->record_end(outcome_.stopped));
}

void SearchRun::issue_tickets() {
  const SearchConfig& config = inputs_.config;
  for (;;) {
    const int limit = config.budget.evaluations;
    const auto under_way = static_cast<int>(outstanding_.size());
    int window = config.window;
    if (limit > 0) {
      // Each expansion may need an evaluation, so one is kept for it.
      if (outcome_.evaluations + fruitless_ + under_way >= limit) return;
      window = std::min(window, std::max(1, static_cast<int>(kRampShare * issued_)));
    }
    if (under_way >= window) return;
    const double share = share_at_issue();
    const std::optional<Ticket> ticket = searcher_->next(share);
    if (!ticket || failure_) return;
    const bool by_clock = inputs_.config.budget.evaluations == 0;
    if (inputs_.journal != nullptr && by_clock) inputs_.journal->record_issue(issued_, share);
    ++issued_;
    submit(*ticket);
  }
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

void SearchRun::commit(Outstanding taken) {
  ++commits_;
  if (taken.ticket.kind == TicketKind::expand) {
    commit_expansion(taken.ticket, std::move(taken.expansion));
  } else {
    commit_measurement(taken.ticket, std::move(taken.measurement), taken.recalled);
  }
}

void SearchRun::commit_expansion(const Ticket& ticket, ExpansionRecord record) {
  std::optional<Hash128> identity;
  if (record.child != nullptr) {
    identity = record.child->identity;
  } else {
    refusals_[ticket.number] = {record.refusal, record.message};
  }
  const Commit committed = searcher_->commit_expansion(ticket.number, identity);
  for (const Resolution& resolution : committed.resolved)
    note(resolution);
  if (!committed.measure) {
    // Somebody was asked and paid, so it counts although nothing was evaluated.
    const StepProposal& step = proposals_[ticket.parent][ticket.proposal];
    fruitless_ += inputs_.expander.repeatable(step) ? 0 : 1;
    return;
  }

  StateRecord state;
  state.id = committed.measure->node;
  state.parent = ticket.parent;
  state.step = proposals_[ticket.parent][ticket.proposal];
  state.variant = static_cast<int>(ticket.variant);
  state.candidate = std::move(record.child);
  outcome_.states.push_back(std::move(state));
  proposals_.emplace_back();
  submit(*committed.measure);
}

void SearchRun::commit_measurement(const Ticket& ticket, MeasurementRecord record, bool recalled) {
  StateRecord& state = outcome_.states[ticket.node];
  state.evaluation = std::move(record.evaluation);
  proposals_[ticket.node] = std::move(record.proposals);
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
  announce(ticket.node, improved, recalled);
}

void SearchRun::note(const Resolution& resolution) {
  const Ticket& ticket = resolution.expansion;
  const StateRecord& parent = outcome_.states[ticket.parent];
  AttemptRecord attempt;
  std::string message;
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
      message = child.evaluation.message;
    }
  } else {
    std::tie(attempt.reason, message) = refusals_.extract(ticket.number).mapped();
  }
  if (!attempt.verified) ++outcome_.failures[attempt.reason];
  remember(attempt, std::move(message));
  outcome_.attempts.push_back(std::move(attempt));
}

void SearchRun::announce(std::uint32_t state_id, bool improved, bool recalled) {
  if (inputs_.observer == nullptr) return;
  const StateRecord& state = outcome_.states[state_id];
  inputs_.observer->on_evaluated(
      SearchEvent{state_id, state.parent.value_or(0), state.step, state.variant, *state.candidate,
                  state.evaluation, state.log_speedup, improved, best_state_, best_log_speedup_,
                  outcome_.evaluations, outcome_.verdict_counts, searcher_->counts().transpositions,
                  budget_fraction(), recalled});
}

std::vector<EdgeSeed> SearchRun::seeds(std::uint32_t state,
                                       const std::vector<StepProposal>& proposals) {
  const std::vector<double> priors = inputs_.graph.priors(
      history(state), outcome_.states[state].evaluation.facts, inputs_.config.device, proposals);
  std::vector<EdgeSeed> result;
  for (std::size_t index = 0; index < proposals.size(); ++index) {
    const int variants = std::clamp(proposals[index].variant_limit, 1,
                                    std::max(inputs_.config.selection.variant_limit, 1));
    const auto number = static_cast<std::uint32_t>(step_numbers_.size());
    const auto step = step_numbers_.emplace(proposals[index].step, number).first;
    result.push_back({priors[index], variants, step->second});
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

void SearchRun::remember(const AttemptRecord& attempt, std::string message) {
  constexpr std::size_t kMostFailures = 3;  // more would only lengthen a prompt
  if (!attempt.verified) {
    if (inputs_.expander.repeatable(attempt.step)) return;
    auto& failures = failed_[{attempt.parent, attempt.step.step}];
    failures.push_back({attempt.variant, attempt.reason, std::move(message)});
    if (failures.size() > kMostFailures) failures.erase(failures.begin());
    return;
  }
  if (!attempt.child || attempt.log_gain <= 0.0) return;
  // Two, because an example for a state is taken from another one.
  std::vector<PaidStep>& best = paid_[{attempt.from, attempt.step.step}];
  const auto known = std::ranges::find(best, attempt.parent, &PaidStep::parent);
  if (known == best.end()) {
    best.push_back({attempt.parent, *attempt.child, attempt.log_gain});
  } else if (attempt.log_gain > known->log_gain) {
    *known = {attempt.parent, *attempt.child, attempt.log_gain};
  }
  std::ranges::stable_sort(best, std::ranges::greater(), &PaidStep::log_gain);
  if (best.size() > 2) best.pop_back();
}

ExpansionContext SearchRun::context_of(std::uint32_t state, const StepProposal& step) const {
  ExpansionContext context;
  context.evaluation = outcome_.states[state].evaluation;
  context.history = history(state);
  context.original_seconds = outcome_.baseline_evaluation.time.median_seconds;
  if (const auto failures = failed_.find({state, step.step}); failures != failed_.end())
    context.failures = failures->second;
  const std::string from =
      context.history.empty() ? std::string(ReGraph::kInit) : context.history.back();
  const auto paid = paid_.find({from, step.step});
  if (paid == paid_.end()) return context;
  for (const PaidStep& one : paid->second) {
    if (one.parent == state) continue;
    context.example = StepExample{from, outcome_.states[one.parent].candidate,
                                  outcome_.states[one.child].candidate, one.log_gain};
    break;
  }
  return context;
}

// Machine code alone does not tell states apart: another launch plan may run the same code.
Hash128 SearchRun::executable(const StateRecord& state) const {
  const Hash128& code = state.evaluation.machine_code;
  if (code == Hash128{}) return {};
  return Hasher().add(code.low).add(code.high).add(state.candidate->plan.text()).finish();
}

}  // namespace regraph
