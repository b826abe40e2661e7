#include "cli/train_folds.h"

#include "base/files.h"
#include "learn/graph_training.h"
#include "learn/sibling_groups.h"
#include "policy/policy_file.h"
#include "regraph/regraph_yaml.h"
#include "search/searcher.h"
#include "session/load_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

namespace regraph::cli {

namespace {

constexpr PriorKind kPriorKinds[] = {
    {"flat", learn::kFlatGraph, "", false},
    {"published", kPublishedGraph, "", false},
    {"published+run", kPublishedGraph, "", true},
    {"graph", "", "", false},
    {"graph+run", "", "", true},
    {kGraphPolicy, "", kGraphPolicy, false},
    {"policy+run", "", kGraphPolicy, true},
    {kGradientPolicy, "", kGradientPolicy, false},
    {"gradient+run", "", kGradientPolicy, true},
    {kPublishedPolicy, kPublishedGraph, kPublishedPolicy, false},
};

constexpr char kSeedMark = '@';

// Null: there is none of this name, which the searches will say.
const SearchMethod* method_called(const std::string& searcher) {
  const auto methods = search_methods();
  const auto found = std::ranges::find(methods, searcher, &SearchMethod::name);
  return found == methods.end() ? nullptr : &*found;
}

bool asked_for(const TrainOptions& options, const char* name) {
  return std::ranges::find(options.priors, name) != options.priors.end();
}

// The policies that the searches need; for rankings at least the one that corrects the graph.
std::set<std::string> wanted_policies(const TrainOptions& options) {
  std::set<std::string> wanted = {kGraphPolicy};
  for (const PriorKind& kind : kPriorKinds) {
    if (kind.policy[0] != '\0' && asked_for(options, kind.name)) wanted.insert(kind.policy);
  }
  return wanted;
}

void rank(const std::vector<learn::RunDigest>& digests, const std::string& name,
          const StepGraph& graph, const policy::FeatureLayout& layout,
          const policy::PolicyReader* reader, Fold& fold) {
  const auto groups = learn::sibling_groups(digests, layout, graph);
  std::vector<learn::SiblingGroup> originals;
  std::ranges::copy_if(groups, std::back_inserter(originals), &learn::SiblingGroup::at_original);
  using learn::RankedBy;
  fold.rankings.emplace_back("gain at the original, " + name,
                             rank_siblings(originals, layout, reader, RankedBy::log_gain));
  fold.rankings.emplace_back("best below, at the original, " + name,
                             rank_siblings(originals, layout, reader, RankedBy::best_below));
  fold.rankings.emplace_back("best below, all states, " + name,
                             rank_siblings(groups, layout, reader, RankedBy::best_below));
}

class FoldMaker {
 public:
  FoldMaker(const Program& program, const TrainOptions& options, const TrainSources& sources,
            const StepGraph& published, const learn::NameGroups& together)
      : program_(program),
        options_(options),
        sources_(sources),
        published_(published),
        together_(together) {}

  [[nodiscard]] Result<Fold> make(const std::vector<std::string>& families,
                                  std::size_t number) const {
    Fold fold;
    std::vector<learn::CorpusKernel> others;
    for (const learn::CorpusKernel& kernel : sources_.kernels) {
      const bool tested = std::ranges::find(families, kernel.family) != families.end();
      // Variants are to learn from: what they are worth is told by kernels that people wrote.
      if (tested && kernel.derived) continue;
      (tested ? fold.tested : others).push_back(kernel);
    }
    const auto folder = std::filesystem::absolute(options_.work) / fmt::format("fold-{}", number);
    const auto labels = options_.labels.empty() ? first_labels() : options_.labels;
    const auto digests = kept_digests(program_, options_, others, labels);
    const auto unseen = kept_digests(program_, options_, fold.tested, first_labels());
    learn::ObservationTable table;
    for (const learn::RunDigest& digest : digests)
      table.add(digest);
    const StepGraph graph = learn::train_graph(published_, table);
    fold.graph = folder / "graph.yaml";
    if (Status written = write_file(fold.graph, regraph_text(graph)); !written)
      return written.error();
    const policy::FeatureLayout layout = layout_of(digests);
    rank(unseen, "published", published_, layout, nullptr, fold);
    rank(unseen, "graph", graph, layout, nullptr, fold);
    for (const std::string& name : wanted_policies(options_)) {
      const StepGraph& corrected = name == kPublishedPolicy ? published_ : graph;
      TrainOptions options = options_;
      options.training.second_stage = name == kGradientPolicy;
      auto model = policy_from(digests, corrected, together_, options);
      if (!model && model.error().code == ErrorCode::not_found) {
        program_.say(fmt::format("fold {}: no policy: {}", number, model.error().message));
        continue;
      }
      if (!model) return std::move(model).error();
      const auto file = folder / (name + ".regraph-policy");
      if (Status written = policy::save_policy(*model, file); !written) return written.error();
      fold.policies[name] = file;
      const auto reader = policy::PolicyReader::make(std::move(*model));
      if (reader) rank(unseen, name, corrected, reader->layout(), &*reader, fold);
    }
    return fold;
  }

 private:
  const Program& program_;
  const TrainOptions& options_;
  const TrainSources& sources_;
  const StepGraph& published_;
  const learn::NameGroups& together_;
};

}  // namespace

std::vector<std::string> prior_names() {
  std::vector<std::string> names;
  for (const PriorKind& kind : kPriorKinds)
    names.emplace_back(kind.name);
  return names;
}

Result<std::vector<Fold>> make_folds(const Program& program, const TrainOptions& options,
                                     const TrainSources& sources, const StepGraph& published,
                                     const std::vector<std::vector<std::string>>& folds,
                                     const learn::NameGroups& together) {
  const FoldMaker maker(program, options, sources, published, together);
  std::vector<std::optional<Result<Fold>>> made(folds.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t number = 0; number < folds.size(); ++number)
      threads.emplace_back([&, number] { made[number] = maker.make(folds[number], number); });
  }
  std::vector<Fold> result;
  for (std::optional<Result<Fold>>& fold : made) {
    if (!*fold) return std::move(*fold).error();
    result.push_back(std::move(**fold));
  }
  return result;
}

std::vector<learn::StudySearch> searches_of(const TrainOptions& options, const Fold& fold) {
  std::vector<learn::StudySearch> searches;
  for (const std::string& searcher : options.searchers) {
    const SearchMethod* method = method_called(searcher);
    const int seeds = method != nullptr && method->draws_lots ? options.seeds : 1;
    const auto add = [&](learn::StudySearch search, const std::string& label) {
      search.searcher = searcher;
      search.evaluations = options.evaluations;
      for (int number = 1; number <= seeds; ++number) {
        search.label = number == 1 ? label : fmt::format("{}{}{}", label, kSeedMark, number);
        search.seed = options.seed + static_cast<std::uint64_t>(number - 1);
        searches.push_back(search);
      }
    };
    if (method != nullptr && !method->heeds_priors) {
      learn::StudySearch search;
      search.graph = learn::kFlatGraph;
      add(search, searcher);
      continue;
    }
    for (const PriorKind& kind : kPriorKinds) {
      if (!asked_for(options, kind.name)) continue;
      learn::StudySearch search;
      search.graph = kind.graph[0] == '\0' ? fold.graph.string() : kind.graph;
      const auto policy = fold.policies.find(kind.policy);
      if (policy != fold.policies.end()) search.policy = policy->second.string();
      search.learn = kind.learn;
      add(search, searcher + "-" + kind.name);
    }
  }
  return searches;
}

std::string told_label(const std::string& search_label) {
  return search_label.substr(0, search_label.find(kSeedMark));
}

}  // namespace regraph::cli
