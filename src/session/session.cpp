#include "session/session.h"

#include "eval/verify/inputs.h"
#include "llm/expand/candidate_reader.h"
#include "regraph/regraph_yaml.h"
#include "search/driver.h"
#include "session/load_graph.h"
#include "session/measured_answer.h"

#include <fmt/format.h>

#include <utility>

namespace regraph {

namespace {

const Cancellation& never() {
  static const Cancellation kNever;
  return kNever;
}

}  // namespace

Session::Session(const Installation& installation, Toolchain toolchain, ReGraph graph)
    : installation_(installation), toolchain_(std::move(toolchain)), graph_(std::move(graph)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>, SessionError> Session::make(const Installation& installation,
                                                             Result<ReGraph> graph) {
  if (!graph) return usage(graph.error().message);
  auto toolchain = find_toolchain(installation);
  if (!toolchain) return std::move(toolchain).error();
  return std::unique_ptr<Session>(
      new Session(installation, std::move(*toolchain), std::move(*graph)));
}

Result<std::unique_ptr<Session>, SessionError> Session::open(const SessionOptions& options,
                                                             const Installation& installation,
                                                             const Cancellation& cancellation) {
  DeviceRequest wanted{options.device, "", options.evaluator};
  // A manifest does not depend on the device.
  if (options.open.fill_in && wanted.name.empty()) wanted = {"h200", "", "model"};
  auto device = choose_device(wanted, installation.gpu_worker(), cancellation);
  if (!device) return std::move(device).error();
  auto source = read_problem_source(options.problem);
  if (!source) return std::move(source).error();
  auto session = make(installation, load_graph(options.graph, installation));
  if (!session) return session;
  auto done = (*session)->prepare(std::move(*source), std::move(*device), options.evaluator,
                                  options.open, cancellation);
  if (!done) return std::move(done).error();
  return session;
}

Result<std::unique_ptr<Session>, SessionError> Session::reopen(const RunDescription& description,
                                                               const Installation& installation,
                                                               const Cancellation& cancellation) {
  const SearchConfig& config = description.config;
  auto device = choose_device({config.device, config.device_table, config.evaluator},
                              installation.gpu_worker(), cancellation);
  if (!device) return std::move(device).error();
  auto source = recorded_problem_source(description);
  if (!source) return std::move(source).error();
  auto session = make(installation, parse_regraph(description.graph, "the recorded ReGraph"));
  if (!session) return session;
  const OpenOptions options{false, config.seed, config.evaluation_wall_seconds};
  auto done = (*session)->prepare(std::move(*source), std::move(*device), config.evaluator, options,
                                  cancellation);
  if (!done) return std::move(done).error();
  (*session)->opened_->problem.notes = description.notes;
  return session;
}

Result<void, SessionError> Session::prepare(ProblemSource source, ChosenDevice device,
                                            const std::string& evaluator_name,
                                            const OpenOptions& options,
                                            const Cancellation& cancellation) {
  options_ = options;
  auto opened =
      open_problem(std::move(source), std::move(device), toolchain_, options, cancellation);
  if (!opened) return std::move(opened).error();
  opened_ = std::move(*opened);
  if (!opened_->to_fill_in.empty()) return {};
  auto evaluator = make_evaluator(evaluator_name, *opened_, toolchain_, installation_, options.seed,
                                  cancellation);
  if (!evaluator) return std::move(evaluator).error();
  evaluator_ = std::move(*evaluator);
  disturbances_ =
      std::make_unique<gpu::DisturbanceLog>(evaluator_.gpu_bus_ids, gpu::nvml_candidates());
  return {};
}

Result<Candidate> Session::read_candidate(const std::string& source,
                                          const Cancellation& cancellation) {
  const llm::CandidateReader reader(*toolchain_.compiler, toolchain_.front_end,
                                    device().architecture);
  return reader.read(source, problem().launch, problem().signature, {}, cancellation);
}

Evaluation Session::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                             const Cancellation& cancellation) {
  return evaluator_.evaluator->evaluate(candidate, budget, cancellation);
}

SearchConfig Session::configuration() const {
  SearchConfig config;
  config.seed = options_.seed;
  config.evaluation_wall_seconds = options_.evaluation_seconds;
  config.device = device().name;
  config.device_table = opened_->device.table;
  config.evaluator = evaluator_.name;
  return config;
}

Result<std::unique_ptr<SessionExpander>, SessionError> Session::expander(
    const LanguageModelOptions& options, const SearchConfig& config, bool ask) {
  const ExpanderPlace place{*opened_,
                            graph_,
                            toolchain_,
                            *evaluator_.evaluator,
                            installation_,
                            config.seed,
                            config.evaluation_wall_seconds,
                            config.jobs};
  return make_expander(options, place, ask);
}

std::vector<std::string> Session::look_for_disturbances() {
  return disturbances_->look(false);
}

Result<SearchResult> Session::search(const SearchRequest& request) {
  const Cancellation& cancellation =
      request.cancellation != nullptr ? *request.cancellation : never();
  auto outcome =
      run_search(problem(), original(), request.expander.expander(), request.expander.evaluator(),
                 graph_, request.config, request.observer, cancellation, request.journal);
  if (!outcome) return outcome.error();
  SearchResult result;
  result.outcome = std::move(*outcome);
  if (const LanguageModel* model = request.expander.model()) result.model_use = model->use();
  if (evaluator_.gpu != nullptr) {
    const MeasuringGpu gpu{*evaluator_.gpu, *opened_->device.gpu, *disturbances_,
                           toolchain_.cuda_root};
    MeasuredAnswer measured = measure_answer(gpu, request.sanitize, result.outcome, cancellation);
    result.measurement = std::move(measured.measurement);
    result.notes = std::move(measured.notes);
  }
  result.verification = verification_text(result.outcome);
  return result;
}

std::string Session::verification_text(const SearchOutcome& outcome) const {
  std::string text = fmt::format(
      "against the original on {} sizes with {} input distributions each, on the PTX interpreter{}",
      problem().tests.size(), verify::choose_distributions(problem()).size(),
      opened_->device.gpu ? " and on the GPU; what timed launches left at the bench size, too"
                          : "");
  if (outcome.verdict == SpeedVerdict::fast && outcome.confirmed)
    text += ", and once more with fresh inputs";
  return text;
}

RunReport Session::report(const SearchResult& result, const SearchConfig& config,
                          const std::string& directory) const {
  RunReport report{problem(),
                   result.outcome,
                   config,
                   device(),
                   evaluator_.name,
                   directory,
                   result.verification,
                   opened_->rewritable,
                   opened_->opaque_reason};
  report.measurement = result.measurement;
  report.model_use = result.model_use;
  return report;
}

}  // namespace regraph
