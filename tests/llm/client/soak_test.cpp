// Many requests at a time to a server that fails three times in ten, in a way drawn from the seed.
// REGRAPH_SOAK_REQUESTS sets how many (default 200).
#include "base/random.h"
#include "llm/client/chat_client.h"
#include "llm/client/client_support.h"
#include "llm/client/fault_server.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace regraph::llm::soak_test {
namespace {

constexpr int kThreads = 32;
constexpr std::uint64_t kSeed = 20240817;

// What call `number` must be answered with, and what it costs.
std::string expected_text(int number) {
  return "answer " + std::to_string(number * 31 + 7);
}
int prompt_tokens(int number) {
  return 100 + number % 37;
}
int completion_tokens(int number) {
  return 1 + number % 53;
}

void fail(std::uint64_t draw, Peer& peer) {
  switch (draw % 10) {
    case 0:
      return peer.reset();
    case 1:
      return peer.close();  // without a word
    case 2:
      return static_cast<void>(peer.reply(429, "{}", "Retry-After: 0.01\r\n"));
    case 3:
      return static_cast<void>(peer.reply(500, "<html>oops</html>"));
    case 4:
      return static_cast<void>(peer.reply(503, R"({"error": {"message": "overloaded"}})"));
    case 5:
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"choices\": [");
      return peer.close();
    case 6:
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"ch");
      return peer.reset();
    case 7:
      return static_cast<void>(peer.reply(200, "{\"choices\": [{\"message\": \"\xC3\"}]}"));
    case 8:
      return static_cast<void>(peer.reply(200, R"({"error": {"code": 502, "message": "up"}})"));
    default:
      peer.wait(0.4);  // longer than a request may take
      return peer.close();
  }
}

int number_in(const ReceivedRequest& request) {
  const auto body = nlohmann::json::parse(request.body);
  return std::atoi(body["messages"][0]["content"].get<std::string>().c_str());
}

// Fails by the call's number and how often it has been asked: the order of threads is of no matter.
class SoakServer {
 public:
  explicit SoakServer(int calls)
      : asked_(static_cast<std::size_t>(calls)),
        server_([this](const ReceivedRequest& request, Peer& peer) { answer(request, peer); }) {}
  [[nodiscard]] std::string url() const { return server_.url(); }
  [[nodiscard]] int requests() const { return server_.requests(); }
  [[nodiscard]] int faults() const { return faults_.load(); }

 private:
  void answer(const ReceivedRequest& request, Peer& peer) {
    const int number = number_in(request);
    const int asked = asked_[static_cast<std::size_t>(number)].fetch_add(1);
    const std::uint64_t draw = random_bits(kSeed, number, asked);
    if (to_unit_interval(draw) < 0.3) {
      ++faults_;
      return fail(random_bits(draw), peer);
    }
    peer.wait(1e-3 * static_cast<double>(random_bits(draw, 1) % 10));
    peer.reply(
        200, chat_body({expected_text(number)}, prompt_tokens(number), completion_tokens(number)));
  }

  std::vector<std::atomic<int>> asked_;
  std::atomic<int> faults_{0};
  FaultServer server_;
};

TEST(Soak, EveryCallReturnsAndSuccessesAreRight) {
  const char* const wanted = std::getenv("REGRAPH_SOAK_REQUESTS");
  const int calls = wanted == nullptr ? 200 : std::max(1, std::atoi(wanted));
  SoakServer server(calls);
  ChatClientOptions options = quick_options(server.url());
  options.in_flight = kThreads;
  options.request_seconds = 0.3;
  options.total_seconds = 60.0;
  options.retry.attempts = 8;
  options.retry.malformed_retries = 2;
  const auto client = make_client(options);
  ASSERT_NE(client, nullptr);

  std::atomic<int> next{0};
  std::atomic<int> answers{0};
  std::atomic<int> failures{0};
  std::atomic<int> attempts{0};
  std::mutex mutex;
  TokenUsage tokens{.reported = true};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int number = next++; number < calls; number = next++) {
        const ChatResult result = ask(*client, question(std::to_string(number)));
        if (!result.ok()) {
          ++failures;
          attempts += result.error().attempts;
          // All that this server does passes, so only patience can be at an end.
          EXPECT_NE(result.error().failure, ChatFailure::cancelled) << result.error().message;
          EXPECT_FALSE(is_permanent(result.error().failure)) << result.error().message;
          continue;
        }
        ++answers;
        attempts += result->attempts;
        EXPECT_EQ(result->choices.at(0).text, expected_text(number));
        EXPECT_EQ(result->usage.prompt_tokens, prompt_tokens(number));
        EXPECT_EQ(result->usage.completion_tokens, completion_tokens(number));
        const std::lock_guard lock(mutex);
        tokens += result->usage;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();

  const ClientStatistics statistics = client->statistics();
  EXPECT_EQ(answers + failures, calls);
  EXPECT_EQ(statistics.calls, calls);
  EXPECT_EQ(statistics.answers, answers);
  EXPECT_EQ(statistics.tokens, tokens);
  EXPECT_EQ(statistics.requests, attempts);
  EXPECT_EQ(statistics.retries, attempts - calls);
  std::int64_t failed_requests = 0;
  for (const std::int64_t count : statistics.failed_requests)
    failed_requests += count;
  EXPECT_EQ(failed_requests, statistics.requests - answers);
  // Three malformed answers in a row end a call: about one in a thousand.
  EXPECT_LE(failures, 1 + calls / 100);
  EXPECT_GT(server.faults(), calls / 10);
  EXPECT_LE(statistics.most_in_flight, kThreads);
  std::printf("%d calls, %d answers, %d failures, %lld requests, %d faults, %d at most in flight\n",
              calls, answers.load(), failures.load(), static_cast<long long>(statistics.requests),
              server.faults(), statistics.most_in_flight);
}

}  // namespace
}  // namespace regraph::llm::soak_test
