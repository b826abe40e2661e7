#include "session/session.h"

#include "candidate/candidate_reader.h"
#include "eval/gpu/driver/gpu_disturbances.h"
#include "eval/verify/inputs.h"
#include "regraph/regraph_yaml.h"
#include "search/driver.h"
#include "search/final_selection.h"
#include "session/evaluators.h"
#include "session/expanders.h"
#include "session/load_graph.h"
#include "session/opened_problem.h"
#include "session/patch_check.h"
#include "session/program_check.h"
#include "session/search_evidence.h"
#include "session/session_fleet.h"
#include "session/session_policy.h"
#include "session/triton_candidate_text.h"
#include "session/winner_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

namespace regraph {

struct Session::State {
  State(Installation at, Toolchain with, StepGraph by)
      : installation(std::move(at)), toolchain(std::move(with)), graph(std::move(by)) {}

  const Installation installation;
  Toolchain toolchain;
  const StepGraph graph;
  OpenOptions options;
  std::vector<std::filesystem::path> header_folders;  // that the user named
  std::unique_ptr<OpenedProblem> opened;
  SessionEvaluator evaluator;
  // Where times are predicted: it does not change from one comparison to the next.
  std::optional<Evaluation> original_evaluation;
  SessionFleet fleet;
  std::unique_ptr<SessionPolicy> policy;  // null: priors come from the graph alone

  static Result<std::unique_ptr<State>, SessionError> make(const Installation& installation,
                                                           const ChosenDevice& device,
                                                           Result<StepGraph> graph) {
    if (!graph) return usage(graph.error().message);
    auto toolchain = find_toolchain(installation, device.device.architecture);
    if (!toolchain) return std::move(toolchain).error();
    return std::make_unique<State>(installation, std::move(*toolchain), std::move(*graph));
  }

  Result<void, SessionError> prepare(ProblemSource source, ChosenDevice device,
                                     const std::string& evaluator_name, PolicyBlob blob,
                                     const OpenOptions& chosen, const FleetAccess& workers,
                                     const Cancellation& cancellation) {
    options = chosen;
    auto ready =
        open_problem(std::move(source), std::move(device), toolchain, options, cancellation);
    if (!ready) return std::move(ready).error();
    opened = std::move(*ready);
    if (!opened->to_fill_in.empty()) return {};
    if (options.on_phase) options.on_phase("preparing to time kernels");
    const EvaluatorKind* const kind = find_evaluator_kind(evaluator_name);
    if (kind == nullptr) return usage("there is no evaluator '" + evaluator_name + "'");
    auto made = kind->make({*opened, toolchain, installation, options.seed}, cancellation);
    if (!made) return std::move(made).error();
    evaluator = std::move(*made);
    auto joined = fleet.join(workers, *opened, evaluator.name, options, *evaluator.evaluator);
    if (!joined) return std::move(joined).error();
    auto read = SessionPolicy::make(std::move(blob), graph, *opened);
    if (!read) return std::move(read).error();
    policy = std::move(*read);
    return {};
  }

  [[nodiscard]] Evaluator& judge() const {
    Evaluator* const workers = fleet.evaluator();
    return workers != nullptr ? *workers : *evaluator.evaluator;
  }

  // Null: times are predicted.
  [[nodiscard]] Measurer* measurer() const {
    fleet::FleetMeasurer* const workers = fleet.measurer();
    return workers != nullptr ? workers : evaluator.measurer.get();
  }

  // A Triton kernel that was compiled for the bench size must be right as it is compiled for
  // others. Returns what is wrong; a note where that cannot be told.
  std::string wrong_elsewhere(const Candidate& candidate, std::vector<std::string>& notes,
                              const Cancellation& cancellation) const {
    if (opened->other_sizes.empty() || cancellation.requested()) return {};
    const auto wrong = check_other_sizes(*opened, toolchain, candidate, options.seed, cancellation);
    if (!wrong) {
      notes.push_back("not verified as compiled for sizes that are no multiples of 16: " +
                      wrong.error().message);
      return {};
    }
    return wrong->empty() ? "" : "compiled for sizes that are no multiples of 16: " + *wrong;
  }

  // The program that launched the kernel has its say. Returns what it has against the candidate.
  std::string run_program(const Candidate& candidate, SearchEvidence& evidence,
                          const Cancellation& cancellation) const {
    if (!opened->capture || cancellation.requested()) return {};
    const auto compiled = compile_plan(*toolchain.compiler, candidate.source, candidate.plan,
                                       opened->device.device.architecture, cancellation);
    if (!compiled) return {};  // it was compiled for the search
    evidence.program = check_program(*opened, candidate, *compiled, installation,
                                     options.program_seconds, cancellation);
    if (!evidence.program->ran || evidence.program->same) return {};
    return "the program behaves differently with it, " + evidence.program->trouble;
  }

  // The candidate in the user's own files, and their own test of it. `speedup` is in words. Returns
  // what the test has against it.
  std::string hand_back(const Candidate& candidate, SearchEvidence& evidence,
                        const SearchConfig& config, const std::string& speedup,
                        const Cancellation& cancellation) const {
    const WinnerPatch patch = make_winner_patch(*opened, candidate, header_folders, speedup);
    evidence.hand_back = patch.report;
    if (config.check_command.empty() || cancellation.requested()) return {};
    const CheckRequest request{config.check_command, config.check_seconds, config.check_directory,
                               evaluator.measurer != nullptr};
    evidence.check = check_patch(request, patch, *opened, installation, cancellation);
    if (!evidence.check->ran || evidence.check->same) return {};
    return "with the patch '" + config.check_command + "' does something else, " +
           evidence.check->trouble;
  }

  [[nodiscard]] std::string verification_text(const SearchOutcome& outcome) const {
    const char* const place =
        opened->device.gpu || fleet.measurer() != nullptr ? " on the GPU" : "";
    std::string text =
        opened->problem.tests.empty()
            ? fmt::format("against the original at the bench size alone{}", place)
            : fmt::format(
                  "against the original on {} sizes with {} input distributions each, on "
                  "the PTX interpreter, and at the bench size{}",
                  opened->problem.tests.size(),
                  verify::choose_distributions(opened->problem).size(), place);
    const auto captured = std::ranges::count_if(opened->problem.tests, [&](const Symbols& test) {
      return opened->problem.captured_at(test) != nullptr;
    });
    if (captured > 0)
      text += fmt::format("; {} of the sizes with the program's own data", captured);
    if (outcome.verdict == SpeedVerdict::fast && outcome.confirmed)
      text += ", and once more with fresh inputs";
    if (outcome.improved() && !opened->other_sizes.empty())
      text += "; also as compiled for sizes that are no multiples of 16";
    return text;
  }
};

namespace {

// What is evaluated by a fleet is measured there or nowhere.
Result<ChosenDevice, SessionError> device_for(const DeviceRequest& request,
                                              const Installation& installation,
                                              const FleetAccess& fleet,
                                              const Cancellation& cancellation) {
  if (fleet.broker && !fleet.version.empty()) return choose_fleet_device(request, fleet.gpus);
  return choose_device(request, installation.gpu_worker(), cancellation);
}

}  // namespace

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>, SessionError> Session::open(const SessionOptions& options,
                                                             const Installation& installation,
                                                             const Cancellation& cancellation) {
  DeviceRequest wanted{options.device, "", options.evaluator};
  // A manifest does not depend on the device.
  if (options.open.fill_in && wanted.name.empty()) wanted = {kDefaultDevice, "", "model"};
  auto device = device_for(wanted, installation, options.fleet, cancellation);
  if (!device) return std::move(device).error();
  auto source = read_problem_source(options.problem);
  if (!source) return std::move(source).error();
  const bool is_triton = source->is_triton;
  auto state = State::make(installation, *device,
                           is_triton && options.graph.empty()
                               ? load_regraph(installation.shipped("triton.yaml"))
                               : load_graph(options.graph, installation));
  if (!state) return std::move(state).error();
  // A graph of one's own, or none that has learned, has no policy but one that is named.
  const bool own = (!options.graph.empty() || is_triton) && options.policy.empty();
  auto blob = find_policy(own ? kNoPolicy : options.policy, installation);
  if (!blob) return std::move(blob).error();
  (*state)->header_folders.assign(options.problem.include_directories.begin(),
                                  options.problem.include_directories.end());
  auto done = (*state)->prepare(std::move(*source), std::move(*device), options.evaluator,
                                std::move(*blob), options.open, options.fleet, cancellation);
  if (!done) return std::move(done).error();
  std::unique_ptr<Session> session(new Session(std::move(*state)));
  if (options.open.fill_in) session->look_at_original(cancellation);
  return session;
}

// A manifest for completion says what a search would stumble over.
void Session::look_at_original(const Cancellation& cancellation) {
  std::vector<std::string>& missing = state_->opened->to_fill_in;
  if (!missing.empty()) return;
  if (state_->options.on_phase) state_->options.on_phase("evaluating the original");
  const Evaluation evaluation = evaluate(original(), first_look(configuration()), cancellation);
  if (cancellation.requested() || evaluation.correct()) return;
  missing.push_back(
      fmt::format("the original: {}: {}", name(evaluation.verdict), evaluation.message));
}

Result<std::unique_ptr<Session>, SessionError> Session::reopen(const RunDescription& description,
                                                               const Installation& installation,
                                                               const Cancellation& cancellation,
                                                               const FleetAccess& fleet) {
  const SearchConfig& config = description.config;
  auto device = device_for({config.device, config.device_table, config.evaluator}, installation,
                           fleet, cancellation);
  if (!device) return std::move(device).error();
  auto source = recorded_problem_source(description);
  if (!source) return std::move(source).error();
  auto graph = description.graph.empty() ? Result<StepGraph>(StepGraph())
                                         : parse_regraph(description.graph, "the recorded ReGraph");
  auto state = State::make(installation, *device, std::move(graph));
  if (!state) return std::move(state).error();
  const OpenOptions options{false, config.seed, config.evaluation_wall_seconds};
  auto done = (*state)->prepare(std::move(*source), std::move(*device), config.evaluator,
                                {from_hexadecimal(description.policy), "the recorded policy"},
                                options, fleet, cancellation);
  if (!done) return std::move(done).error();
  (*state)->opened->problem.notes = description.notes;
  return std::unique_ptr<Session>(new Session(std::move(*state)));
}

const Problem& Session::problem() const {
  return state_->opened->problem;
}

const Candidate& Session::original() const {
  return state_->opened->original;
}

const DeviceSpec& Session::device() const {
  return state_->opened->device.device;
}

const StepGraph& Session::graph() const {
  return state_->graph;
}

const std::string& Session::policy() const {
  static const std::string kNone;
  return state_->policy ? state_->policy->bytes() : kNone;
}

const EdgeScorer* Session::scorer() const {
  return state_->policy ? &state_->policy->scorer() : nullptr;
}

const std::string& Session::evaluator_name() const {
  return state_->evaluator.name;
}

const OpenedProblem& Session::opened() const {
  return *state_->opened;
}

Result<Candidate> Session::read_candidate(const std::string& source,
                                          const Cancellation& cancellation) const {
  return read_candidate(source, problem().launch, {}, cancellation);
}

Result<Candidate> Session::read_candidate(const std::string& source, const LaunchPlan& plan,
                                          std::vector<std::string> assumptions,
                                          const Cancellation& cancellation) const {
  if (state_->opened->triton) {
    return read_triton_candidate(source, *state_->opened, state_->toolchain, std::move(assumptions),
                                 cancellation);
  }
  const CandidateReader reader(*state_->toolchain.compiler, state_->toolchain.front_end,
                               device().architecture);
  return reader.read(source, plan, problem().signature, std::move(assumptions), cancellation);
}

Evaluation Session::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                             const Cancellation& cancellation) const {
  return state_->judge().evaluate(candidate, budget, cancellation);
}

void Session::limit_threads(int threads) {
  state_->judge().limit_threads(threads);
}

KernelComparison Session::compare(const Candidate& candidate, const Cancellation& cancellation,
                                  ComparisonDepth depth) {
  KernelComparison comparison;
  const SearchConfig config = configuration();
  const EvaluationBudget first = first_look(config);
  std::optional<Evaluation>& known = state_->original_evaluation;
  if (known) {
    comparison.original = *known;
  } else {
    comparison.original = evaluate(original(), first, cancellation);
    if (!measures() && comparison.original.correct()) known = comparison.original;
  }
  comparison.candidate = evaluate(candidate, first, cancellation);
  if (!comparison.original.correct() || !comparison.candidate.correct()) return comparison;
  if (depth == ComparisonDepth::whole) {
    Evaluation again = evaluate(candidate, second_look(config), cancellation);
    if (!again.correct()) {
      comparison.candidate = std::move(again);
      return comparison;
    }
    std::string wrong = state_->wrong_elsewhere(candidate, comparison.notes, cancellation);
    if (!wrong.empty()) {
      comparison.candidate.verdict = Verdict::wrong_result;
      comparison.candidate.message = std::move(wrong);
      return comparison;
    }
  }
  comparison.confirmed = true;
  comparison.speedup = speedup_of(comparison.original.time, comparison.candidate.time);
  if (!measures() || depth == ComparisonDepth::once) {
    comparison.verdict = compare_times(comparison.candidate.time, comparison.original.time);
    return comparison;
  }
  AnswerTrial trial = try_answer(&candidate, false, cancellation);
  comparison.notes = std::move(trial.notes);
  if (!trial.measurement.speedup) return comparison;
  comparison.speedup = trial.measurement.speedup->cold;
  comparison.verdict = verdict_of(comparison.speedup);
  comparison.measured = std::move(trial.measurement.speedup);
  return comparison;
}

bool Session::measures() const {
  return state_->measurer() != nullptr;
}

Measurement Session::measurement() const {
  const Measurer* const measurer = state_->measurer();
  return measurer != nullptr ? measurer->measurement() : Measurement();
}

AnswerTrial Session::try_answer(const Candidate* answer, bool sanitize,
                                const Cancellation& cancellation) {
  Measurer* const measurer = state_->measurer();
  return measurer != nullptr ? measurer->try_answer(answer, sanitize, cancellation) : AnswerTrial();
}

const std::string& Session::fleet_lane() const {
  return state_->fleet.lane();
}

std::string Session::fleet_summary() const {
  return state_->fleet.summary();
}

SearchConfig Session::configuration() const {
  SearchConfig config;
  config.seed = state_->options.seed;
  config.evaluation_wall_seconds = state_->options.evaluation_seconds;
  config.device = device().name;
  config.device_table = state_->opened->device.table;
  config.evaluator = state_->evaluator.name;
  if (state_->policy) config.policy = state_->policy->scorer().description();
  return config;
}

Result<std::shared_ptr<const SessionExpander>, SessionError> Session::expander(
    const LanguageModelOptions& options, const SearchConfig& config, bool ask) const {
  const ExpanderPlace place{*state_->opened,
                            state_->graph,
                            state_->toolchain,
                            state_->judge(),
                            state_->installation,
                            config.seed,
                            config.evaluation_wall_seconds,
                            config.jobs,
                            state_->fleet.queue()};
  return make_expander(options, place, ask);
}

std::vector<std::string> Session::look_for_disturbances() {
  gpu::DisturbanceLog* const log = state_->evaluator.disturbances.get();
  return log != nullptr ? log->look(false) : std::vector<std::string>();
}

Result<SearchResult> Session::search(const SearchRequest& request) {
  const Cancellation never;
  const Cancellation& cancellation =
      request.cancellation != nullptr ? *request.cancellation : never;
  Evaluator& evaluator =
      request.evaluator != nullptr ? *request.evaluator : request.expander.evaluator();
  const EdgeScorer* own = request.graph == nullptr ? scorer() : nullptr;
  SearchResult result;
  auto evidence = std::make_shared<SearchEvidence>();
  const Objection objects = [&](const SearchOutcome& claimed) {
    return objection(claimed, request, *evidence, result.notes, cancellation);
  };
  auto outcome = run_search(original(), request.expander.expander(), evaluator,
                            request.graph != nullptr ? *request.graph : state_->graph,
                            request.config, request.observer, cancellation, request.journal,
                            request.scorer != nullptr ? request.scorer : own, objects);
  if (!outcome) return outcome.error();
  result.outcome = std::move(*outcome);
  SearchOutcome& found = result.outcome;
  // A run that goes on asks again.
  if (found.improved() && cancellation.requested()) found.stopped = StopReason::cancelled;
  std::set<std::string> objections;
  for (const FinalistRecord& finalist : found.finalists)
    if (!finalist.objection.empty()) objections.insert(finalist.objection);
  for (const std::string& one : objections)
    result.notes.push_back(
        (found.improved() ? "a faster candidate is passed over: " : "the answer is withdrawn: ") +
        one);
  if (const LanguageModel* model = request.expander.model()) evidence->model_use = model->use();
  if (measures() && !evidence->measurement)
    evidence->measurement = try_answer(nullptr, false, cancellation).measurement;
  result.evidence = evidence;
  result.verification = state_->verification_text(found);
  return result;
}

// All that has a say before a claim is made: the GPU once more, other sizes, the program, the
// user's own test. The evidence is of the last claim.
std::optional<std::string> Session::objection(const SearchOutcome& claimed,
                                              const SearchRequest& request,
                                              SearchEvidence& evidence,
                                              std::vector<std::string>& notes,
                                              const Cancellation& cancellation) {
  evidence = SearchEvidence();
  double speedup = std::exp(claimed.log_speedup);
  if (measures()) {
    AnswerTrial trial = try_answer(&claimed.best, request.sanitize, cancellation);
    evidence.measurement = std::move(trial.measurement);
    if (!trial.stands()) return trial.objections.front();
    notes.insert(notes.end(), trial.notes.begin(), trial.notes.end());
    if (evidence.measurement->speedup) speedup = evidence.measurement->speedup->cold.ratio;
  }
  std::string wrong = state_->wrong_elsewhere(claimed.best, notes, cancellation);
  if (!wrong.empty()) return wrong;
  wrong = state_->run_program(claimed.best, evidence, cancellation);
  if (!wrong.empty()) return wrong;
  const std::string text =
      fmt::format("{:.2f}x {}", speedup, evidence.measurement ? "measured" : "predicted");
  wrong = state_->hand_back(claimed.best, evidence, request.config, text, cancellation);
  if (!wrong.empty()) return wrong;
  return std::nullopt;
}

std::string Session::text(const SearchResult& result, const SearchConfig& config) const {
  return result_text(report(result, config, ""));
}

std::string Session::json(const SearchResult& result, const SearchConfig& config) const {
  return result_json(report(result, config, ""));
}

RunReport Session::report(const SearchResult& result, const SearchConfig& config,
                          const std::string& directory) const {
  return {problem(),
          result.outcome,
          config,
          device(),
          state_->evaluator.name,
          directory,
          result.verification,
          state_->opened->rewritable,
          state_->opened->opaque_reason,
          result.evidence->measurement,
          result.evidence->model_use,
          result.evidence->program,
          result.evidence->hand_back,
          result.evidence->check};
}

}  // namespace regraph
