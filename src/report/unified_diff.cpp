#include "report/unified_diff.h"

// dtl uses std::string and friends without including them all.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include <dtl/dtl.hpp>

namespace regraph {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
  if (before == after) return "";
  std::vector<std::string> old_lines = lines_of(before);
  std::vector<std::string> new_lines = lines_of(after);
  dtl::Diff<std::string> diff(old_lines, new_lines);
  diff.onHuge();
  diff.compose();
  diff.composeUnifiedHunks();
  std::ostringstream text;
  text << "--- " << before_name << "\n+++ " << after_name << "\n";
  diff.printUnifiedFormat(text);
  return text.str();
}

}  // namespace regraph
