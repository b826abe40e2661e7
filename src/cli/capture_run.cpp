#include "cli/capture_run.h"

#include "base/files.h"
#include "capture/device/capture_device.h"
#include "capture/device/capture_program.h"
#include "capture/kernel_image.h"
#include "eval/model/device.h"
#include "session/captured_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace regraph::cli {
namespace {

constexpr std::size_t kShownKernels = 20;

std::string kernel_text(const capture::LaunchedKernel& kernel) {
  const std::string shapes = kernel.shapes.size() == 1
                                 ? *kernel.shapes.begin()
                                 : fmt::format("{} different shapes", kernel.shapes.size());
  std::string text = fmt::format(
      "  {}\n    launches {}{}, threads {}, {}; {:.3g} s of the interpreter\n",
      capture::readable_name(kernel.symbol), kernel.launches,
      kernel.skipped > 0 ? fmt::format(" ({} need not be executed again)", kernel.skipped) : "",
      kernel.threads, shapes, kernel.seconds);
  if (kernel.aliased) text += "    two of its parameters point into one allocation\n";
  if (kernel.slack_reads + kernel.slack_writes > 0) {
    text += fmt::format(
        "    past the end of an allocation, where a GPU rounds it up: {} reads, {} writes; the "
        "first: {}\n",
        kernel.slack_reads, kernel.slack_writes, kernel.first_slack);
  }
  if (!kernel.fault.empty()) text += "    FAULT: " + kernel.fault + "\n";
  return text;
}

nlohmann::json kernel_json(const capture::LaunchedKernel& kernel) {
  nlohmann::json pointers = nlohmann::json::array();
  for (const capture::PointerArgument& pointer : kernel.pointers) {
    pointers.push_back({{"parameter", pointer.parameter},
                        {"byte", pointer.byte},
                        {"allocation", pointer.allocation},
                        {"offset", pointer.offset}});
  }
  return {{"symbol", kernel.symbol},
          {"name", capture::readable_name(kernel.symbol)},
          {"launches", kernel.launches},
          {"skipped", kernel.skipped},
          {"threads", kernel.threads},
          {"seconds", kernel.seconds},
          {"shapes", kernel.shapes},
          {"pointers", std::move(pointers)},
          {"aliased", kernel.aliased},
          {"fault", kernel.fault},
          {"slack",
           {{"reads", kernel.slack_reads},
            {"writes", kernel.slack_writes},
            {"first", kernel.first_slack}}}};
}

std::string end_text(const capture::ProgramEnd& end) {
  if (end.timed_out) return "was ended: it took too long";
  if (end.signal != 0) return fmt::format("was ended by signal {}", end.signal);
  return fmt::format("ended with exit code {}", end.exit_code);
}

nlohmann::json report_of(const CaptureRunOptions& options, const capture::ProgramEnd& end,
                         const capture::CaptureDevice& device) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const auto* kernel : device.launched())
    kernels.push_back(kernel_json(*kernel));
  return {{"schema", "regraph-capture/1"}, {"program", options.command.front()},
          {"device", options.device},      {"exit_code", end.exit_code},
          {"signal", end.signal},          {"timed_out", end.timed_out},
          {"seconds", end.seconds},        {"most_device_bytes", device.most_bytes()},
          {"kernels", std::move(kernels)}, {"not_there", device.not_there()},
          {"notes", device.notes()}};
}

void say_what_happened(const CaptureRunOptions& options, const capture::ProgramEnd& end,
                       const capture::CaptureDevice& device) {
  const auto kernels = device.launched();
  std::string text = fmt::format(
      "\nregraph-capture: {} {} after {:.1f} s; {} kernels were launched, {} bytes of device "
      "memory\n",
      options.command.front(), end_text(end), end.seconds, kernels.size(), device.most_bytes());
  for (std::size_t i = 0; i < std::min(kernels.size(), kShownKernels); ++i)
    text += kernel_text(*kernels[i]);
  if (kernels.size() > kShownKernels)
    text +=
        fmt::format("  ... and {} more; --report FILE has all\n", kernels.size() - kShownKernels);
  for (const auto& [function, calls] : device.not_there())
    text += fmt::format("  called {} times, and not there without a GPU: {}\n", calls, function);
  for (const std::string& note : device.notes())
    text += "  note: " + note + "\n";
  say(text);
}

}  // namespace

int capture_run(const Program& program, const CaptureRunOptions& options) {
  const auto spec = find_device(options.device);
  if (!spec) return program.fail({FailureCause::usage, "--device: " + spec.error().message});
  capture::CaptureDevice device({facts_of(*spec), options.launch_seconds, 0});
  const std::filesystem::path runtime = program.installation().capture_runtime();
  if (!std::filesystem::is_directory(runtime)) {
    return program.fail({FailureCause::internal,
                         fmt::format("'{}', where our CUDA runtime should be, is not there; is the "
                                     "installation complete?",
                                     runtime.string())});
  }
  const auto end = capture::capture_program({options.command, runtime, options.wall_seconds},
                                            device, program.interrupted());
  if (!end) {
    const bool absent = end.error().code == ErrorCode::not_found;
    return program.fail(
        {absent ? FailureCause::usage : FailureCause::internal, end.error().message});
  }
  if (program.interrupted().requested())
    return program.fail({FailureCause::interrupted, "interrupted"});
  if (!options.report.empty()) {
    const Status written =
        write_file(options.report, report_of(options, *end, device).dump(1) + "\n");
    if (!written) return program.fail({FailureCause::usage, written.error().message});
  }
  if (!options.quiet) say_what_happened(options, *end, device);
  if (device.launched().empty()) {
    return program.fail(
        {FailureCause::unusable_kernel,
         end->asked ? fmt::format("'{}' launched no kernel", options.command.front())
                    : fmt::format("'{}' did not ask for the CUDA runtime that stands in for "
                                  "libcudart; build it with 'nvcc -cudart shared' (as in "
                                  "NVCC_APPEND_FLAGS='-cudart shared' make), and without an RPATH "
                                  "to another one",
                                  options.command.front())});
  }
  const bool well = !end->timed_out && end->signal == 0 && end->exit_code == 0;
  return well ? 0 : kUnusableKernel;
}

}  // namespace regraph::cli
