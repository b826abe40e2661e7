#include "llm/prompt/kernel_head.h"

#include "llm/prompt/code_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace regraph::llm {

namespace {

using Tokens = std::vector<std::string_view>;

bool is_attribute(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"__launch_bounds__", "__attribute__", "__align__", "alignas", "__cluster_dims__",
       "__maxnreg__", "__block_size__", "__declspec"});
  return std::ranges::find(kNames, name) != kNames.end();
}

bool is_type_word(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"void", "bool", "char", "short", "int", "long", "float",
                                       "double", "signed", "unsigned", "auto", "wchar_t"});
  return std::ranges::find(kNames, name) != kNames.end();
}

bool is_left_out(std::string_view token) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"const", "__restrict__", "__restrict", "restrict"});
  return std::ranges::find(kNames, token) != kNames.end();
}

// The token after the bracket that closes the one at `open`.
std::size_t after_parenthesis(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    if (tokens[at] == "(") ++depth;
    if (tokens[at] == ")" && --depth == 0) return at + 1;
  }
  return tokens.size();
}

// A parameter without what may change. Its name is the last name outside of array extents, unless
// that is all the type there is.
Tokens plain_parameter(const Tokens& tokens) {
  Tokens kept;
  for (const std::string_view token : tokens) {
    if (token == "=") break;
    if (!is_left_out(token)) kept.push_back(token);
  }
  std::size_t last = kept.size();
  std::size_t type_names = 0;
  int extents = 0;
  for (std::size_t at = 0; at < kept.size(); ++at) {
    if (kept[at] == "[") ++extents;
    if (kept[at] == "]") --extents;
    if (extents > 0 || !is_name(kept[at])) continue;
    const bool qualified = at > 0 && kept[at - 1] == "::";
    if (!qualified) ++type_names;
    last = is_type_word(kept[at]) || qualified ? kept.size() : at;
  }
  if (last < kept.size() && type_names > 1) {
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return kept;
}

std::vector<Tokens> plain_parameters(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::vector<Tokens> parameters;
  Tokens current;
  int depth = 0;
  for (std::size_t at = begin; at < end; ++at) {
    const std::string_view token = tokens[at];
    if (token == "(" || token == "[" || token == "{" || token == "<") ++depth;
    if (token == ")" || token == "]" || token == "}" || token == ">") --depth;
    if (token == "," && depth == 0) {
      parameters.push_back(plain_parameter(current));
      current.clear();
    } else {
      current.push_back(token);
    }
  }
  if (!current.empty()) parameters.push_back(plain_parameter(current));
  if (parameters.size() == 1 && parameters[0] == Tokens{"void"}) parameters.clear();
  return parameters;
}

}  // namespace

std::vector<KernelHead> kernel_heads(const Tokens& tokens) {
  std::vector<KernelHead> heads;
  bool in_head = false;  // __global__ was seen and its parameters were not
  for (std::size_t at = 0; at < tokens.size();) {
    if (tokens[at] == "__global__") in_head = true;
    if (tokens[at] == ";" || tokens[at] == "{" || tokens[at] == "}") in_head = false;
    if (!in_head || tokens[at] != "(" || at == 0) {
      ++at;
      continue;
    }
    const std::size_t after = after_parenthesis(tokens, at);
    if (!is_attribute(tokens[at - 1])) {
      KernelHead head;
      head.name = tokens[at - 1];
      head.parameters = plain_parameters(tokens, at + 1, after == 0 ? 0 : after - 1);
      head.has_body = after < tokens.size() && tokens[after] == "{";
      heads.push_back(std::move(head));
      in_head = false;
    }
    at = after;
  }
  return heads;
}

std::string parameters_text(const KernelHead& head) {
  std::vector<std::string> parameters;
  for (const Tokens& parameter : head.parameters)
    parameters.push_back(fmt::format("{}", fmt::join(parameter, " ")));
  return fmt::format("{}", fmt::join(parameters, ", "));
}

}  // namespace regraph::llm
