#include "fleet_worker/judge_request.h"

#include <charconv>

namespace regraph::fleet {

// The length of the problem, a line's end, and both.
std::string judge_request(const JudgeRequest& request) {
  std::string text = std::to_string(request.problem.size()) + "\n";
  text += request.problem;
  text += request.evaluation;
  return text;
}

Result<JudgeRequest> read_judge_request(std::string_view text) {
  std::size_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, length);
  const auto left = static_cast<std::size_t>(end - rest);
  if (error != std::errc() || left == 0 || *rest != '\n' || length > left - 1)
    return fail(ErrorCode::parse, "a request without a problem");
  const std::string_view body(rest + 1, left - 1);
  return JudgeRequest{body.substr(0, length), body.substr(length)};
}

}  // namespace regraph::fleet
