#include "session/program_check.h"

#include "base/files.h"
#include "capture/device/capture_device.h"
#include "capture/device/capture_program.h"
#include "capture/problem/program_output.h"
#include "capture/problem/winner_launches.h"
#include "session/captured_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace regraph {
namespace {

constexpr std::size_t kLongestOutput = std::size_t{64} << 20;

struct Run {
  capture::ProgramEnd end;
  std::string output;
  std::string fault;  // the first of a kernel
};

class ProgramChecker {
 public:
  ProgramChecker(const OpenedProblem& opened, const Installation& installation, double seconds,
                 const Cancellation& cancellation)
      : capture_(*opened.capture),
        opened_(opened),
        installation_(installation),
        seconds_(seconds),
        cancellation_(cancellation) {}

  ProgramRunReport run(const Candidate& candidate, const CompiledPlan& compiled) {
    ProgramRunReport report;
    const Status status = compare(candidate, compiled, report);
    if (!status) report.trouble = status.error().message;
    return report;
  }

 private:
  Status compare(const Candidate& candidate, const CompiledPlan& compiled,
                 ProgramRunReport& report) {
    if (capture_.seconds > 0.0) {
      return fail(
          ErrorCode::unsupported,
          "it was captured on a GPU, where no kernel can be put in another's place; ask its "
          "own build and run with --check");
    }
    const auto place = changed_launch(candidate);
    if (!place) return fail(ErrorCode::unsupported, "the winner is other launches");
    const CompiledKernel& kernel = *compiled.launches.at(*place);
    auto winner = capture::WinnerLaunches::create(
        capture_, opened_.problem, candidate.plan.launches[*place], kernel.ptx, kernel.entry);
    if (!winner) return winner.error();
    auto directory = TemporaryDirectory::create("regraph-program-");
    if (!directory) return directory.error();
    folder_ = directory->path();
    const auto original = run_once(nullptr, "original");
    if (!original) return original.error();
    const auto with_winner = run_once(&*winner, "winner");
    if (!with_winner) return with_winner.error();
    report.replaced = winner->replaced();
    report.kept = winner->kept();
    report.seconds = with_winner->end.seconds;
    if (winner->replaced() == 0) {
      return fail(ErrorCode::unsupported,
                  winner->kept() == 0 ? "the program did not launch the kernel this time"
                                      : "no launch of it can be replaced: " + winner->why_kept());
    }
    report.ran = true;
    return judge(*original, *with_winner, report);
  }

  // The launch of the kernel that was made faster, where the others are what they were.
  [[nodiscard]] std::optional<std::size_t> changed_launch(const Candidate& candidate) const {
    const auto& before = opened_.problem.launch.launches;
    const auto& after = candidate.plan.launches;
    const std::string& name = opened_.problem.signature.name;
    if (before.size() != after.size() || std::ranges::count(after, name, &Launch::kernel) != 1)
      return std::nullopt;
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i].kernel == name) {
        place = i;
      } else if (!(before[i] == after[i])) {
        return std::nullopt;
      }
    }
    return place;
  }

  Result<Run> run_once(capture::LaunchSubstitute* substitute, const char* name) {
    capture::CaptureDeviceConfig config;
    config.facts = facts_of(opened_.device.device);
    config.launch_seconds = seconds_;
    config.substitute = substitute;
    capture::CaptureDevice device(config);
    const std::filesystem::path output = folder_ / name;
    capture::ProgramRun program{capture_.command, installation_.capture_runtime(), seconds_, output,
                                capture_.directory};
    auto end = capture::capture_program(program, device, cancellation_);
    if (!end) return end.error();
    if (cancellation_.requested()) return fail(ErrorCode::cancelled, "it was stopped");
    Run run{*end, {}, {}};
    if (end->timed_out || end->too_long_output) {
      return fail(ErrorCode::resource,
                  fmt::format("it does not end within {:g} s on the interpreter", seconds_));
    }
    auto text = read_file(output, kLongestOutput);
    if (!text) return text.error();
    run.output = std::move(*text);
    for (const capture::LaunchedKernel* kernel : device.launched()) {
      if (run.fault.empty()) run.fault = kernel->fault;
    }
    return run;
  }

  Status judge(const Run& original, const Run& winner, ProgramRunReport& report) {
    if (original.end.exit_code != winner.end.exit_code ||
        original.end.signal != winner.end.signal) {
      report.trouble = fmt::format("it ends with exit code {} and signal {}, else with {} and {}",
                                   winner.end.exit_code, winner.end.signal, original.end.exit_code,
                                   original.end.signal);
      return {};
    }
    if (original.fault.empty() && !winner.fault.empty()) {
      report.trouble = "a launch fails: " + winner.fault;
      return {};
    }
    report.same = original.output == winner.output;
    if (report.same) return {};
    // What it writes may be another thing every time.
    const auto again = run_once(nullptr, "again");
    if (!again) return again.error();
    report.trouble = capture::difference_of_outputs(original.output, again->output, winner.output);
    report.same = report.trouble.empty();
    if (!report.same) report.trouble = "what it writes is another: " + report.trouble;
    return {};
  }

  const capture::CapturedKernel& capture_;
  const OpenedProblem& opened_;
  const Installation& installation_;
  const double seconds_;
  const Cancellation& cancellation_;
  std::filesystem::path folder_;
};

}  // namespace

ProgramRunReport check_program(const OpenedProblem& opened, const Candidate& candidate,
                               const CompiledPlan& compiled, const Installation& installation,
                               double seconds, const Cancellation& cancellation) {
  return ProgramChecker(opened, installation, seconds, cancellation).run(candidate, compiled);
}

}  // namespace regraph
