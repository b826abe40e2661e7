#include "cli/search_options.h"

#include "cli/kinds.h"
#include "cli/language_model_flags.h"
#include "cli/man_page.h"
#include "cli/problem_flags.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "eval/model/device.h"
#include "search/searcher.h"
#include "session/evaluators.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

namespace regraph::cli {
namespace {

// The devices of the model's tables, as a list for people.
std::string device_names() {
  std::vector<std::string_view> measured;
  for (const DeviceSpec& device : known_devices()) {
    if (doubts_about(device).empty()) measured.push_back(device.name);
  }
  return fmt::format(
      "{}\n(measured: {}; the others' numbers are from data sheets and published benchmarks)",
      fmt::join(names(known_devices()), ", "), fmt::join(measured, ", "));
}

constexpr const char* kFooter = R"(Examples:
  regraph-search examples/sgemm/sgemm.cu --device h200
  regraph-search kernel.cu --init > kernel.regraph.yaml
  regraph-search main.cu --device h200 -- its arguments    (builds and captures the program first)
  regraph-search main.cu --device h200 --check "make && ./test"  (asks your own test of the patched file)
  regraph-search loops.cpp --function saxpy --device h200  (makes a kernel of sequential C++)
  regraph-search regraph-capture/sgemm --device h200       (a folder that regraph-capture made)
  regraph-search --resume regraph-runs/sgemm-1
  regraph-search --report regraph-runs/sgemm-1             (writes its page, report.html)
  regraph-search kernel.cu --device sm_90 --size N=8192 --block 32x8 --evaluations 200 --json

The problem (sizes, arguments, launch, checks) is read from --manifest, from kernel.regraph.yaml beside
the source or from its first comment (/*@regraph ... */); what they leave out is inferred from the
source and said aloud. Options not given are taken from the environment (REGRAPH_SEED, ...) and from
regraph.yaml. 'regraph-search doctor' says what works on this machine.
Devices: {};
an architecture such as sm_90; or a file such as mygpu.yaml (docs/simulator.md; regraph-calibrate writes one).

Exit codes: 0 improved, 1 internal error, 2 usage, 3 no improvement, 4 no usable kernel or the original
fails, 5 no device or CUDA toolkit, 6 the language model never answered, 130 interrupted.)";

// CLI11's own check would answer with the largest number there is, digit by digit.
CLI::Validator positive_seconds() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        double value = 0.0;
        const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        return number && value > 0.0 ? "" : "'" + text + "' is not a number of seconds above 0";
      },
      "SECONDS");
}

// What a resumed run may be told anew; everything else is the run's own and decides its answer.
constexpr std::string_view kWithResume[] = {"--resume",
                                            "--jobs",
                                            "--json",
                                            "--verbose",
                                            "--quiet",
                                            "--sanitizer",
                                            "--fleet",
                                            "--fleet-for",
                                            "--fleet-token",
                                            "--fleet-ca",
                                            "--fleet-certificate",
                                            "--fleet-key"};

// The first option that was given beside those, or null.
const CLI::Option* given_beside(const CLI::App& app, std::span<const std::string_view> allowed) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name(false, true);
    const bool known = std::ranges::any_of(
        allowed, [&](std::string_view one) { return name.find(one) != std::string::npos; });
    if (!known) return option;
  }
  return nullptr;
}

// Why the options do not go together, or nothing.
std::string misuse(const CLI::App& app, const SearchOptions& options) {
  if (app.count("--report") > 0) {
    if (options.report.empty()) return "--report: name a directory";
    constexpr std::string_view kWithReport[] = {"--report", "--quiet", "--fleet"};
    const CLI::Option* other = given_beside(app, kWithReport);
    if (other == nullptr) return "";
    return "--report writes the page of a run that is there; " + other->get_name() +
           " cannot be given with it";
  }
  if (options.resume.empty() && app.count("--resume") > 0) return "--resume: name a directory";
  if (options.resume.empty()) {
    const bool missing =
        options.session.problem.kernel_file.empty() && options.export_graph.empty();
    if (missing) return "KERNEL.cu is required; try --help";
    return cli::misuse(options.language_model);
  }
  const CLI::Option* other = given_beside(app, kWithResume);
  if (other == nullptr) return "";
  return "--resume continues a run with everything it was started with; " + other->get_name() +
         " cannot be given with it";
}

void add_method_options(CLI::App& app, SelectionConfig& selection) {
  constexpr const char* kGroup = "Search methods";
  constexpr double kLargest = 1e6;
  const auto number = [&](const char* name, double& value, double most, const char* what) {
    app.add_option(name, value, what)
        ->check(CLI::Range(0.0, most))
        ->capture_default_str()
        ->group(kGroup);
  };
  app.add_option("--beam-width", selection.beam_width, "beam: states kept of a level")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str()
      ->group(kGroup);
  number("--random-restart", selection.random_restart, 1.0,
         "random: chance of going back to the original before a step");
  ReGraphTConfig& regrapht = selection.regrapht;
  number("--regrapht-exploration", regrapht.exploration, kLargest,
         "regrapht: c in Q(s) + sqrt(c ln N(s') / N(s))");
  number("--regrapht-epsilon", regrapht.epsilon, 1.0,
         "regrapht: share of rollout steps drawn at random");
  number("--regrapht-penalty", regrapht.penalty, kLargest,
         "regrapht: lambda in the rollout's Q(s,a) - lambda N(s,a)");
  app.add_option("--regrapht-rollout", regrapht.rollout_steps,
                 "regrapht: steps of a rollout at most")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->group(kGroup);
}

void add_target_options(CLI::App& app, SearchOptions& options) {
  SessionOptions& session = options.session;
  app.add_option("KERNEL.cu", session.problem.kernel_file,
                 "CUDA source with the kernel, C++ with a sequential function, or a folder that "
                 "regraph-capture made");
  add_device_options(app, session);
  app.add_option("--sanitizer", options.sanitizer,
                 "measured answers are checked by compute-sanitizer: auto (where it is installed), "
                 "off")
      ->check(CLI::IsMember({"auto", "off"}))
      ->capture_default_str();
}

void add_search_options(CLI::App& app, SearchOptions& options) {
  SessionOptions& session = options.session;
  app.add_option("--search", options.search, "search method: " + described(search_methods()))
      ->check(CLI::IsMember(names(search_methods())))
      ->capture_default_str();
  app.add_option("--evaluations", options.evaluations,
                 "candidates to evaluate at most (default 60)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--time", options.time_seconds, "seconds to search at most")
      ->check(positive_seconds());
  app.add_option("--evaluation-time", session.open.evaluation_seconds,
                 "seconds one evaluation, or the check of the original, may take")
      ->check(positive_seconds())
      ->capture_default_str();
  app.add_option("--seed", session.open.seed, "seed of everything random")->capture_default_str();
  app.add_option("--jobs", options.jobs, "parallel workers (default: processors)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--graph", session.graph,
                 "ReGraph to take priors from: YAML, ReGraphT's JSON, or 'published' for the "
                 "shipped one without what it has learned (default: the shipped one)");
  app.add_option("--policy", session.policy,
                 "policy that corrects the ReGraph's priors: a file of regraph-train, or 'none' "
                 "(default: the shipped one, with the shipped ReGraph and the rewriter alone)");
  app.add_flag("--learn,!--no-learn", options.learn,
               "priors follow what this search itself finds out (default: they do not)");
  app.add_option("--export-graph", options.export_graph,
                 "write that ReGraph to a file, .json as ReGraphT's or .yaml, and stop");
}

void add_output_options(CLI::App& app, SearchOptions& options) {
  app.add_option("--output", options.output,
                 "directory for results (default: regraph-runs/KERNEL-N)");
  app.add_option("--resume", options.resume,
                 "continue the run in this directory, whatever ended it; needs nothing else");
  app.add_option("--report", options.report,
                 "write the page of the run in this directory, report.html in it, and stop; every "
                 "run writes its own");
  app.add_option("--check", options.check,
                 "shell command that builds and tests your program, e.g. 'make && ./test': run in "
                 "a copy of its folder without and with the patch");
  app.add_option("--check-seconds", options.check_seconds,
                 "seconds that the command of --check may take, each time")
      ->check(positive_seconds())
      ->capture_default_str();
  app.add_flag("--json", options.json, "print the result as JSON");
  app.add_flag("--dry-run", options.dry_run,
               "check and evaluate the original, list the first steps, stop");
  app.add_flag("--init", options.session.open.fill_in,
               "print the manifest with everything inferred, for editing, and stop");
  auto* verbose = app.add_flag("-v,--verbose", options.verbose,
                               "one line an evaluation; first, why steps are not proposed");
  app.add_flag("-q,--quiet", options.quiet, "no progress")->excludes(verbose);
}

// What the program may be asked about itself.
struct AboutOptions {
  std::string config;
  std::string shell;
  bool print_config = false;
  bool man = false;
};

void add_about_options(CLI::App& app, AboutOptions& about) {
  constexpr const char* kProgramGroup = "About this program";
  app.add_option("--config", about.config,
                 "settings file, one 'option: value' a line (default: ./regraph.yaml)")
      ->group(kProgramGroup);
  app.add_flag("--print-config", about.print_config,
               "print every setting and where it comes from, and stop")
      ->group(kProgramGroup);
  app.add_option("--completion", about.shell, "print a completion script, and stop")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group(kProgramGroup);
  app.add_flag("--man", about.man, "print the manual page, and stop")->group(kProgramGroup);
}

ParsedOptions ended(ParsedOptions& result, int exit_code, std::string text) {
  result.exit_code = exit_code;
  result.text = std::move(text);
  return std::move(result);
}

}  // namespace

ParsedOptions parse_search_options(int argc, const char* const* argv) {
  ParsedOptions result;
  SearchOptions& options = result.options;
  AboutOptions about;
  CLI::App app{"Searches for a faster CUDA kernel that provably computes the same thing.",
               "regraph-search"};
  app.footer(fmt::format(fmt::runtime(kFooter), device_names()));
  app.set_version_flag("--version", std::string("regraph-search ") + REGRAPH_VERSION);
  add_target_options(app, options);
  add_search_options(app, options);
  add_problem_options(app, options.session.problem);
  add_output_options(app, options);
  add_method_options(app, options.selection);
  add_language_model_options(app, options.language_model);
  add_fleet_options(app, options.fleet);
  add_fleet_purpose(app, options.fleet);
  add_about_options(app, about);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    if (app.exit(error, out, err) == 0) return ended(result, 0, out.str());
    return ended(result, kUsage, "regraph-search: " + err.str());
  }
  if (about.man) return ended(result, 0, man_page(app, REGRAPH_VERSION));
  if (!about.shell.empty()) return ended(result, 0, completion_script(app, about.shell));
  if (options.resume.empty() && options.report.empty()) {
    const bool given = !about.config.empty();
    auto origins = complete_settings(app, given ? about.config : "regraph.yaml", given);
    if (!origins) return ended(result, kUsage, "regraph-search: " + origins.error().message + "\n");
    if (about.print_config) return ended(result, 0, settings_text(app, *origins));
  }
  if (const std::string message = misuse(app, options); !message.empty())
    return ended(result, kUsage, "regraph-search: " + message + "\n");
  return result;
}

}  // namespace regraph::cli
