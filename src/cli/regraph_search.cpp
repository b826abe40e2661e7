// regraph-search: takes a working CUDA kernel and returns a faster one that computes the same.
#include "cli/doctor.h"
#include "cli/dry_run.h"
#include "cli/heartbeat.h"
#include "cli/program.h"
#include "cli/program_commands.h"
#include "cli/program_mains.h"
#include "cli/search_capture.h"
#include "cli/search_options.h"
#include "fleet/chat_job.h"
#include "report/failed_steps.h"
#include "report/page/page.h"
#include "report/progress.h"
#include "report/refusals.h"
#include "report/run_report.h"
#include "session/evaluators.h"
#include "session/expanders.h"
#include "session/initial_manifest.h"
#include "session/load_graph.h"
#include "session/opened_problem.h"
#include "session/recorded_run.h"
#include "session/search_jobs.h"
#include "session/session.h"
#include "session/session_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace regraph::cli {
namespace {

constexpr int kDefaultEvaluations = 60;

SearchConfig config_of(const SearchOptions& options, const Session& session, int places) {
  SearchConfig config = session.configuration();
  config.searcher = options.search;
  config.selection = options.selection;
  config.budget.evaluations =
      options.evaluations.value_or(options.time_seconds > 0.0 ? 0 : kDefaultEvaluations);
  config.budget.wall_seconds = options.time_seconds;
  choose_jobs(options.jobs, places, config);
  config.learn = options.learn;
  configure_for(options.language_model, config);
  if (!options.check.empty()) {
    std::error_code ignored;
    config.check_command = options.check;
    config.check_directory = std::filesystem::current_path(ignored).string();
    config.check_seconds = options.check_seconds;
  }
  return config;
}

void show_notes(const OpenedProblem& opened, const SearchOptions& options) {
  if (options.quiet) return;
  for (const std::string& note : opened.problem.notes)
    say("note: " + note + "\n");
  for (const std::string& warning : opened.warnings)
    say("warning: " + warning + "\n");
  const ExpanderKind* kind = find_expander_kind(options.language_model.expander);
  if (!opened.rewritable && kind != nullptr && kind->rewrites)
    say("note: the built-in rewriter cannot work on this kernel: " + opened.opaque_reason + "\n");
}

// One search of a session, with every result in `run`.
class SearchCommand {
 public:
  SearchCommand(const Program& program, const SearchOptions& options, Session& session,
                RecordedRun& run, const SearchConfig& config, bool resumed, Heartbeat& heartbeat)
      : program_(program),
        options_(options),
        session_(session),
        run_(run),
        config_(config),
        resumed_(resumed),
        heartbeat_(heartbeat) {}

  int execute() {
    LanguageModelOptions asked = options_.language_model;
    if (asked.asks()) asked.spending_file = run_.directory() + "/language-model.jsonl";
    auto expander = session_.expander(asked, config_);
    if (!expander) {
      if (!resumed_) run_.abandon();
      return program_.fail(expander.error());
    }
    const auto result = search(**expander);
    if (!result) {
      if (result.error().cause == FailureCause::interrupted) return program_.fail(result.error());
      return program_.fail(
          {result.error().cause, session_.problem().source_path + ": " + result.error().message});
    }
    for (const std::string& note : result->notes)
      chat("note: " + note);
    if (const std::string fleet = session_.fleet_summary(); !fleet.empty()) chat(fleet);
    const FixedPathExpander* path = (*expander)->path();
    if (path != nullptr) {
      for (const std::string& failed : failed_steps(result->outcome))
        say("warning: --steps: " + failed + "\n");
    }
    const auto refusal = path != nullptr ? path->refusal() : std::nullopt;
    if (refusal) say("warning: --steps ends early: " + *refusal + "\n");
    return conclude(*result, (*expander)->model());
  }

 private:
  void chat(const std::string& text) const {
    if (!options_.quiet) say(text + "\n");
  }

  // Why steps are not among those that the original is offered.
  void show_refusals(const SessionExpander& expander) const {
    const rewrite::AstRewriter* rewriter = expander.rewriter();
    if (rewriter == nullptr || !session_.opened().rewritable) return;
    const Candidate& original = session_.original();
    say("not proposed for the original\n" +
        refusals_text(rewriter->refusals(original),
                      rewriter->propose(original, {}, program_.interrupted())));
  }

  Result<SearchResult, SessionError> search(const SessionExpander& expander) {
    const auto style = options_.verbose             ? ProgressReporter::Style::verbose_lines
                       : isatty(STDERR_FILENO) != 0 ? ProgressReporter::Style::terminal
                                                    : ProgressReporter::Style::lines;
    ProgressReporter progress(style, config_.budget, [&](const std::string& text) {
      if (!options_.quiet) say(text);
    });
    if (options_.verbose) show_refusals(expander);
    // On a terminal the live line says it.
    if (style == ProgressReporter::Style::terminal) heartbeat_.stop();
    heartbeat_.phase("searching");
    progress.tell_also([&](const std::string& status) { heartbeat_.progress(status); });
    const LanguageModel* model = expander.model();
    if (model != nullptr) progress.show_also([model] { return model_use_live(model->use().chat); });
    for (const std::string& one : session_.look_for_disturbances())
      chat("warning: timings may be disturbed: " + one);
    auto result = run_.search(session_, {config_, expander, &progress, nullptr,
                                         options_.sanitizer != "off", &program_.interrupted()});
    progress.finish();
    return result;
  }

  // Says, writes and prints what was found.
  int conclude(const SearchResult& result, const LanguageModel* model) {
    if (model != nullptr && !model->complaint().empty())
      say("warning: " + model->complaint() + "\n");
    const RunReport report = session_.report(result, config_, run_.directory());
    const bool stopped = result.outcome.stopped == StopReason::cancelled;
    const int exit_code = exit_code_for(report, model);
    if (exit_code == kNoAnswer) {
      program_.say("the language model never answered: " + report.model_use->chat.first_failure);
    }
    const FinishedRun finished{exit_code, run_.directory(), result_text(report),
                               result_json(report)};
    const auto kept = run_.finish(report, finished);
    if (!kept) return program_.fail(kept.error());
    if (!kept->empty()) say("warning: " + *kept + "\n");
    if (stopped) chat("stopped; to go on: regraph-search --resume " + run_.directory());
    return program_.print(options_.json ? finished.json : finished.text, exit_code);
  }

  [[nodiscard]] int exit_code_for(const RunReport& report, const LanguageModel* model) const {
    if (report.outcome.stopped == StopReason::cancelled) return kInterrupted;
    if (report.outcome.improved()) return kImproved;
    const ExpanderKind* kind = find_expander_kind(options_.language_model.expander);
    const bool alone = kind != nullptr && !kind->rewrites;
    return model != nullptr && model->never_answered() && alone ? kNoAnswer : kNoImprovement;
  }

  const Program& program_;
  const SearchOptions& options_;
  Session& session_;
  RecordedRun& run_;
  const SearchConfig& config_;
  const bool resumed_;
  Heartbeat& heartbeat_;
};

// The fleet, once it is said what is missing there.
Result<ConnectedFleet, SessionError> fleet_for(const Program& program,
                                               const SearchOptions& options) {
  auto fleet = fleet_of(program, options.fleet, options.quiet);
  const LanguageModelOptions& model = options.language_model;
  if (!fleet || !fleet->broker || options.quiet || options.dry_run || !model.asks() ||
      !model.asks_fleet())
    return fleet;
  const std::string trouble = trouble_with_model(*fleet, model.model);
  if (!trouble.empty()) program.say(trouble);
  return fleet;
}

// The shipped policy has learned from the rewriter's steps only, so a search that asks a language
// model has it where it is named.
SessionOptions session_options(const SearchOptions& options) {
  SessionOptions result = options.session;
  if (result.policy.empty() && options.language_model.asks()) result.policy = kNoPolicy;
  return result;
}

int start(const Program& program, const SearchOptions& options, Heartbeat& heartbeat) {
  SessionOptions opening = session_options(options);
  auto fleet = fleet_for(program, options);
  if (!fleet) return program.fail(fleet.error());
  opening.fleet = fleet->access;
  opening.open.on_phase = [&](const std::string& what) { heartbeat.phase(what); };
  auto session = Session::open(opening, program.installation(), program.interrupted());
  if (!session) {
    SessionError error = std::move(session).error();
    if (options.quiet) error.notes.clear();
    return program.fail(error);
  }
  Session& ready = **session;
  if (options.session.open.fill_in) return program.print(initial_manifest(ready.opened()), 0);
  show_notes(ready.opened(), options);
  const SearchConfig config = config_of(options, ready, places_for(*fleet, ready.fleet_lane()));
  if (options.dry_run) {
    heartbeat.phase("evaluating the original");
    auto text = dry_run(ready, options, config, program.interrupted());
    return text ? program.print(*text, kImproved) : program.fail(text.error());
  }
  auto run = RecordedRun::begin(ready, config, options.jobs > 0, options.output);
  if (!run) return program.fail(run.error());
  return SearchCommand(program, options, ready, **run, config, false, heartbeat).execute();
}

int resume(const Program& program, SearchOptions options, Heartbeat& heartbeat) {
  auto run = RecordedRun::open(options.resume);
  if (!run) return program.fail(run.error());
  const auto finished = (*run)->finished();
  if (!finished) return program.fail(finished.error());
  // Elsewhere the paths in it are wrong, and the result is made again from what is recorded.
  if (*finished && (*finished)->directory == options.resume) {
    return program.print(options.json ? (*finished)->json : (*finished)->text,
                         (*finished)->exit_code);
  }
  const RunDescription& description = (*run)->description();
  auto asked = read_language_model_settings(description.config.expander_settings);
  if (!asked) {
    return program.fail(usage(
        options.resume +
        ": the settings of the language model cannot be read; another version made this run"));
  }
  options.language_model = std::move(*asked);
  heartbeat.phase("opening the run's problem and checking the original");
  const auto fleet = fleet_for(program, options);
  if (!fleet) return program.fail(fleet.error());
  auto session =
      Session::reopen(description, program.installation(), program.interrupted(), fleet->access);
  if (!session) return program.fail(session.error());
  show_notes((*session)->opened(), options);
  SearchConfig config = description.config;
  if (options.jobs > 0 || !description.jobs_chosen)
    choose_jobs(options.jobs, places_for(*fleet, (*session)->fleet_lane()), config);
  if (!options.quiet)
    say(fmt::format("resumed: {} evaluations are known already\n", (*run)->evaluations()));
  return SearchCommand(program, options, **session, **run, config, true, heartbeat).execute();
}

// Writes the page of a run that is there, and prints where it is.
int write_report(const Program& program, const std::string& directory) {
  const std::filesystem::path page = std::filesystem::path(directory) / "report.html";
  Status written = write_page(directory);
  if (written) return program.print(page.string() + "\n", 0);
  std::error_code ignored;
  const bool badly_chosen =
      ::access(directory.c_str(), W_OK) != 0 || std::filesystem::is_directory(page, ignored);
  if (written.error().code == ErrorCode::io && badly_chosen) {
    return program.fail(usage("--report " + directory + ": " + written.error().message +
                              "; the page is written into the folder of the run: make that "
                              "writable, or copy it elsewhere and name the copy"));
  }
  return program.fail(session_error(std::move(written).error()));
}

int doctor(const Program& program) {
  const std::vector<Finding> findings =
      examine_machine(program.installation(), program.interrupted());
  const bool broken = std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.level == Finding::Level::broken; });
  return program.print(findings_text(findings), broken ? kNoDevice : 0);
}

int run(int argc, char** argv) {
  const Program program("regraph-search", argv[0]);
  std::vector<std::string> arguments(argv, argv + argc);
  const auto commands = take_commands(arguments);
  std::vector<const char*> words;
  words.reserve(arguments.size());
  for (const std::string& argument : arguments)
    words.push_back(argument.c_str());
  ParsedOptions parsed = parse_search_options(static_cast<int>(words.size()), words.data());
  if (parsed.exit_code) {
    if (*parsed.exit_code == 0) return program.print(parsed.text, 0);
    say(parsed.text);
    return *parsed.exit_code;
  }
  SearchOptions& options = parsed.options;
  std::error_code absent;
  if (options.session.problem.kernel_file == "doctor" &&
      !std::filesystem::exists("doctor", absent)) {
    return doctor(program);
  }
  Heartbeat heartbeat(!options.quiet);
  if (!options.report.empty()) return write_report(program, options.report);
  if (!options.resume.empty()) return resume(program, options, heartbeat);
  if (!options.export_graph.empty()) {
    const Status written =
        export_graph(options.session.graph, options.export_graph, program.installation());
    return written ? 0 : program.fail(usage(written.error().message));
  }
  if (options.language_model.asks_fleet()) options.language_model.occasion = fleet::new_occasion();
  if (!options.dry_run && !options.session.open.fill_in) {
    if (auto possible = RecordedRun::try_to_begin(options.output); !possible)
      return program.fail(possible.error());
  }
  if (!commands.empty()) {
    if (!options.session.problem.kernel_file.ends_with(".cu"))
      return program.fail(
          usage("-- is followed by arguments of a program that is built of a .cu "
                "file; a program that is built already is captured with "
                "regraph-capture"));
    heartbeat.phase("building and running " + options.session.problem.kernel_file);
    if (auto captured = capture_first(program, commands, options); !captured)
      return program.fail(captured.error());
  }
  return start(program, options, heartbeat);
}

}  // namespace
int search_main(int argc, char** argv) {
  return guarded("regraph-search", argc, argv, run);
}

}  // namespace regraph::cli
