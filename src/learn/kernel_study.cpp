#include "learn/kernel_study.h"

#include "base/field_json.h"
#include "base/files.h"
#include "base/hash.h"
#include "kernel/manifest.h"
#include "learn/evaluation_memory.h"
#include "search/observer.h"
#include "session/expanders.h"
#include "session/load_graph.h"
#include "session/opened_problem.h"
#include "session/session.h"
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

constexpr const char* kMemoryFile = "evaluations.db";

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

// One kernel, open.
class Study {
 public:
  Study(const StudyRequest& request, const Installation& installation, std::string program)
      : request_(request), installation_(installation), program_(std::move(program)) {}

  [[nodiscard]] Result<void, SessionError> open(const Cancellation& cancellation) {
    SessionOptions options;
    options.problem.kernel_file = request_.kernel.string();
    options.device = request_.device;
    options.evaluator = request_.evaluator;
    options.policy = kNoPolicy;
    auto session = Session::open(options, installation_, cancellation);
    if (!session) return std::move(session).error();
    session_ = std::move(*session);
    config_ = session_->configuration();
    config_.finalists = 1;
    auto expander = session_->expander({}, config_);
    if (!expander) return std::move(expander).error();
    expander_ = std::move(*expander);
    const Problem& problem = session_->problem();
    const std::string manifest = write_manifest(problem, problem.launch);
    kernel_hash_ = Hasher().add(problem.source).add(manifest).finish().hex();
    if (expander_->evaluator().may_work_ahead() != Evaluator::Ahead::evaluation) return {};
    const std::string scope = (request_.any_build ? std::string("any") : program_identity()) +
                              kernel_hash_ + config_.device + config_.device_table +
                              session_->evaluator_name();
    auto memory =
        EvaluationMemory::open(expander_->evaluator(), request_.output / kMemoryFile, scope);
    if (!memory) return SessionError{FailureCause::internal, memory.error().message};
    memory_ = std::move(*memory);
    return {};
  }

  [[nodiscard]] Result<RunDigest, SessionError> search(const StudySearch& search,
                                                       const Cancellation& cancellation) {
    auto graph = graph_of(search);
    if (!graph) return usage(graph.error().message);
    auto blob = find_policy(search.policy.empty() ? kNoPolicy : search.policy, installation_);
    if (!blob) return std::move(blob).error();
    auto policy = SessionPolicy::make(std::move(*blob), **graph, session_->opened());
    if (!policy) return std::move(policy).error();
    SearchConfig config = config_;
    config.searcher = search.searcher;
    config.seed = search.seed;
    config.budget.evaluations = search.evaluations;
    config.learn = search.learn;
    if (*policy) config.policy = (*policy)->scorer().description();
    adapt_to_policy(config);
    if (search.exploration) config.selection.exploration_first = *search.exploration;
    if (search.greedy_every) config.selection.greedy_every = *search.greedy_every;
    Curve curve;
    SearchRequest request{config, *expander_};
    request.observer = &curve;
    request.cancellation = &cancellation;
    request.graph = graph->get();
    request.scorer = *policy ? &(*policy)->scorer() : nullptr;
    request.evaluator = memory_.get();
    auto result = session_->search(request);
    if (!result) return session_error(std::move(result).error());
    if (result->outcome.stopped == StopReason::cancelled)
      return SessionError{FailureCause::interrupted, "interrupted"};
    const DigestSource source{result->outcome, expander_->expander(),
                              session_->problem().signature.name, config.device, program_};
    return digest_of(source, {kernel_hash_, request_.family, search.label},
                     std::move(curve.values));
  }

  [[nodiscard]] int evaluated() const { return memory_ ? memory_->evaluated() : 0; }

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
  std::unique_ptr<Session> session_;
  std::shared_ptr<const SessionExpander> expander_;
  std::unique_ptr<EvaluationMemory> memory_;
  SearchConfig config_;
  std::string kernel_hash_;
  std::map<std::string, std::shared_ptr<const StepGraph>> graphs_;
};

}  // namespace

std::string study_text(const StudyRequest& request) {
  Json json = {{"kernel", request.kernel.string()}, {"family", request.family},
               {"device", request.device},          {"evaluator", request.evaluator},
               {"output", request.output.string()}, {"replace", request.replace},
               {"any_build", request.any_build},    {"searches", Json::array()}};
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
    auto digest = study.search(search, cancellation);
    if (!digest) return std::move(digest).error();
    if (Status written = write_file(path, digest_text(*digest)); !written)
      return SessionError{FailureCause::internal, written.error().message};
    tell(fmt::format("{}: {:.2f}x after {} evaluations, {} new", search.label,
                     std::exp(digest->best_log_speedup), digest->evaluations, study.evaluated()));
  }
  return {};
}

}  // namespace regraph::learn
