#include "search/outcome_rates.h"

namespace regraph {

void OutcomeRates::measured(double log_gain) {
  Share& share = log_gain > 0.0 ? faster_ : slower_;
  share.count += 1.0;
  share.log_gain += (log_gain - share.log_gain) / share.count;
}

std::vector<OutcomeRates::Guess> OutcomeRates::guesses() const {
  const double all = failed_ + slower_.count + faster_.count;
  const Guess better{faster_.count / all, true, faster_.log_gain};
  const double rest = 1.0 - better.probability;
  if (slower_.count > failed_) return {better, {rest, true, slower_.log_gain}};
  return {better, {rest, false, 0.0}};
}

}  // namespace regraph
