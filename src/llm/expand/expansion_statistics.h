// What became of a model's answers.
#pragma once

#include "kernel/evaluation.h"

#include <array>
#include <map>
#include <mutex>
#include <string>

namespace regraph::llm {

// A step that a model named and the ReGraph does not know: kept for whoever extends the graph.
struct NewStep {
  std::string why;  // the model's words, the first time
  int named = 0;
};

struct ExpansionStatistics {
  int applications = 0;                    // steps the model was asked to apply
  int candidates = 0;                      // of them with a candidate in the end
  int declined = 0;                        // of them that the model said no to
  int no_answer = 0;                       // of them without any answer
  std::map<std::string, int> rejected;     // answers that were no candidate, by reason
  int repairs = 0;                         // times a correction was asked for
  int repaired = 0;                        // applications that a correction made correct
  int judged = 0;                          // opinions of a judge that were of use
  int proposals_asked = 0;                 // lists of steps
  int proposals_of_use = 0;                // lists that could be read
  int empty_lists = 0;                     // of them, that say that nothing will pay
  int taken_back = 0;                      // names that would have undone or repeated a step
  int at_floor = 0;                        // states at which there was nothing left to gain
  int left_behind = 0;                     // steps that it was not asked for any more
  int beside_the_point = 0;                // states that it was not asked about, see StepChooser
  std::map<std::string, int> named_steps;  // of the catalogue
  std::map<std::string, NewStep> new_steps;
  // Every answer that became a candidate, also those that were repaired later, by verdict.
  std::array<int, kVerdictCount> verdicts{};
};

// Statistics that many threads add to.
class ExpansionTally {
 public:
  template <typename Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(statistics_);
  }
  [[nodiscard]] ExpansionStatistics snapshot() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  mutable std::mutex mutex_;
  ExpansionStatistics statistics_;
};

}  // namespace regraph::llm
