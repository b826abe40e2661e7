// What a model is shown of a candidate's code.
#pragma once

#include "kernel/candidate.h"

#include <string>
#include <string_view>

namespace regraph::llm {

// The part that matters, and the way back from an answer to the whole.
class ShownCode {
 public:
  // Of the kernels that the plan launches.
  explicit ShownCode(const Candidate& candidate);

  [[nodiscard]] const std::string& text() const { return text_; }
  // The code of an answer with what was left out put back.
  [[nodiscard]] std::string whole(const std::string& answer) const;

 private:
  std::string text_;
};

}  // namespace regraph::llm
