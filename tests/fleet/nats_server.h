// A NATS server for tests: a process on a port of its own, with a store in a temporary folder.
#pragma once

#include "base/files.h"
#include "base/result.h"
#include "base/spawn.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::fleet {

class NatsServer {
 public:
  // Where the program is; nothing where it is not installed (Debian: nats-server).
  [[nodiscard]] static std::optional<std::filesystem::path> program();

  // `arguments`: more of them, e.g. "--auth". Aborts the test program where it does not start.
  explicit NatsServer(std::vector<std::string> arguments = {}, bool jetstream = true);
  ~NatsServer();
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  // On the same port and store.
  void start();
  // At once, as when power fails.
  void kill();
  // As its operator would.
  void stop();
  // Of a server that does not run.
  void empty_store();
  // It hangs, or goes on.
  void freeze();
  void thaw();

  [[nodiscard]] std::string address() const;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  void end(int signal);

  TemporaryDirectory folder_;
  std::vector<std::string> arguments_;
  int port_ = 0;
  std::optional<SpawnedProcess> process_;
};

}  // namespace regraph::fleet
