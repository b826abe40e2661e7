// `regraph-train eval`: what learning brings on families that were not learned from.
#include "base/files.h"
#include "cli/train_commands.h"
#include "cli/train_folds.h"
#include "cli/train_work.h"
#include "learn/learning_report.h"
#include "session/load_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace regraph::cli {

namespace {

constexpr int kShownAt[] = {5, 10, 20, 25, 60};
constexpr double kLeastSpeedup = 1.2;

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

// Families are in one fold each, so scores are put together.
void add_rankings(const Fold& fold, learn::LearningReport& report) {
  for (const auto& ranking : fold.rankings) {
    const auto known = std::ranges::find_if(
        report.rankings, [&](const auto& other) { return other.first == ranking.first; });
    if (known == report.rankings.end()) {
      report.rankings.push_back(ranking);
    } else {
      known->second.add(ranking.second);
    }
  }
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
    pairs.emplace_back(dash + "gradient", dash + "policy");
    pairs.emplace_back(dash + "gradient+run", dash + "gradient");
    pairs.emplace_back(dash + "published+policy", dash + "published");
    pairs.emplace_back(dash + "policy", dash + "published+policy");
  }
  pairs.emplace_back("mcgs-policy", "greedy-policy");
  pairs.emplace_back("mcgs-policy", "greedy-published");
  return pairs;
}

// Families that hold nearly the same kernel, by their sources and first searches; said aloud where
// the corpus does not know of it.
Result<std::vector<std::vector<std::string>>> joined_families(const Program& program,
                                                              const TrainOptions& options,
                                                              const TrainSources& sources) {
  auto kernels = checked_kernels(sources.kernels);
  if (!kernels) return std::move(kernels).error();
  for (learn::CheckedKernel& checked : *kernels)
    add_states(kept_digests(program, options, {checked.kernel}, first_labels()), checked);
  learn::LeakCheck check = learn::check_leaks(sources.corpus, *kernels);
  for (const learn::Leak& leak : check.leaks) {
    program.say(
        fmt::format("warning: {} and {} hold nearly the same kernel{}; regraph-train check "
                    "tells which",
                    leak.one, leak.other, leak.kinship_mends ? " and are kept in one fold" : ""));
  }
  return std::move(check.joined);
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

// The searches that a report is about, by label, and what they are called in it: searches that
// differ in their seed are told as one.
using ToldAs = std::map<std::string, std::string>;

// Kernels that some of the searches were not done of would count on one side only.
void leave_out_incomplete(const ToldAs& searches, std::vector<learn::RunDigest>& digests,
                          learn::LearningReport& report) {
  std::map<std::string, std::set<std::string>> labels;  // by kernel hash
  std::map<std::string, std::string> names;
  auto best = learn::best_known(digests);
  for (const learn::RunDigest& digest : digests) {
    labels[digest.kernel_hash].insert(digest.label);
    names[digest.kernel_hash] = digest.family + "/" + digest.kernel;
  }
  for (const auto& entry : labels) {
    const std::string& kernel = entry.first;
    const auto missing = std::ranges::find_if(
        searches, [&](const auto& search) { return !entry.second.contains(search.first); });
    if (missing == searches.end()) continue;
    if (best[kernel] >= std::log(kLeastSpeedup)) {
      report.notes.push_back(names[kernel] + " is left out: there is no search of it called " +
                             missing->first);
    }
    std::erase_if(digests, [&](const learn::RunDigest& one) { return one.kernel_hash == kernel; });
  }
}

// Fills in what the kept searches of these kernels came to, prints and writes the report.
int tell(const Program& program, const TrainOptions& options,
         const std::vector<learn::CorpusKernel>& kernels, const ToldAs& searches,
         learn::LearningReport& report) {
  auto digests = kept_digests(program, options, kernels, {});
  leave_out_incomplete(searches, digests, report);
  for (learn::RunDigest& digest : digests) {
    const auto told = searches.find(digest.label);
    if (told != searches.end()) digest.label = told->second;
  }
  const auto best = learn::best_known(digests);
  report.budget = options.evaluations;
  for (const int evaluations : kShownAt) {
    if (evaluations <= options.evaluations) report.at.push_back(evaluations);
  }
  for (const std::string& label : report.labels) {
    report.curves[label] =
        learn::curves_of(digests, label, best, report.at, options.evaluations, kLeastSpeedup);
    report.mean_shares[label] = mean_shares(digests, label, best, options.evaluations);
  }
  if (Status written = write_report(options, report); !written)
    return program.fail(session_error(written.error()));
  return program.print(report_text(report), 0);
}

}  // namespace

int report_searches(const Program& program, const TrainOptions& options) {
  const auto sources = find_sources(options);
  if (!sources) return program.fail(session_error(sources.error()));
  std::vector<learn::CorpusKernel> kernels;
  std::ranges::copy_if(sources->kernels, std::back_inserter(kernels),
                       [](const auto& kernel) { return !kernel.control && !kernel.derived; });
  learn::LearningReport report;
  report.title = fmt::format("Searches kept in {}: {}, {} evaluations", options.work,
                             options.device, options.evaluations);
  report.labels = options.labels;
  ToldAs searches;
  for (const std::string& label : options.labels)
    searches[label] = label;
  for (std::size_t at = 1; at < options.labels.size(); ++at)
    report.comparisons.emplace_back(options.labels[at], options.labels[0]);
  return tell(program, options, kernels, searches, report);
}

int evaluate_learning(const Program& program, const TrainOptions& options) {
  const auto sources = find_sources(options);
  if (!sources) return program.fail(session_error(sources.error()));
  const auto published = load_graph(kPublishedGraph, program.installation());
  if (!published) return program.fail(session_error(published.error()));
  static_cast<void>(search_kernels(program, options, sources->kernels, first_searches(options)));
  if (program.interrupted().requested()) return kInterrupted;

  learn::LearningReport report;
  std::vector<learn::CorpusKernel> tested;
  std::vector<learn::StudyRequest> studies;
  ToldAs told_as;
  const auto joined = joined_families(program, options, *sources);
  if (!joined) return program.fail(session_error(joined.error()));
  // Families that are left out altogether must not fill folds.
  learn::Corpus corpus = sources->corpus;
  std::erase_if(corpus.kernels, [&](const learn::CorpusKernel& kernel) {
    return std::ranges::find(options.without, kernel.family) != options.without.end();
  });
  const auto folds = corpus.folds(options.folds, *joined);
  learn::NameGroups together = sources->corpus.kinships();
  for (const std::vector<std::string>& families : *joined)
    together.join(families);
  auto made = make_folds(program, options, *sources, *published, folds, together);
  if (!made) return program.fail(session_error(made.error()));
  for (const Fold& fold : *made) {
    add_rankings(fold, report);
    if (options.rankings_only) continue;
    const auto searches = searches_of(options, fold);
    for (const learn::CorpusKernel& kernel : fold.tested) {
      studies.push_back(study_of(options, kernel, searches, true));
      tested.push_back(kernel);
    }
    report.labels.clear();
    for (const learn::StudySearch& search : searches) {
      const std::string way = told_label(search.label);
      told_as[search.label] = way;
      if (way == search.label) report.labels.push_back(way);
    }
  }
  static_cast<void>(run_all(program, options, studies));
  if (program.interrupted().requested()) return kInterrupted;

  report.title = fmt::format("Learning on families left out: {} folds, {}, {} evaluations",
                             folds.size(), options.device, options.evaluations);
  report.comparisons = comparisons_of(options);
  return tell(program, options, tested, told_as, report);
}

}  // namespace regraph::cli
