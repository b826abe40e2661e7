// regraph-capture: what programs hold and do: the kernels that one carries, and those it launches.
#include "capture/kernel_image.h"
#include "capture/program_kernels.h"
#include "cli/capture_build.h"
#include "cli/capture_keep.h"
#include "cli/capture_run.h"
#include "cli/program.h"
#include "cli/program_commands.h"
#include "cli/program_mains.h"
#include "session/injected_run.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace regraph::cli {
namespace {

struct CaptureOptions {
  std::string program;
  std::string name_contains;
  bool json = false;
};

constexpr const char* kCaptureFooter =
    R"(Without a command, what follows "--" is run and its launches are kept as problem folders for regraph-search,
with the contents of their buffers; "--also --" begins a further run, with smaller arguments for tests.

Examples:
  regraph-capture -- ./program 4096
  regraph-capture --kernel softmax -o problems -- ./program 4096 --also -- ./program 100
  regraph-capture --build main.cu -- 4096 --also -- 100
  regraph-capture --sequence block_sums,final_sum -- ./program 4096 --also -- ./program 100
  regraph-capture build -- make -j8
  regraph-capture list ./program
  regraph-capture list ./program --kernel softmax --json
  regraph-capture run -- ./program its arguments

Exit codes: 0 there are such kernels, launches were kept, or (run) the program launched some and ended well, 1 internal error,
2 the file cannot be read or is no program, or does not build, 4 it has no such kernel, launched none or (run) failed, 5 no
nvcc, 130 interrupted.)";

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

void add_keep_options(CLI::App& keep, KeepRequest& request, std::string& report, bool& quiet) {
  constexpr double kMebibyte = 1 << 20;
  const auto in_mebibytes = [](std::uint64_t& bytes) {
    return [&bytes](const double& value) { bytes = static_cast<std::uint64_t>(value * kMebibyte); };
  };
  keep.add_option("-o,--output", request.keep.folder, "folder for the problem folders")
      ->capture_default_str();
  keep.add_option("--kernel", request.keep.kernel, "those alone whose name contains this");
  keep.add_option("--launch", request.keep.launch,
                  "the K-th launch of each kernel (default: the first and the largest)");
  keep.add_option("--sequence", request.keep.sequence,
                  "kernels that are launched one right after the other, as one problem: a,b,c")
      ->delimiter(',')
      ->allow_extra_args(false);
  keep.add_option("--source", request.source,
                  "file that defines the kernels (default: looked for in this folder)");
  keep.add_option("-I,--include-dir", request.include_directories,
                  "further folder for their own headers; repeatable")
      ->allow_extra_args(false);
  keep.add_option("--build", request.build,
                  "a .cu file that nvcc builds the program of; arguments follow after --");
  keep.add_option(
      "--make", request.make,
      "shell command that builds the program, with nvcc told to link the shared runtime");
  keep.add_option("--device", request.device, "GPU that it is told to run on")
      ->capture_default_str();
  keep.add_option("--seconds", request.wall_seconds, "that each run may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  keep.add_option("--launch-seconds", request.launch_seconds, "that one launch may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  keep.add_option_function<std::string>(
          "--on",
          [&request](const std::string& place) {
            const bool gpu = place == "gpu" || (place == "auto" && has_gpu());
            request.place = gpu ? CapturePlace::gpu : CapturePlace::interpreter;
          },
          "where the program runs: gpu (as it is), interpreter (built with the shared runtime), or "
          "auto: gpu where there is one")
      ->check(CLI::IsMember({"auto", "gpu", "interpreter"}))
      ->default_str("interpreter");
  keep.add_flag("--go-on", request.goes_on,
                "launches that take longer are said to have gone well, so that others are reached");
  keep.add_option_function<double>("--most-data", in_mebibytes(request.keep.most_bytes),
                                   "MiB of contents that are kept of a kernel (1024)")
      ->check(CLI::PositiveNumber);
  keep.add_option_function<double>("--most-data-in-all",
                                   in_mebibytes(request.keep.most_bytes_in_all),
                                   "MiB of contents in all (4096)")
      ->check(CLI::PositiveNumber);
  keep.add_option("--report", report, "file to write what was kept to, as JSON");
  keep.add_flag("-q,--quiet", quiet, "nothing of what was kept, nor of the program's output");
}

// Whether the first word is an option or the "--" before a program.
bool names_no_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return false;
  const std::string& first = arguments.front();
  return first.starts_with('-') && first != "-h" && first != "--help" && first != "--help-all" &&
         first != "--version" && first != "--man";
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
  KeepRequest keeping;
  keeping.keep.folder = "regraph-capture";
  std::string kept_report;
  bool quiet_keeping = false;
  CLI::App* keep = app.add_subcommand("keep", "launches of a program as problem folders (default)");
  add_keep_options(*keep, keeping, kept_report, quiet_keeping);
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
  CaptureBuildOptions building;
  CLI::App* build = app.add_subcommand(
      "build", "runs a build for the interpreter and writes down how it compiles each file");
  build->add_option("COMMAND", building.command, "after --: what builds the program")->required();
  build->add_option("-o,--output", building.output, "file for the compile commands")
      ->capture_default_str();
  build->add_flag("--static", building.links_statically,
                  "as it is, for programs that run on a GPU");
  build->positionals_at_end();
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool kept = names_no_command(arguments);
  if (kept) arguments.insert(arguments.begin(), "keep");
  if (!arguments.empty() && arguments.front() == "keep")
    keeping.commands = take_commands(arguments);
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (keep->parsed()) {
    if (keeping.commands.empty() && keeping.build.empty()) {
      return program.fail(
          usage("no program was named: regraph-capture [options] -- ./program its arguments"));
    }
    if (keeping.commands.empty()) keeping.commands.emplace_back();
    return capture_keep(program, keeping, kept_report, quiet_keeping);
  }
  if (build->parsed()) return capture_build(program, building);
  return run_program->parsed() ? capture_run(program, running) : list(program, options);
}

}  // namespace
int capture_main(int argc, char** argv) {
  return guarded("regraph-capture", argc, argv, run);
}

}  // namespace regraph::cli
