// `regraph-dataset build`, `slowdown` and `generate`: data sets are written.
#include "base/child_process.h"
#include "base/files.h"
#include "cli/dataset_commands.h"
#include "cli/dataset_units.h"
#include "dataset/generate/generator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

namespace regraph::cli {

namespace {

constexpr double kParquetSeconds = 600.0;

// Lets pyarrow write the rows once more as Parquet; what it says when it cannot.
std::string write_parquet(const Program& program, const std::filesystem::path& folder) {
  const std::filesystem::path script = program.installation().python_script("regraph_parquet.py");
  const char* const chosen = std::getenv("REGRAPH_PYTHON");
  ChildRequest request;
  request.program = chosen != nullptr ? chosen : "/usr/bin/python3";
  request.arguments = {script.string(), folder.string()};
  request.environment = {"PYTHONDONTWRITEBYTECODE=1"};
  request.wall_seconds = kParquetSeconds;
  const auto outcome = run_child(request, program.interrupted());
  if (!outcome) return outcome.error().message;
  if (outcome->succeeded()) return {};
  return outcome->error.empty() ? "python failed" : outcome->error.substr(0, 500);
}

std::string summary_line(const DatasetOptions& options, const dataset::DataSetSummary& summary) {
  std::size_t pairs = 0;
  if (const auto rows = summary.rows.find("pairs"); rows != summary.rows.end()) {
    for (const auto& [split, count] : rows->second)
      pairs += count;
  }
  std::string text = fmt::format("{}: {} pairs of {} kernels in {} families", options.output, pairs,
                                 summary.kernels, summary.families);
  for (const auto& [method, count] : summary.methods)
    text += fmt::format(", {} {}", count, method);
  text += fmt::format("; {} were looked at\n", summary.considered);
  for (const auto& [reason, count] : summary.dropped)
    text += fmt::format("  left out {:>6}: {}\n", count, reason);
  for (const auto& [form, rows] : summary.rows) {
    text += fmt::format("  {:<6}", form);
    for (const auto& [split, count] : rows)
      text += fmt::format("  {} {}", split, count);
    text += '\n';
  }
  return text;
}

int build(const Program& program, const DatasetOptions& options, UnitKind kind) {
  std::optional<TemporaryDirectory> scratch;
  std::filesystem::path work = options.work;
  if (work.empty()) {
    auto made = TemporaryDirectory::create("regraph-dataset-");
    if (!made) return program.fail(session_error(made.error()));
    scratch = std::move(*made);
    work = scratch->path();
  }
  std::vector<std::filesystem::path> sets;
  const auto units = find_units(options, kind, work, sets);
  if (!units) return program.fail(units.error());
  dataset::Collected collected = collect_units(program, options, *units, sets);
  if (program.interrupted().requested()) return kInterrupted;
  if (collected.answers.empty() && collected.pairs.empty()) {
    program.say("nothing could be made of the sources");
    for (const auto& [reason, count] : collected.dropped)
      program.say(fmt::format("left out {}: {}", count, reason));
    return kUnusableKernel;
  }
  const auto summary = dataset::write_data_set(
      options.output, std::move(collected), options.set,
      [&](const std::filesystem::path& folder) -> Status {
        if (options.no_parquet) return {};
        if (const std::string why = write_parquet(program, folder); !why.empty()) {
          program.say(
              "no Parquet, JSON lines only (pip install pyarrow, or REGRAPH_PYTHON names a "
              "Python that has it): " +
              why);
        }
        return {};
      });
  if (!summary) return program.fail(session_error(summary.error()));
  return program.print(summary_line(options, *summary), 0);
}

}  // namespace

int dataset_build(const Program& program, const DatasetOptions& options) {
  return build(program, options, UnitKind::walks);
}

int dataset_slowdown(const Program& program, const DatasetOptions& options) {
  return build(program, options, UnitKind::slowdown);
}

int dataset_generate(const Program& program, const DatasetOptions& options) {
  const auto report = dataset::write_generated(
      options.output, {options.families, options.seed, options.per_family});
  if (!report) return program.fail(session_error(report.error()));
  return program.print(fmt::format("{}: {} kernels; {} repeated earlier ones and were left out\n",
                                   options.output, report->written, report->repeated),
                       0);
}

}  // namespace regraph::cli
