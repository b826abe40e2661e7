#include "source/host_members.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

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

bool mentions(std::string_view text, const std::vector<Token>& tokens,
              const TopLevelDeclaration& member, const std::set<std::string>& names) {
  for (std::size_t token = member.first; token < member.last; ++token) {
    if (tokens[token].kind == TokenKind::identifier &&
        names.contains(std::string(tokens[token].in(text))))
      return true;
  }
  return false;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> host_members(std::string_view text,
                                                              const std::vector<Token>& tokens,
                                                              const TopLevelDeclaration& type) {
  const std::vector<TopLevelDeclaration> members = split_members(text, tokens, type);
  std::vector<bool> host(members.size());
  const auto may_be_host = [&](const TopLevelDeclaration& member) {
    return (member.kind == DeclarationKind::function && !member.is_device) ||
           member.kind == DeclarationKind::variable;
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TopLevelDeclaration& member = members[i];
    const bool marked = member.kind == DeclarationKind::function && member.is_host;
    host[i] = may_be_host(member) && (marked || names_host_type(text, tokens, member));
  }
  // What needs these is the host's, too.
  for (bool grows = true; grows;) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (host[i]) names.insert(members[i].names.begin(), members[i].names.end());
    }
    // What others are called like is told by the compiler; constructors are called like the class.
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (host[i]) continue;
      for (const std::string& name : members[i].names)
        names.erase(name);
    }
    for (const std::string& name : type.names)
      names.erase(name);
    names.erase("operator");
    grows = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (host[i] || !may_be_host(members[i]) || !mentions(text, tokens, members[i], names))
        continue;
      host[i] = grows = true;
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!host[i]) continue;
    std::size_t first = members[i].first;
    // "public:" stays.
    while (first + 1 < members[i].last && tokens[first].kind == TokenKind::identifier &&
           tokens[first + 1].in(text) == ":")
      first += 2;
    ranges.emplace_back(first, members[i].last);
  }
  return ranges;
}

}  // namespace regraph::source
