#include "source/host_members.h"

#include <algorithm>
#include <array>

namespace regraph::source {
namespace {

constexpr auto kHostTypes = std::to_array<std::string_view>(
    {"cerr",     "cout",       "endl",          "fstream",       "ifstream",
     "iostream", "istream",    "list",          "map",           "mutex",
     "ofstream", "ostream",    "ostringstream", "queue",         "runtime_error",
     "set",      "shared_ptr", "stack",         "string",        "stringstream",
     "thread",   "to_string",  "unique_ptr",    "unordered_map", "vector"});

bool names_host_type(std::string_view text, const std::vector<Token>& tokens,
                     const TopLevelDeclaration& member) {
  for (std::size_t token = member.first + 2; token < member.last; ++token) {
    if (tokens[token - 1].in(text) != "::" || tokens[token - 2].in(text) != "std") continue;
    if (std::ranges::find(kHostTypes, tokens[token].in(text)) != kHostTypes.end()) return true;
  }
  return false;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> host_members(std::string_view text,
                                                              const std::vector<Token>& tokens,
                                                              const TopLevelDeclaration& type) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const TopLevelDeclaration& member : split_members(text, tokens, type)) {
    if (member.kind != DeclarationKind::function || member.is_device) continue;
    if (!member.is_host && !names_host_type(text, tokens, member)) continue;
    std::size_t first = member.first;
    // "public:" stays.
    while (first + 1 < member.last && tokens[first].kind == TokenKind::identifier &&
           tokens[first + 1].in(text) == ":")
      first += 2;
    ranges.emplace_back(first, member.last);
  }
  return ranges;
}

}  // namespace regraph::source
