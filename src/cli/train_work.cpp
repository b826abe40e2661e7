#include "cli/train_work.h"

#include "base/files.h"
#include "base/hash.h"
#include "cli/train_tables.h"
#include "kernel/manifest.h"
#include "learn/cross_fitting.h"
#include "learn/policy_training.h"
#include "learn/study_pool.h"
#include "session/expanders.h"
#include "session/load_graph.h"
#include "session/recorded_run.h"
#include "session/session.h"

#include <algorithm>
#include <set>
#include <thread>

namespace regraph::cli {

namespace {

constexpr std::size_t kLargestDigest = std::size_t{256} << 20;
constexpr std::size_t kLargestKernel = std::size_t{16} << 20;
constexpr const char* kDigestEnding = ".json";
constexpr const char* kWide = "wide";
// A state has some 20 edges: enough for all of half a dozen states.
constexpr int kWideFactor = 2;
constexpr const char* kDeep = "deep";

int jobs_of(const TrainOptions& options) {
  return options.jobs > 0 ? options.jobs
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// What searches with these labels (empty: all) left in a folder, by name.
std::vector<std::filesystem::path> kept_files(const std::filesystem::path& folder,
                                              const char* ending,
                                              const std::vector<std::string>& labels) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::filesystem::path& file = at->path();
    const bool wanted =
        labels.empty() || std::ranges::find(labels, file.stem().string()) != labels.end();
    if (file.extension() == ending && wanted) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<TrainSources> find_sources(const TrainOptions& options) {
  TrainSources found;
  for (const std::string& source : options.sources) {
    const std::filesystem::path place(source);
    std::error_code ignored;
    if (std::filesystem::exists(place / RunDatabase::kFileName, ignored)) {
      found.runs.push_back(place);
      continue;
    }
    if (place.extension() == kObservationsEnding) {
      found.tables.push_back(place);
      continue;
    }
    if (place.extension() == learn::kExamplesEnding) {
      found.examples.push_back(place);
      continue;
    }
    auto corpus = learn::read_corpus(place);
    if (!corpus) return std::move(corpus).error();
    for (learn::CorpusKernel kernel : corpus->kernels) {
      if (kernel.sealed && !options.sealed) continue;
      if (std::ranges::find(options.without, kernel.family) != options.without.end()) continue;
      found.kernels.push_back(std::move(kernel));
    }
    found.corpus.add(std::move(*corpus));
  }
  return found;
}

std::filesystem::path study_folder(const TrainOptions& options, const learn::CorpusKernel& kernel) {
  return std::filesystem::path(options.work) / kernel.name;
}

std::vector<learn::StudySearch> first_searches(const TrainOptions& options) {
  learn::StudySearch wide;
  wide.label = kWide;
  wide.searcher = "beam";
  wide.graph = kPublishedGraph;
  wide.learn = false;
  wide.evaluations = kWideFactor * options.evaluations;
  learn::StudySearch deep = wide;
  deep.evaluations = options.evaluations;
  deep.label = kDeep;
  deep.searcher = "mcgs";
  return {wide, deep};
}

std::vector<std::string> first_labels() {
  return {kWide, kDeep};
}

learn::StudyRequest study_of(const TrainOptions& options, const learn::CorpusKernel& kernel,
                             std::vector<learn::StudySearch> searches, bool replace) {
  return {std::filesystem::absolute(kernel.file),
          kernel.family,
          options.device,
          options.evaluator,
          std::filesystem::absolute(study_folder(options, kernel)),
          replace,
          options.any_build,
          kernel.derived,
          std::move(searches)};
}

std::size_t search_kernels(const Program& program, const TrainOptions& options,
                           const std::vector<learn::CorpusKernel>& kernels,
                           const std::vector<learn::StudySearch>& searches, bool replace) {
  std::vector<learn::StudyRequest> studies;
  studies.reserve(kernels.size());
  for (const learn::CorpusKernel& kernel : kernels)
    studies.push_back(study_of(options, kernel, searches, replace));
  return run_all(program, options, studies);
}

learn::StudyPool pool_of(const Program& program, const TrainOptions& options) {
  learn::StudyPool pool;
  pool.program = program.installation().programs / "regraph-train";
  pool.jobs = jobs_of(options);
  return pool;
}

std::size_t run_all(const Program& program, const TrainOptions& options,
                    const std::vector<learn::StudyRequest>& studies) {
  const auto failed = learn::run_studies(pool_of(program, options), studies, program.interrupted(),
                                         [&](const std::string& line) {
                                           if (!options.quiet) program.say(line);
                                         });
  return failed.size();
}

std::vector<learn::RunDigest> kept_digests(const Program& program, const TrainOptions& options,
                                           const std::vector<learn::CorpusKernel>& kernels,
                                           const std::vector<std::string>& labels) {
  std::vector<learn::RunDigest> digests;
  for (const learn::CorpusKernel& kernel : kernels) {
    for (const std::filesystem::path& file :
         kept_files(study_folder(options, kernel), kDigestEnding, labels)) {
      const auto text = read_file(file, kLargestDigest);
      auto digest =
          text ? learn::read_digest(*text, file.string()) : Result<learn::RunDigest>(text.error());
      if (!digest) {
        program.say("left out: " + digest.error().message);
        continue;
      }
      digests.push_back(std::move(*digest));
    }
  }
  return digests;
}

learn::ExampleTable kept_examples(const Program& program, const TrainOptions& options,
                                  const std::vector<learn::CorpusKernel>& kernels,
                                  const std::vector<std::string>& labels) {
  learn::ExampleTable table;
  for (const learn::CorpusKernel& kernel : kernels) {
    if (kernel.sealed || kernel.derived) continue;
    for (const std::filesystem::path& file :
         kept_files(study_folder(options, kernel), learn::kExamplesEnding, labels)) {
      const auto examples = read_table<learn::ExampleTable>(file);
      if (!examples) {
        program.say("left out: " + examples.error().message);
        continue;
      }
      table.merge(*examples);
    }
  }
  return table;
}

Result<std::vector<learn::CheckedKernel>> checked_kernels(
    const std::vector<learn::CorpusKernel>& kernels) {
  std::vector<learn::CheckedKernel> checked;
  for (const learn::CorpusKernel& kernel : kernels) {
    auto source = read_file(kernel.file, kLargestKernel);
    if (!source) return std::move(source).error();
    checked.push_back({kernel, std::move(*source), {}});
  }
  return checked;
}

void add_states(const std::vector<learn::RunDigest>& digests, learn::CheckedKernel& kernel) {
  for (const learn::RunDigest& digest : digests) {
    for (const learn::DigestState& state : digest.states)
      kernel.states.push_back({state.identity, state.view.history});
  }
}

policy::FeatureLayout layout_of(const std::vector<learn::RunDigest>& digests) {
  std::set<std::string> steps;
  for (const learn::RunDigest& digest : digests) {
    for (const learn::DigestState& state : digest.states) {
      for (const StepProposal& proposal : state.view.proposals)
        steps.insert(proposal.step);
    }
  }
  return policy::FeatureLayout({steps.begin(), steps.end()});
}

Result<policy::PolicyModel> policy_from(const std::vector<learn::RunDigest>& digests,
                                        const StepGraph& graph, const learn::NameGroups& together,
                                        const TrainOptions& options) {
  const policy::FeatureLayout layout = layout_of(digests);
  learn::PolicyTrainingConfig config = options.training;
  config.together = together;
  const auto groups =
      learn::cross_fitted_groups(digests, layout, graph, together, config.trust_folds);
  config.seed = options.seed;
  config.threads = std::min(config.networks + config.trust_folds, jobs_of(options));
  auto model = learn::train_policy(groups, layout, config);
  if (!model) return model;
  model->metadata = {{"trainer", REGRAPH_VERSION},
                     {"graph", graph.learned_from()},
                     {"seed", std::to_string(options.seed)},
                     {"groups", std::to_string(groups.size())},
                     {"licence", "Apache-2.0"}};
  return model;
}

Result<RunLesson, SessionError> lesson_of_run(const Program& program,
                                              const std::filesystem::path& directory) {
  auto run = RecordedRun::open(directory.string());
  if (!run) return std::move(run).error();
  const auto finished = (*run)->finished();
  if (!finished) return finished.error();
  if (!*finished) {
    return usage(directory.string() +
                 ": the run is not over; go on with it first, by regraph-search "
                 "--resume " +
                 directory.string());
  }
  const RunDescription& description = (*run)->description();
  auto session = Session::reopen(description, program.installation(), program.interrupted());
  if (!session) return std::move(session).error();
  const SearchConfig& config = description.config;
  auto expander = (*session)->expander({}, config);
  if (!expander) return std::move(expander).error();
  SearchRequest request{config, **expander};
  request.cancellation = &program.interrupted();
  auto result = (*run)->search(**session, request);
  if (!result) return std::move(result).error();
  const Problem& problem = (*session)->problem();
  const std::string hash =
      Hasher().add(problem.source).add(write_manifest(problem, problem.launch)).finish().hex();
  const learn::DigestSource source{result->outcome, (*expander)->expander(), problem.signature.name,
                                   config.device, description.tool_version};
  RunLesson lesson;
  lesson.digest = learn::digest_of(source, {hash, hash, directory.filename().string()}, {});
  lesson.examples = learn::examples_of(result->outcome, lesson.digest);
  return lesson;
}

}  // namespace regraph::cli
