// An edge of the ReGraph: what to expect from step B after step A, published and learned.
#pragma once

#include "regraph/gain_statistics.h"
#include "regraph/transition_example.h"

#include <vector>

namespace regraph {

struct Transition {
  double expected_speedup = 1.0;  // published factor, > 0
  // How many families that expectation is worth, >= 0; 0: nobody published one, and the factor
  // means nothing.
  double prior_weight = 1.0;
  LearnedGains learned;
  std::vector<TransitionExample> examples = {};  // the best first, at most kMostExamples

  [[nodiscard]] bool published() const { return prior_weight > 0.0; }
  bool operator==(const Transition&) const = default;
};

}  // namespace regraph
