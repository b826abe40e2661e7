// regraph-calibrate: fits the timing model's numbers to kernels measured by tools/calibrate.
#include "base/files.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "eval/model/calibration/report.h"
#include "session/calibration_samples.h"
#include "session/choose_device.h"
#include "session/toolchain.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace regraph::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

struct Options {
  std::vector<std::string> files;
  std::string device;
  std::string table;
  std::string report;
  std::string list;
  bool allow_predicted = false;
};

int failed(const Program& program, const Error& error) {
  return program.fail(session_error(error));
}

Result<std::vector<MeasuredRun>> read_runs(const Options& options) {
  std::vector<MeasuredRun> runs;
  for (const std::string& file : options.files) {
    auto text = read_file(file, kMostBytes);
    if (!text) return text.error();
    auto some = parse_measured_runs(*text, file);
    if (!some) return some.error();
    std::ranges::move(*some, std::back_inserter(runs));
  }
  std::size_t predicted = 0;
  for (MeasuredRun& run : runs) {
    if (options.allow_predicted) break;
    predicted += std::erase_if(run.variants, [](const MeasuredVariant& v) { return !v.measured; });
  }
  const bool any = std::ranges::any_of(runs, [](const auto& run) { return !run.variants.empty(); });
  if (any) return runs;
  return fail(ErrorCode::invalid_argument,
              predicted > 0 ? "all times are predicted; collect on a machine with a GPU"
                            : "there are no samples in these files");
}

// The device that is calibrated: as named, else the one of the samples.
Result<DeviceTable> device_of(const Options& options, const std::vector<MeasuredRun>& runs) {
  if (!options.device.empty()) return named_device(options.device);
  std::set<std::string> names;
  for (const MeasuredRun& run : runs)
    names.insert(run.device);
  if (names.size() != 1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the samples are of several devices ({}); say which table to start "
                            "from with --device",
                            fmt::join(names, ", ")));
  }
  auto device = named_device(*names.begin());
  if (device) return device;
  return fail(ErrorCode::invalid_argument,
              device.error().message +
                  "; say which table to start from with --device, a name or a file with this GPU's "
                  "figures");
}

std::string list_of(const std::vector<calibration::Sample>& samples, const DeviceSpec& start,
                    const calibration::Calibration& done) {
  std::string text = "family\tname\tmeasured_us\tshipped_us\tleft_out_us\tfitted_us\n";
  for (const calibration::Sample& sample : samples) {
    const auto family =
        std::ranges::find(done.families, sample.family, &calibration::FamilyResult::family);
    const bool judged = !sample.for_fitting_only && family != done.families.end();
    text += fmt::format("{}\t{}\t{:.3f}\t{:.3f}\t{}\t{:.3f}\n", sample.family, sample.name,
                        1e6 * sample.measured_seconds, 1e6 * sample.predict(start),
                        judged ? fmt::format("{:.3f}", 1e6 * sample.predict(family->left_out)) : "",
                        1e6 * sample.predict(done.fit.device));
  }
  return text;
}

Status write_outputs(const Options& options, const DeviceTable& start,
                     const std::vector<calibration::Sample>& samples,
                     const calibration::Calibration& done) {
  std::string names;
  for (const std::string& file : options.files)
    names += (names.empty() ? "" : ", ") + std::filesystem::path(file).filename().string();
  const std::string source =
      fmt::format("{} samples of {} ({}).", samples.size(), start.device.description, names);
  const std::string report = calibration_report(start.device, done, source);
  if (!options.table.empty()) {
    const auto& overall = done.overall;
    auto table = write_device_table(
        done.fit.device, start.base, fitted_sources(start.device, done),
        fmt::format("Fitted by regraph-calibrate to {}\nErrors of single variants, mean: {:.1f} % "
                    "before, {:.1f} % for families left out, {:.1f} % after.",
                    source, 100.0 * overall.shipped.error.mean, 100.0 * overall.left_out.error.mean,
                    100.0 * overall.fitted.error.mean));
    if (!table) return table.error();
    if (Status written = write_file(options.table, *table); !written) return written;
  }
  if (!options.list.empty()) {
    if (Status written = write_file(options.list, list_of(samples, start.device, done)); !written)
      return written;
  }
  if (!options.report.empty()) return write_file(options.report, report);
  const bool printed = std::fputs(report.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (printed) return {};
  return fail(ErrorCode::io, "the report could not be written to standard output");
}

int calibrate_with(const Program& program, const Options& options) {
  const auto runs = read_runs(options);
  if (!runs) return failed(program, runs.error());
  const auto start = device_of(options, *runs);
  if (!start) return failed(program, start.error());
  auto toolchain = find_toolchain(program.installation(), start->device.architecture);
  if (!toolchain) return program.fail(toolchain.error());
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  const auto began = Clock::now();
  const auto gathered = gather_samples(*runs, start->device, *toolchain->compiler,
                                       toolchain->front_end, program.interrupted());
  if (!gathered) return failed(program, gathered.error());
  for (const std::string& line : gathered->left_out)
    program.say("left out: " + line);
  program.say(fmt::format("{} samples gathered in {:.1f} s", gathered->samples.size(),
                          seconds_since(began)));
  if (gathered->samples.empty()) return kUnusableKernel;
  const auto fit_began = Clock::now();
  const auto done = calibration::calibrate(start->device, gathered->samples, program.interrupted());
  if (program.interrupted().requested()) return kInterrupted;
  program.say(fmt::format("fitted in {:.1f} s", seconds_since(fit_began)));
  const Status written = write_outputs(options, *start, gathered->samples, done);
  return written ? 0 : failed(program, written.error());
}

int run(int argc, char** argv) {
  const Program program("regraph-calibrate", argv[0]);
  Options options;
  CLI::App app{"Fits the timing model's numbers to kernels that were measured on a GPU.",
               "regraph-calibrate"};
  app.footer(
      "The samples come from 'tools/calibrate --collect'. The table is for regraph-search --device "
      "TABLE.yaml.");
  app.set_version_flag("--version", std::string("regraph-calibrate ") + REGRAPH_VERSION);
  app.add_option("SAMPLES.jsonl", options.files, "measured kernels")->required();
  app.add_option("--device", options.device,
                 "numbers to start from: a device's name or file (default: the samples' device)");
  app.add_option("--table", options.table, "device table to write, .yaml");
  app.add_option("--report", options.report, "report to write (default: standard output)");
  app.add_option("--list", options.list, "every sample's times, tab-separated, to write");
  app.add_flag("--allow-predicted", options.allow_predicted,
               "also take predicted times, to try the program where there is no GPU");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (!options.table.empty() && !is_device_file(options.table)) {
    program.say("--table: the file's name must end in .yaml, as --device wants it");
    return kUsage;
  }
  return calibrate_with(program, options);
}

}  // namespace
int calibrate_main(int argc, char** argv) {
  return guarded("regraph-calibrate", argc, argv, run);
}

}  // namespace regraph::cli
