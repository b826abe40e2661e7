#include "eval/compile/same_code.h"

namespace regraph {

std::string code_only(std::string_view ptx) {
  std::string result;
  std::size_t line_of_assertion = std::string::npos;  // where in the result it is passed
  std::size_t begin = 0;
  while (begin < ptx.size()) {
    const std::size_t end = std::min(ptx.find('\n', begin), ptx.size());
    std::string_view line = ptx.substr(begin, end - begin);
    begin = end + 1;
    line = line.substr(0, line.find("//"));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    line.remove_prefix(first);
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (line.starts_with(".section")) break;  // debug data follows the code
    if (line.starts_with(".loc") || line.starts_with(".file")) continue;
    // Labels made for line tables are not code either.
    if (line.starts_with("$L__tmp") || line.starts_with("$L__func")) continue;
    if (line.starts_with("st.param.b32") && line.find("param2+0]") != std::string_view::npos)
      line_of_assertion = result.size();
    // Which line an assertion stands in is no code.
    const bool calls = line.starts_with("__assertfail") || line.find("call") == 0;
    if (calls && line.find("__assertfail") != std::string_view::npos &&
        line_of_assertion != std::string::npos) {
      result.erase(line_of_assertion, result.find('\n', line_of_assertion) + 1 - line_of_assertion);
      line_of_assertion = std::string::npos;
    }
    result.append(line);
    result.push_back('\n');
  }
  return result;
}

bool same_code(std::string_view a, std::string_view b) {
  return code_only(a) == code_only(b);
}

}  // namespace regraph
