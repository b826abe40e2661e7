// Options that say which fleet a program works with.
#pragma once

#include "cli/program.h"
#include "fleet/nats/nats_broker.h"
#include "fleet/presence.h"
#include "session/session_options.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace regraph::cli {

struct FleetFlags {
  fleet::NatsOptions nats;
  bool used = false;         // whether a fleet was named
  bool models_only = false;  // candidates are evaluated here
};

// --fleet and what a connection needs, for programs that want work done.
void add_fleet_options(CLI::App& app, FleetFlags& flags);
// --fleet-for, for programs that have language models asked, too.
void add_fleet_purpose(CLI::App& app, FleetFlags& flags);
// What a connection needs, for those that do it; --server beside them.
void add_fleet_server_options(CLI::App& app, FleetFlags& flags);

// This build and CUDA toolkit, as lanes have it. Error: no_device (no toolkit).
[[nodiscard]] Result<std::string, SessionError> fleet_version();

struct ConnectedFleet {
  std::shared_ptr<fleet::Broker> broker;
  FleetAccess access;  // for evaluations, unless it is for models alone
  std::vector<fleet::WorkerPresence> workers;
};

// `say` is told what a user should know. Errors: usage (address, files, token), no_device, internal
// (no server there, no libnats).
[[nodiscard]] Result<ConnectedFleet, SessionError> connect_fleet(
    FleetFlags flags, const std::function<void(const std::string&)>& say);

// Nothing where no fleet was named. `program` says what a user should know, unless `quiet`.
[[nodiscard]] Result<ConnectedFleet, SessionError> fleet_of(const Program& program,
                                                            const FleetFlags& flags, bool quiet);

// Reads again who is there: `workers` and `access.gpus`. Errors: io; what was known stays.
[[nodiscard]] Status look_at_workers(ConnectedFleet& fleet);

// Places that the workers of a lane have; says what a user should know where there are none.
[[nodiscard]] int places_for(const ConnectedFleet& fleet, const std::string& lane);

// What a user should know where none of the workers asks that model now; else nothing.
[[nodiscard]] std::string trouble_with_model(const ConnectedFleet& fleet, const std::string& model);

// Names the fleet to processes that this one starts: they read REGRAPH_FLEET and the like where
// they are not told otherwise. Before there are threads.
void export_fleet(const FleetFlags& flags);

// As connect_nats, with the errors of programs.
[[nodiscard]] Result<std::shared_ptr<fleet::Broker>, SessionError> connect_broker(
    const fleet::NatsOptions& options);

}  // namespace regraph::cli
