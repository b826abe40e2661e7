#include "eval/gpu/answer_sanitizer.h"

#include "base/deadline.h"
#include "base/files.h"
#include "base/random.h"
#include "eval/gpu/protocol/gpu_run.h"
#include "eval/verify/inputs.h"

#include <fmt/format.h>

#include <sstream>
#include <unistd.h>

namespace regraph::gpu {
namespace {

constexpr std::uint64_t kInputStream = 53;
constexpr std::uint64_t kPoisonStream = 59;
constexpr std::size_t kLargestLog = std::size_t{4} << 20;

verify::Buffers inputs_of(const Problem& problem, const Symbols& symbols, std::uint64_t seed) {
  verify::Buffers inputs(problem.arguments.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_input()) continue;
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (!count.ok()) continue;  // run_on_gpu reports it
    inputs[i].resize(static_cast<std::size_t>(*count) * size_in_bytes(argument.type));
    verify::fill_input(problem, argument, symbols, verify::Distribution::manifest,
                       random_bits(seed, kInputStream), i, inputs[i]);
  }
  return inputs;
}

// One tool's run over one kernel.
class ToolRun {
 public:
  ToolRun(const SanitizerConfig& config, std::string tool, const Problem& problem,
          std::uint64_t seed)
      : config_(config), tool_(std::move(tool)), problem_(problem), seed_(seed) {}

  // `trouble` of what comes back says why there is no verdict.
  SanitizerLog run(GpuWorkerConfiguration worker, const PreparedCandidate& kernel,
                   const Cancellation& stop) {
    SanitizerLog log;
    auto folder = TemporaryDirectory::create("regraph-sanitizer");
    if (!folder.ok()) {
      log.trouble = folder.error().message;
      return log;
    }
    const std::filesystem::path file = folder->path() / "log";
    worker.wrapper = {config_.program.string(), "--tool", tool_, "--log-file", file.string()};
    // Our own calls may fail, and know what to do then.
    if (tool_ == "memcheck")
      worker.wrapper.insert(worker.wrapper.end(), {"--report-api-errors", "no"});
    worker.start_seconds = config_.seconds;
    const Deadline deadline(config_.seconds, stop);
    const std::string failure = launch_all(worker, kernel, deadline.cancellation());
    if (const auto text = read_file(file, kLargestLog); text.ok()) log = read_sanitizer_log(*text);
    if (deadline.expired()) {
      log.trouble = fmt::format("not done within {:g} seconds", config_.seconds);
    } else if (stop.requested()) {
      log.trouble = "interrupted";
    } else if (log.trouble.empty() && !failure.empty() && log.errors == 0) {
      // A launch that a finding ended is explained by that.
      log.trouble = failure;
    } else if (log.trouble.empty() && !log.complete) {
      log.trouble = "it ended without a summary";
    }
    return log;
  }

 private:
  // What went wrong; empty: nothing.
  std::string launch_all(const GpuWorkerConfiguration& worker, const PreparedCandidate& kernel,
                         const Cancellation& stop) const {
    auto process = GpuProcess::start(worker, stop);
    if (!process.ok()) return process.error().message;
    std::string failure = launch_sizes(**process, kernel, stop);
    const Status ended = (*process)->finish(config_.seconds, stop);
    return failure.empty() && !ended.ok() ? ended.error().message : failure;
  }

  std::string launch_sizes(GpuProcess& process, const PreparedCandidate& kernel,
                           const Cancellation& stop) const {
    auto loaded = load_on_gpu(process, kernel.compiled, kernel.plan, problem_.tests, stop);
    if (!loaded.ok()) return loaded.error().message;
    const GpuRunner runner{process, problem_, *loaded, kernel.loaded, config_.seconds, stop, false};
    for (const Symbols& symbols : problem_.tests) {
      verify::RunSettings settings;
      settings.poison_seed = random_bits(seed_, kPoisonStream);
      const auto run = run_on_gpu(runner, symbols, inputs_of(problem_, symbols, seed_), settings);
      if (!run.ok()) return run.error().message;
      if (run->fault.kind != ptx::FaultKind::none) return run->fault.message;
    }
    return "";
  }

  const SanitizerConfig& config_;
  const std::string tool_;
  const Problem& problem_;
  const std::uint64_t seed_;
};

bool can_run(const std::filesystem::path& program) {
  std::error_code code;
  return std::filesystem::is_regular_file(program, code) && ::access(program.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::filesystem::path> find_sanitizer(const std::filesystem::path& toolkit,
                                                    const std::string& path) {
  std::vector<std::filesystem::path> candidates;
  if (!toolkit.empty()) {
    candidates.push_back(toolkit / "bin/compute-sanitizer");
    candidates.push_back(toolkit / "compute-sanitizer/compute-sanitizer");
  }
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) candidates.push_back(std::filesystem::path(folder) / "compute-sanitizer");
  }
  for (const std::filesystem::path& candidate : candidates) {
    if (can_run(candidate)) return candidate;
  }
  return std::nullopt;
}

SanitizerReport sanitize_answer(const SanitizerConfig& config, const GpuWorkerConfiguration& worker,
                                const Problem& problem, const PreparedCandidate& original,
                                const PreparedCandidate& best, std::uint64_t seed,
                                const Cancellation& stop) {
  SanitizerReport report;
  for (const std::string& tool : config.tools) {
    ToolRun run(config, tool, problem, seed);
    const SanitizerLog log = run.run(worker, best, stop);
    if (!log.trouble.empty()) {
      report.notes.push_back(fmt::format("{} did not run: {}", tool, log.trouble));
      if (stop.requested()) return report;
      continue;
    }
    report.tools.push_back(tool);
    if (log.errors == 0) {
      if (log.warnings > 0)
        report.notes.push_back(fmt::format("{} warns: {}", tool, log.first_finding));
      continue;
    }
    const SanitizerLog control = run.run(worker, original, stop);
    if (control.trouble.empty() && control.errors > 0) {
      report.notes.push_back(
          fmt::format("{} objects to the original, too: {}", tool, control.first_finding));
    } else {
      report.findings.push_back(fmt::format("{}: {}", tool, log.first_finding));
    }
  }
  return report;
}

}  // namespace regraph::gpu
