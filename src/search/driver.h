// Runs a search: one thread owns the state graph, worker threads rewrite and evaluate.
//
//   owner:   next ticket ──> worker: Expander::apply ──> owner: known state? ──> worker: evaluate ──┐
//              ^                                                                                  │
//              └──────────────── commit in ticket order <── results queue <──────────────────────┘
//
// Results are committed in an order that depends on ticket numbers alone and the number of tickets
// under way is part of the configuration, so worker count and timing cannot change the result.
// Only a budget of seconds, cancellation and workers that outlive their deadline can.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/evaluator.h"
#include "kernel/candidate.h"
#include "regraph/edge_scorer.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"
#include "search/config.h"
#include "search/journal.h"
#include "search/observer.h"
#include "search/outcome.h"

namespace regraph {

// Searches for a faster candidate than `baseline` and returns what it found; also when cancelled,
// which it polls every few milliseconds. Blocks; calls `expander` and `evaluator` from
// `config.jobs` worker threads and returns only when none of those calls is left. `observer` may be
// null. Errors: a configuration out of range (invalid_argument), a baseline that does not pass its
// own verification (invalid_argument, with the evaluator's message), cancelled before the baseline
// was judged (cancelled).
//
// An evaluation that outlives `config.evaluation_wall_seconds` by more than a grace period counts
// as Verdict::timeout and a spare worker takes its place; its late result is dropped. At the end
// such calls are asked to stop through their Cancellation and waited for.
//
// With a `journal` every result is recorded in it when it arrives, before it is used, and results
// that are in it are not worked out again: a run that ended early, in whatever way, goes on where
// it was and comes to the answer it would have come to. The other arguments, `config.jobs` aside,
// must be those the journal was begun with. Seconds of earlier sittings count toward the budget.
// `scorer` may be null; what it made of an edge is recorded, so a run goes on without it where it
// was.
// Before it makes a claim it asks `objection`, where there is one, on the calling thread and while
// nothing is evaluated: of a claim that does not stand the next best finalist takes the place.
// Further errors then: parse when what is
// recorded cannot be read or is another search's, io when nothing more can be recorded.
[[nodiscard]] Result<SearchOutcome> run_search(const Candidate& baseline, const Expander& expander,
                                               Evaluator& evaluator, const StepGraph& graph,
                                               const SearchConfig& config, SearchObserver* observer,
                                               const Cancellation& cancellation,
                                               SearchJournal* journal = nullptr,
                                               const EdgeScorer* scorer = nullptr,
                                               const Objection& objection = nullptr);

}  // namespace regraph
