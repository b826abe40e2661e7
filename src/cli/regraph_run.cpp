// regraph-run: what a kernel leaves of given data, on the interpreter.
#include "cli/problem_flags.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "eval/model/device.h"
#include "session/run_on_data.h"
#include "session/session.h"
#include "session/session_policy.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace regraph::cli {
namespace {

constexpr const char* kRunFooter = R"(Examples:
  regraph-run kernel.cu data/
  regraph-run kernel.cu first/ second/ --size N=37,M=29

A folder holds NAME.npy for each input; one without a file is drawn from the manifest. What the kernel leaves in output
NAME goes to NAME.out.npy there. It runs on the PTX interpreter, with every access checked, at the first bench size or
the size given; before that it is verified at its test sizes, as by a search. No GPU is used.

Exit codes: 0 all folders have their outputs, 1 internal error, 2 usage, or a file that does not fit, 4 the kernel is
unusable or faults, 5 no device, 130 interrupted.)";

int run_program(int argc, char** argv) {
  const Program program("regraph-run", argv[0]);
  SessionOptions options;
  std::vector<std::string> folders;
  CLI::App app{"Runs a kernel on given data on the interpreter and writes what it leaves.",
               "regraph-run"};
  app.footer(kRunFooter);
  app.set_version_flag("--version", std::string("regraph-run ") + REGRAPH_VERSION);
  app.add_option("KERNEL.cu", options.problem.kernel_file, "the kernel")->required();
  app.add_option("FOLDER", folders, "folders with NAME.npy of the inputs")->required();
  add_problem_options(app, options.problem);
  options.device = kDefaultDevice;
  app.add_option("--device", options.device, "GPU to compile for: a name or an architecture")
      ->capture_default_str();
  app.add_option("--evaluation-time", options.open.evaluation_seconds,
                 "seconds that the check at the test sizes may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.open.seed, "seed of inputs without a file")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  options.evaluator = "model";
  options.policy = kNoPolicy;
  const auto session = Session::open(options, program.installation(), program.interrupted());
  if (!session) return program.fail(session.error());
  std::string text;
  for (const std::string& folder : folders) {
    const auto written =
        run_on_data((*session)->opened(), folder, options.open.seed, program.interrupted());
    if (!written) return program.fail(written.error());
    for (const std::string& file : *written)
      text += file + '\n';
  }
  return program.print(text, 0);
}

}  // namespace

int run_main(int argc, char** argv) {
  return guarded("regraph-run", argc, argv, run_program);
}

}  // namespace regraph::cli
