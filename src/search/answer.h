// The end of a run: the best states are confirmed and the answer is put together. Where the caller
// objects to it, the next best is tried.
#pragma once

#include "search/final_selection.h"
#include "search/known_states.h"
#include "search/outcome.h"
#include "search/search_jobs.h"
#include "search/search_records.h"
#include "search/search_work.h"
#include "search/searcher.h"

#include <optional>
#include <vector>

namespace regraph {

class Answer {
 public:
  // The references must outlive this.
  Answer(const SearchInputs& inputs, const Searcher& searcher, const KnownStates& states,
         SearchRecords& records, SearchWork& work)
      : inputs_(inputs), searcher_(searcher), states_(states), records_(records), work_(work) {}

  // Fills in what the outcome says of the answer; it holds the baseline's evaluation. After an
  // error of the journal (SearchRecords::failure) the outcome means nothing.
  void choose(SearchOutcome& outcome);

 private:
  [[nodiscard]] std::vector<Finalist> finalists() const;
  // Makes the claim of a selection, if it has a winner.
  void claim(FinalSelection selection, SearchOutcome& outcome) const;
  [[nodiscard]] std::optional<Evaluation> confirm(std::uint32_t state,
                                                  const EvaluationBudget& budget);
  [[nodiscard]] std::optional<Judged> evaluate(std::uint32_t state, const EvaluationBudget& budget);
  void confirm_ahead(const std::vector<Finalist>& finalists);

  const SearchInputs& inputs_;
  const Searcher& searcher_;
  const KnownStates& states_;
  SearchRecords& records_;
  SearchWork& work_;
  int confirmations_ = 0;
  int lost_ = 0;
};

}  // namespace regraph
