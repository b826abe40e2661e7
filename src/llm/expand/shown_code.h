// What a model is shown of a candidate's code.
#pragma once

#include "kernel/candidate.h"
#include "source/relevant_part.h"

#include <string>

namespace regraph::llm {

// The part that matters to the kernels that are launched, and the way back from an answer to the
// whole. A Triton kernel was cut out of its file before, so all of its text is shown.
class ShownCode {
 public:
  explicit ShownCode(const Candidate& candidate);

  [[nodiscard]] const std::string& text() const { return part_.shown; }
  // The code of an answer with what was left out put back; the answer alone where that might not
  // compile: what was left out is of no use to the kernels.
  [[nodiscard]] std::string whole(const std::string& answer) const;

 private:
  source::RelevantPart part_;
};

}  // namespace regraph::llm
