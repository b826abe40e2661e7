#include "session/size_names.h"

#include "source/lexer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <utility>

namespace regraph {
namespace {

// Letters to insert, remove or replace; upper and lower case are alike.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

std::set<std::string> used_names(const Manifest& manifest, const Problem& problem,
                                 const std::vector<KernelSignature>& kernels) {
  std::set<std::string> names;
  const auto add = [&](const IntegerExpression& expression) {
    for (const std::string& symbol : expression.symbols())
      names.insert(symbol);
  };
  const auto add_text = [&](const std::string& text) {
    for (const source::Token& token : source::tokenize(text)) {
      if (token.kind == source::TokenKind::identifier) names.emplace(token.in(text));
    }
  };
  for (const KernelSignature& kernel : kernels) {
    for (const Parameter& parameter : kernel.parameters) {
      const bool integer =
          !parameter.is_pointer && parameter.record_bytes == 0 && !is_floating(parameter.type);
      if (integer) names.insert(parameter.name);
    }
  }
  for (const Argument& argument : problem.arguments) {
    std::ranges::for_each(argument.shape, add);
    add(argument.overlap_bytes);
  }
  for (const Launch& launch : problem.launch.launches) {
    std::ranges::for_each(launch.grid, add);
    add(launch.dynamic_shared_bytes);
    std::ranges::for_each(launch.arguments, add_text);
  }
  for (const auto& [macro, replacement] : manifest.defines)
    add_text(replacement);
  for (const auto& counter : {problem.flops, problem.bytes}) {
    if (counter) add(*counter);
  }
  for (const char* block : {"bx", "by", "bz"})
    names.erase(block);
  return names;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wrong,
                                       const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> result = names;
  std::ranges::stable_sort(result, {},
                           [&](const std::string& name) { return edit_distance(wrong, name); });
  result.resize(std::min(result.size(), most));
  return result;
}

std::optional<std::string> unused_size(const std::vector<std::string>& given,
                                       const Manifest& manifest, const Problem& problem,
                                       const std::vector<KernelSignature>& kernels) {
  const std::set<std::string> used = used_names(manifest, problem, kernels);
  for (const std::string& name : given) {
    if (used.contains(name)) continue;
    const auto nearest = nearest_names(name, {used.begin(), used.end()});
    return fmt::format("--size {}=...: nothing in '{}' depends on a size '{}'{}", name,
                       problem.signature.name, name,
                       nearest.empty() ? std::string("; it has no sizes")
                                       : fmt::format("; is {} meant?", fmt::join(nearest, " or ")));
  }
  return std::nullopt;
}

}  // namespace regraph
