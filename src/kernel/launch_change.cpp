#include "kernel/launch_change.h"

#include "kernel/manifest.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace regraph {

namespace {

constexpr std::string_view kForm =
    R"x({"block": [32, 8, 1], "grid": ["cdiv(N, bx)", "1", "1"], "smem": "0"})x";
constexpr std::size_t kLargestText = 4096;
constexpr std::size_t kMostBrackets = 16;  // open at a time, those of expressions included

// The parsers of YAML and of expressions recurse on nesting; so deep is no launch.
bool is_shallow(std::string_view text) {
  std::size_t depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (depth > kMostBrackets) return false;
  }
  return true;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Whether the text is a map under `launch` already.
bool names_launch(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n{\"'");
  if (first == std::string_view::npos || text.substr(first, 6) != "launch") return false;
  const std::size_t colon = text.find_first_not_of(" \t\"'", first + 6);
  return colon != std::string_view::npos && text[colon] == ':';
}

// Puts the text under the key, a level deeper.
std::string under_launch(std::string_view text) {
  std::string out = "launch:\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out += "  ";
    out += text.substr(0, end);
    text.remove_prefix(end);
  }
  return out;
}

// The reader's message without the place: the text is the answer's, its lines are not.
std::string reason_of(const Error& error) {
  const std::string_view message = error.message;
  const std::size_t blank = message.find(": ");
  return std::string(blank == std::string_view::npos ? message : message.substr(blank + 2));
}

bool holds_only_a_launch(const Manifest& manifest) {
  return !manifest.kernel && manifest.defines.empty() && manifest.sizes.empty() &&
         manifest.arguments.empty() && manifest.launches.empty() && manifest.scratch.empty() &&
         manifest.tests.empty() && manifest.bench.empty() && !manifest.flops && !manifest.bytes;
}

}  // namespace

Result<LaunchChange> read_launch_change(std::string_view text) {
  const auto error = [](const std::string& what) {
    return fail(
        ErrorCode::parse,
        fmt::format("the launch plan cannot be read: {}; it must look like {}", what, kForm));
  };
  if (text.size() > kLargestText) {
    return error(fmt::format("{} bytes, at most {} are read", text.size(), kLargestText));
  }
  if (is_blank(text)) return error("it is empty");
  if (!is_shallow(text)) return error(fmt::format("more than {} brackets are open", kMostBrackets));
  const Result<Manifest> manifest =
      parse_manifest(names_launch(text) ? std::string(text) : under_launch(text), "answer");
  if (!manifest) return error(reason_of(manifest.error()));
  if (!manifest->launch || !holds_only_a_launch(*manifest)) {
    return error("it may hold block, grid and smem only");
  }
  const Launch& launch = *manifest->launch;
  return LaunchChange{launch.block, launch.grid, launch.dynamic_shared_bytes};
}

Status check_launch_change(const LaunchChange& change, const Problem& problem) {
  std::set<std::string> known = {"bx", "by", "bz"};
  for (const auto& [name, value] : problem.sizes)
    known.insert(name);
  std::vector<IntegerExpression> expressions(change.grid.begin(), change.grid.end());
  expressions.push_back(change.dynamic_shared_bytes);
  for (const IntegerExpression& expression : expressions) {
    for (const std::string& symbol : expression.symbols()) {
      if (known.contains(symbol)) continue;
      return fail(ErrorCode::parse,
                  fmt::format("the launch plan's '{}' has the unknown symbol '{}' (known: {})",
                              expression.text(), symbol, fmt::join(known, ", ")));
    }
  }
  const Launch launch{.kernel = problem.signature.name,
                      .block = change.block,
                      .grid = change.grid,
                      .dynamic_shared_bytes = change.dynamic_shared_bytes};
  for (const std::vector<Symbols>* list : {&problem.tests, &problem.bench}) {
    for (const Symbols& sizes : *list) {
      if (const auto concrete = concretise(launch, sizes); !concrete.ok()) {
        return fail(ErrorCode::parse,
                    "the launch plan is not possible at a size that is tested "
                    "or timed: " +
                        concrete.error().message);
      }
    }
  }
  return {};
}

LaunchPlan changed_plan(LaunchPlan plan, std::string_view kernel, const LaunchChange& change) {
  for (Launch& launch : plan.launches) {
    if (launch.kernel != kernel) continue;
    launch.block = change.block;
    launch.grid = change.grid;
    launch.dynamic_shared_bytes = change.dynamic_shared_bytes;
  }
  return plan;
}

}  // namespace regraph
