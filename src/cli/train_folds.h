// Families left out in turn: what was learned without them, and the searches that use it.
#pragma once

#include "cli/train_options.h"
#include "cli/train_work.h"
#include "learn/kernel_study.h"
#include "learn/sibling_ranking.h"
#include "regraph/step_graph.h"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regraph::cli {

// What a prior is made of. Searches are called "SEARCHER-PRIOR".
struct PriorKind {
  const char* name;
  const char* graph;   // empty: the fold's own
  const char* policy;  // of the fold, by name; empty: none
  bool learn;          // inside the run
};
inline constexpr const char* kGraphPolicy = "policy";                // corrects the fold's graph
inline constexpr const char* kGradientPolicy = "gradient";           // the same, and stage 2
inline constexpr const char* kPublishedPolicy = "published+policy";  // corrects published priors

// All that --prior can name.
[[nodiscard]] std::vector<std::string> prior_names();

// Families that are tested, and what was learned without them.
struct Fold {
  std::vector<learn::CorpusKernel> tested;
  std::filesystem::path graph;
  // By name; none where nothing was to be learned.
  std::map<std::string, std::filesystem::path> policies;
  std::vector<std::pair<std::string, learn::RankingScore>> rankings;
};

// Learns for each of `folds` from searches of the other families (--label, or the first ones);
// `together`: families that no training may part. Several at once. Errors: as policy_from and
// write_file.
[[nodiscard]] Result<std::vector<Fold>> make_folds(
    const Program& program, const TrainOptions& options, const TrainSources& sources,
    const StepGraph& published, const std::vector<std::vector<std::string>>& folds,
    const learn::NameGroups& together);

// The searches that options ask for, of a fold's kernels. A method that pays no heed to priors
// searches once, as "SEARCHER". Searches with a second seed and so on are called
// "SEARCHER-PRIOR@2".
[[nodiscard]] std::vector<learn::StudySearch> searches_of(const TrainOptions& options,
                                                          const Fold& fold);
// Without "@2": what searches that differ in their seed have in common.
[[nodiscard]] std::string told_label(const std::string& search_label);

}  // namespace regraph::cli
