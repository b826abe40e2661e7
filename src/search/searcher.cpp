#include "search/searcher.h"

#include "search/graph_searcher.h"

namespace regraph {

Result<std::unique_ptr<Searcher>> make_searcher(std::string_view name,
                                                const SelectionConfig& config, std::uint64_t seed) {
  static_cast<void>(seed);
  std::unique_ptr<EdgePolicy> policy;
  if (name == "mcgs") {
    policy = make_puct_policy(config);
  } else if (name == "greedy") {
    policy = make_greedy_policy();
  } else {
    return fail(ErrorCode::invalid_argument,
                "unknown searcher '" + std::string(name) + "' (known: mcgs, greedy)");
  }
  return std::unique_ptr<Searcher>(std::make_unique<GraphSearcher>(config, std::move(policy)));
}

}  // namespace regraph
