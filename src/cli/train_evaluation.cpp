// `regraph-train eval`: what learning brings on families that were not learned from.
#include "base/files.h"
#include "cli/train_commands.h"
#include "cli/train_work.h"
#include "learn/graph_training.h"
#include "learn/learning_report.h"
#include "learn/sibling_groups.h"
#include "policy/policy_file.h"
#include "regraph/regraph_yaml.h"
#include "session/load_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace regraph::cli {

namespace {

// What a prior is made of. Searches are called "SEARCHER-PRIOR".
struct PriorKind {
  const char* name;
  const char* graph;  // empty: the fold's own
  bool policy;
  bool learn;
};
constexpr PriorKind kPriorKinds[] = {
    {"flat", learn::kFlatGraph, false, false},
    {"published", kPublishedGraph, false, false},
    {"published+run", kPublishedGraph, false, true},
    {"graph", "", false, false},
    {"graph+run", "", false, true},
    {"policy", "", true, false},
    {"policy+run", "", true, true},
};
constexpr int kShownAt[] = {5, 10, 20, 25, 60};
constexpr double kLeastSpeedup = 1.2;

// Families that are tested, and what was learned without them.
struct Fold {
  std::vector<learn::CorpusKernel> tested;
  std::filesystem::path graph;
  std::filesystem::path policy;
};

struct Rankings {
  // Of edges at the original by their own gain, and of all states by what is reached below.
  std::vector<std::pair<std::string, learn::RankingScore>> scores;

  void add(const std::string& name, const learn::RankingScore& score) {
    auto known =
        std::ranges::find(scores, name, &std::pair<std::string, learn::RankingScore>::first);
    if (known == scores.end()) {
      scores.emplace_back(name, score);
      return;
    }
    // Families are in one fold each, so means are put together by their numbers.
    learn::RankingScore& sum = known->second;
    const double before = sum.families;
    const double total = before + score.families;
    if (total == 0.0) return;
    sum.top_one = (sum.top_one * before + score.top_one * score.families) / total;
    sum.top_three = (sum.top_three * before + score.top_three * score.families) / total;
    sum.mean_rank = (sum.mean_rank * before + score.mean_rank * score.families) / total;
    sum.groups += score.groups;
    sum.families += score.families;
  }
};

void rank_fold(const Program& program, const TrainOptions& options, const Fold& fold,
               const StepGraph& published, const StepGraph& graph, const policy::PolicyModel& model,
               Rankings& rankings) {
  const auto digests = kept_digests(program, options, fold.tested, first_labels());
  const auto reader = policy::PolicyReader::make(model);
  if (!reader) return;
  const struct {
    const char* name;
    const StepGraph& graph;
    const policy::PolicyReader* policy;
  } kinds[] = {
      {"published", published, nullptr}, {"graph", graph, nullptr}, {"policy", graph, &*reader}};
  for (const auto& kind : kinds) {
    const auto groups = learn::sibling_groups(digests, reader->layout(), kind.graph);
    std::vector<learn::SiblingGroup> originals;
    std::ranges::copy_if(groups, std::back_inserter(originals), &learn::SiblingGroup::at_original);
    rankings.add(
        fmt::format("gain at the original, {}", kind.name),
        learn::rank_siblings(originals, reader->layout(), kind.policy, learn::RankedBy::log_gain));
    rankings.add(
        fmt::format("best below, all states, {}", kind.name),
        learn::rank_siblings(groups, reader->layout(), kind.policy, learn::RankedBy::best_below));
  }
}

Result<Fold> make_fold(const Program& program, const TrainOptions& options,
                       const TrainSources& sources, const StepGraph& published,
                       const std::vector<std::string>& families, std::size_t number,
                       Rankings& rankings) {
  Fold fold;
  std::vector<learn::CorpusKernel> others;
  for (const learn::CorpusKernel& kernel : sources.kernels) {
    const bool tested = std::ranges::find(families, kernel.family) != families.end();
    // Variants are to learn from: what they are worth is told by kernels that people wrote.
    if (tested && kernel.derived) continue;
    (tested ? fold.tested : others).push_back(kernel);
  }
  const auto folder = std::filesystem::absolute(options.work) / fmt::format("fold-{}", number);
  fold.graph = folder / "graph.yaml";
  fold.policy = folder / "fold.regraph-policy";
  const auto digests = kept_digests(program, options, others, first_labels());
  learn::ObservationTable table;
  for (const learn::RunDigest& digest : digests)
    table.add(digest);
  const StepGraph graph = learn::train_graph(published, table);
  if (Status written = write_file(fold.graph, regraph_text(graph)); !written)
    return written.error();
  const auto model = policy_from(digests, graph, options);
  if (!model) return model.error();
  if (Status written = policy::save_policy(*model, fold.policy); !written) return written.error();
  rank_fold(program, options, fold, published, graph, *model, rankings);
  if (!options.quiet) program.say(fmt::format("fold {}: {} kernels", number, fold.tested.size()));
  return fold;
}

std::vector<learn::StudySearch> searches_of(const TrainOptions& options, const Fold& fold) {
  std::vector<learn::StudySearch> searches;
  for (const std::string& searcher : options.searchers) {
    for (const PriorKind& prior : kPriorKinds) {
      if (std::ranges::find(options.priors, prior.name) == options.priors.end()) continue;
      learn::StudySearch search;
      search.label = searcher + "-" + prior.name;
      search.searcher = searcher;
      search.graph = prior.graph[0] == '\0' ? fold.graph.string() : prior.graph;
      search.policy = prior.policy ? fold.policy.string() : "";
      search.learn = prior.learn;
      search.evaluations = options.evaluations;
      search.seed = options.seed;
      searches.push_back(std::move(search));
    }
  }
  return searches;
}

std::vector<double> mean_shares(const std::vector<learn::RunDigest>& digests,
                                const std::string& label, const std::map<std::string, double>& best,
                                int budget) {
  std::vector<int> every;
  for (int evaluations = 1; evaluations <= budget; ++evaluations)
    every.push_back(evaluations);
  const auto curves = learn::curves_of(digests, label, best, every, budget, kLeastSpeedup);
  std::vector<double> shares(every.size(), 0.0);
  for (const auto& [family, values] : curves.share) {
    for (std::size_t at = 0; at < shares.size(); ++at)
      shares[at] += values[at] / static_cast<double>(curves.share.size());
  }
  return shares;
}

// The pairs of ways that the table compares, where both were run.
std::vector<std::pair<std::string, std::string>> comparisons_of(const TrainOptions& options) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& searcher : options.searchers) {
    const std::string dash = searcher + "-";
    pairs.emplace_back(dash + "published+run", dash + "published");
    pairs.emplace_back(dash + "graph", dash + "published");
    pairs.emplace_back(dash + "graph+run", dash + "graph");
    pairs.emplace_back(dash + "policy", dash + "graph");
    pairs.emplace_back(dash + "policy", dash + "published");
    pairs.emplace_back(dash + "policy+run", dash + "policy");
  }
  pairs.emplace_back("mcgs-policy", "greedy-policy");
  pairs.emplace_back("mcgs-policy", "greedy-published");
  return pairs;
}

Status write_report(const TrainOptions& options, const learn::LearningReport& report) {
  if (options.output.empty()) return {};
  const std::filesystem::path folder(options.output);
  const std::pair<const char*, std::string> files[] = {{"learning.txt", report_text(report)},
                                                       {"learning.json", report_json(report)},
                                                       {"learning.svg", report_picture(report)}};
  for (const auto& [name, text] : files) {
    if (Status written = write_file(folder / name, text); !written) return written;
  }
  return {};
}

}  // namespace

int evaluate_learning(const Program& program, const TrainOptions& options) {
  const auto sources = find_sources(options);
  if (!sources) return program.fail(session_error(sources.error()));
  const auto published = load_graph(kPublishedGraph, program.installation());
  if (!published) return program.fail(session_error(published.error()));
  static_cast<void>(search_kernels(program, options, sources->kernels, first_searches(options)));
  if (program.interrupted().requested()) return kInterrupted;

  learn::LearningReport report;
  Rankings rankings;
  std::vector<learn::CorpusKernel> tested;
  std::vector<learn::StudyRequest> studies;
  const auto folds = sources->corpus.folds(options.folds);
  std::size_t number = 0;
  for (const std::vector<std::string>& families : folds) {
    const auto fold =
        make_fold(program, options, *sources, *published, families, number++, rankings);
    if (!fold) return program.fail(session_error(fold.error()));
    const auto searches = searches_of(options, *fold);
    for (const learn::CorpusKernel& kernel : fold->tested) {
      studies.push_back(study_of(options, kernel, searches, true));
      tested.push_back(kernel);
    }
    report.labels.clear();
    for (const learn::StudySearch& search : searches)
      report.labels.push_back(search.label);
  }
  static_cast<void>(run_all(program, options, studies));
  if (program.interrupted().requested()) return kInterrupted;

  const auto digests = kept_digests(program, options, tested, {});
  const auto best = learn::best_known(digests);
  report.title = fmt::format("Learning on families left out: {} folds, {}, {} evaluations",
                             folds.size(), options.device, options.evaluations);
  report.budget = options.evaluations;
  for (const int evaluations : kShownAt) {
    if (evaluations <= options.evaluations) report.at.push_back(evaluations);
  }
  for (const std::string& label : report.labels) {
    report.curves[label] =
        learn::curves_of(digests, label, best, report.at, options.evaluations, kLeastSpeedup);
    report.mean_shares[label] = mean_shares(digests, label, best, options.evaluations);
  }
  report.comparisons = comparisons_of(options);
  report.rankings = std::move(rankings.scores);
  if (Status written = write_report(options, report); !written)
    return program.fail(session_error(written.error()));
  return program.print(report_text(report), 0);
}

}  // namespace regraph::cli
