#include "learn/kernel_study.h"

#include "base/field_json.h"
#include "base/files.h"
#include "learn/example_table.h"
#include "learn/studied_kernel.h"
#include "learn/study_settings.h"
#include "search/observer.h"
#include "session/load_graph.h"
#include "session/session_policy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace regraph::learn {

namespace {

using Json = nlohmann::ordered_json;

template <typename Search, typename Field>
void for_each_field(Search& search, Field field) {
  field("label", search.label);
  field("searcher", search.searcher);
  field("graph", search.graph);
  field("policy", search.policy);
  field("learn", search.learn);
  field("evaluations", search.evaluations);
  field("seed", search.seed);
  field("exploration", search.changes.exploration);
  field("greedy_every", search.changes.greedy_every);
  field("max_share", search.changes.max_share);
  field("first_play_reduction", search.changes.first_play_reduction);
  field("widening", search.changes.widening);
}

// Best log-speedup after each evaluation.
class Curve final : public SearchObserver {
 public:
  void on_evaluated(const SearchEvent& event) override {
    if (event.evaluations > 0) values.push_back(event.best_log_speedup);
  }
  std::vector<double> values;
};

// A search with all that decides what it finds, but for the kernel.
struct PreparedSearch {
  const StudySearch& search;
  std::shared_ptr<const StepGraph> graph;
  PolicyBlob policy;
  std::string settings;
};

// What is kept of a search.
struct StudyResult {
  RunDigest digest;
  ExampleTable examples;
};

// One kernel.
class Study {
 public:
  Study(const StudyRequest& request, const Installation& installation, std::string program)
      : request_(request), installation_(installation), program_(std::move(program)) {}

  [[nodiscard]] Result<void, SessionError> open(const FleetAccess& fleet,
                                                const Cancellation& cancellation) {
    auto kernel = StudiedKernel::open({request_.kernel, request_.device, request_.evaluator,
                                       request_.output, request_.any_build, fleet},
                                      installation_, cancellation);
    if (!kernel) return std::move(kernel).error();
    kernel_ = std::move(*kernel);
    return {};
  }

  // Reads what the search takes its priors from. Needs no open kernel.
  [[nodiscard]] Result<PreparedSearch, SessionError> prepare(const StudySearch& search) {
    auto graph = graph_of(search);
    if (!graph) return usage(graph.error().message);
    auto policy = find_policy(search.policy.empty() ? kNoPolicy : search.policy, installation_);
    if (!policy) return std::move(policy).error();
    if (!settings_) {
      auto settings = StudySettings::of(request_);
      if (!settings) return std::move(settings).error();
      settings_ = std::move(*settings);
    }
    std::string text = settings_->text(search, **graph, policy->bytes);
    return PreparedSearch{search, std::move(*graph), std::move(*policy), std::move(text)};
  }

  [[nodiscard]] Result<StudyResult, SessionError> search(PreparedSearch prepared,
                                                         const Cancellation& cancellation) {
    Session& session = kernel_->session();
    const StepGraph& graph = *prepared.graph;
    auto policy = SessionPolicy::make(std::move(prepared.policy), graph, session.opened());
    if (!policy) return std::move(policy).error();
    const EdgeScorer* scorer = *policy ? &(*policy)->scorer() : nullptr;
    const SearchConfig config =
        configured(prepared.search, scorer != nullptr ? scorer->description() : std::string(),
                   kernel_->config());
    Curve curve;
    SearchRequest request{config, kernel_->expander()};
    request.observer = &curve;
    request.cancellation = &cancellation;
    request.graph = &graph;
    request.scorer = scorer;
    request.evaluator = &kernel_->evaluator();
    auto result = session.search(request);
    if (!result) return session_error(std::move(result).error());
    if (result->outcome.stopped == StopReason::cancelled)
      return SessionError{FailureCause::interrupted, "interrupted"};
    const DigestSource source{result->outcome, kernel_->expander().expander(),
                              session.problem().signature.name, config.device, program_};
    StudyResult found;
    found.digest = digest_of(source,
                             {kernel_->hash(), request_.family, prepared.search.label,
                              request_.derived, std::move(prepared.settings)},
                             std::move(curve.values));
    found.examples = examples_of(result->outcome, found.digest);
    return found;
  }

  [[nodiscard]] int evaluated() const { return kernel_->evaluated(); }

 private:
  // Graphs that several searches use are read once.
  [[nodiscard]] Result<std::shared_ptr<const StepGraph>> graph_of(const StudySearch& search) {
    auto& known = graphs_[search.graph];
    if (known) return known;
    if (search.graph == kFlatGraph) {
      known = std::make_shared<const StepGraph>();
      return known;
    }
    auto graph = load_graph(search.graph, installation_);
    if (!graph) return std::move(graph).error();
    known = std::make_shared<const StepGraph>(std::move(*graph));
    return known;
  }

  const StudyRequest& request_;
  const Installation& installation_;
  const std::string program_;
  std::optional<StudySettings> settings_;
  std::unique_ptr<StudiedKernel> kernel_;
  std::map<std::string, std::shared_ptr<const StepGraph>> graphs_;
};

}  // namespace

std::string study_text(const StudyRequest& request) {
  Json json = {{"kernel", request.kernel.string()}, {"family", request.family},
               {"device", request.device},          {"evaluator", request.evaluator},
               {"output", request.output.string()}, {"replace", request.replace},
               {"any_build", request.any_build},    {"derived", request.derived},
               {"searches", Json::array()}};
  for (const StudySearch& search : request.searches) {
    Json entry = Json::object();
    for_each_field(search, FieldWriter(entry));
    json["searches"].push_back(std::move(entry));
  }
  return json.dump();
}

Result<StudyRequest> read_study(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  StudyRequest request;
  try {
    request.kernel = json.at("kernel").get<std::string>();
    request.family = json.at("family").get<std::string>();
    request.device = json.at("device").get<std::string>();
    request.evaluator = json.at("evaluator").get<std::string>();
    request.output = json.at("output").get<std::string>();
    request.replace = json.at("replace").get<bool>();
    request.any_build = json.at("any_build").get<bool>();
    request.derived = json.at("derived").get<bool>();
    for (const Json& entry : json.at("searches")) {
      FieldReader reader(entry);
      for_each_field(request.searches.emplace_back(), std::ref(reader));
      if (!reader.whole()) return fail(ErrorCode::parse, "a search of the study cannot be read");
    }
  } catch (const std::exception& exception) {
    return fail(ErrorCode::parse, std::string("not a study: ") + exception.what());
  }
  return request;
}

std::filesystem::path digest_path(const std::filesystem::path& output, const std::string& label) {
  return output / (label + ".json");
}

std::filesystem::path examples_path(const std::filesystem::path& output, const std::string& label) {
  return output / (label + kExamplesEnding);
}

Result<void, SessionError> study_kernel(const StudyRequest& request,
                                        const Installation& installation,
                                        const std::string& program,
                                        const Cancellation& cancellation,
                                        const std::function<void(const std::string&)>& tell,
                                        const FleetAccess& fleet) {
  Study study(request, installation, program);
  bool opened = false;
  for (const StudySearch& search : request.searches) {
    const std::filesystem::path path = digest_path(request.output, search.label);
    std::error_code ignored;
    if (!request.replace && std::filesystem::exists(path, ignored)) continue;
    auto prepared = study.prepare(search);
    if (!prepared) return std::move(prepared).error();
    if (request.replace && made_with(path, prepared->settings)) continue;
    if (!opened) {
      if (auto ready = study.open(fleet, cancellation); !ready) return ready;
      opened = true;
    }
    const auto found = study.search(std::move(*prepared), cancellation);
    if (!found) return found.error();
    // The digest last: where it is, the search is done.
    Status written =
        write_file(examples_path(request.output, search.label), found->examples.text());
    if (written) written = write_file(path, digest_text(found->digest));
    if (!written) return SessionError{FailureCause::internal, written.error().message};
    tell(fmt::format("{}: {:.2f}x after {} evaluations, {} new", search.label,
                     std::exp(found->digest.best_log_speedup), found->digest.evaluations,
                     study.evaluated()));
  }
  return {};
}

}  // namespace regraph::learn
