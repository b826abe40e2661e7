#include "search/search_run.h"

#include "regraph/combined_steps.h"

#include <tuple>
#include <utility>

namespace regraph {

SearchRun::SearchRun(const SearchInputs& inputs, std::unique_ptr<Searcher> searcher)
    : inputs_(inputs),
      searcher_(std::move(searcher)),
      budget_(inputs.config, inputs.journal.progress().seconds),
      records_(inputs.journal, budget_),
      states_(inputs.graph, inputs.config),
      work_(inputs_) {}

Result<SearchOutcome> SearchRun::run(const Candidate& baseline) {
  if (Status judged = judge_baseline(baseline); !judged) return judged.error();
  search();
  if (!records_.failure()) Answer(inputs_, *searcher_, states_, records_, work_).choose(outcome_);
  if (records_.failure()) return *records_.failure();
  return summary();
}

SearchOutcome SearchRun::summary() {
  outcome_.wall_seconds = budget_.elapsed_seconds();
  outcome_.sitting_seconds = outcome_.wall_seconds - inputs_.journal.progress().seconds;
  work_.finish();
  outcome_.busy_seconds = work_.busy_seconds();
  outcome_.work_ahead = work_.ahead().statistics();
  outcome_.evaluations = budget_.evaluations();
  const SearchCounts& counts = searcher_->counts();
  outcome_.expansions = counts.expansions;
  outcome_.transpositions = counts.transpositions;
  outcome_.machine_code_merges = counts.machine_code_merges;
  outcome_.duplicates = counts.duplicates;
  outcome_.back_edges = counts.back_edges;
  const StateGraph& graph = searcher_->graph();
  outcome_.nodes = static_cast<int>(graph.node_count());
  outcome_.new_steps = states_.new_steps();
  outcome_.states = states_.take();
  for (StateRecord& state : outcome_.states) {
    const NodeState kind = graph.node(state.id).state;
    if (kind == NodeState::measured) state.visits = graph.visits(state.id);
    if (kind == NodeState::alias) state.same_as = graph.find(graph.identity(state.id));
  }
  return std::move(outcome_);
}

Status SearchRun::judge_baseline(const Candidate& baseline) {
  states_.add_original(baseline);
  std::optional<MeasurementRecord> record = records_.baseline();
  if (records_.failure()) return *records_.failure();
  const bool recalled = record.has_value();
  if (!recalled) {
    Result<MeasurementRecord> judged = evaluate_baseline();
    if (!judged) return judged.error();
    record = std::move(*judged);
    records_.record_baseline(*record);
    if (records_.failure()) return *records_.failure();
  }
  outcome_.baseline_evaluation = record->evaluation;
  states_.judge(0, std::move(record->evaluation), std::move(record->proposals));
  const StateRecord& root = states_.at(0);
  searcher_->start(baseline.identity, executable_of(*root.candidate, root.evaluation),
                   states_.seeds(0));
  announce(0, false, recalled);
  return {};
}

Result<MeasurementRecord> SearchRun::evaluate_baseline() {
  std::optional<Judged> judged;
  work_.judge({states_.at(0).candidate, screening_budget(inputs_.config), ExpansionContext{}},
              [&](Judged result) { judged = std::move(result); });
  while (!judged) {
    static_cast<void>(work_.wait());
    if (inputs_.cancellation.requested()) {
      work_.drop(true);
      return fail(ErrorCode::cancelled, "cancelled before the original kernel was judged");
    }
  }
  if (judged->ending == Ending::lost)
    return fail(ErrorCode::resource, "the original kernel's evaluation does not come to an end");
  if (judged->ending == Ending::threw)
    return fail(ErrorCode::internal, "the original kernel's evaluation crashed");
  const Evaluation& evaluation = judged->evaluation;
  if (!evaluation.correct()) {
    return fail(ErrorCode::invalid_argument,
                std::string("the original kernel does not pass its own verification (") +
                    name(evaluation.verdict) + "): " + evaluation.message);
  }
  MeasurementRecord record;
  record.candidate = states_.at(0).candidate;
  record.evaluation = std::move(judged->evaluation);
  record.proposals = std::move(judged->proposals);
  return record;
}

std::optional<StopReason> SearchRun::over() {
  if (inputs_.cancellation.requested()) return StopReason::cancelled;
  if (const auto ended = records_.ended_here()) return ended;
  // What an earlier sitting committed is committed again, however late it is by now.
  if (!records_.behind() && budget_.time_is_up()) return StopReason::budget;
  return std::nullopt;
}

void SearchRun::search() {
  work_.plan_with([this](int workers) {
    return foresee(inputs_, {*searcher_, states_, tickets_, budget_, rates_}, work_.ahead(),
                   workers);
  });
  std::optional<StopReason> stopped;
  while (!records_.failure()) {
    stopped = over();
    if (stopped) break;
    issue_tickets();
    if (tickets_.empty()) {
      stopped = searcher_->exhausted() ? StopReason::exhausted : StopReason::budget;
      break;
    }
    if (tickets_.ready(inputs_.config.expansions_first)) {
      commit(tickets_.take(inputs_.config.expansions_first));
    } else if (records_.over_already() && !tickets_.anything_under_way()) {
      records_.require(
          fail(ErrorCode::parse, "the run's records say that more of it was done than they hold"));
    } else if (!work_.wait()) {
      stopped = StopReason::workers_lost;
      break;
    }
  }
  outcome_.stopped = stopped.value_or(StopReason::budget);
  // What has come in by now is kept; what comes later is told to stop.
  work_.collect();
  for (const auto& [number, entry] : tickets_.entries())
    searcher_->abandon(number);
  tickets_.clear();
  work_.drop(outcome_.stopped == StopReason::cancelled);
  if (records_.failure() || outcome_.stopped == StopReason::cancelled) return;
  records_.record_end(outcome_.stopped);
}

void SearchRun::issue_tickets() {
  while (budget_.may_issue(tickets_.size())) {
    const double share = records_.share_at_issue();
    const std::optional<Ticket> ticket = searcher_->next(share);
    if (!ticket || records_.failure()) return;
    records_.record_issue(share);
    budget_.issued();
    submit_expansion(*ticket);
  }
}

void SearchRun::submit_expansion(const Ticket& ticket) {
  const StepProposal& proposal = states_.step_of(ticket);
  std::optional<ExpansionRecord> known = records_.expansion(ticket, proposal);
  if (records_.failure()) return;
  TicketTable::Entry& entry = tickets_.add(ticket);
  entry.recalled = known.has_value();
  const bool again = known && known->child != nullptr;
  if (known && !again) {
    entry.complete = true;
    outcome_.lost_workers += known->refusal == kLost ? 1 : 0;
  } else if (again && !inputs_.expander.repeatable(proposal)) {
    // Doing it again might give something else.
    Result<Candidate> restored = inputs_.expander.restore(*known->child);
    if (!restored) return records_.require(restored.error());
    known->child = std::make_shared<const Candidate>(std::move(*restored));
    entry.complete = true;
  } else if (again || !records_.over_already()) {
    // Steps that always give the same are applied again, which restores the parsed form as well.
    entry.under_way = true;
    work_.apply(
        {states_.at(ticket.parent).candidate, proposal, static_cast<int>(ticket.variant),
         states_.context_of(ticket.parent, proposal, inputs_.expander.wants_story())},
        [this, number = ticket.number](Applied applied) { expanded(number, std::move(applied)); });
  }
  if (known) entry.result = std::move(*known);
}

void SearchRun::submit_measurement(const Ticket& ticket) {
  const std::shared_ptr<const Candidate>& candidate = states_.at(ticket.node).candidate;
  std::optional<MeasurementRecord> known = records_.measurement(ticket, *candidate);
  if (records_.failure()) return;
  TicketTable::Entry& entry = tickets_.add(ticket);
  if (known) {
    entry.recalled = entry.complete = true;
    outcome_.lost_workers += known->lost ? 1 : 0;
    entry.result = std::move(*known);
    return;
  }
  if (records_.over_already()) return;
  entry.under_way = true;
  ExpansionContext context = states_.context_at(ticket.node, inputs_.expander.wants_story());
  EvaluationBudget budget = screening_budget(inputs_.config);
  budget.measured_over_predicted = states_.measured_over_predicted(ticket.parent);
  work_.judge(
      {candidate, budget, std::move(context)},
      [this, number = ticket.number](Judged judged) { measured(number, std::move(judged)); });
}

void SearchRun::expanded(std::uint64_t ticket, Applied applied) {
  TicketTable::Entry& entry = *tickets_.find(ticket);
  entry.complete = true;
  outcome_.lost_workers += applied.ending == Ending::lost ? 1 : 0;
  auto& result = std::get<ExpansionRecord>(entry.result);
  if (entry.recalled) require_same(result, applied);
  result.step = states_.step_of(entry.ticket);
  result.child = std::move(applied.child);
  result.refusal = std::move(applied.refusal);
  result.message = std::move(applied.message);
  if (entry.recalled) return;
  // What depends on the moment, or on a model that answers differently each time, is kept.
  const bool chance =
      applied.ending != Ending::finished || !inputs_.expander.repeatable(result.step);
  records_.record_expansion(entry.ticket, result, chance);
}

void SearchRun::require_same(const ExpansionRecord& expected, const Applied& applied) {
  if (applied.child != nullptr && applied.child->identity == expected.child->identity) return;
  const bool lost = applied.ending == Ending::lost;
  records_.require(
      fail(lost ? ErrorCode::resource : ErrorCode::parse,
           "the step " + expected.step.text() +
               (lost ? " does not come to an end now, though it did when the run was made"
                     : " gives another result than when the run was made, so another version of "
                       "this program made it")));
}

void SearchRun::measured(std::uint64_t ticket, Judged judged) {
  TicketTable::Entry& entry = *tickets_.find(ticket);
  entry.complete = true;
  auto& record = std::get<MeasurementRecord>(entry.result);
  record.step = states_.at(entry.ticket.node).step;
  record.candidate = states_.at(entry.ticket.node).candidate;
  record.lost = judged.ending == Ending::lost;
  outcome_.lost_workers += record.lost ? 1 : 0;
  record.evaluation = std::move(judged.evaluation);
  record.proposals = std::move(judged.proposals);
  records_.record_measurement(entry.ticket, record);
}

void SearchRun::commit(TicketTable::Entry entry) {
  records_.committed();
  if (auto* expansion = std::get_if<ExpansionRecord>(&entry.result)) {
    commit(entry.ticket, std::move(*expansion));
  } else {
    commit(entry.ticket, std::get<MeasurementRecord>(std::move(entry.result)), entry.recalled);
  }
}

void SearchRun::commit(const Ticket& ticket, ExpansionRecord record) {
  std::optional<Hash128> identity;
  const bool declined = record.refusal == name(ErrorCode::declined);
  if (record.child != nullptr) {
    identity = record.child->identity;
  } else {
    refusals_[ticket.number] = {record.refusal, record.message};
  }
  const Commit committed = searcher_->commit_expansion(ticket.number, identity);
  for (const Resolution& resolution : committed.resolved)
    note(resolution);
  if (!committed.measure) {
    if (declined) {
      budget_.declined();
    } else if (!inputs_.expander.repeatable(states_.step_of(ticket))) {
      budget_.fruitless();
    }
    return;
  }
  states_.add(*committed.measure, std::move(record.child));
  submit_measurement(*committed.measure);
}

void SearchRun::commit(const Ticket& ticket, MeasurementRecord record, bool recalled) {
  const bool improved =
      states_.judge(ticket.node, std::move(record.evaluation), std::move(record.proposals));
  const StateRecord& state = states_.at(ticket.node);
  budget_.evaluated();
  ++outcome_.verdict_counts[static_cast<std::size_t>(state.evaluation.verdict)];

  MeasurementResult result;
  result.correct = state.evaluation.correct();
  if (result.correct) {
    result.score = state.log_speedup;
    result.executable = executable_of(*state.candidate, state.evaluation);
    result.proposals = states_.seeds(ticket.node);
  }
  const Commit committed = searcher_->commit_measurement(ticket.number, result);
  for (const Resolution& resolution : committed.resolved)
    note(resolution);
  adopt(ticket);
  if (searcher_->graph().node(ticket.node).state == NodeState::measured) {
    rates_.measured(state.log_speedup - states_.at(ticket.parent).log_speedup);
  } else {
    rates_.failed();
  }
  announce(ticket.node, improved, recalled);
}

// A state that two others were combined in has both as parents.
void SearchRun::adopt(const Ticket& ticket) {
  const std::optional<std::uint32_t> other = state_to_combine(states_.at(ticket.node).step);
  const StateGraph& graph = searcher_->graph();
  if (!other || *other >= states_.count() || graph.node(ticket.node).state != NodeState::measured) {
    return;
  }
  const NodeId parent = graph.find(graph.identity(*other));
  const std::uint32_t step = states_.number_of(states_.at(ticket.node).step.step);
  if (searcher_->adopt(parent, ticket.node, step)) states_.set_other_parent(ticket.node, *other);
}

void SearchRun::note(const Resolution& resolution) {
  const Ticket& ticket = resolution.expansion;
  const StateRecord& parent = states_.at(ticket.parent);
  AttemptRecord attempt;
  std::string message;
  attempt.parent = ticket.parent;
  attempt.from = parent.parent ? steps_of(parent.step).back() : std::string(StepGraph::kInit);
  attempt.step = states_.step_of(ticket);
  attempt.variant = static_cast<int>(ticket.variant);
  attempt.verified = resolution.edge != EdgeState::failed;
  attempt.repeats = resolution.edge == EdgeState::duplicate || resolution.edge == EdgeState::back;
  if (resolution.child != kNoNode) {
    const StateRecord& child = states_.at(resolution.child);
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
  states_.learn(attempt, std::move(message), !inputs_.expander.repeatable(attempt.step));
  note_new_steps(attempt.step.step);
  outcome_.attempts.push_back(std::move(attempt));
}

// That of the steps that were made up by now, or of one of them, something is known.
void SearchRun::note_new_steps(const std::string& id) {
  for (std::size_t place = 0; place < states_.new_steps().size(); ++place) {
    const NewStepRecord& step = states_.new_steps()[place];
    if (place < noted_new_steps_ && step.id != id) continue;
    inputs_.journal.note_new_step(static_cast<int>(place), step);
  }
  noted_new_steps_ = states_.new_steps().size();
}

void SearchRun::announce(std::uint32_t state_id, bool improved, bool recalled) {
  if (inputs_.observer == nullptr) return;
  const StateRecord& state = states_.at(state_id);
  inputs_.observer->on_evaluated(
      SearchEvent{state_id, state.parent.value_or(0), state.step, state.variant, *state.candidate,
                  state.evaluation, state.log_speedup, improved, states_.best(),
                  states_.best_log_speedup(), budget_.evaluations(), outcome_.verdict_counts,
                  searcher_->counts().transpositions, budget_.fraction(), recalled});
}

}  // namespace regraph
