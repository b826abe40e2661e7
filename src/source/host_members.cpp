#include "source/host_members.h"

#include "source/host_code.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
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

bool is_of_the_host(std::string_view text, const std::vector<Token>& tokens,
                    const TopLevelDeclaration& member) {
  for (std::size_t token = member.first + 2; token < member.last; ++token) {
    if (tokens[token].in(text) == "thread_local" || tokens[token].in(text) == "FILE") return true;
    if (tokens[token - 1].in(text) != "::" || tokens[token - 2].in(text) != "std") continue;
    if (std::ranges::find(kHostTypes, tokens[token].in(text)) != kHostTypes.end()) return true;
  }
  return false;
}

bool mentions_any(std::string_view text, const std::vector<Token>& tokens,
                  const TopLevelDeclaration& member, const std::set<std::string_view>& names) {
  for (std::size_t token = member.first; token < member.last; ++token) {
    if (tokens[token].kind == TokenKind::identifier && names.contains(tokens[token].in(text)))
      return true;
  }
  return false;
}

bool is_class(const TopLevelDeclaration& declaration) {
  return declaration.kind == DeclarationKind::type ||
         declaration.kind == DeclarationKind::alias;  // typedef struct
}

// Which of the members are for the host.
std::vector<bool> are_host(std::string_view text, const std::vector<Token>& tokens,
                           const TopLevelDeclaration& type,
                           const std::vector<TopLevelDeclaration>& members,
                           const std::set<std::string_view>& left_out) {
  std::vector<bool> host(members.size());
  const auto may_be_host = [&](const TopLevelDeclaration& member) {
    return (member.kind == DeclarationKind::function && !member.is_device) ||
           member.kind == DeclarationKind::variable;
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TopLevelDeclaration& member = members[i];
    const bool marked = member.kind == DeclarationKind::function && member.is_host;
    // A macro may lead elsewhere in code of the device, where constexpr functions are called, too.
    const bool needs_host = !member.is_constexpr && mentions_any(text, tokens, member, left_out);
    host[i] = may_be_host(member) && (marked || is_of_the_host(text, tokens, member) || needs_host);
  }
  // What needs these is the host's, too.
  for (bool grows = true; grows;) {
    std::set<std::string_view> names;
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
      if (host[i] || !may_be_host(members[i]) || !mentions_any(text, tokens, members[i], names))
        continue;
      host[i] = grows = true;
    }
  }
  return host;
}

// Macros that name one of the classes and a member that is taken out of it.
std::set<std::string_view> macros_of(
    std::string_view text, const std::vector<Token>& tokens,
    const std::map<std::string_view, std::set<std::string_view>>& taken_out) {
  std::set<std::string_view> macros;
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::directive || directive_name(token.in(text)) != "define") continue;
    const std::string_view rest = token.in(text).substr(token.in(text).find("define") + 6);
    const std::vector<Token> words = tokenize(rest);
    const auto names = [&](const std::set<std::string_view>& wanted) {
      return std::ranges::any_of(words,
                                 [&](const Token& one) { return wanted.contains(one.in(rest)); });
    };
    for (const auto& [name, members] : taken_out) {
      if (names({name}) && names(members)) macros.insert(words.front().in(rest));
    }
  }
  return macros;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> host_members(
    std::string_view text, const std::vector<Token>& tokens, const TopLevelDeclaration& type,
    const std::set<std::string_view>& left_out) {
  const std::vector<TopLevelDeclaration> members = split_members(text, tokens, type);
  const std::vector<bool> host = are_host(text, tokens, type, members, left_out);
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

std::set<std::string_view> names_left_out(std::string_view text, const std::vector<Token>& tokens,
                                          const std::vector<TopLevelDeclaration>& declarations,
                                          const std::vector<bool>& keep) {
  std::set<std::string_view> names;
  std::set<std::string_view> declared;
  std::map<std::string_view, std::set<std::string_view>> taken_out;
  std::deque<std::vector<TopLevelDeclaration>> classes;  // which the names are those of
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    const TopLevelDeclaration& one = declarations[i];
    const bool is_host_function = one.kind == DeclarationKind::function && !one.is_device;
    if (!keep[i] && is_host_function) names.insert(one.names.begin(), one.names.end());
    if (!keep[i] || one.kind == DeclarationKind::directive) continue;
    declared.insert(one.names.begin(), one.names.end());
    if (!is_class(one) || one.names.empty()) continue;
    const auto& members = classes.emplace_back(split_members(text, tokens, one));
    const std::vector<bool> host = are_host(text, tokens, one, members, {});
    for (std::size_t at = 0; at < members.size(); ++at) {
      auto& into = host[at] ? taken_out[one.names.front()] : declared;
      into.insert(members[at].names.begin(), members[at].names.end());
    }
  }
  names.merge(macros_of(text, tokens, taken_out));
  for (const std::string_view name : declared)
    names.erase(name);
  return with_macros_of(text, tokens, std::move(names));
}

}  // namespace regraph::source
