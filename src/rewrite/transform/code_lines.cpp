#include "rewrite/transform/code_lines.h"

#include "affine/block_geometry.h"
#include "source/build.h"
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

namespace {

Block as_statement(const std::string& text) {
  return {std::make_shared<OpaqueStatement>(text.substr(text.find_first_not_of(' ')))};
}

void replace_all(std::string& text, const std::string& part, const std::string& by) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.replace(at, part.size(), by);
}

}  // namespace

std::string CodeLines::text() const {
  std::string text;
  for (const std::string& line : lines_)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

Block CodeLines::block() const {
  return as_statement(text());
}

Block CodeLines::block(Names& names) const {
  std::string code = text();
  Block result;
  for (const auto& [builtin, stem] :
       {std::pair("blockIdx.", "block_"), std::pair("gridDim.", "grid_")}) {
    for (const char* axis : kAxes) {
      const std::string asked = std::string(builtin) + axis;
      if (code.find(asked) == std::string::npos) continue;
      Variable name =
          local_variable(names.fresh(std::string(stem) + axis), "unsigned int", ScalarType::u32);
      name.is_const = true;
      replace_all(code, asked, name.name);
      result.push_back(declare(std::move(name), source::builtin(asked)));
    }
  }
  append(as_statement(code), result);
  return result;
}

}  // namespace regraph::rewrite
