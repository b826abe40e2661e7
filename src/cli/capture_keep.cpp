#include "cli/capture_keep.h"

#include "base/files.h"
#include "capture/kernel_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace regraph::cli {
namespace {

constexpr std::size_t kShownOutput = std::size_t{64} << 20;

std::string work_text(const capture::CapturedKernel& kernel) {
  if (kernel.seconds > 0.0) return fmt::format("{:.3g} ms on the GPU", 1e3 * kernel.seconds);
  return fmt::format("{:.3g} thread instructions", static_cast<double>(kernel.thread_instructions));
}

std::string shortened(std::string name) {
  constexpr std::size_t kMostOfName = 160;
  if (name.size() <= kMostOfName) return name;
  name.resize(kMostOfName);
  return name + "...";
}

std::string folder_text(const capture::KeptFolder& folder) {
  const capture::CapturedKernel& kernel = folder.kernel;
  std::vector<std::string> names;
  for (const capture::KernelStage& stage : kernel.stages)
    names.push_back(shortened(capture::readable_name(stage.symbol)));
  if (names.empty()) names.push_back(shortened(capture::readable_name(kernel.symbol)));
  std::string text =
      fmt::format("  {}\n    {}: {} of {} {} kept, {} in all\n", folder.path.string(),
                  fmt::join(names, ", then "), kernel.kept.size(), kernel.launches,
                  kernel.stages.empty() ? "launches" : "rows of launches", work_text(kernel));
  if (kernel.overlapping) text += "    two of its pointers lead into one allocation\n";
  for (const std::string& left_out : kernel.left_out)
    text += "    not kept: " + left_out + "\n";
  return text;
}

std::string end_text_of(const capture::ProgramEnd& end) {
  if (end.timed_out) return "was ended: it took too long";
  if (end.too_long_output) return "was ended: it wrote too much";
  if (end.signal != 0) return fmt::format("was ended by signal {}", end.signal);
  return fmt::format("ended with exit code {}", end.exit_code);
}

nlohmann::json report_of(const KeptProgram& kept) {
  nlohmann::json folders = nlohmann::json::array();
  for (const auto& [path, kernel] : kept.folders) {
    folders.push_back({{"folder", path.string()},
                       {"name", capture::readable_name(kernel.symbol)},
                       {"source", kernel.source},
                       {"launches", kernel.launches},
                       {"kept", kernel.kept.size()},
                       {"thread_instructions", kernel.thread_instructions},
                       {"seconds", kernel.seconds},
                       {"overlapping", kernel.overlapping},
                       {"left_out", kernel.left_out}});
  }
  nlohmann::json runs = nlohmann::json::array();
  for (const capture::ProgramEnd& end : kept.ends) {
    runs.push_back({{"exit_code", end.exit_code},
                    {"signal", end.signal},
                    {"timed_out", end.timed_out},
                    {"seconds", end.seconds}});
  }
  return {{"schema", "regraph-capture-kept/1"},
          {"runs", std::move(runs)},
          {"kernels", std::move(folders)},
          {"output", kept.output.string()},
          {"notes", kept.notes}};
}

}  // namespace

int capture_keep(const Program& program, const KeepRequest& request, const std::string& report,
                 bool quiet) {
  const auto kept = keep_program(request, program.installation(), program.interrupted());
  if (!kept) return program.fail(kept.error());
  if (!quiet) {
    const auto output = read_file(kept->output, kShownOutput);
    if (output && !output->empty()) (void)program.print(*output, 0);
    std::string text = "\n";
    for (std::size_t run = 0; run < kept->ends.size(); ++run) {
      text += fmt::format("regraph-capture: run {} {} after {:.1f} s\n", run + 1,
                          end_text_of(kept->ends[run]), kept->ends[run].seconds);
    }
    text += "problem folders (they hold the program's data):\n";
    for (const auto& folder : kept->folders)
      text += folder_text(folder);
    for (const std::string& note : kept->notes)
      text += "  note: " + note + "\n";
    const auto next = std::ranges::find_if(
        kept->folders, [](const auto& folder) { return !folder.kernel.source.empty(); });
    if (next != kept->folders.end()) {
      text +=
          fmt::format("next: regraph-search {} --device {}\n", next->path.string(), request.device);
    }
    say(text);
  }
  if (!report.empty()) {
    const Status written = write_file(report, report_of(*kept).dump(1) + "\n");
    if (!written) return program.fail(usage(written.error().message));
  }
  if (!kept->folders.empty()) return 0;
  return program.fail(
      {FailureCause::unusable_kernel,
       request.keep.kernel.empty()
           ? "no launch was kept"
           : fmt::format("no kernel whose name has '{}' was launched", request.keep.kernel)});
}

}  // namespace regraph::cli
