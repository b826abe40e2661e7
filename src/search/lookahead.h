// Foresees what a search will ask for next: runs copies of its searcher on from where it stands.
//
// A copy gets the results that are known, also those of work done ahead. Where one is not known yet
// it goes on in two ways, for a candidate that is faster than its parent and for one that is not,
// each as likely as it was in this run so far. What the copies ask for is wished for, as likely as
// the ways that lead to it; the likeliest way is gone on with first.
//
//     the search waits for e1 ─┬─ faster  0.4 ──> asks for e3, a step from e1's result ── ...
//                              └─ not     0.6 ──> asks for e2 ─┬─ ...
//                                                              └─ ...
//
// A searcher is a pure state machine, so what is foreseen is what will be asked for wherever the
// guesses are right; and nothing here has any effect on the search itself.
#pragma once

#include "search/ahead_work.h"
#include "search/budget_meter.h"
#include "search/known_states.h"
#include "search/outcome_rates.h"
#include "search/searcher.h"
#include "search/ticket_table.h"

#include <vector>

namespace regraph {

// Where a search stands; what it refers to must not change meanwhile.
struct SearchPosition {
  const Searcher& searcher;
  const KnownStates& states;
  const TicketTable& tickets;
  const BudgetMeter& budget;
  const OutcomeRates& rates;
};

// Returns what the search will probably ask for and nobody works on, enough for `workers`, with
// what is done ahead already counted in.
[[nodiscard]] std::vector<Wish> foresee(const SearchInputs& inputs, const SearchPosition& position,
                                        AheadWork& ahead, int workers);

}  // namespace regraph
