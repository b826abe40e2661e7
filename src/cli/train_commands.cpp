#include "cli/train_commands.h"

#include "cli/train_tables.h"
#include "cli/train_work.h"
#include "learn/example_table.h"
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

int said(const Program& program, const Error& error) {
  return program.fail(session_error(error));
}

// What is learned from.
struct TrainTables {
  learn::ObservationTable observations;
  learn::ExampleTable examples;
};

// Those among the sources.
Result<TrainTables> known_tables(const TrainSources& sources) {
  TrainTables known;
  for (const std::filesystem::path& file : sources.tables) {
    const auto other = read_table<learn::ObservationTable>(file);
    if (!other) return other.error();
    known.observations.merge(*other);
  }
  for (const std::filesystem::path& file : sources.examples) {
    const auto other = read_table<learn::ExampleTable>(file);
    if (!other) return other.error();
    known.examples.merge(*other);
  }
  return known;
}

// Adds what searches of the kernels, and finished runs, left.
void add_searches(const Program& program, const TrainOptions& options, const TrainSources& sources,
                  TrainTables& known) {
  for (const learn::RunDigest& digest : kept_digests(program, options, sources.kernels, {}))
    known.observations.add(digest);
  known.examples.merge(kept_examples(program, options, sources.kernels, {}));
  for (const std::filesystem::path& run : sources.runs) {
    const auto lesson = lesson_of_run(program, run);
    if (!lesson) {
      program.say("left out: " + lesson.error().message);
      continue;
    }
    known.observations.add(lesson->digest);
    known.examples.merge(lesson->examples);
  }
}

}  // namespace

int train_study(const Program& program, const std::string& text, const FleetFlags& flags) {
  const auto request = learn::read_study(text);
  if (!request) return said(program, request.error());
  const auto fleet = fleet_of(program, flags, false);
  if (!fleet) return program.fail(fleet.error());
  const auto done = learn::study_kernel(
      *request, program.installation(), REGRAPH_VERSION, program.interrupted(),
      [&](const std::string& line) { program.say(line); }, fleet->access);
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
    search.changes = options.changes;
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
  auto known = known_tables(*sources);
  if (!known) return said(program, known.error());
  if (!sources->kernels.empty()) {
    static_cast<void>(search_kernels(program, options, sources->kernels, first_searches(options)));
  }
  if (program.interrupted().requested()) return kInterrupted;
  add_searches(program, options, *sources, *known);
  if (known->observations.size() == 0) {
    program.say("there is nothing to learn from: no search of these sources tried a step");
    return kUnusableKernel;
  }
  const std::filesystem::path output(options.output);
  const auto whole =
      add_to_table(table_beside(output, kObservationsEnding), std::move(known->observations));
  if (!whole) return said(program, whole.error());
  const auto examples =
      add_to_table(table_beside(output, learn::kExamplesEnding), std::move(known->examples));
  if (!examples) return said(program, examples.error());
  const StepGraph trained = learn::with_examples(learn::train_graph(*start, *whole), *examples);
  if (Status written = save_regraph(trained, output); !written)
    return said(program, written.error());
  std::set<std::string> families;
  std::set<std::string> kernels;
  for (const learn::ObservationRow& row : whole->rows()) {
    families.insert(row.family);
    kernels.insert(row.kernel);
  }
  return program.print(
      fmt::format("{}: {} tries on {} kernels of {} families, {} examples\n", options.output,
                  whole->size(), kernels.size(), families.size(), examples->size()),
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
