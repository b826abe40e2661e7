#include "cli/train_commands.h"

#include "base/directory_lock.h"
#include "base/files.h"
#include "cli/train_work.h"
#include "learn/graph_training.h"
#include "learn/policy_training.h"
#include "learn/sibling_groups.h"
#include "policy/policy_file.h"
#include "regraph/regraph_yaml.h"
#include "session/load_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

namespace regraph::cli {

namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 30;

// The two searches a kernel is learned from at first: one that tries every step of the best states,
// so that siblings can be compared, and one that goes deep.
std::vector<learn::StudySearch> first_searches(const TrainOptions& options) {
  learn::StudySearch wide;
  wide.label = "wide";
  wide.searcher = "beam";
  wide.graph = kPublishedGraph;
  wide.evaluations = options.evaluations;
  learn::StudySearch deep;
  deep.label = "deep";
  deep.graph = kPublishedGraph;
  deep.evaluations = options.evaluations;
  return {wide, deep};
}

std::filesystem::path table_beside(const std::filesystem::path& graph) {
  return std::filesystem::path(graph).replace_extension(".observations");
}

Result<learn::ObservationTable> read_table(const std::filesystem::path& file) {
  auto text = read_file(file, kLargestTable);
  if (!text) return std::move(text).error();
  return learn::ObservationTable::parse(*text, file.string());
}

// Adds what is known to the table beside the graph, and writes both. One process at a time does.
Result<learn::ObservationTable> add_to_table(const std::filesystem::path& file,
                                             learn::ObservationTable table) {
  const std::filesystem::path folder =
      file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  auto lock = DirectoryLock::take(folder);
  if (!lock) return std::move(lock).error();
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    auto before = read_table(file);
    if (!before) return std::move(before).error();
    table.merge(*before);
  }
  if (Status written = write_file(file, table.text(), Durability::disk); !written)
    return written.error();
  return table;
}

int said(const Program& program, const Error& error) {
  return program.fail(session_error(error));
}

}  // namespace

int train_study(const Program& program, const std::string& text) {
  const auto request = learn::read_study(text);
  if (!request) return said(program, request.error());
  const auto done =
      learn::study_kernel(*request, program.installation(), REGRAPH_VERSION, program.interrupted(),
                          [&](const std::string& line) { program.say(line); });
  return done ? 0 : program.fail(done.error());
}

int search_for_training(const Program& program, const TrainOptions& options) {
  const auto sources = find_sources(options);
  if (!sources) return said(program, sources.error());
  std::vector<learn::StudySearch> searches;
  for (const std::string& label : options.labels) {
    learn::StudySearch search;
    search.label = label;
    search.graph = options.graph;
    search.policy = options.policy;
    search.evaluations = options.evaluations;
    searches.push_back(std::move(search));
  }
  const std::size_t failed = search_kernels(program, options, sources->kernels, searches);
  return failed == sources->kernels.size() && failed > 0 ? kUnusableKernel : 0;
}

int train_graph_file(const Program& program, const TrainOptions& options) {
  const auto sources = find_sources(options);
  if (!sources) return said(program, sources.error());
  const auto start = load_graph(options.graph, program.installation());
  if (!start) return said(program, start.error());
  learn::ObservationTable table;
  for (const std::filesystem::path& file : sources->tables) {
    const auto other = read_table(file);
    if (!other) return said(program, other.error());
    table.merge(*other);
  }
  const auto searches = first_searches(options);
  if (!sources->kernels.empty())
    static_cast<void>(search_kernels(program, options, sources->kernels, searches));
  if (program.interrupted().requested()) return kInterrupted;
  for (const learn::RunDigest& digest : kept_digests(program, options, sources->kernels, {}))
    table.add(digest);
  for (const std::filesystem::path& run : sources->runs) {
    const auto digest = digest_of_run(program, run);
    if (!digest) {
      program.say("left out: " + digest.error().message);
      continue;
    }
    table.add(*digest);
  }
  if (table.size() == 0) {
    program.say("there is nothing to learn from: no search of these sources tried a step");
    return kUnusableKernel;
  }
  const std::filesystem::path output(options.output);
  auto whole = add_to_table(table_beside(output), std::move(table));
  if (!whole) return said(program, whole.error());
  const StepGraph trained = learn::train_graph(*start, *whole);
  if (Status written = save_regraph(trained, output); !written)
    return said(program, written.error());
  std::set<std::string> families;
  std::set<std::string> kernels;
  for (const learn::ObservationRow& row : whole->rows()) {
    families.insert(row.family);
    kernels.insert(row.kernel);
  }
  return program.print(fmt::format("{}: {} tries on {} kernels of {} families\n", options.output,
                                   whole->size(), kernels.size(), families.size()),
                       0);
}

int train_policy_file(const Program& program, const TrainOptions& options) {
  const auto sources = find_sources(options);
  if (!sources) return said(program, sources.error());
  const auto graph = load_graph(options.graph, program.installation());
  if (!graph) return said(program, graph.error());
  const auto digests = kept_digests(program, options, sources->kernels, options.labels);
  std::set<std::string> steps;
  for (const learn::RunDigest& digest : digests) {
    for (const learn::DigestState& state : digest.states) {
      for (const StepProposal& proposal : state.view.proposals)
        steps.insert(proposal.step);
    }
  }
  const policy::FeatureLayout layout({steps.begin(), steps.end()});
  const auto groups = learn::sibling_groups(digests, layout, *graph);
  learn::PolicyTrainingConfig config;
  config.seed = options.seed;
  config.threads = std::min(config.networks,
                            std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  auto trained = learn::train_policy(groups, layout, config);
  if (!trained) return said(program, trained.error());
  trained->metadata = {{"trainer", REGRAPH_VERSION},
                       {"graph", graph->learned_from()},
                       {"seed", std::to_string(options.seed)},
                       {"groups", std::to_string(groups.size())},
                       {"licence", "Apache-2.0"}};
  if (Status written = policy::save_policy(*trained, options.output); !written)
    return said(program, written.error());
  const auto reader = policy::PolicyReader::make(std::move(*trained));
  if (!reader) return said(program, reader.error());
  std::string text;
  for (const auto by : {learn::RankedBy::log_gain, learn::RankedBy::best_below}) {
    for (const policy::PolicyReader* one : {static_cast<const policy::PolicyReader*>(nullptr), &*reader}) {
      const auto score = learn::rank_siblings(groups, layout, one, by);
      text += fmt::format("{:10} {:6}: top-1 {:.2f}, top-3 {:.2f}, mean rank {:.1f} ({} states, {} families)\n",
                          by == learn::RankedBy::log_gain ? "gain" : "best below",
                          one == nullptr ? "graph" : "policy", score.top_one, score.top_three,
                          score.mean_rank, score.groups, score.families);
    }
  }
  return program.print(text, 0);
}

}  // namespace regraph::cli
