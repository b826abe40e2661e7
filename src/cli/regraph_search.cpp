// regraph-search: takes a working CUDA kernel and returns a faster one that computes the same.
#include "cli/doctor.h"
#include "cli/dry_run.h"
#include "cli/exit_codes.h"
#include "cli/language_model_setup.h"
#include "cli/load_graph.h"
#include "cli/measured_answer.h"
#include "cli/resume.h"
#include "cli/search_options.h"
#include "cli/search_setup.h"
#include "eval/gpu/driver/gpu_disturbances.h"
#include "eval/verify/inputs.h"
#include "kernel/manifest.h"
#include "report/progress.h"
#include "report/run_directory.h"
#include "report/run_report.h"
#include "rewrite/ast_rewriter.h"
#include "search/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

namespace regraph::cli {
namespace {

// Set from the signal handler, hence global; everything else gets it passed.
Cancellation g_interrupted;

extern "C" void on_signal(int number) {
  if (g_interrupted.requested()) {
    // Asked twice: leave at once, with the default action of the signal.
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  g_interrupted.request();
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

constexpr int kDefaultEvaluations = 60;

int default_jobs() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

SearchConfig config_of(const SearchOptions& options, const SearchSetup& setup) {
  SearchConfig config;
  config.searcher = options.search;
  config.selection = options.selection;
  config.seed = options.seed;
  config.budget.evaluations =
      options.evaluations.value_or(options.time_seconds > 0.0 ? 0 : kDefaultEvaluations);
  config.budget.wall_seconds = options.time_seconds;
  config.jobs = options.jobs > 0 ? options.jobs : default_jobs();
  config.evaluation_wall_seconds = options.evaluation_seconds;
  config.device = setup.device.name;
  config.device_table = setup.device_table;
  config.evaluator = setup.evaluator_name;
  config.expander_settings = settings_of(options.language_model);
  if (options.language_model.asks()) {
    config.extra_workers = options.language_model.in_flight;
    config.window = std::max(config.window, options.language_model.in_flight);
    config.expansions_first = false;
  }
  return config;
}

std::string verification_text(const SearchSetup& setup, const SearchOutcome& outcome,
                              bool improved) {
  std::string text = fmt::format(
      "against the original on {} sizes with {} input distributions each, on the PTX interpreter{}",
      setup.problem.tests.size(), verify::choose_distributions(setup.problem).size(),
      setup.gpu ? " and on the GPU; what timed launches left at the bench size, too" : "");
  if (improved && outcome.confirmed) text += ", and once more with fresh inputs";
  return text;
}

// Ends the program's one output. A reader that went away or a full disk must not look like success.
int print(const std::string& text, int exit_code) {
  const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (written) return exit_code;
  say("regraph-search: the result could not be written to standard output\n");
  return kInternalError;
}

int interrupted() {
  say("regraph-search: interrupted\n");
  return kInterrupted;
}

// The effective manifest, with what was assumed and what is missing as comments.
std::string initial_manifest(const SearchSetup& setup) {
  std::string text = fmt::format("# Problem of {}\n", setup.problem.source_path);
  for (const std::string& missing : setup.to_fill_in)
    text += "# FILL IN " + missing + "\n";
  for (const std::string& note : setup.problem.notes)
    text += "# assumed: " + note + "\n";
  if (!setup.opaque_reason.empty()) {
    std::string reason = setup.opaque_reason;
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    text += "# the built-in rewriter cannot work on this kernel: " + reason + "\n";
  }
  return text + write_manifest(setup.problem, setup.problem.launch);
}

void show_notes(const SearchSetup& setup, const SearchOptions& options) {
  if (options.quiet) return;
  for (const std::string& note : setup.problem.notes)
    say("note: " + note + "\n");
  for (const std::string& warning : setup.warnings)
    say("warning: " + warning + "\n");
  if (!setup.rewritable && options.language_model.expander != "llm") {
    say("note: the built-in rewriter cannot work on this kernel: " + setup.opaque_reason + "\n");
  }
}

// Searches, or goes on searching, with every result in `database`.
int search(const SearchSetup& setup, const SearchOptions& options, const SearchConfig& config,
           const std::string& directory, std::unique_ptr<RunDatabase> database, bool resumed) {
  const rewrite::AstRewriter rewriter(setup.problem, limits_of(setup.device));
  const LanguageModelPlace place{
      setup, rewriter, options.program, config.seed, config.evaluation_wall_seconds, config.jobs};
  std::unique_ptr<LanguageModel> model;
  if (options.language_model.asks()) {
    auto made = set_up_language_model(options.language_model, place, true);
    if (const auto* failed = std::get_if<SetupFailure>(&made)) {
      if (!resumed) {
        database.reset();
        RunDatabase::remove(directory);
        abandon_run_directory(directory);
      }
      say("regraph-search: " + failed->message + "\n");
      return failed->exit_code;
    }
    model = std::move(std::get<std::unique_ptr<LanguageModel>>(made));
  }
  const Expander& expander = model ? static_cast<const Expander&>(model->expander()) : rewriter;
  Evaluator& evaluator = model ? model->evaluator() : *setup.evaluator;
  const auto style = options.verbose              ? ProgressReporter::Style::verbose_lines
                     : isatty(STDERR_FILENO) != 0 ? ProgressReporter::Style::terminal
                                                  : ProgressReporter::Style::lines;
  ProgressReporter progress(style, config.budget, [&](const std::string& text) {
    if (!options.quiet) say(text);
  });
  if (model) progress.show_also([&] { return model_use_live(model->use().chat); });
  gpu::DisturbanceLog gpus(setup.gpu_bus_ids, gpu::nvml_candidates());
  for (const std::string& one : gpus.look(false)) {
    if (!options.quiet) say("warning: timings may be disturbed: " + one + "\n");
  }
  auto outcome = run_search(setup.problem, setup.original, expander, evaluator, setup.graph, config,
                            &progress, g_interrupted, database.get());
  progress.finish();
  if (!outcome) {
    const SetupFailure failed = explain(outcome.error(), directory);
    // Nothing was recorded, or nothing that would end differently the next time.
    if (!resumed && outcome.error().code != ErrorCode::io) {
      database.reset();
      RunDatabase::remove(directory);
      abandon_run_directory(directory);
    }
    if (failed.exit_code == kInterrupted) return interrupted();
    say("regraph-search: " + setup.problem.source_path + ": " + failed.message + "\n");
    return failed.exit_code;
  }
  RunReport report{setup.problem,        *outcome,  config, setup.device,
                   setup.evaluator_name, directory, "",     setup.rewritable,
                   setup.opaque_reason};
  if (model) {
    report.model_use = model->use();
    if (const std::string complaint = model->complaint(); !complaint.empty())
      say("warning: " + complaint + "\n");
  }
  if (setup.gpu_evaluator != nullptr) {
    MeasuredAnswer measured =
        measure_answer(setup, options.sanitizer != "off", *outcome, gpus, g_interrupted);
    report.measurement = std::move(measured.measurement);
    for (const std::string& note : measured.notes) {
      if (!options.quiet) say("note: " + note + "\n");
    }
  }
  report.verification = verification_text(setup, *outcome, report.improved());
  const bool stopped = outcome->stopped == StopReason::cancelled;
  const bool silent = model && model->never_answered() && options.language_model.expander == "llm";
  const int exit_code = stopped             ? kInterrupted
                        : report.improved() ? kImproved
                        : silent            ? kNoAnswer
                                            : kNoImprovement;
  if (exit_code == kNoAnswer) {
    say(fmt::format("regraph-search: the language model never answered: {}\n",
                    report.model_use->chat.first_failure));
  }
  const FinishedRun finished{exit_code, directory, result_text(report), result_json(report)};
  Status kept = write_run_directory(report);
  if (kept && !stopped) kept = database->record_finished(finished);
  if (!kept) {
    say("regraph-search: " + explain({ErrorCode::io, kept.error().message}, directory).message +
        "\n");
    return kInternalError;
  }
  if (stopped && !options.quiet) {
    say("stopped; to go on: regraph-search --resume " + directory + "\n");
  }
  return print(options.json ? finished.json : finished.text, exit_code);
}

int start(const SearchSetup& setup, const SearchOptions& options) {
  const SearchConfig config = config_of(options, setup);
  if (options.dry_run) {
    const rewrite::AstRewriter rewriter(setup.problem, limits_of(setup.device));
    const LanguageModelPlace place{
        setup, rewriter, options.program, config.seed, config.evaluation_wall_seconds, config.jobs};
    auto text = dry_run(options, config, place, g_interrupted);
    if (const auto* failed = std::get_if<SetupFailure>(&text)) {
      if (failed->exit_code == kInterrupted) return interrupted();
      say("regraph-search: " + failed->message + "\n");
      return failed->exit_code;
    }
    return print(std::get<std::string>(text), kImproved);
  }
  auto directory = create_run_directory(options.output, setup.problem.signature.name);
  if (!directory) {
    say("regraph-search: " + directory.error().message + "\n");
    return directory.error().code == ErrorCode::invalid_argument ? kUsage : kInternalError;
  }
  auto database = RunDatabase::create(*directory, describe_run(setup, config, options.jobs > 0));
  if (!database) {
    abandon_run_directory(*directory);
    say("regraph-search: " + database.error().message + "\n");
    return database.error().code == ErrorCode::invalid_argument ? kUsage : kInternalError;
  }
  return search(setup, options, config, directory->string(), std::move(*database), false);
}

int resume(SearchOptions options) {
  auto opened = open_run(options.resume);
  if (const auto* failed = std::get_if<SetupFailure>(&opened)) {
    say("regraph-search: " + failed->message + "\n");
    return failed->exit_code;
  }
  auto database = std::move(std::get<std::unique_ptr<RunDatabase>>(opened));
  const auto finished = database->finished();
  if (!finished) {
    const SetupFailure failed = explain(finished.error(), options.resume);
    say("regraph-search: " + failed.message + "\n");
    return failed.exit_code;
  }
  // Elsewhere the paths in it are wrong, and the result is made again from what is recorded.
  if (*finished && (*finished)->directory == options.resume) {
    return print(options.json ? (*finished)->json : (*finished)->text, (*finished)->exit_code);
  }
  auto asked = read_language_model_settings(database->description().config.expander_settings);
  if (!asked) {
    say("regraph-search: " + options.resume +
        ": the settings of the language model cannot be read; another version made this run\n");
    return kUsage;
  }
  options.language_model = std::move(*asked);
  auto setup = set_up_again(database->description(), options.program, g_interrupted);
  if (const auto* failed = std::get_if<SetupFailure>(&setup)) {
    say("regraph-search: " + failed->message + "\n");
    return failed->exit_code;
  }
  const SearchSetup& ready = *std::get<std::unique_ptr<SearchSetup>>(setup);
  show_notes(ready, options);
  SearchConfig config = database->description().config;
  if (options.jobs > 0) {
    config.jobs = options.jobs;
  } else if (!database->description().jobs_chosen) {
    config.jobs = default_jobs();
  }
  if (!options.quiet) {
    const auto known = database->measurements();
    say(fmt::format("resumed: {} evaluations are known already\n", known ? *known : 0));
  }
  return search(ready, options, config, options.resume, std::move(database), true);
}

int run(int argc, char** argv) {
  ParsedOptions parsed = parse_search_options(argc, argv);
  if (parsed.exit_code) {
    if (*parsed.exit_code == 0) return print(parsed.text, 0);
    say(parsed.text);
    return *parsed.exit_code;
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = error ? argv[0] : self.string();
  std::error_code absent;
  if (parsed.options.kernel_file == "doctor" && !std::filesystem::exists("doctor", absent)) {
    const std::vector<Finding> findings = examine_machine(program, g_interrupted);
    const bool broken = std::ranges::any_of(
        findings, [](const Finding& finding) { return finding.level == Finding::Level::broken; });
    return print(findings_text(findings), broken ? kNoDevice : 0);
  }
  parsed.options.program = program;
  if (!parsed.options.resume.empty()) return resume(parsed.options);
  if (!parsed.options.export_graph.empty()) {
    const Status written = export_graph(parsed.options.graph, parsed.options.export_graph, program);
    if (!written) say("regraph-search: " + written.error().message + "\n");
    return written ? 0 : kUsage;
  }
  auto setup = set_up_search(parsed.options, program, g_interrupted);
  if (const auto* failed = std::get_if<SetupFailure>(&setup)) {
    say("regraph-search: " + failed->message + "\n");
    return failed->exit_code;
  }
  const SearchSetup& ready = *std::get<std::unique_ptr<SearchSetup>>(setup);
  if (parsed.options.init) return print(initial_manifest(ready), 0);
  show_notes(ready, parsed.options);
  return start(ready, parsed.options);
}

}  // namespace
}  // namespace regraph::cli

int main(int argc, char** argv) {
  std::signal(SIGINT, regraph::cli::on_signal);
  std::signal(SIGTERM, regraph::cli::on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error like a full disk
  try {
    return regraph::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(
        "regraph-search: out of memory; does a test size or a grid in the manifest ask for more "
        "than "
        "this machine has? Give smaller 'tests'\n",
        stderr);
    return regraph::cli::kInternalError;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "regraph-search: internal error: %s\n", error.what());
    return regraph::cli::kInternalError;
  }
}
