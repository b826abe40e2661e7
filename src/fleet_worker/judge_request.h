// What a worker says to its judge: a problem and an evaluation of it.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace regraph::fleet {

struct JudgeRequest {
  std::string_view problem;     // text (problem_text.h)
  std::string_view evaluation;  // payload of a job (evaluation_job.h)
};

[[nodiscard]] std::string judge_request(const JudgeRequest& request);
// The parts are parts of `text`. Error: parse.
[[nodiscard]] Result<JudgeRequest> read_judge_request(std::string_view text);

}  // namespace regraph::fleet
