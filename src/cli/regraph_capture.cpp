// regraph-capture: what programs hold and do: the kernels that one carries, and those it launches.
#include "capture/kernel_image.h"
#include "capture/program_kernels.h"
#include "cli/capture_run.h"
#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace regraph::cli {
namespace {

struct CaptureOptions {
  std::string program;
  std::string name_contains;
  bool json = false;
};

constexpr const char* kCaptureFooter = R"(Examples:
  regraph-capture list ./program
  regraph-capture list ./program --kernel softmax --json
  regraph-capture run -- ./program its arguments

Exit codes: 0 there are such kernels, or the program launched some and ended well, 1 internal error, 2 the file
cannot be read or is no program, 4 it has no such kernel, launched none or failed, 130 interrupted.)";

std::string code_of(const capture::ProgramKernel& kernel) {
  std::vector<std::string> code;
  for (const int architecture : kernel.architectures)
    code.push_back(fmt::format("sm_{}", architecture));
  if (kernel.has_ptx) code.emplace_back("PTX");
  return fmt::format("{}", fmt::join(code, ", "));
}

std::string kernel_text(const capture::ProgramKernel& kernel) {
  const capture::KernelImage& image = kernel.image;
  std::vector<std::string> slots;
  for (const capture::ParameterSlot& slot : image.parameters)
    slots.push_back(fmt::format("{} at {}", slot.bytes, slot.offset));
  std::string text =
      fmt::format("\n  {}\n    symbol      {}\n    code        {}\n",
                  capture::readable_name(image.symbol), image.symbol, code_of(kernel));
  if (!kernel.architectures.empty())
    text += fmt::format("    registers   {} a thread on sm_{}\n", image.registers,
                        *kernel.architectures.rbegin());
  text += fmt::format("    shared      {} bytes\n    parameters  {}\n", image.static_shared_bytes,
                      slots.empty() ? "none" : fmt::format("bytes: {}", fmt::join(slots, ", ")));
  return text;
}

nlohmann::json kernel_json(const capture::ProgramKernel& kernel) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const capture::ParameterSlot& slot : kernel.image.parameters)
    parameters.push_back({{"offset", slot.offset}, {"bytes", slot.bytes}});
  return {{"symbol", kernel.image.symbol},
          {"name", capture::readable_name(kernel.image.symbol)},
          {"architectures", kernel.architectures},
          {"ptx", kernel.has_ptx},
          {"registers", kernel.image.registers},
          {"static_shared_bytes", kernel.image.static_shared_bytes},
          {"parameters", std::move(parameters)}};
}

int list(const Program& program, const CaptureOptions& options) {
  const auto found = capture::read_program_kernels(options.program);
  if (!found) {
    const bool no_code = found.error().code == ErrorCode::unsupported;
    return program.fail(
        {no_code ? FailureCause::unusable_kernel : FailureCause::usage, found.error().message});
  }
  for (const std::string& note : found->notes)
    program.say("note: " + note);
  std::vector<const capture::ProgramKernel*> kernels;
  for (const capture::ProgramKernel& kernel : found->kernels) {
    const std::string name = capture::readable_name(kernel.image.symbol);
    const bool wanted = name.find(options.name_contains) != std::string::npos ||
                        kernel.image.symbol.find(options.name_contains) != std::string::npos;
    if (wanted) kernels.push_back(&kernel);
  }
  if (kernels.empty()) {
    return program.fail(
        {FailureCause::unusable_kernel,
         options.name_contains.empty()
             ? fmt::format("'{}' has no kernels", options.program)
             : fmt::format("none of the {} kernels of '{}' has '{}' in its name",
                           found->kernels.size(), options.program, options.name_contains)});
  }
  if (options.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const auto* kernel : kernels)
      all.push_back(kernel_json(*kernel));
    const nlohmann::json document = {{"program", options.program},
                                     {"shared_runtime", found->shared_runtime},
                                     {"kernels", std::move(all)}};
    return program.print(document.dump(1) + "\n", 0);
  }
  std::string text =
      fmt::format("{}: {} kernels; the CUDA runtime is {}\n", options.program, kernels.size(),
                  found->shared_runtime ? "a shared library" : "linked statically, or not used");
  for (const auto* kernel : kernels)
    text += kernel_text(*kernel);
  return program.print(text, 0);
}

int run(int argc, char** argv) {
  const Program program("regraph-capture", argv[0]);
  CaptureOptions options;
  CLI::App app{"Learns problems from programs as they are.", "regraph-capture"};
  app.footer(kCaptureFooter);
  app.set_version_flag("--version", std::string("regraph-capture ") + REGRAPH_VERSION);
  app.require_subcommand(1);
  CLI::App* listing = app.add_subcommand("list", "the kernels that a program carries");
  listing->add_option("PROGRAM", options.program, "executable or library that nvcc built")
      ->required();
  listing->add_option("--kernel", options.name_contains, "those alone whose name contains this");
  listing->add_flag("--json", options.json, "as JSON");
  CaptureRunOptions running;
  CLI::App* run_program = app.add_subcommand(
      "run",
      "runs a program without a GPU, its kernels on the interpreter, and says what it launched");
  run_program->add_option("PROGRAM", running.command, "after --: the program and its arguments")
      ->required();
  run_program->add_option("--device", running.device, "GPU that it is told to run on")
      ->capture_default_str();
  run_program->add_option("--report", running.report, "file to write all of it to, as JSON");
  run_program->add_option("--seconds", running.wall_seconds, "that the program may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  run_program->add_option("--launch-seconds", running.launch_seconds, "that one launch may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  run_program->add_flag("-q,--quiet", running.quiet, "nothing of what was launched");
  run_program->positionals_at_end();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return run_program->parsed() ? capture_run(program, running) : list(program, options);
}

}  // namespace
}  // namespace regraph::cli

int main(int argc, char** argv) {
  return regraph::cli::guarded("regraph-capture", argc, argv, regraph::cli::run);
}
