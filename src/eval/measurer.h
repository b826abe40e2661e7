// The seam between a session and whatever has measured its candidates.
#pragma once

#include "base/cancellation.h"
#include "kernel/candidate.h"
#include "kernel/measurement.h"

namespace regraph {

// Has the last word on an answer whose time was measured. Not called while candidates are
// evaluated.
class Measurer {
 public:
  virtual ~Measurer() = default;
  // How the GPUs were used so far.
  [[nodiscard]] virtual Measurement measurement() const = 0;
  // The same, after `answer`, where there is one, was timed once more beside the original and, with
  // `sanitize` and where it is installed, launched under compute-sanitizer.
  [[nodiscard]] virtual AnswerTrial try_answer(const Candidate* answer, bool sanitize,
                                               const Cancellation& cancellation) = 0;
};

}  // namespace regraph
