#include "learn/kernel_study.h"

#include "base/field_json.h"
#include "base/files.h"
#include "learn/example_table.h"
#include "learn/studied_kernel.h"
#include "search/observer.h"
#include "session/load_graph.h"
#include "session/session_policy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <memory>
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
  field("exploration", search.exploration);
  field("greedy_every", search.greedy_every);
}

// Best log-speedup after each evaluation.
class Curve final : public SearchObserver {
 public:
  void on_evaluated(const SearchEvent& event) override {
    if (event.evaluations > 0) values.push_back(event.best_log_speedup);
  }
  std::vector<double> values;
};

// What is kept of a search.
struct StudyResult {
  RunDigest digest;
  ExampleTable examples;
};

// One kernel, open.
class Study {
 public:
  Study(const StudyRequest& request, const Installation& installation, std::string program)
      : request_(request), installation_(installation), program_(std::move(program)) {}

  [[nodiscard]] Result<void, SessionError> open(const Cancellation& cancellation) {
    auto kernel = StudiedKernel::open(
        {request_.kernel, request_.device, request_.evaluator, request_.output, request_.any_build},
        installation_, cancellation);
    if (!kernel) return std::move(kernel).error();
    kernel_ = std::move(*kernel);
    return {};
  }

  [[nodiscard]] Result<StudyResult, SessionError> search(const StudySearch& search,
                                                         const Cancellation& cancellation) {
    auto graph = graph_of(search);
    if (!graph) return usage(graph.error().message);
    auto blob = find_policy(search.policy.empty() ? kNoPolicy : search.policy, installation_);
    if (!blob) return std::move(blob).error();
    Session& session = kernel_->session();
    auto policy = SessionPolicy::make(std::move(*blob), **graph, session.opened());
    if (!policy) return std::move(policy).error();
    SearchConfig config = kernel_->config();
    config.searcher = search.searcher;
    config.seed = search.seed;
    config.budget.evaluations = search.evaluations;
    config.learn = search.learn;
    if (*policy) config.policy = (*policy)->scorer().description();
    if (search.exploration) config.selection.exploration_first = *search.exploration;
    if (search.greedy_every) config.selection.greedy_every = *search.greedy_every;
    Curve curve;
    SearchRequest request{config, kernel_->expander()};
    request.observer = &curve;
    request.cancellation = &cancellation;
    request.graph = graph->get();
    request.scorer = *policy ? &(*policy)->scorer() : nullptr;
    request.evaluator = &kernel_->evaluator();
    auto result = session.search(request);
    if (!result) return session_error(std::move(result).error());
    if (result->outcome.stopped == StopReason::cancelled)
      return SessionError{FailureCause::interrupted, "interrupted"};
    const DigestSource source{result->outcome, kernel_->expander().expander(),
                              session.problem().signature.name, config.device, program_};
    StudyResult found;
    found.digest =
        digest_of(source, {kernel_->hash(), request_.family, search.label, request_.derived},
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
                                        const std::function<void(const std::string&)>& tell) {
  Study study(request, installation, program);
  bool opened = false;
  for (const StudySearch& search : request.searches) {
    const std::filesystem::path path = digest_path(request.output, search.label);
    std::error_code ignored;
    if (!request.replace && std::filesystem::exists(path, ignored)) continue;
    if (!opened) {
      if (auto ready = study.open(cancellation); !ready) return ready;
      opened = true;
    }
    const auto found = study.search(search, cancellation);
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
