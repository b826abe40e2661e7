// A RewardService over HTTP.
#pragma once

#include "base/result.h"
#include "score/server/reward_service.h"

#include <memory>
#include <string>

namespace regraph::score {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;           // 0: any that is free
  int connections = 544;  // served at once, each by a thread; further ones wait
};

//   POST /v1/score      RewardService::admit and its results
//   POST /v1/openrlhf   RewardService::admit_queries and its plain results
//   GET  /v1/health     RewardService::health
//
// All bodies are JSON; of a refusal {"error": message}. With 503 goes Retry-After. What a client
// that goes away was waiting for is dropped, but for what a worker has begun.
class HttpServer {
 public:
  // Listens when it returns. `service` must outlive it. Errors: io.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                                 RewardService& service);
  ~HttpServer();

  [[nodiscard]] int port() const;
  // Breaks all connections off that wait for scores, takes no more, and waits for the others: at
  // most a second where clients do not dawdle.
  void stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace regraph::score
