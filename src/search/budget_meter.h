// How much of a search's budget is used, and whether more may be started. A copy goes on counting
// by itself.
#pragma once

#include "search/config.h"

#include <chrono>

namespace regraph {

class BudgetMeter {
 public:
  // `earlier_seconds`: of earlier sittings. The clock starts now.
  BudgetMeter(const SearchConfig& config, double earlier_seconds)
      : budget_(config.budget),
        window_(config.window),
        earlier_seconds_(earlier_seconds),
        started_(std::chrono::steady_clock::now()) {}

  // Whether another expansion may be issued beside `under_way` tickets. Depends on counts alone.
  [[nodiscard]] bool may_issue(int under_way) const;
  void issued() { ++issued_; }
  void evaluated() { ++evaluations_; }
  // Somebody was asked and paid, so it counts although nothing was evaluated.
  void fruitless() { ++fruitless_; }
  // Somebody who was asked said that the step does not apply. That costs nothing, as long as it
  // does not go on for ever: beyond kFreeDeclines for each evaluation of the budget it counts.
  void declined();

  // The used share, 0 to 1: of evaluations when they are limited, so that the clock cannot
  // influence the search, else of seconds.
  [[nodiscard]] double fraction() const;
  [[nodiscard]] bool by_clock() const { return budget_.evaluations == 0; }
  [[nodiscard]] bool time_is_up() const {
    return budget_.wall_seconds > 0.0 && elapsed_seconds() >= budget_.wall_seconds;
  }
  // Of all sittings.
  [[nodiscard]] double elapsed_seconds() const;
  // Expansions issued, candidates evaluated.
  [[nodiscard]] int issue_count() const { return issued_; }
  [[nodiscard]] int evaluations() const { return evaluations_; }

 private:
  SearchBudget budget_;
  int window_;
  double earlier_seconds_;
  std::chrono::steady_clock::time_point started_;
  int issued_ = 0;
  int evaluations_ = 0;
  int fruitless_ = 0;
  int declined_ = 0;
};

}  // namespace regraph
