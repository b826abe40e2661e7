#include "llm/client/chat_client.h"

#include "llm/client/client_support.h"
#include "llm/client/fault_server.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <mutex>
#include <thread>

namespace regraph::llm::chat_client_test {
namespace {

using Json = nlohmann::json;

// A server that replies to the k-th request with the k-th status and body, and to more with the
// last; it keeps the bodies that it got.
class Script {
 public:
  using Reply = std::pair<int, std::string>;
  explicit Script(std::vector<Reply> replies)
      : replies_(std::move(replies)), server_([this](const ReceivedRequest& request, Peer& peer) {
          {
            const std::lock_guard lock(mutex_);
            bodies_.push_back(Json::parse(request.body));
          }
          const auto index =
              std::min(static_cast<std::size_t>(request.number), replies_.size() - 1);
          peer.reply(replies_[index].first, replies_[index].second);
        }) {}
  [[nodiscard]] std::string url() const { return server_.url(); }
  [[nodiscard]] std::vector<Json> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  std::vector<Reply> replies_;
  std::mutex mutex_;
  std::vector<Json> bodies_;
  FaultServer server_;
};

TEST(ChatClient, Answers) {
  Script server({{200, chat_body({"42"}, 11, 3)}});
  const auto client = make_client(quick_options(server.url()));
  const ChatResult result = ask(*client);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->choices[0].text, "42");
  EXPECT_EQ(result->choices[0].finish, FinishReason::stop);
  EXPECT_EQ(result->usage, (TokenUsage{11, 0, 3, 0, true}));
  EXPECT_EQ(result->model, "served");
  EXPECT_EQ(result->attempts, 1);
  EXPECT_GT(result->seconds, 0.0);
  const ClientStatistics statistics = client->statistics();
  EXPECT_EQ(statistics.calls, 1);
  EXPECT_EQ(statistics.requests, 1);
  EXPECT_EQ(statistics.retries, 0);
  EXPECT_EQ(statistics.most_in_flight, 1);
  EXPECT_EQ(statistics.tokens, result->usage);
}

TEST(ChatClient, EstimatesTokensWhereTheServerIsSilent) {
  Script server({{200, R"({"choices": [{"message": {"content": "four words are here"}}]})"}});
  const auto client = make_client(quick_options(server.url()));
  const ChatResult result = ask(*client);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_FALSE(result->usage.reported);
  EXPECT_EQ(result->usage.completion_tokens, 7);
  EXPECT_EQ(result->usage.prompt_tokens, 7);
}

TEST(ChatClient, AsksAgainForChoicesThatAreMissing) {
  Script server({{200, chat_body({"a"}, 10, 1)},
                 {200, chat_body({"b"}, 10, 2)},
                 {200, chat_body({"c", "d"}, 10, 3)}});
  const auto client = make_client(quick_options(server.url()));
  ChatRequest request = question();
  request.choices = 3;
  request.seed = 100;
  const ChatResult result = ask(*client, request);
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_EQ(result->choices.size(), 3U);
  EXPECT_EQ(result->choices[2].text, "c");
  EXPECT_EQ(result->usage, (TokenUsage{30, 0, 6, 0, true}));
  EXPECT_EQ(result->attempts, 3);
  EXPECT_EQ(client->statistics().retries, 0);
  const auto bodies = server.bodies();
  ASSERT_EQ(bodies.size(), 3U);
  EXPECT_EQ(bodies[0]["n"], 3);
  EXPECT_EQ(bodies[1]["n"], 2);
  EXPECT_FALSE(bodies[2].contains("n"));
  EXPECT_NE(bodies[0]["seed"], bodies[1]["seed"]);
}

TEST(ChatClient, KeepsTheChoicesItHasWhenNoMoreCome) {
  Script server({{200, chat_body({"a"})}, {400, R"({"error": {"message": "no more"}})"}});
  const auto client = make_client(quick_options(server.url()));
  ChatRequest request = question();
  request.choices = 4;
  const ChatResult result = ask(*client, request);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->choices.size(), 1U);
}

TEST(ChatClient, LearnsWhatTheServerDoesNotTake) {
  Script server(
      {{400, R"({"error": {"message": "Unsupported value: 'temperature' does not support 0.5",
                           "param": "temperature", "code": "unsupported_value"}})"},
       {400, R"({"error": {"message": "Unsupported parameter: 'max_tokens'. Use
                           'max_completion_tokens' instead.", "param": "max_tokens",
                           "code": "unsupported_parameter"}})"},
       {422, R"({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})"},
       {200, chat_body({"a"})}});
  const auto client = make_client(quick_options(server.url()));
  ChatRequest request = question();
  request.temperature = 0.5;
  request.seed = 1;
  request.max_tokens = 50;
  EXPECT_TRUE(ask(*client, request).ok());
  EXPECT_TRUE(ask(*client, request).ok());
  const auto bodies = server.bodies();
  ASSERT_EQ(bodies.size(), 5U);  // the second call asks once
  EXPECT_FALSE(bodies[4].contains("temperature"));
  EXPECT_FALSE(bodies[4].contains("seed"));
  EXPECT_FALSE(bodies[4].contains("max_tokens"));
  EXPECT_EQ(bodies[4]["max_completion_tokens"], 50);
}

TEST(ChatClient, LeavesOutAParameterOnce) {
  Script server({{400, R"({"error": {"message": "seed is not supported", "param": "seed"}})"}});
  const auto client = make_client(quick_options(server.url()));
  ChatRequest request = question();
  request.seed = 1;
  const ChatResult result = ask(*client, request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().failure, ChatFailure::rejected);
  EXPECT_EQ(result.error().attempts, 2);
}

TEST(ChatClient, WeakensTheFormatOfAnswersStepByStep) {
  Script server({{400, R"({"error": {"message": "response_format json_schema is not supported"}})"},
                 {400, R"({"error": {"message": "response_format is not supported"}})"},
                 {200, chat_body({"{}"})}});
  const auto client = make_client(quick_options(server.url()));
  ChatRequest request = question();
  request.json_schema = R"({"type": "object"})";
  EXPECT_TRUE(ask(*client, request).ok());
  const auto bodies = server.bodies();
  ASSERT_EQ(bodies.size(), 3U);
  EXPECT_EQ(bodies[0]["response_format"]["type"], "json_schema");
  EXPECT_EQ(bodies[1]["response_format"]["type"], "json_object");
  EXPECT_FALSE(bodies[2].contains("response_format"));
}

TEST(ChatClient, DoesNotSendWhatCannotBeAsked) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, chat_body({"a"})); });
  const auto client = make_client(quick_options(server.url()));
  ChatRequest request = question();
  request.json_schema = "{";
  const ChatResult result = ask(*client, request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().failure, ChatFailure::rejected);
  EXPECT_EQ(result.error().attempts, 0);
  EXPECT_EQ(server.requests(), 0);
}

TEST(ChatClient, RefusesOptionsThatMakeNoSense) {
  const auto refused = [](auto change) {
    ChatClientOptions options = quick_options("http://127.0.0.1");
    change(options);
    const auto client = ChatClient::create(std::move(options));
    if (client.ok()) return std::string("accepted");
    EXPECT_EQ(client.error().message.find("sesame"), std::string::npos);
    return std::string(regraph::name(client.error().code));
  };
  const std::string invalid = "invalid_argument";
  EXPECT_EQ(refused([](auto& o) { o.base_url = "127.0.0.1:80"; }), invalid);
  EXPECT_EQ(refused([](auto& o) { o.key = "sesame\r\nX-Evil: 1"; }), invalid);
  EXPECT_EQ(refused([](auto& o) { o.key = "sesame\n"; }), invalid);
  EXPECT_EQ(refused([](auto& o) { o.request_seconds = 0; }), invalid);
  EXPECT_EQ(refused([](auto& o) { o.in_flight = 0; }), invalid);
  EXPECT_EQ(refused([](auto& o) { o.retry.attempts = 0; }), invalid);
  EXPECT_EQ(refused([](auto&) {}), "accepted");
}

TEST(ChatClient, LimitsRequestsInFlight) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  FaultServer server([&](const ReceivedRequest&, Peer& peer) {
    most = std::max(most.load(), ++inside);
    peer.wait(0.02);
    --inside;
    peer.reply(200, chat_body({"a"}));
  });
  ChatClientOptions options = quick_options(server.url());
  options.in_flight = 3;
  const auto client = make_client(options);
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(ask(*client).ok()); });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_LE(most.load(), 3);
  EXPECT_LE(client->statistics().most_in_flight, 3);
  EXPECT_GE(client->statistics().most_in_flight, 2);
}

TEST(ChatClient, KeepsToTheRequestsPerMinute) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, chat_body({"a"})); });
  ChatClientOptions options = quick_options(server.url());
  options.rates.requests_per_minute = 600.0;  // ten a second
  options.rates.burst_seconds = 0.1;          // one at once
  const auto client = make_client(options);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(ask(*client).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(295));
}

TEST(ChatClient, SettlesTokensAfterTheAnswer) {
  // The estimate of 1024 and more would leave no time for a second request; the server counts 12.
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, chat_body({"a"})); });
  ChatClientOptions options = quick_options(server.url());
  options.rates.tokens_per_minute = 1200.0;
  options.rates.burst_seconds = 60.0;
  options.total_seconds = 1.0;
  const auto client = make_client(options);
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(ask(*client).ok());
}

TEST(ChatClient, SaysWhenTheLimitsPerMinuteLeaveNoTime) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, chat_body({"a"})); });
  ChatClientOptions options = quick_options(server.url());
  options.rates.requests_per_minute = 1.0;
  options.total_seconds = 0.5;
  const auto client = make_client(options);
  EXPECT_TRUE(ask(*client).ok());
  const ChatResult second = ask(*client);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().failure, ChatFailure::timed_out);
  EXPECT_EQ(second.error().attempts, 0);
  EXPECT_NE(second.error().message.find("per minute"), std::string::npos);
}

}  // namespace
}  // namespace regraph::llm::chat_client_test
