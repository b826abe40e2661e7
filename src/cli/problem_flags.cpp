#include "cli/problem_flags.h"

#include "cli/kinds.h"
#include "session/evaluators.h"

#include <CLI/CLI.hpp>

namespace regraph::cli {

void add_problem_options(CLI::App& app, ProblemOptions& problem) {
  app.add_option("--manifest", problem.manifest, "problem manifest (default: KERNEL.regraph.yaml)");
  app.add_option("--kernel", problem.kernel,
                 "kernel of the file to optimise, e.g. scale or 'scale<float, 4>'");
  app.add_option("--function", problem.function,
                 "function of sequential C++ (a .cpp or .c file) that a kernel is made of");
  app.add_option("-D,--define", problem.defines, "macro for the source, e.g. TILE=16; repeatable")
      ->allow_extra_args(false);
  app.add_option("-I,--include-dir", problem.include_directories,
                 "further folder for the source's own headers; repeatable")
      ->allow_extra_args(false);
  app.add_option("--size", problem.sizes, "size symbol, e.g. N=4096 or N=64,M=32; repeatable")
      ->allow_extra_args(false);
  app.add_option(
         "--launch", problem.launch_line,
         "line of the launch that is meant, where the file launches the kernel in several ways")
      ->check(CLI::PositiveNumber);
  app.add_option("--block", problem.block, "block of the original launch, e.g. 32x8");
}

void add_device_options(CLI::App& app, SessionOptions& session) {
  app.add_option(
      "--device", session.device,
      "GPU to optimise for: a name, an architecture or a .yaml file with its numbers (default: "
      "the one that is here)");
  app.add_option("--evaluator", session.evaluator,
                 "where times come from: " + described(evaluator_kinds()))
      ->check(CLI::IsMember(names(evaluator_kinds())))
      ->capture_default_str();
}

}  // namespace regraph::cli
