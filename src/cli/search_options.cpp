#include "cli/search_options.h"

#include "cli/exit_codes.h"
#include "cli/man_page.h"
#include "cli/settings.h"
#include "search/searcher.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>

namespace regraph::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  regraph-search examples/sgemm/sgemm.cu --device h200
  regraph-search kernel.cu --init > kernel.regraph.yaml
  regraph-search --resume regraph-runs/sgemm-1
  regraph-search kernel.cu --device sm_90 --size N=8192 --block 32x8 --evaluations 200 --json

The problem (sizes, arguments, launch, checks) is read from --manifest, from kernel.regraph.yaml beside
the source or from its first comment (/*@regraph ... */); what they leave out is inferred from the
source and said aloud. Options not given are taken from the environment (REGRAPH_SEED, ...) and from
regraph.yaml. 'regraph-search doctor' says what works on this machine. Devices: a100, h100, h200, b200, an architecture such as sm_90,
or a file such as mygpu.yaml (docs/simulator.md; regraph-calibrate writes one).

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
constexpr std::string_view kWithResume[] = {"--resume",  "--jobs",  "--json",
                                            "--verbose", "--quiet", "--sanitizer"};

// Why the options do not go together, or nothing.
std::string misuse(const CLI::App& app, const SearchOptions& options) {
  if (options.resume.empty() && app.count("--resume") > 0) return "--resume: name a directory";
  if (options.resume.empty()) {
    const bool missing = options.kernel_file.empty() && options.export_graph.empty();
    if (missing) return "KERNEL.cu is required; try --help";
    return misuse(options.language_model);
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name(false, true);
    const bool allowed = std::ranges::any_of(
        kWithResume, [&](std::string_view known) { return name.find(known) != std::string::npos; });
    if (!allowed) {
      return "--resume continues a run with everything it was started with; " + option->get_name() +
             " cannot be given with it";
    }
  }
  return "";
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

}  // namespace

ParsedOptions parse_search_options(int argc, const char* const* argv) {
  ParsedOptions result;
  SearchOptions& options = result.options;
  CLI::App app{"Searches for a faster CUDA kernel that provably computes the same thing.",
               "regraph-search"};
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("regraph-search ") + REGRAPH_VERSION);
  app.add_option("KERNEL.cu", options.kernel_file, "CUDA source with the kernel");
  app.add_option(
      "--device", options.device,
      "GPU to optimise for: a name, an architecture or a .yaml file with its numbers (default: "
      "the one that is here)");
  app.add_option("--evaluator", options.evaluator,
                 "where times come from: gpu (measured; what the model puts far behind is not), "
                 "gpu-only (all measured), model (predicted), auto (gpu if it is the device)")
      ->check(CLI::IsMember({"auto", "gpu", "gpu-only", "model"}))
      ->capture_default_str();
  app.add_option("--sanitizer", options.sanitizer,
                 "measured answers are checked by compute-sanitizer: auto (where it is installed), "
                 "off")
      ->check(CLI::IsMember({"auto", "off"}))
      ->capture_default_str();
  std::vector<std::string> methods;
  std::string method_help = "search method";
  for (const SearchMethod& method : search_methods()) {
    methods.emplace_back(method.name);
    method_help += std::string(methods.size() == 1 ? ": " : "; ") + method.name + " (" +
                   method.description + ")";
  }
  app.add_option("--search", options.search, method_help)
      ->check(CLI::IsMember(methods))
      ->capture_default_str();
  app.add_option("--evaluations", options.evaluations,
                 "candidates to evaluate at most (default 60)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--time", options.time_seconds, "seconds to search at most")
      ->check(positive_seconds());
  app.add_option("--evaluation-time", options.evaluation_seconds,
                 "seconds one evaluation, or the check of the original, may take")
      ->check(positive_seconds())
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of everything random")->capture_default_str();
  app.add_option("--jobs", options.jobs, "parallel workers (default: processors)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--graph", options.graph,
                 "ReGraph to take priors from, YAML or ReGraphT's JSON (default: the shipped one)");
  app.add_option("--export-graph", options.export_graph,
                 "write that ReGraph to a file, .json as ReGraphT's or .yaml, and stop");
  app.add_option("--manifest", options.manifest, "problem manifest (default: KERNEL.regraph.yaml)");
  app.add_option("--kernel", options.kernel,
                 "kernel of the file to optimise, e.g. scale or 'scale<float, 4>'");
  app.add_option("-D,--define", options.defines, "macro for the source, e.g. TILE=16; repeatable")
      ->allow_extra_args(false);
  app.add_option("-I,--include-dir", options.include_directories,
                 "further folder for the source's own headers; repeatable")
      ->allow_extra_args(false);
  app.add_option("--size", options.sizes, "size symbol, e.g. N=4096; repeatable")
      ->allow_extra_args(false);
  app.add_option("--block", options.block, "block of the original launch, e.g. 32x8");
  app.add_option("--output", options.output,
                 "directory for results (default: regraph-runs/KERNEL-N)");
  app.add_option("--resume", options.resume,
                 "continue the run in this directory, whatever ended it; needs nothing else");
  app.add_flag("--json", options.json, "print the result as JSON");
  app.add_flag("--dry-run", options.dry_run,
               "check and evaluate the original, list the first steps, stop");
  app.add_flag("--init", options.init,
               "print the manifest with everything inferred, for editing, and stop");
  auto* verbose = app.add_flag("-v,--verbose", options.verbose, "one line an evaluation");
  app.add_flag("-q,--quiet", options.quiet, "no progress")->excludes(verbose);
  add_method_options(app, options.selection);
  add_language_model_options(app, options.language_model);
  std::string config;
  std::string shell;
  bool print_config = false;
  bool man = false;
  constexpr const char* kProgramGroup = "About this program";
  app.add_option("--config", config,
                 "settings file, one 'option: value' a line (default: ./regraph.yaml)")
      ->group(kProgramGroup);
  app.add_flag("--print-config", print_config,
               "print every setting and where it comes from, and stop")
      ->group(kProgramGroup);
  app.add_option("--completion", shell, "print a completion script, and stop")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group(kProgramGroup);
  app.add_flag("--man", man, "print the manual page, and stop")->group(kProgramGroup);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    result.exit_code = code == 0 ? 0 : kUsage;
    result.text = code == 0 ? out.str() : "regraph-search: " + err.str();
    return result;
  }
  const auto stop = [&](int exit_code, std::string text) {
    result.exit_code = exit_code;
    result.text = std::move(text);
    return result;
  };
  if (man) return stop(0, man_page(app, REGRAPH_VERSION));
  if (!shell.empty()) return stop(0, completion_script(app, shell));
  if (options.resume.empty()) {
    auto origins =
        complete_settings(app, config.empty() ? "regraph.yaml" : config, !config.empty());
    if (!origins) return stop(kUsage, "regraph-search: " + origins.error().message + "\n");
    if (print_config) return stop(0, settings_text(app, *origins));
  }
  if (const std::string message = misuse(app, options); !message.empty()) {
    result.exit_code = kUsage;
    result.text = "regraph-search: " + message + "\n";
  }
  return result;
}

}  // namespace regraph::cli
