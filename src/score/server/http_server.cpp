#include "score/server/http_server.h"

#include "base/json_text.h"

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <httplib.h>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace regraph::score {
namespace {

constexpr const char* kJson = "application/json";
constexpr double kLookAtClient = 0.05;  // seconds between looks whether it is still there
constexpr int kBacklog = 1024;          // the library's own is 5: bursts would wait for seconds
constexpr int kUnsupportedMedia = 415;
constexpr int kPayloadTooLarge = 413;
constexpr int kUnavailable = 503;
constexpr std::size_t kMostRequests = 1'000'000;  // of a connection
constexpr int kIdleSeconds = 1;                   // that a connection is kept for
constexpr int kReadSeconds = 5;                   // that a client may take to go on

void refuse(httplib::Response& response, const Refusal& refusal) {
  response.status = refusal.status;
  if (refusal.status == kUnavailable) response.set_header("Retry-After", "2");
  response.set_content(json_line({{"error", refusal.message}}), kJson);
}

bool client_is_there(const httplib::DataSink& sink) {
  return !sink.is_writable || sink.is_writable();
}

}  // namespace

struct HttpServer::State {
  explicit State(RewardService& given) : service(given) {}

  RewardService& service;
  httplib::Server server;
  std::thread listener;
  int listening = -1;  // the socket
  int port = 0;
  std::atomic<bool> stopping{false};

  void post_score(const httplib::Request& request, httplib::Response& response) {
    Result<std::unique_ptr<RewardBatch>, Refusal> admitted = service.admit(request.body);
    if (!admitted) return refuse(response, admitted.error());
    const std::shared_ptr<RewardBatch> batch = *std::move(admitted);
    if (batch->wait(0.0)) return response.set_content(batch->results(), kJson);
    // Only while content is sent does the library say whether the client is still there.
    response.set_chunked_content_provider(kJson, [this, batch](std::size_t, auto& sink) {
      while (!batch->wait(kLookAtClient)) {
        if (stopping.load() || !client_is_there(sink)) return false;
      }
      const std::string text = batch->results();
      if (!sink.write(text.data(), text.size())) return false;
      sink.done();
      return true;
    });
  }

  // One answer a call, and the status depends on it: a client that goes away is not noticed.
  void post_queries(const httplib::Request& request, httplib::Response& response) {
    Result<std::unique_ptr<RewardBatch>, Refusal> batch = service.admit_queries(request.body);
    if (!batch) return refuse(response, batch.error());
    while (!(*batch)->wait(kLookAtClient)) {
      if (stopping.load()) return refuse(response, {kUnavailable, "the server is stopping"});
    }
    const Result<std::string, Refusal> results = (*batch)->plain_results();
    if (!results) return refuse(response, results.error());
    response.set_content(*results, kJson);
  }

  void set_up(const HttpServerOptions& options) {
    server.new_task_queue = [count = options.connections] {
      return new httplib::ThreadPool(static_cast<std::size_t>(count));
    };
    server.set_tcp_nodelay(true);
    server.set_payload_max_length(RewardService::kLargestBody);
    server.set_keep_alive_max_count(kMostRequests);
    server.set_keep_alive_timeout(kIdleSeconds);
    server.set_read_timeout(kReadSeconds);
    server.set_socket_options([this](int socket) {
      httplib::default_socket_options(socket);
      listening = socket;
    });
    server.set_pre_routing_handler(
        [](const httplib::Request& request, httplib::Response& response) {
          // A compressed body may be any size once it is none any more.
          if (!request.has_header("Content-Encoding"))
            return httplib::Server::HandlerResponse::Unhandled;
          refuse(response, {kUnsupportedMedia, "a body with Content-Encoding"});
          return httplib::Server::HandlerResponse::Handled;
        });
    server.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return;
      const std::string what =
          response.status == kPayloadTooLarge
              ? fmt::format("a body of more than {} bytes", RewardService::kLargestBody)
              : fmt::format("nothing to be had by {} {}", request.method,
                            request.path.substr(0, 100));
      refuse(response, {response.status, what});
    });
    server.Post("/v1/score",
                [this](const auto& request, auto& response) { post_score(request, response); });
    server.Post("/v1/openrlhf",
                [this](const auto& request, auto& response) { post_queries(request, response); });
    server.Get("/v1/health", [this](const auto&, auto& response) {
      response.set_content(service.health(), kJson);
    });
  }
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() {
  stop();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      RewardService& service) {
  auto state = std::make_unique<State>(service);
  state->set_up(options);
  if (options.port == 0) {
    state->port = state->server.bind_to_any_port(options.host);
  } else if (state->server.bind_to_port(options.host, options.port)) {
    state->port = options.port;
  }
  if (state->port <= 0)
    return fail(ErrorCode::io, fmt::format("cannot listen on {}:{}", options.host, options.port));
  ::listen(state->listening, kBacklog);
  State& running = *state;
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(state)));
  running.listener = std::thread([&running] { running.server.listen_after_bind(); });
  while (!running.server.is_running())
    std::this_thread::yield();
  return server;
}

int HttpServer::port() const {
  return state_->port;
}

void HttpServer::stop() {
  state_->stopping = true;
  if (!state_->listener.joinable()) return;
  state_->server.stop();
  state_->listener.join();
}

}  // namespace regraph::score
