// regraph-worker: evaluates candidates for the searches of a fleet, and asks language models.
#include "cli/fleet_flags.h"
#include "cli/language_model_flags.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "cli/worker_gpus.h"
#include "fleet/lanes.h"
#include "fleet_worker/fleet_status.h"
#include "fleet_worker/fleet_worker.h"
#include "fleet_worker/gpu_health.h"
#include "fleet_worker/model_worker.h"
#include "session/model_connection.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace regraph::cli {
namespace {

// Judges that take turns on one GPU: while one times the other compiles and verifies. Each times
// the original for itself, which more of them would make longer.
constexpr int kGpuPlaces = 2;

struct WorkerOptions {
  FleetFlags fleet;
  LanguageModelOptions model;  // asked where one is named
  int model_places = 8;
  int places = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::string gpus = "all";
  int gpu_places = 0;  // 0: as many as the processors bear
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

fleet::WorkerPresence presence_here() {
  fleet::WorkerPresence self;
  self.host = host_name();
  self.name = key_of(fmt::format("{}-{}", self.host, ::getpid()));
  self.memory_bytes = memory_of_machine();
  return self;
}

// What all that judge have in common.
fleet::FleetWorkerOptions judging(const Program& program, const WorkerOptions& options,
                                  const std::string& version) {
  fleet::FleetWorkerOptions worker;
  worker.self = presence_here();
  worker.self.version = version;
  worker.judge.program = program.installation().programs / "regraph-judge";
  // Without the key: those processes compile what strangers wrote.
  constexpr std::string_view kKeyVariable = "OPENAI_API_KEY=";
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with(kKeyVariable))
      worker.judge.environment.emplace_back(*variable);
  worker.leave_seconds = options.leave_seconds;
  worker.files = options.files;
  const std::filesystem::path& cache = program.installation().cache_directory;
  if (worker.files.empty())
    worker.files = (cache.empty() ? std::filesystem::temp_directory_path() : cache) / "fleet";
  // Manifests name what is in it, and are read elsewhere.
  std::error_code ignored;
  worker.files = std::filesystem::absolute(worker.files, ignored);
  worker.judge.arguments = {"--files", worker.files.string()};
  return worker;
}

fleet::FleetWorkerOptions predicting(const Program& program, const WorkerOptions& options,
                                     const std::string& version) {
  fleet::FleetWorkerOptions worker = judging(program, options, version);
  worker.self.lanes = {fleet::prediction_lane(version)};
  worker.self.places = options.places;
  return worker;
}

// `gpus` share the processors. What several places have verified takes turns on the GPU.
fleet::FleetWorkerOptions measuring(const Program& program, const WorkerOptions& options,
                                    const std::string& version, const WorkerGpu& gpu,
                                    std::size_t gpus) {
  fleet::FleetWorkerOptions worker = judging(program, options, version);
  fleet::WorkerPresence& self = worker.self;
  self.name += fmt::format("-gpu{}", gpu.device);
  self.device = gpu.properties.name;
  self.gpu = gpu.properties;
  self.lanes = {fleet::gpu_lane(version, self.host, gpu.properties.bus_id),
                fleet::measurement_lane(version, gpu.properties.name)};
  const int share = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()) /
                                     std::max<std::size_t>(gpus, 1));
  self.places = options.gpu_places > 0 ? options.gpu_places : std::clamp(share, 1, kGpuPlaces);
  worker.limits.turns = self.places + 1;
  worker.judge.environment = environment_for_gpu(gpu, std::move(worker.judge.environment));
  worker.judge.arguments.insert(worker.judge.arguments.end(),
                                {"--threads", std::to_string(std::max(1, share / self.places))});
  const auto health =
      fleet::health_of_gpu(program.installation().gpu_worker(), gpu.device, gpu.properties.bus_id);
  worker.find_trouble = [health](bool suspected) { return health->trouble(suspected); };
  return worker;
}

fleet::ModelWorkerOptions asking(const WorkerOptions& options) {
  fleet::ModelWorkerOptions worker;
  worker.self = presence_here();
  worker.self.name += "-model";
  worker.self.version = REGRAPH_VERSION;
  worker.self.lanes = {fleet::model_lane(options.model.model)};
  worker.self.device = "model " + options.model.model;
  worker.self.places = options.model_places;
  worker.model = options.model.model;
  worker.leave_seconds = options.leave_seconds;
  return worker;
}

// Runs all workers until they are to go, or have retired. Whether any was left to go.
bool run_workers(const Program& program, fleet::Broker& broker,
                 std::vector<fleet::FleetWorkerOptions> workers, const fleet::WorkerReport& say) {
  std::atomic<std::size_t> retired = 0;
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  for (fleet::FleetWorkerOptions& worker : workers) {
    worker.report = say;
    say(fmt::format(
        "{} {}, {} at once, version {}", worker.self.name,
        worker.self.device.empty() ? "takes predictions" : "measures on " + worker.self.device,
        worker.self.places, worker.self.version));
    threads.emplace_back([&, options = std::move(worker)] {
      const std::string name = options.self.name;
      const std::string why = fleet::FleetWorker(broker, options).run(program.interrupted());
      if (why.empty()) return;
      ++retired;
      say(fmt::format("{} has retired: {}", name, why));
    });
  }
  for (std::thread& one : threads)
    one.join();
  return threads.empty() || retired.load() < threads.size();
}

int work(const Program& program, WorkerOptions options) {
  const bool asks = !options.model.model.empty();
  std::unique_ptr<llm::ChatClient> client;
  if (asks) {
    options.model.in_flight = options.model_places;
    auto connection = connect_language_model(options.model, static_cast<std::uint64_t>(::getpid()));
    if (!connection) return program.fail(connection.error());
    client = *std::move(connection);
  }
  auto gpus = find_worker_gpus(options.gpus, program.installation(), program.interrupted());
  if (!gpus) return program.fail(gpus.error());
  if (!asks && options.places == 0 && gpus->empty()) {
    return program.fail(
        usage("--places 0 without a GPU leaves nothing to do; --llm-model names a model to ask"));
  }
  std::vector<fleet::FleetWorkerOptions> workers;
  if (options.places > 0 || !gpus->empty()) {
    const auto version = fleet_version();
    if (!version) return program.fail(version.error());
    if (options.places > 0) workers.push_back(predicting(program, options, *version));
    for (const WorkerGpu& gpu : *gpus)
      workers.push_back(measuring(program, options, *version, gpu, gpus->size()));
  }
  const auto say = [&](const std::string& text) {
    if (!options.quiet) program.say(text);
  };
  fleet::NatsOptions nats = options.fleet.nats;
  nats.report = say;
  const auto broker = connect_broker(nats);
  if (!broker) return program.fail(broker.error());
  std::thread models;
  if (asks) {
    fleet::ModelWorkerOptions worker = asking(options);
    worker.report = say;
    say(fmt::format("{} asks {} at {}, {} at once", worker.self.name, worker.model, client->url(),
                    worker.self.places));
    models = std::thread([&, worker = std::move(worker)] {
      fleet::ModelWorker(**broker, *client, worker).run(program.interrupted());
    });
  }
  const bool left = run_workers(program, **broker, std::move(workers), say);
  if (models.joinable()) models.join();
  if (!left && !program.interrupted().requested())
    return program.fail({FailureCause::no_device, "all workers have retired"});
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
  CLI::App app{
      "Evaluates candidates for searches that name the same NATS server (--fleet), and asks a "
      "language model for them where one is named.",
      "regraph-worker"};
  app.set_version_flag("--version", std::string("regraph-worker ") + REGRAPH_VERSION);
  add_fleet_server_options(app, options.fleet);
  app.add_option("--places", options.places, "predictions done at once (default: processors)")
      ->check(CLI::Range(0, 1024));
  app.add_option("--gpu", options.gpus,
                 "GPUs to measure on: all, none, or their numbers, e.g. 0,2; one that fails or is "
                 "slowed down retires")
      ->capture_default_str();
  app.add_option("--gpu-places", options.gpu_places,
                 "candidates a GPU at once: they are verified side by side and take turns on it "
                 "(default: 2, or as many as there are processors)")
      ->check(CLI::Range(1, 64));
  add_model_server_options(app, options.model);
  app.add_option("--llm-places", options.model_places, "questions to the model at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->group("Language model");
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
