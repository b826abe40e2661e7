#include "handback/buffer_arguments.h"

#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace regraph::handback {
namespace {

// What an argument that is a pointer begins with, and whether it points past that: "d_in" of
// "d_in + n" and of "&d_in[n]". An element is a pointer of its own.
struct PointedTo {
  std::string base;
  bool is_offset = false;
};

PointedTo pointed_to(const std::string& argument) {
  const std::vector<source::Token> tokens = source::tokenize(argument);
  const auto word = [&](std::size_t at) {
    return at < tokens.size() ? tokens[at].in(argument) : std::string_view();
  };
  PointedTo found;
  std::size_t at = 0;
  while (word(at) == "(") {  // casts, and parentheses around all of it
    const std::size_t after = source::after_bracket(argument, tokens, at);
    if (after >= tokens.size()) break;
    at = after;
  }
  const bool address = word(at) == "&";
  for (at += address ? 1 : 0; at < tokens.size(); ++at) {
    found.is_offset = word(at) == "+" || word(at) == "-" || (address && word(at) == "[");
    if (found.is_offset) break;
    const bool opens = word(at) == "(" || word(at) == "[";
    const std::size_t last = opens ? source::after_bracket(argument, tokens, at) : at + 1;
    for (; at < last; ++at)
      found.base += word(at);
    --at;
  }
  return found;
}

bool mentions(const std::vector<std::string>& assumptions, std::string_view word) {
  return std::ranges::any_of(assumptions, [&](const std::string& assumption) {
    return assumption.find(word) != std::string::npos;
  });
}

}  // namespace

Status check_buffers(const LaunchSite& site, const KernelSignature& kernel,
                     const BufferReliance& reliance) {
  const bool distinct = mentions(reliance.assumptions, "overlap") && !reliance.overlap_is_known;
  const bool aligned = mentions(reliance.assumptions, "aligned");
  std::set<std::string> bases;
  std::size_t place = 0;
  for (const Parameter& parameter : kernel.parameters) {
    if (!parameter.is_passed() || place == site.arguments.size()) break;
    const std::string& argument = site.arguments[place++];
    if (!parameter.is_pointer) continue;
    const PointedTo pointed = pointed_to(argument);
    const std::string& base = pointed.base;
    const bool null = base == "nullptr" || base == "NULL" || base == "0";
    if (distinct && !null && !bases.insert(base).second) {
      return fail(ErrorCode::unsupported,
                  fmt::format("line {}: two arguments point into '{}', and the winner relies on "
                              "buffers that do not overlap",
                              site.line, base));
    }
    if (aligned && pointed.is_offset) {
      return fail(ErrorCode::unsupported,
                  fmt::format("line {}: '{}' need not be aligned, and the winner relies on aligned "
                              "buffers",
                              site.line, argument));
    }
  }
  return {};
}

}  // namespace regraph::handback
