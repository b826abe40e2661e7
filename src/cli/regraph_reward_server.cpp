// regraph-reward-server: rewards for answers of language models, over HTTP.
#include "base/files.h"
#include "base/hash.h"
#include "cli/fleet_flags.h"
#include "cli/problem_flags.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "score/server/http_server.h"
#include "score/server/reward_service.h"
#include "score/server/score_store.h"
#include "score/server/score_workers.h"
#include "score/state_registry.h"
#include "session/choose_device.h"
#include "session/session_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace regraph::cli {
namespace {

constexpr std::chrono::milliseconds kLookForSignals{20};
// From the signal to the end, whatever clients do.
constexpr std::chrono::milliseconds kLongestEnd{1500};
constexpr std::size_t kLargestProgramFile = std::size_t{1} << 30;
// The HTTP library waits with select(2), which knows no descriptors beyond.
constexpr rlim_t kMostDescriptors = 1024;
// That an answer may wait for a fleet beyond its own time.
constexpr double kFleetSeconds = 600.0;

struct ServerOptions {
  std::filesystem::path states;
  SessionOptions session;  // device and evaluator
  FleetFlags fleet;
  double candidate_seconds = 10.0;
  score::HttpServerOptions http;
  int workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 2);
  std::size_t queue = 16384;
  std::filesystem::path store;
  bool quiet = false;
};

void add_server_options(CLI::App& app, ServerOptions& options) {
  app.add_option("STATES", options.states,
                 "folder of the states that answers may be about (problems.jsonl, states.jsonl)")
      ->required();
  options.session.evaluator = "model";
  add_device_options(app, options.session);
  app.add_option("--host", options.http.host, "address to listen on")->capture_default_str();
  app.add_option("--port", options.http.port, "port to listen on; 0: any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--workers", options.workers,
                 "answers judged at once (default: processors less two)")
      ->check(CLI::Range(1, 128));
  app.add_option("--candidate-seconds", options.candidate_seconds,
                 "that an answer may take, compiling included")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--queue", options.queue,
                 "answers that may wait; beyond that clients are told 503")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--store", options.store,
                 "file of scores: what is in it is not judged again, what is new is added");
  app.add_flag("-q,--quiet", options.quiet, "says nothing of workers that were lost");
  add_fleet_options(app, options.fleet);
}

// Of the program that judges: another build may judge otherwise.
std::string identity_of(const std::filesystem::path& program) {
  const Result<std::string> bytes = read_file(program, kLargestProgramFile);
  return bytes ? hash_text(*bytes).hex() : "unknown";
}

score::ScoreWorkersOptions workers_of(const ServerOptions& options,
                                      const std::filesystem::path& program) {
  score::ScoreWorkersOptions result;
  result.workers = options.workers;
  result.worker.candidate_seconds = options.candidate_seconds;
  if (options.fleet.used) result.worker.margin_seconds = kFleetSeconds;
  SpawnRequest& request = result.worker.program;
  request.program = program;
  request.arguments = {"--states",
                       options.states.string(),
                       "--evaluator",
                       options.session.evaluator,
                       "--candidate-seconds",
                       fmt::format("{}", options.candidate_seconds)};
  if (!options.session.device.empty())
    request.arguments.insert(request.arguments.end(), {"--device", options.session.device});
  for (char** variable = environ; *variable != nullptr; ++variable)
    request.environment.emplace_back(*variable);
  return result;
}

// What decides a score beside the answer.
std::string context_of(const ServerOptions& options, const score::StateRegistry& registry,
                       const ChosenDevice& chosen, const std::string& identity) {
  return Hasher()
      .add(registry.hash())
      .add(chosen.device.name)
      .add(chosen.table)
      .add(chosen.gpu ? "measured" : "predicted")
      .add(options.session.evaluator)
      .add(fmt::format("{}", options.candidate_seconds))
      .add(identity)
      .finish()
      .hex();
}

// Ends the process where a client that says nothing holds up its end.
void end_soon() {
  std::thread([] {
    std::this_thread::sleep_for(kLongestEnd);
    std::_Exit(kInterrupted);
  }).detach();
}

int serve(const Program& program, const ServerOptions& options) {
  // Wrong options are found here, with words and an exit code, and not by the workers.
  const auto chosen = choose_device({options.session.device, "", options.session.evaluator},
                                    program.installation().gpu_worker(), program.interrupted());
  if (!chosen) return program.fail(chosen.error());
  const Result<score::StateRegistry> registry = score::StateRegistry::load(options.states);
  if (!registry) return program.fail(session_error(registry.error()));

  const std::filesystem::path worker = program.installation().programs / "regraph-score-worker";
  const std::string identity = identity_of(worker);
  const auto report = [&](const std::string& text) {
    if (!options.quiet) program.say(text);
  };
  score::ScoreStoreOptions of_store;
  of_store.context = context_of(options, *registry, *chosen, identity);
  of_store.file = options.store;
  of_store.report = [&](const std::string& text) { program.say(text); };
  const auto store = score::ScoreStore::open(of_store);
  if (!store) return program.fail(usage(store.error().message));

  score::ScoreWorkersOptions of_workers = workers_of(options, worker);
  of_workers.report = report;
  const auto workers = score::ScoreWorkers::start(of_workers, program.interrupted());
  if (!workers) return program.fail({FailureCause::internal, workers.error().message});

  score::RewardServiceOptions of_service;
  of_service.problem_of = [&](std::string_view id) -> std::optional<std::string> {
    const score::RegisteredState* const state = registry->state(id);
    if (state == nullptr) return std::nullopt;
    return state->problem;
  };
  of_service.queue = options.queue;
  of_service.version = fmt::format("{}+{}", REGRAPH_VERSION, identity.substr(0, 12));
  of_service.registry = registry->hash();
  of_service.device = chosen->device.name;
  score::RewardService service(of_service, **workers, **store);
  const auto server = score::HttpServer::start(options.http, service);
  if (!server) return program.fail(usage(server.error().message));

  const int printed = program.print(
      fmt::format("listening on http://{}:{}\n", options.http.host, (*server)->port()), 0);
  if (printed != 0) return printed;
  report(fmt::format("{} states, {} workers, {} scores known", registry->size(), options.workers,
                     (*store)->size()));
  while (!program.interrupted().requested())
    std::this_thread::sleep_for(kLookForSignals);
  end_soon();
  (*workers)->stop();
  (*server)->stop();
  return kInterrupted;
}

int run(int argc, char** argv) {
  const Program program("regraph-reward-server", argv[0]);
  ServerOptions options;
  CLI::App app{"Rewards for answers of language models to registered states, over HTTP.",
               "regraph-reward-server"};
  app.set_version_flag("--version", std::string("regraph-reward-server ") + REGRAPH_VERSION);
  add_server_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  export_fleet(options.fleet);
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = std::min(descriptors.rlim_max, kMostDescriptors);
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &descriptors));
  }
  return serve(program, options);
}

}  // namespace
int reward_server_main(int argc, char** argv) {
  return guarded("regraph-reward-server", argc, argv, run);
}

}  // namespace regraph::cli
