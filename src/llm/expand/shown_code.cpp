#include "llm/expand/shown_code.h"

#include "triton/kernel_text.h"

#include <vector>

namespace regraph::llm {

namespace {

source::RelevantPart part_of(const Candidate& candidate) {
  if (triton::has_header(candidate.source)) {
    source::RelevantPart all;
    all.shown = candidate.source;
    return all;
  }
  std::vector<std::string> kernels;
  for (const Launch& launch : candidate.plan.launches)
    kernels.push_back(launch.kernel);
  return source::relevant_part(candidate.source, kernels);
}

}  // namespace

ShownCode::ShownCode(const Candidate& candidate) : part_(part_of(candidate)) {}

std::string ShownCode::whole(const std::string& answer) const {
  if (triton::has_header(answer)) return answer;
  return source::put_back(part_, answer).value_or(answer);
}

}  // namespace regraph::llm
