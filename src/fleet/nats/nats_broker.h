// A broker over a NATS server with JetStream.
#pragma once

#include "base/result.h"
#include "fleet/queue/broker.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace regraph::fleet {

struct NatsOptions {
  std::string server = "nats://127.0.0.1:4222";  // several, separated by commas, of one cluster
  // File whose first line is the token; empty: none. In the address a token would be seen by
  // everyone on the machine.
  std::filesystem::path token_file;
  std::filesystem::path ca_file;  // with one, the connection is TLS; the server's authority
  std::filesystem::path certificate_file;  // the client's own, where the server asks for it
  std::filesystem::path key_file;
  double lease_seconds = kLeaseSeconds;
  // How long results are kept, by the server.
  double result_days = 7.0;
  // Told of connections lost and found, of a server that has no room; from any thread. May be
  // empty.
  std::function<void(const std::string&)> report;
};

// Whether this build can speak NATS at all.
[[nodiscard]] bool nats_is_built_in();

// Loads libnats, connects and makes what it needs on the server where that is not there. Once
// connected, losses of the connection are waited out. Errors: unsupported (built without, no
// JetStream on the server, a server older than 2.9.2), not_found (libnats is not installed: says
// the package), permission (token or certificate refused), invalid_argument (an address or file),
// io (no server there: says how to start one).
//
// No process may fork without exec once there is a connection: its copies would share identities.
[[nodiscard]] Result<std::unique_ptr<Broker>> connect_nats(const NatsOptions& options);

}  // namespace regraph::fleet
