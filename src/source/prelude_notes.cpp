#include "source/prelude_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace regraph::source {
namespace {

constexpr std::array<std::string_view, 4> kIntegerAliases = {"uint", "ushort", "uchar", "ulong"};
constexpr std::array<std::string_view, 7> kRemovedFunctions = {
    "__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__any", "__all", "__ballot"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> prelude_notes(std::string_view text, const std::vector<Token>& tokens,
                                       const std::vector<TopLevelDeclaration>& declarations,
                                       const std::vector<bool>& kept,
                                       const std::string& file_name) {
  std::set<std::string_view> declared;
  for (const TopLevelDeclaration& declaration : declarations)
    declared.insert(declaration.names.begin(), declaration.names.end());
  std::set<std::string_view> used;
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    if (!kept[i]) continue;
    for (std::size_t token = declarations[i].first; token < declarations[i].last; ++token) {
      if (tokens[token].kind == TokenKind::identifier) used.insert(tokens[token].in(text));
    }
  }
  std::vector<std::string> notes;
  for (const std::string_view name : used) {
    if (declared.contains(name)) continue;
    if (contains(kIntegerAliases, name)) {
      notes.push_back(
          fmt::format("{}: '{}' is taken as unsigned {}", file_name, name, name.substr(1)));
    } else if (contains(kRemovedFunctions, name)) {
      notes.push_back(
          fmt::format("{}: '{}', which CUDA 13 no longer has, is taken as {}_sync with "
                      "the whole warp",
                      file_name, name, name));
    }
  }
  return notes;
}

}  // namespace regraph::source
