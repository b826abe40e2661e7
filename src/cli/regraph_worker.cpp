// regraph-worker: evaluates candidates for the searches of a fleet.
#include "cli/fleet_flags.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "fleet/lanes.h"
#include "fleet/worker/fleet_status.h"
#include "fleet/worker/fleet_worker.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

namespace regraph::cli {
namespace {

struct WorkerOptions {
  FleetFlags fleet;
  int places = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  double leave_seconds = 30.0;
  std::filesystem::path files;  // empty: in the cache
  bool quiet = false;
  bool json = false;
  bool metrics = false;
};

std::string host_name() {
  std::array<char, 256> text{};
  if (::gethostname(text.data(), text.size() - 1) != 0) return "unknown";
  return text.data();
}

// Keys of notices have letters, digits, '-' and '_' only.
std::string key_of(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '-');
  return name;
}

std::uint64_t memory_of_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes)
             : 0;
}

int work(const Program& program, const WorkerOptions& options) {
  const auto version = fleet_version();
  if (!version) return program.fail(version.error());
  const auto say = [&](const std::string& text) {
    if (!options.quiet) program.say(text);
  };
  fleet::NatsOptions nats = options.fleet.nats;
  nats.report = say;
  const auto broker = connect_broker(nats);
  if (!broker) return program.fail(broker.error());
  fleet::FleetWorkerOptions worker;
  worker.self.host = host_name();
  worker.self.name = key_of(fmt::format("{}-{}", worker.self.host, ::getpid()));
  worker.self.version = *version;
  worker.self.lanes = {fleet::prediction_lane(*version)};
  worker.self.memory_bytes = memory_of_machine();
  worker.self.places = options.places;
  worker.judge.program = program.installation().programs / "regraph-judge";
  for (char** variable = environ; *variable != nullptr; ++variable)
    worker.judge.environment.emplace_back(*variable);
  worker.leave_seconds = options.leave_seconds;
  worker.files = options.files;
  const std::filesystem::path& cache = program.installation().cache_directory;
  if (worker.files.empty())
    worker.files = (cache.empty() ? std::filesystem::temp_directory_path() : cache) / "fleet";
  worker.report = say;
  worker.judge.arguments = {"--files", worker.files.string()};
  say(fmt::format("{} takes predictions, {} at once, version {}", worker.self.name,
                  worker.self.places, *version));
  fleet::FleetWorker(**broker, std::move(worker)).run(program.interrupted());
  say("gone: all that was under way is answered or given back");
  return 0;
}

int show_status(const Program& program, const WorkerOptions& options) {
  const auto broker = connect_broker(options.fleet.nats);
  if (!broker) return program.fail(broker.error());
  const auto status = fleet::read_status(**broker);
  if (!status) return program.fail(session_error(status.error()));
  if (options.json) return program.print(fleet::status_json(*status), 0);
  return program.print(
      options.metrics ? fleet::status_metrics(*status) : fleet::status_text(*status), 0);
}

int run(int argc, char** argv) {
  const Program program("regraph-worker", argv[0]);
  WorkerOptions options;
  CLI::App app{"Evaluates candidates for searches that name the same NATS server (--fleet).",
               "regraph-worker"};
  app.set_version_flag("--version", std::string("regraph-worker ") + REGRAPH_VERSION);
  add_fleet_server_options(app, options.fleet);
  app.add_option("--places", options.places, "jobs done at once (default: processors)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--leave-seconds", options.leave_seconds,
                 "that jobs under way get after SIGTERM; then they are given back")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--files", options.files,
                 "folder for data that problems come with (default: in ~/.cache/regraph)");
  app.add_flag("-q,--quiet", options.quiet, "says nothing of jobs that fail or connections lost");
  CLI::App* status = app.add_subcommand("status", "who is there, what they do and what waits");
  add_fleet_server_options(*status, options.fleet);
  auto* json = status->add_flag("--json", options.json, "as JSON");
  status->add_flag("--prometheus", options.metrics, "in Prometheus' text format")->excludes(json);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return status->parsed() ? show_status(program, options) : work(program, options);
}

}  // namespace
int worker_main(int argc, char** argv) {
  return guarded("regraph-worker", argc, argv, run);
}

}  // namespace regraph::cli
