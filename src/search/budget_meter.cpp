#include "search/budget_meter.h"

#include <algorithm>

namespace regraph {

namespace {

// Under a budget of evaluations, those started early know little; so only this share of the tickets
// issued so far may be under way.
constexpr double kRampShare = 0.1;

// A model that declines most of what it is asked for still leaves a search its evaluations; one
// that declines everything ends it.
constexpr int kFreeDeclines = 2;

}  // namespace

bool BudgetMeter::may_issue(int under_way) const {
  int window = window_;
  if (budget_.evaluations > 0) {
    // Each expansion may need an evaluation, so one is kept for it.
    if (evaluations_ + fruitless_ + under_way >= budget_.evaluations) return false;
    window = std::min(window, std::max(1, static_cast<int>(kRampShare * issued_)));
  }
  return under_way < window;
}

void BudgetMeter::declined() {
  ++declined_;
  if (budget_.evaluations > 0 && declined_ > kFreeDeclines * budget_.evaluations) ++fruitless_;
}

double BudgetMeter::fraction() const {
  const double used = budget_.evaluations > 0
                          ? static_cast<double>(evaluations_ + fruitless_) / budget_.evaluations
                          : elapsed_seconds() / budget_.wall_seconds;
  return std::clamp(used, 0.0, 1.0);
}

double BudgetMeter::elapsed_seconds() const {
  const auto now = std::chrono::steady_clock::now();
  return earlier_seconds_ + std::chrono::duration<double>(now - started_).count();
}

}  // namespace regraph
