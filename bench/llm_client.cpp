// How much the client of language models adds to a server's own time.
//
//   llm_client [REQUESTS [IN_FLIGHT [SECONDS]]]     default 256 64 2
//
// A server on loopback, in a process of its own, thinks SECONDS about every request; REQUESTS are
// asked by IN_FLIGHT threads through one ChatClient. Prints one table: wall time beside the ideal,
// ceil(REQUESTS / IN_FLIGHT) * SECONDS, and the processor time of the client's process.
#include "base/cancellation.h"
#include "llm/client/chat_client.h"
#include "llm/client/fault_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regraph::llm {
namespace {

// A server process; it ends with this object, at the latest with this process.
class ServerProcess {
 public:
  explicit ServerProcess(double seconds) {
    int port_pipe[2];
    int life_pipe[2];
    if (::pipe(port_pipe) != 0 || ::pipe(life_pipe) != 0) std::abort();
    child_ = ::fork();
    if (child_ == 0) {
      ::close(life_pipe[1]);
      serve(seconds, port_pipe[1], life_pipe[0]);
    }
    ::close(port_pipe[1]);
    ::close(life_pipe[0]);
    life_ = life_pipe[1];
    if (::read(port_pipe[0], &port_, sizeof port_) != sizeof port_) std::abort();
    ::close(port_pipe[0]);
  }
  ~ServerProcess() {
    ::close(life_);
    ::waitpid(child_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  [[noreturn]] static void serve(double seconds, int port_pipe, int life) {
    {
      const std::string body = chat_body({std::string(8000, 'x')}, 3000, 2000);
      FaultServer server([&](const ReceivedRequest&, Peer& peer) {
        peer.wait(seconds);
        peer.reply(200, body);
      });
      const int port = server.port();
      if (::write(port_pipe, &port, sizeof port) != sizeof port) std::abort();
      char end = 0;
      (void)!::read(life, &end, 1);  // until the other side is closed
    }
    std::_Exit(0);
  }

  pid_t child_ = -1;
  int life_ = -1;
  int port_ = 0;
};

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int run(int requests, int in_flight, double seconds) {
  const ServerProcess server(seconds);
  ChatClientOptions options;
  options.base_url = server.url();
  options.in_flight = in_flight;
  auto client = ChatClient::create(options);
  if (!client.ok()) {
    fmt::print(stderr, "llm_client: {}\n", client.error().message);
    return 1;
  }
  ChatRequest request;
  request.model = "m";
  request.messages = {{Role::user, std::string(10'000, 'k')}};
  const Cancellation never;
  std::atomic<int> next{0};
  std::atomic<int> answers{0};
  const double processor_before = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < in_flight; ++i) {
    threads.emplace_back([&] {
      while (next++ < requests)
        if ((*client)->complete(request, never).ok()) ++answers;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double processor = processor_seconds() - processor_before;
  const double ideal = seconds * ((requests + in_flight - 1) / in_flight);
  fmt::print(
      "requests  in flight  latency s  answers  most  wall s  ideal s  ratio  CPU s  CPU ms "
      "each\n");
  fmt::print(
      "{:>8}  {:>9}  {:>9.2f}  {:>7}  {:>4}  {:>6.3f}  {:>7.3f}  {:>5.3f}  {:>5.3f}  {:>11.3f}\n",
      requests, in_flight, seconds, answers.load(), (*client)->statistics().most_in_flight, wall,
      ideal, wall / ideal, processor, 1e3 * processor / requests);
  return answers == requests ? 0 : 1;
}

}  // namespace
}  // namespace regraph::llm

int main(int argc, char** argv) {
  const auto number = [&](int index, double otherwise) {
    return argc > index ? std::atof(argv[index]) : otherwise;
  };
  return regraph::llm::run(std::max(1, static_cast<int>(number(1, 256))),
                           std::max(1, static_cast<int>(number(2, 64))),
                           std::max(0.0, number(3, 2.0)));
}
