#include "search/searcher.h"

#include "search/graph_searcher.h"

#include <algorithm>

namespace regraph {

namespace {

using Policy = std::unique_ptr<EdgePolicy>;

// A new method is a file with its EdgePolicy and a row here: options, messages and the list in
// docs/search.md are made from these rows or checked against them.
constexpr SearchMethod kMethods[] = {
    {"mcgs", "Monte Carlo graph search: PUCT over the state graph with shared values",
     [](const SelectionConfig& config, std::uint64_t) -> Policy {
       return make_puct_policy(config);
     }},
    {"greedy", "best-first: the likeliest untried step of the best state",
     [](const SelectionConfig&, std::uint64_t) -> Policy { return make_greedy_policy(); }},
    {"beam", "level by level, the best states of each",
     [](const SelectionConfig& config, std::uint64_t) -> Policy {
       return make_beam_policy(config.beam_width);
     }},
    {"random", "random walks",
     [](const SelectionConfig& config, std::uint64_t seed) -> Policy {
       return make_random_policy(config.random_restart, seed);
     },
     true, false},
    {"regrapht", "the rule published for ReGraphT: statistics of steps instead of states",
     [](const SelectionConfig& config, std::uint64_t seed) -> Policy {
       return make_regrapht_policy(config.regrapht, seed);
     },
     true},
};

}  // namespace

std::span<const SearchMethod> search_methods() {
  return kMethods;
}

std::string search_method_names() {
  std::string names;
  for (const SearchMethod& method : kMethods)
    names += (names.empty() ? "" : ", ") + std::string(method.name);
  return names;
}

Result<std::unique_ptr<Searcher>> make_searcher(std::string_view name,
                                                const SelectionConfig& config, std::uint64_t seed) {
  const auto* method = std::ranges::find(kMethods, name, &SearchMethod::name);
  if (method == std::end(kMethods)) {
    return fail(ErrorCode::invalid_argument, "unknown searcher '" + std::string(name) +
                                                 "' (known: " + search_method_names() + ")");
  }
  return std::unique_ptr<Searcher>(
      std::make_unique<GraphSearcher>(config, method->make_policy(config, seed)));
}

}  // namespace regraph
