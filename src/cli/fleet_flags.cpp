#include "cli/fleet_flags.h"

#include "eval/compile/compiler.h"
#include "fleet/evaluator_version.h"
#include "fleet/lanes.h"
#include "fleet/presence.h"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <system_error>
#include <utility>

namespace regraph::cli {
namespace {

constexpr const char* kFleetGroup = "Fleet";
constexpr const char* kServerVariable = "REGRAPH_FLEET";
constexpr const char* kTokenVariable = "REGRAPH_FLEET_TOKEN";
constexpr const char* kCaVariable = "REGRAPH_FLEET_CA";
constexpr const char* kCertificateVariable = "REGRAPH_FLEET_CERTIFICATE";
constexpr const char* kKeyVariable = "REGRAPH_FLEET_KEY";
constexpr std::size_t kMostWorkers = 1000;  // notices read; a board is open to whoever may write

// Options and the variables of the environment that stand in for them.
void add_connection_options(CLI::App& app, fleet::NatsOptions& nats) {
  app.add_option("--fleet-token", nats.token_file, "file with the server's token")
      ->envname(kTokenVariable)
      ->group(kFleetGroup);
  app.add_option("--fleet-ca", nats.ca_file,
                 "certificate of the server's authority; the connection is TLS then")
      ->envname(kCaVariable)
      ->group(kFleetGroup);
  app.add_option("--fleet-certificate", nats.certificate_file,
                 "this client's certificate, where the server asks for one")
      ->envname(kCertificateVariable)
      ->group(kFleetGroup);
  app.add_option("--fleet-key", nats.key_file, "the key of that certificate")
      ->envname(kKeyVariable)
      ->group(kFleetGroup);
}

SessionError explained(Error error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::permission:
    case ErrorCode::not_found:
    case ErrorCode::unsupported:
    case ErrorCode::io:
      return usage("the fleet: " + error.message);
    default:
      return {FailureCause::internal, "the fleet: " + std::move(error).message};
  }
}

}  // namespace

void add_fleet_options(CLI::App& app, FleetFlags& flags) {
  app.add_option_function<std::string>(
         "--fleet",
         [&flags](const std::string& server) {
           flags.nats.server = server;
           flags.used = true;
         },
         "have candidates evaluated by the workers (regraph-worker) of this NATS server, e.g. "
         "nats://127.0.0.1:4222")
      ->envname(kServerVariable)
      ->group(kFleetGroup);
  add_connection_options(app, flags.nats);
}

void add_fleet_purpose(CLI::App& app, FleetFlags& flags) {
  app.add_option_function<std::string>(
         "--fleet-for",
         [&flags](const std::string& purpose) { flags.models_only = purpose == "models"; },
         "what the fleet is asked for: all, or models: answers of language models (--llm-server "
         "fleet), while candidates are evaluated here")
      ->check(CLI::IsMember({"all", "models"}))
      ->default_str("all")
      ->group(kFleetGroup);
}

void add_fleet_server_options(CLI::App& app, FleetFlags& flags) {
  flags.used = true;
  app.add_option("--server", flags.nats.server, "NATS server with JetStream")
      ->capture_default_str()
      ->group(kFleetGroup);
  add_connection_options(app, flags.nats);
}

Result<ConnectedFleet, SessionError> fleet_of(const Program& program, const FleetFlags& flags,
                                              bool quiet) {
  if (!flags.used) return ConnectedFleet{};
  return connect_fleet(flags, [&program, quiet](const std::string& text) {
    if (!quiet) program.say(text);
  });
}

void export_fleet(const FleetFlags& flags) {
  if (!flags.used) return;
  const auto name = [](const char* variable, const std::string& value) {
    if (!value.empty()) ::setenv(variable, value.c_str(), 1);
  };
  const auto name_file = [&](const char* variable, const std::filesystem::path& file) {
    std::error_code ignored;
    if (!file.empty()) name(variable, std::filesystem::absolute(file, ignored).string());
  };
  name(kServerVariable, flags.nats.server);
  name_file(kTokenVariable, flags.nats.token_file);
  name_file(kCaVariable, flags.nats.ca_file);
  name_file(kCertificateVariable, flags.nats.certificate_file);
  name_file(kKeyVariable, flags.nats.key_file);
}

Result<std::string, SessionError> fleet_version() {
  auto toolkit = find_cuda_toolkit();
  if (!toolkit) return SessionError{FailureCause::no_device, toolkit.error().message};
  return fleet::evaluator_version(toolkit->nvrtc_library);
}

Result<std::shared_ptr<fleet::Broker>, SessionError> connect_broker(
    const fleet::NatsOptions& options) {
  auto broker = fleet::connect_nats(options);
  if (!broker) return explained(std::move(broker).error());
  return std::shared_ptr<fleet::Broker>(*std::move(broker));
}

Result<ConnectedFleet, SessionError> connect_fleet(
    FleetFlags flags, const std::function<void(const std::string&)>& say) {
  std::string version;
  if (!flags.models_only) {
    auto found = fleet_version();
    if (!found) return std::move(found).error();
    version = *std::move(found);
  }
  flags.nats.report = say;
  auto broker = connect_broker(flags.nats);
  if (!broker) return std::move(broker).error();
  ConnectedFleet result;
  result.broker = *std::move(broker);
  result.access = {result.broker, version, {}, say};
  if (Status looked = look_at_workers(result); !looked) return explained(std::move(looked).error());
  if (result.workers.empty() && !flags.models_only)
    say("no worker is there yet; regraph-worker --server " + flags.nats.server + " starts one");
  return result;
}

Status look_at_workers(ConnectedFleet& fleet) {
  auto notices = fleet.broker->notices(fleet::Board::workers, kMostWorkers);
  if (!notices) return std::move(notices).error();
  fleet.workers.clear();
  fleet.access.gpus.clear();
  for (const auto& [name, text] : *notices) {
    if (auto worker = fleet::read_presence(text)) fleet.workers.push_back(*std::move(worker));
  }
  // A fleet for models alone has no version.
  for (const fleet::WorkerPresence& worker : fleet.workers) {
    const bool measures = !worker.version.empty() && worker.version == fleet.access.version &&
                          !worker.gpu.name.empty() && !worker.lanes.empty();
    if (measures) fleet.access.gpus.push_back(worker.gpu);
  }
  return {};
}

int places_for(const ConnectedFleet& fleet, const std::string& lane) {
  if (lane.empty()) return 0;
  const int places = fleet::places_of(fleet.workers, lane);
  if (places == 0 && !fleet.workers.empty()) {
    fleet.access.report("none of the " + std::to_string(fleet.workers.size()) +
                        " workers that are there can evaluate this (" + lane +
                        "); the search waits for one that can");
  }
  return places;
}

std::string trouble_with_model(const ConnectedFleet& fleet, const std::string& model) {
  if (fleet::places_of(fleet.workers, fleet::model_lane(model)) > 0) return "";
  return "no worker asks the model '" + model +
         "' yet; questions wait for one: regraph-worker --llm-url URL --llm-model " + model;
}

}  // namespace regraph::cli
