#include "llm/client/transfer_engine.h"

#include "llm/client/curl_library.h"
#include "llm/client/fault_server.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace regraph::llm::transfer_engine_test {
namespace {

std::unique_ptr<TransferEngine> make_engine(TransferOptions options = {}) {
  auto api = load_curl(curl_candidates());
  EXPECT_TRUE(api.ok());
  auto engine = TransferEngine::create(*api, std::move(options));
  EXPECT_TRUE(engine.ok());
  return std::move(*engine);
}

HttpOutcome post(TransferEngine& engine, const std::string& url, double seconds = 5.0) {
  const Cancellation never;
  return engine.perform({url + "/v1/chat/completions", R"({"x": 1})", "sk-secret", seconds}, never);
}

TEST(TransferEngine, PostsJsonWithTheKey) {
  ReceivedRequest seen;
  FaultServer server([&](const ReceivedRequest& request, Peer& peer) {
    seen = request;
    peer.reply(201, "body", "Retry-After: 7\r\nDate: today\r\n");
  });
  const auto engine = make_engine();
  const HttpOutcome outcome = post(*engine, server.url());
  EXPECT_EQ(outcome.fault, TransferFault::none) << outcome.message;
  EXPECT_EQ(outcome.status, 201);
  EXPECT_EQ(outcome.body, "body");
  EXPECT_EQ(outcome.retry_after, "7");
  EXPECT_EQ(outcome.date, "today");
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/v1/chat/completions");
  EXPECT_EQ(seen.body, R"({"x": 1})");
  EXPECT_EQ(seen.headers["content-type"], "application/json");
  EXPECT_EQ(seen.headers["authorization"], "Bearer sk-secret");
  EXPECT_FALSE(seen.headers.contains("expect"));
}

TEST(TransferEngine, WorksWithEachLibraryThatIsInstalled) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, "ok"); });
  int installed = 0;
  for (const auto& candidate : curl_candidates()) {
    const std::vector<std::filesystem::path> only = {candidate};
    const auto api = load_curl(only);
    if (!api.ok()) continue;
    ++installed;
    auto engine = TransferEngine::create(*api, {});
    ASSERT_TRUE(engine.ok());
    EXPECT_EQ(post(**engine, server.url()).body, "ok") << candidate;
  }
  EXPECT_GE(installed, 1);
}

TEST(TransferEngine, KeepsConnections) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, "ok"); });
  const auto engine = make_engine();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(post(*engine, server.url()).status, 200);
  EXPECT_EQ(server.requests(), 5);
  EXPECT_EQ(server.connections(), 1);
}

TEST(TransferEngine, DoesNotLookAtTheEnvironmentForProxies) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, "direct"); });
  const std::string nowhere = "http://127.0.0.1:" + std::to_string(closed_port());
  for (const char* name : {"http_proxy", "all_proxy"})
    ::setenv(name, nowhere.c_str(), 1);
  const auto engine = make_engine();
  const HttpOutcome outcome = post(*engine, server.url());
  for (const char* name : {"http_proxy", "all_proxy"})
    ::unsetenv(name);
  EXPECT_EQ(outcome.body, "direct") << outcome.message;
}

TEST(TransferEngine, GoesThroughTheProxyThatIsGiven) {
  ReceivedRequest seen;
  FaultServer proxy([&](const ReceivedRequest& request, Peer& peer) {
    seen = request;
    peer.reply(200, "from the proxy");
  });
  TransferOptions options;
  options.proxy = proxy.url();
  const auto engine = make_engine(options);
  EXPECT_EQ(post(*engine, "http://model.invalid").body, "from the proxy");
  EXPECT_EQ(seen.target, "http://model.invalid/v1/chat/completions");
  // no_proxy of the environment is not looked at either.
  ::setenv("no_proxy", "*", 1);
  const HttpOutcome again = post(*engine, "http://model.invalid");
  ::unsetenv("no_proxy");
  EXPECT_EQ(again.body, "from the proxy") << again.message;
}

TEST(TransferEngine, GoesAroundTheProxyWhereItIsTold) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, "direct"); });
  TransferOptions options;
  options.proxy = "http://127.0.0.1:" + std::to_string(closed_port());
  options.no_proxy = "127.0.0.1";
  EXPECT_EQ(post(*make_engine(options), server.url()).body, "direct");
}

TEST(TransferEngine, AProxyThatRefusesATunnelDoesNotSeeTheKey) {
  ReceivedRequest seen;
  FaultServer proxy([&](const ReceivedRequest& request, Peer& peer) {
    seen = request;
    peer.reply(403, "no");
    peer.close();
  });
  TransferOptions options;
  options.proxy = proxy.url();
  const HttpOutcome outcome = post(*make_engine(options), "https://model.invalid");
  EXPECT_EQ(outcome.fault, TransferFault::proxy) << outcome.message;
  EXPECT_EQ(seen.method, "CONNECT");
  EXPECT_FALSE(seen.headers.contains("authorization"));
}

TEST(TransferEngine, LimitsHeaders) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) {
    peer.send("HTTP/1.1 200 OK\r\n");
    while (peer.send("X-More: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  EXPECT_EQ(post(*make_engine(), server.url()).fault, TransferFault::too_long);
}

TEST(TransferEngine, BlankLinesBeforeTheBodyAreNotSlowness) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) {
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
    for (int i = 0; i < 10; ++i) {
      peer.send("\n");
      peer.wait(0.03);
    }
    peer.send("{}");
  });
  TransferOptions options;
  options.slow_seconds = 0.1;
  options.slow_bytes = 100;
  const HttpOutcome outcome = post(*make_engine(options), server.url());
  EXPECT_EQ(outcome.fault, TransferFault::none) << outcome.message;
}

TEST(TransferEngine, EndsWhatIsInFlightWhenItGoes) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.hang(); });
  auto engine = make_engine();
  HttpOutcome outcome;
  std::thread caller([&, raw = engine.get()] { outcome = post(*raw, server.url(), 30.0); });
  while (server.requests() == 0)
    std::this_thread::yield();
  engine.reset();
  caller.join();
  EXPECT_EQ(outcome.fault, TransferFault::cancelled);
}

TEST(TransferEngine, NamesAFileOfCertificatesThatIsNotThere) {
  TransferOptions options;
  options.ca_file = "/nonexistent/ca.pem";
  const auto engine = TransferEngine::create(*load_curl(curl_candidates()), options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace regraph::llm::transfer_engine_test
