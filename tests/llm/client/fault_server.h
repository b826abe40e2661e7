// An HTTP server on loopback that misbehaves as it is told: raw sockets and a thread a connection.
#pragma once

#include "base/file_descriptor.h"

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace regraph::llm {

struct ReceivedRequest {
  std::string method;
  std::string target;                          // of the request line
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int number = 0;      // of the requests to this server, from 0
  int connection = 0;  // likewise
};

// What a handler does to the client's connection.
class Peer {
 public:
  explicit Peer(int socket, const std::atomic<bool>& stopping)
      : socket_(socket), stopping_(stopping) {}

  // Sends bytes as they are. Returns false when the client has gone or the server stops.
  bool send(std::string_view bytes);
  // Sends a whole reply; `headers` end with \r\n each.
  bool reply(int status, std::string_view body, std::string_view headers = "");
  // Returns after `seconds`, or earlier when the client has gone or the server stops.
  void wait(double seconds);
  // Keeps the connection open and says nothing until the client goes.
  void hang() { wait(600.0); }
  // Breaks the connection with a reset when the handler returns.
  void reset();
  // Ends the connection when the handler returns.
  void close() { keep_ = false; }
  [[nodiscard]] bool kept() const { return keep_; }

 private:
  int socket_;
  const std::atomic<bool>& stopping_;
  bool keep_ = true;
};

// Answers every request with the handler, which is called from many threads.
class FaultServer {
 public:
  using Handler = std::function<void(const ReceivedRequest&, Peer&)>;

  explicit FaultServer(Handler handler);
  // Ends all connections.
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  // "http://127.0.0.1:PORT"
  [[nodiscard]] std::string url() const;
  [[nodiscard]] int requests() const { return requests_.load(); }
  [[nodiscard]] int connections() const { return connections_.load(); }

 private:
  void accept_all();
  void serve(int socket, int connection);

  Handler handler_;
  FileDescriptor listener_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> requests_{0};
  std::atomic<int> connections_{0};
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// A port of loopback on which nobody listens.
[[nodiscard]] int closed_port();

// A body of the chat protocol with one choice for each of `texts`.
[[nodiscard]] std::string chat_body(const std::vector<std::string>& texts, int prompt_tokens = 7,
                                    int completion_tokens = 5);

}  // namespace regraph::llm
