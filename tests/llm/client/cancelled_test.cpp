// Calls that are cancelled, wherever they are.
#include "llm/client/chat_client.h"
#include "llm/client/client_support.h"
#include "llm/client/fault_server.h"

#include <chrono>
#include <thread>

namespace regraph::llm::cancelled_test {
namespace {

using Clock = std::chrono::steady_clock;

// How long a call takes to return after it was cancelled `after_requests` requests.
double seconds_to_cancel(FaultServer& server, ChatClient& client, int after_requests) {
  Cancellation cancellation;
  Clock::time_point asked;
  std::thread canceller([&] {
    while (server.requests() < after_requests)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    asked = Clock::now();
    cancellation.request();
  });
  const ChatResult result = client.complete(question(), cancellation);
  const auto returned = Clock::now();
  canceller.join();
  EXPECT_FALSE(result.ok());
  EXPECT_STREQ(name(result.error().failure), "cancelled") << result.error().message;
  return std::chrono::duration<double>(returned - asked).count();
}

TEST(Cancelled, DuringAHang) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.hang(); });
  const auto client = make_client(quick_options(server.url()));
  EXPECT_LT(seconds_to_cancel(server, *client, 1), 2.0);  // the deadline is 5 s
}

TEST(Cancelled, WhileWaitingToTryAgain) {
  FaultServer server(
      [](const ReceivedRequest&, Peer& peer) { peer.reply(429, "{}", "Retry-After: 15\r\n"); });
  const auto client = make_client(quick_options(server.url()));
  EXPECT_LT(seconds_to_cancel(server, *client, 1), 2.0);
}

TEST(Cancelled, BeforeItBegan) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, chat_body({"a"})); });
  const auto client = make_client(quick_options(server.url()));
  Cancellation cancellation;
  cancellation.request();
  const ChatResult result = client->complete(question(), cancellation);
  EXPECT_EQ(result.error().failure, ChatFailure::cancelled);
  EXPECT_EQ(server.requests(), 0);
}

TEST(Cancelled, WhileOthersAreInFlight) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.hang(); });
  ChatClientOptions options = quick_options(server.url());
  options.in_flight = 1;
  const auto client = make_client(options);
  Cancellation first_cancellation;
  std::thread first([&] { (void)client->complete(question(), first_cancellation).ok(); });
  while (server.requests() < 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LT(seconds_to_cancel(server, *client, 1), 2.0);
  first_cancellation.request();
  first.join();
  EXPECT_EQ(server.requests(), 1);
}

TEST(Cancelled, WhileWaitingForTheLimitsPerMinute) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, chat_body({"a"})); });
  ChatClientOptions options = quick_options(server.url());
  options.rates.requests_per_minute = 6.0;
  options.rates.burst_seconds = 1.0;
  const auto client = make_client(options);
  EXPECT_TRUE(ask(*client).ok());
  EXPECT_LT(seconds_to_cancel(server, *client, 1), 2.0);
  EXPECT_EQ(server.requests(), 1);
}

}  // namespace
}  // namespace regraph::llm::cancelled_test
