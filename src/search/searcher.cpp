#include "search/searcher.h"

#include "search/graph_searcher.h"

namespace regraph {

Result<std::unique_ptr<Searcher>> make_searcher(std::string_view name,
                                                const SelectionConfig& config, std::uint64_t seed) {
  std::unique_ptr<EdgePolicy> policy;
  if (name == "mcgs") {
    policy = make_puct_policy(config);
  } else if (name == "greedy") {
    policy = make_greedy_policy();
  } else if (name == "beam") {
    policy = make_beam_policy(config.beam_width);
  } else if (name == "random") {
    policy = make_random_policy(config.random_restart, seed);
  } else if (name == "regrapht") {
    policy = make_regrapht_policy(config.regrapht, seed);
  } else {
    return fail(ErrorCode::invalid_argument, "unknown searcher '" + std::string(name) +
                                                 "' (known: mcgs, greedy, beam, random, regrapht)");
  }
  return std::unique_ptr<Searcher>(std::make_unique<GraphSearcher>(config, std::move(policy)));
}

}  // namespace regraph
