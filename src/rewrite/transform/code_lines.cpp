#include "rewrite/transform/code_lines.h"

#include "source/printer.h"

#include <memory>

namespace regraph::rewrite {

void CodeLines::close(const char* end) {
  --depth_;
  add(end);
}

void CodeLines::reopen(const char* between) {
  close(between);
  ++depth_;
}

void CodeLines::add(const std::string& text) {
  lines_.push_back(std::string(2 * depth_, ' ') + text);
}

void CodeLines::add(const Block& block) {
  std::string text = print(block, static_cast<int>(2 * depth_));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  lines_.push_back(std::move(text));
}

Block CodeLines::block() const {
  std::string text;
  for (const std::string& line : lines_)
    text += (text.empty() ? "" : "\n") + line;
  const std::size_t first = text.find_first_not_of(' ');
  return {std::make_shared<OpaqueStatement>(text.substr(first))};
}

}  // namespace regraph::rewrite
