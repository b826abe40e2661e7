// How often candidates of a run were faster than their parents, and by how much: for guesses at the
// next ones.
#pragma once

#include <vector>

namespace regraph {

class OutcomeRates {
 public:
  void failed() { failed_ += 1.0; }
  // Correct; ln(the parent's time / the candidate's).
  void measured(double log_gain);

  struct Guess {
    double probability = 0.0;
    bool correct = false;
    double log_gain = 0.0;
  };
  // Faster than the parent; and not, as most often: failed, or correct and slower.
  [[nodiscard]] std::vector<Guess> guesses() const;

 private:
  struct Share {
    double count = 1.0;  // as if each had been seen once
    double log_gain = 0.0;
  };
  double failed_ = 1.0;
  Share slower_{1.0, -0.1};
  Share faster_{1.0, 0.2};
};

}  // namespace regraph
