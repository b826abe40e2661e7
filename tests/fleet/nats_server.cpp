#include "fleet/nats_server.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace regraph::fleet {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "nats-server: %s\n", why.c_str());
  std::abort();
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    give_up("no free port");
  ::close(descriptor);
  return ntohs(address.sin_port);
}

bool listens(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool connected =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(descriptor);
  return connected;
}

TemporaryDirectory server_folder() {
  auto folder = TemporaryDirectory::create("regraph-nats-");
  if (!folder) give_up(folder.error().message);
  return *std::move(folder);
}

}  // namespace

std::optional<std::filesystem::path> NatsServer::program() {
  for (const char* const folder : {"/usr/bin", "/usr/sbin", "/usr/local/bin"}) {
    const std::filesystem::path path = std::filesystem::path(folder) / "nats-server";
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

NatsServer::NatsServer(std::vector<std::string> arguments, bool jetstream)
    : folder_(server_folder()), arguments_(std::move(arguments)), port_(free_port()) {
  if (jetstream) {
    arguments_.emplace_back("-js");
    arguments_.emplace_back("-sd");
    arguments_.push_back(folder_.path() / "store");
  }
  start();
}

NatsServer::~NatsServer() {
  if (process_) kill();
}

void NatsServer::start() {
  SpawnRequest request;
  request.program = program().value();
  request.arguments = {"-a", "127.0.0.1",           "-p", std::to_string(port_),
                       "-l", folder_.path() / "log"};
  request.arguments.insert(request.arguments.end(), arguments_.begin(), arguments_.end());
  auto process = spawn_process(request);
  if (!process) give_up(process.error().message);
  process_.emplace(*std::move(process));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (listens(port_)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  give_up("does not start; see " + (folder_.path() / "log").string());
}

void NatsServer::end(int signal) {
  ::kill(process_->id, signal);
  ::waitpid(process_->id, nullptr, 0);
  process_.reset();
}

void NatsServer::kill() {
  end(SIGKILL);
}

void NatsServer::stop() {
  end(SIGTERM);
}

void NatsServer::freeze() {
  ::kill(process_->id, SIGSTOP);
}

void NatsServer::thaw() {
  ::kill(process_->id, SIGCONT);
}

void NatsServer::empty_store() {
  std::filesystem::remove_all(folder_.path() / "store");
}

std::string NatsServer::address() const {
  return fmt::format("nats://127.0.0.1:{}", port_);
}

}  // namespace regraph::fleet
