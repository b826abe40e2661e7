#include "cli/train_commands.h"

#include "base/directory_lock.h"
#include "base/files.h"
#include "cli/train_work.h"
#include "learn/graph_training.h"
#include "policy/policy_file.h"
#include "regraph/regraph_yaml.h"
#include "session/load_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace regraph::cli {

namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 30;

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
    search.exploration = options.exploration;
    search.greedy_every = options.greedy_every;
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
  auto trained = policy_from(digests, *graph, sources->corpus.kinships(), options);
  if (!trained) return said(program, trained.error());
  if (Status written = policy::save_policy(*trained, options.output); !written)
    return said(program, written.error());
  return program.print(fmt::format("{}: trained on {} searches, states: {}\n", options.output,
                                   digests.size(), trained->metadata.at("groups")),
                       0);
}

}  // namespace regraph::cli
