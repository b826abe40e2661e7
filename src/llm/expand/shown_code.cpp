#include "llm/expand/shown_code.h"

#include "source/extract.h"

namespace regraph::llm {

ShownCode::ShownCode(const Candidate& candidate)
    : text_(source::without_line_directives(candidate.source)) {}

std::string ShownCode::whole(const std::string& answer) const {
  return answer;
}

}  // namespace regraph::llm
