#include "learn/study_settings.h"

#include "base/files.h"
#include "base/hash.h"
#include "learn/evaluation_memory.h"
#include "regraph/regraph_yaml.h"
#include "search/run_description.h"
#include "session/problem_source.h"

#include <nlohmann/json.hpp>

namespace regraph::learn {

namespace {

constexpr std::size_t kLargestInput = std::size_t{16} << 20;
constexpr std::size_t kLargestKeptDigest = std::size_t{256} << 20;

// Empty where there is no such file.
std::string content_of(const std::filesystem::path& file) {
  auto text = read_file(file, kLargestInput);
  return text ? std::move(*text) : std::string();
}

}  // namespace

SearchConfig configured(const StudySearch& search, const std::string& policy, SearchConfig base) {
  base.searcher = search.searcher;
  base.seed = search.seed;
  base.budget.evaluations = search.evaluations;
  base.learn = search.learn;
  base.policy = policy;
  const SelectionChanges& changes = search.changes;
  SelectionConfig& selection = base.selection;
  selection.exploration_first = changes.exploration.value_or(selection.exploration_first);
  selection.greedy_every = changes.greedy_every.value_or(selection.greedy_every);
  selection.max_share = changes.max_share.value_or(selection.max_share);
  selection.first_play_reduction =
      changes.first_play_reduction.value_or(selection.first_play_reduction);
  selection.widening_factor = changes.widening.value_or(selection.widening_factor);
  return base;
}

Result<StudySettings, SessionError> StudySettings::of(const StudyRequest& request) {
  ProblemOptions problem;
  problem.kernel_file = request.kernel.string();
  const auto source = read_problem_source(problem);
  if (!source) return source.error();
  StudySettings settings;
  // The file itself, too: a manifest may stand in its first comment.
  settings.kernel_ = Hasher()
                         .add(content_of(request.kernel))
                         .add(source->file_text)
                         .add(content_of(sidecar_of(source->kernel_file)))
                         .finish()
                         .hex();
  settings.device_ = hash_text(content_of(request.device)).hex();
  settings.build_ = request.any_build ? "any" : program_identity();
  settings.base_.device = request.device;
  settings.base_.evaluator = request.evaluator;
  return settings;
}

std::string StudySettings::text(const StudySearch& search, const StepGraph& graph,
                                const std::string& policy) const {
  using Json = nlohmann::ordered_json;
  const std::string known = policy.empty() ? std::string() : hash_text(policy).hex();
  const Json json = {{"kernel", kernel_},
                     {"device", device_},
                     {"graph", hash_text(regraph_text(graph)).hex()},
                     {"build", build_},
                     {"config", Json::parse(config_text(configured(search, known, base_)))}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool made_with(const std::filesystem::path& path, const std::string& settings) {
  const auto text = read_file(path, kLargestKeptDigest);
  if (!text) return false;
  const auto digest = read_digest(*text, path.string());
  return digest && digest->settings == settings;
}

}  // namespace regraph::learn
