#include "llm/expand/shown_code.h"

#include <vector>

namespace regraph::llm {

namespace {

source::RelevantPart part_of(const Candidate& candidate) {
  std::vector<std::string> kernels;
  for (const Launch& launch : candidate.plan.launches)
    kernels.push_back(launch.kernel);
  return source::relevant_part(candidate.source, kernels);
}

}  // namespace

ShownCode::ShownCode(const Candidate& candidate) : part_(part_of(candidate)) {}

std::string ShownCode::whole(const std::string& answer) const {
  return source::put_back(part_, answer).value_or(answer);
}

}  // namespace regraph::llm
