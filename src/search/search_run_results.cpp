// How results come in: from workers, or from the journal of an earlier sitting.
#include "search/search_run.h"

#include <algorithm>
#include <utility>

namespace regraph {

namespace {

// A call may overrun its own limit by this much before its worker is written off: killing compiler
// processes and unwinding take a moment.
constexpr double kGraceShare = 0.5;
constexpr double kGraceSeconds = 1.0;

constexpr const char* kTimeout = "timeout";
constexpr const char* kCrash = "crash";

// What a caller has to tell apart: what is stored cannot be used, or nothing more can be stored.
Error journal_error(const Error& error) {
  return fail(error.code == ErrorCode::parse ? ErrorCode::parse : ErrorCode::io, error.message);
}

}  // namespace

void SearchRun::require(const Status& status) {
  if (!status && !failure_) failure_ = journal_error(status.error());
}

void SearchRun::submit(const Ticket& ticket) {
  if (ticket.kind == TicketKind::expand) {
    submit_expansion(ticket);
  } else {
    submit_measurement(ticket);
  }
}

void SearchRun::submit_expansion(const Ticket& ticket) {
  const StepProposal& proposal = proposals_[ticket.parent][ticket.proposal];
  Outstanding entry;
  entry.ticket = ticket;
  if (inputs_.journal != nullptr) {
    Result<std::optional<ExpansionRecord>> known = inputs_.journal->expansion(ticket, proposal);
    if (!known) return require(known.error());
    if (*known) {
      entry.recalled = true;
      entry.expansion = std::move(**known);
    }
  }
  const bool again = entry.recalled && entry.expansion.child != nullptr;
  if (entry.recalled && !again) {
    entry.complete = true;
    outcome_.lost_workers += entry.expansion.refusal == kTimeout ? 1 : 0;
  } else if (again && !inputs_.expander.repeatable(proposal)) {
    // Doing it again might give something else.
    Result<Candidate> restored = inputs_.expander.restore(*entry.expansion.child);
    if (!restored) return require(restored.error());
    entry.expansion.child = std::make_shared<const Candidate>(std::move(*restored));
    entry.complete = true;
  } else if (entry.recalled || !over_already()) {
    // Steps that always give the same are applied again, which restores the parsed form as well.
    entry.job = std::make_shared<ExpandJob>(inputs_, outcome_.states[ticket.parent].candidate,
                                            proposal, static_cast<int>(ticket.variant),
                                            context_of(ticket.parent, proposal));
    pool_.submit(entry.job);
  }
  outstanding_.emplace(ticket.number, std::move(entry));
}

void SearchRun::submit_measurement(const Ticket& ticket) {
  const std::shared_ptr<const Candidate>& candidate = outcome_.states[ticket.node].candidate;
  Outstanding entry;
  entry.ticket = ticket;
  if (inputs_.journal != nullptr) {
    Result<std::optional<MeasurementRecord>> known =
        inputs_.journal->measurement(ticket, *candidate);
    if (!known) return require(known.error());
    if (*known) {
      entry.recalled = entry.complete = true;
      entry.measurement = std::move(**known);
      outcome_.lost_workers += entry.measurement.lost ? 1 : 0;
    }
  }
  if (!entry.complete && !over_already()) {
    EvaluationBudget budget;
    budget.seed = inputs_.config.seed;
    budget.wall_seconds = inputs_.config.evaluation_wall_seconds;
    ExpansionContext context;
    context.history = history(ticket.node);
    context.original_seconds = outcome_.baseline_evaluation.time.median_seconds;
    entry.job = std::make_shared<EvaluateJob>(inputs_, candidate, budget, std::move(context));
    pool_.submit(entry.job);
  }
  outstanding_.emplace(ticket.number, std::move(entry));
}

// Waits for a result for a moment. Returns false when too many workers are gone to go on.
bool SearchRun::wait_for_progress() {
  if (const std::shared_ptr<Job> job = pool_.wait(kPollInterval)) complete(job, false);
  while (const std::shared_ptr<Job> job = pool_.write_off(patience())) {
    ++outcome_.lost_workers;
    complete(job, true);
  }
  return !pool_.crippled();
}

// Takes the result over and records it, also if it has to wait before it is committed. A lost job
// may still be running: nothing of it may be looked at.
void SearchRun::complete(const std::shared_ptr<Job>& job, bool lost) {
  for (auto& [number, entry] : outstanding_) {
    if (entry.job != job) continue;
    entry.complete = true;
    if (entry.ticket.kind == TicketKind::expand) {
      complete_expansion(entry, static_cast<const ExpandJob&>(*job), lost);
    } else {
      complete_measurement(entry, static_cast<const EvaluateJob&>(*job), lost);
    }
    return;
  }
}

void SearchRun::complete_expansion(Outstanding& entry, const ExpandJob& job, bool lost) {
  ExpansionRecord record;
  record.step = proposals_[entry.ticket.parent][entry.ticket.proposal];
  if (lost) {
    record.refusal = kTimeout;
  } else if (job.threw) {
    record.refusal = kCrash;
  } else if (job.child == nullptr) {
    record.refusal = name(job.refusal.code);
    record.message = job.refusal.message;
  } else {
    record.child = job.child;
  }
  if (entry.recalled) {
    const bool same =
        record.child != nullptr && record.child->identity == entry.expansion.child->identity;
    if (!same) {
      require(fail(lost ? ErrorCode::resource : ErrorCode::parse,
                   "the step " + record.step.text() +
                       (lost ? " does not come to an end now, though it did when the run was made"
                             : " gives another result than when the run was made, so another "
                               "version of this program made it")));
    }
  } else if (inputs_.journal != nullptr) {
    // What depends on the moment, or on a model that answers differently each time, is kept.
    const bool chance = lost || job.threw || !inputs_.expander.repeatable(record.step);
    inputs_.journal->advance(commits_, elapsed_seconds());
    require(inputs_.journal->record_expansion(entry.ticket, record, chance));
  }
  entry.expansion = std::move(record);
}

void SearchRun::complete_measurement(Outstanding& entry, const EvaluateJob& job, bool lost) {
  MeasurementRecord& record = entry.measurement;
  record.step = outcome_.states[entry.ticket.node].step;
  record.candidate = outcome_.states[entry.ticket.node].candidate;
  record.lost = lost;
  if (lost) {
    record.evaluation.verdict = Verdict::timeout;
    record.evaluation.message = "the evaluation did not come to an end and was written off";
  } else if (job.threw) {
    record.evaluation.verdict = Verdict::crash;
    record.evaluation.message = "the evaluator ended with an exception";
  } else {
    record.evaluation = job.evaluation;
    record.proposals = job.proposals;
  }
  if (inputs_.journal == nullptr) return;
  inputs_.journal->advance(commits_, elapsed_seconds());
  require(inputs_.journal->record_measurement(entry.ticket, record));
}

// Then all that is still to be committed is recorded, and other tickets are not worth any work.
bool SearchRun::over_already() const {
  return inputs_.journal != nullptr && inputs_.journal->progress().end.has_value();
}

bool SearchRun::nothing_under_way() const {
  return std::ranges::all_of(outstanding_, [](const auto& entry) {
    return entry.second.complete || entry.second.job == nullptr;
  });
}

bool SearchRun::ended_before() const {
  return over_already() && commits_ >= inputs_.journal->progress().commits;
}

double SearchRun::elapsed_seconds() const {
  return earlier_seconds_ +
         std::chrono::duration<double>(WorkerPool::Clock::now() - started_).count();
}

// By evaluations when they are limited, so that the clock cannot influence the search.
double SearchRun::budget_fraction() const {
  const SearchBudget& budget = inputs_.config.budget;
  const double used =
      budget.evaluations > 0
          ? static_cast<double>(outcome_.evaluations + fruitless_) / budget.evaluations
          : elapsed_seconds() / budget.wall_seconds;
  return std::clamp(used, 0.0, 1.0);
}

// The clock's share is what it was when the ticket was first issued.
double SearchRun::share_at_issue() {
  if (inputs_.journal != nullptr && inputs_.config.budget.evaluations == 0) {
    const Result<std::optional<double>> known = inputs_.journal->issue(issued_);
    if (!known) require(known.error());
    if (known && *known) return **known;
  }
  return budget_fraction();
}

// What an earlier sitting committed is committed again, however late it is by now.
bool SearchRun::time_is_up() const {
  const double limit = inputs_.config.budget.wall_seconds;
  if (inputs_.journal != nullptr && commits_ < inputs_.journal->progress().commits) return false;
  return limit > 0.0 && elapsed_seconds() >= limit;
}

WorkerPool::Clock::duration SearchRun::patience() const {
  EvaluationBudget budget;
  budget.wall_seconds = inputs_.config.evaluation_wall_seconds;
  // A measurement ends with a proposal, and an expander may look at its own work.
  const double longest = inputs_.evaluator.longest_seconds(
                             budget, inputs_.config.jobs + inputs_.config.extra_workers) +
                         inputs_.expander.longest_seconds();
  const double seconds = longest * (1.0 + kGraceShare) + kGraceSeconds;
  return std::chrono::duration_cast<WorkerPool::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace regraph
