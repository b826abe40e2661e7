// What regraph-train's commands share: the kernels that are meant, searches of them, what those
// left.
#pragma once

#include "cli/program.h"
#include "cli/train_options.h"
#include "learn/corpus.h"
#include "learn/example_table.h"
#include "learn/kernel_study.h"
#include "learn/leak_check.h"
#include "learn/name_groups.h"
#include "learn/observation_table.h"
#include "learn/run_digest.h"
#include "learn/study_pool.h"
#include "policy/policy_model.h"
#include "regraph/step_graph.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::cli {

// Sources by their kinds.
struct TrainSources {
  std::vector<learn::CorpusKernel> kernels;
  std::vector<std::filesystem::path> runs;      // directories with a run.db
  std::vector<std::filesystem::path> tables;    // of observations
  std::vector<std::filesystem::path> examples;  // tables of examples
  learn::Corpus corpus;                         // all folders together
};
[[nodiscard]] Result<TrainSources> find_sources(const TrainOptions& options);

// Where the searches of a kernel are kept.
[[nodiscard]] std::filesystem::path study_folder(const TrainOptions& options,
                                                 const learn::CorpusKernel& kernel);

// The two searches a kernel is learned from at first: "wide" tries every step of the best states,
// so that siblings can be compared, "deep" goes on as a search does. Both with published priors.
[[nodiscard]] std::vector<learn::StudySearch> first_searches(const TrainOptions& options);
[[nodiscard]] std::vector<std::string> first_labels();

[[nodiscard]] learn::StudyRequest study_of(const TrainOptions& options,
                                           const learn::CorpusKernel& kernel,
                                           std::vector<learn::StudySearch> searches, bool replace);
// Processes of this program.
[[nodiscard]] learn::StudyPool pool_of(const Program& program, const TrainOptions& options);
// Carries studies out, each in a process of its own. Those that failed are reported; returns their
// number.
[[nodiscard]] std::size_t run_all(const Program& program, const TrainOptions& options,
                                  const std::vector<learn::StudyRequest>& studies);
// Carries out the searches on every kernel, in processes of their own. Kernels that cannot be
// searched are reported and left out. Returns how many of them.
[[nodiscard]] std::size_t search_kernels(const Program& program, const TrainOptions& options,
                                         const std::vector<learn::CorpusKernel>& kernels,
                                         const std::vector<learn::StudySearch>& searches,
                                         bool replace = false);

// The digests of these kernels in the work folder; `labels` empty: all. Damaged ones are reported
// and left out.
[[nodiscard]] std::vector<learn::RunDigest> kept_digests(
    const Program& program, const TrainOptions& options,
    const std::vector<learn::CorpusKernel>& kernels, const std::vector<std::string>& labels);

// What these searches have to show, likewise. Nothing of sealed kernels and of those made from
// others: the ones are for a last test, the others are code that nobody wrote.
[[nodiscard]] learn::ExampleTable kept_examples(const Program& program, const TrainOptions& options,
                                                const std::vector<learn::CorpusKernel>& kernels,
                                                const std::vector<std::string>& labels);

// The kernels with their sources, for learn::check_leaks, without states. Errors: not_found, io.
[[nodiscard]] Result<std::vector<learn::CheckedKernel>> checked_kernels(
    const std::vector<learn::CorpusKernel>& kernels);
// Adds the states that searches of the kernel knew.
void add_states(const std::vector<learn::RunDigest>& digests, learn::CheckedKernel& kernel);

// The inputs of a policy, with the steps that these searches know.
[[nodiscard]] policy::FeatureLayout layout_of(const std::vector<learn::RunDigest>& digests);

// A policy that corrects `graph`, trained on these searches. `together`: families that are kin.
// Errors: as learn::train_policy.
[[nodiscard]] Result<policy::PolicyModel> policy_from(const std::vector<learn::RunDigest>& digests,
                                                      const StepGraph& graph,
                                                      const learn::NameGroups& together,
                                                      const TrainOptions& options);

// What a search teaches.
struct RunLesson {
  learn::RunDigest digest;
  learn::ExampleTable examples;
};
// That of a finished run, found by doing it again from its records: nothing is evaluated.
// Errors: as RecordedRun::open and Session::reopen.
[[nodiscard]] Result<RunLesson, SessionError> lesson_of_run(const Program& program,
                                                            const std::filesystem::path& directory);

}  // namespace regraph::cli
