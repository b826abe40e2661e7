#include "score/server/http_server.h"

#include "base/child_process.h"
#include "fake_service.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace regraph::score::http_server_test {
namespace {

using nlohmann::json;
using test::comes_true;
using test::kPatience;

constexpr const char* kJsonType = "application/json";

class Http : public test::FakeService {
 protected:
  void listen(int workers, std::size_t queue = 16384) {
    serve(workers, queue);
    auto started = HttpServer::start({}, *service);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server = *std::move(started);
  }
  [[nodiscard]] httplib::Client client() const {
    httplib::Client client("127.0.0.1", server->port());
    client.set_read_timeout(static_cast<time_t>(kPatience));
    return client;
  }
  [[nodiscard]] std::pair<int, json> post(const std::string& body,
                                          const char* path = "/v1/score") const {
    const auto response = client().Post(path, body, kJsonType);
    if (!response) return {0, httplib::to_string(response.error())};
    return {response->status, json::parse(response->body, nullptr, false)};
  }

  std::unique_ptr<HttpServer> server;
};

TEST_F(Http, Scores) {
  listen(2);
  const auto [status, answer] = post(body_of(items({{"a", "2"}, {"b", "wrong"}})));
  EXPECT_EQ(status, 200);
  EXPECT_NEAR(answer["results"][0]["reward"].get<double>(), 0.6, 1e-12);
  EXPECT_EQ(answer["results"][1]["reward"], -0.5);
  // Known: answered without the queue.
  EXPECT_EQ(post(body_of(items({{"a", "2"}}))).second["results"][0]["cached"], true);
  const json query = {{"query", {"Q4"}}, {"prompts", {"Q"}}, {"labels", {"c"}}};
  const auto [query_status, rewards] = post(query.dump(), "/v1/openrlhf");
  EXPECT_EQ(query_status, 200);
  EXPECT_NEAR(rewards["rewards"][0].get<double>(), 1.0, 1e-12);
  const auto health = client().Get("/v1/health");
  ASSERT_TRUE(health);
  EXPECT_EQ(json::parse(health->body)["scored"], 3);
  EXPECT_EQ(health->get_header_value("Content-Type"), kJsonType);
}

TEST_F(Http, SaysWhyNot) {
  listen(1);
  EXPECT_EQ(post("{").first, 400);
  EXPECT_EQ(post("\xff\xfe").first, 400);
  EXPECT_TRUE(post("{}").second["error"].is_string());
  EXPECT_EQ(post("{}", "/v1/openrlhf").first, 400);
  EXPECT_EQ(post("{}", "/v1/nothing").first, 404);
  EXPECT_TRUE(post("{}", "/v1/nothing").second["error"].is_string());
  json many = json::array();
  for (int i = 0; i < 4097; ++i)
    many.push_back({{"id", ""}, {"state", "a"}, {"completion", "1"}});
  EXPECT_EQ(post(body_of(many)).first, 413);
  const auto packed =
      client().Post("/v1/score", httplib::Headers{{"Content-Encoding", "gzip"}}, "x", kJsonType);
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->status, 415);
  const auto large =
      client().Post("/v1/score", std::string(RewardService::kLargestBody + 1, ' '), kJsonType);
  // The server need not read it all before it says so.
  EXPECT_TRUE(!large || large->status == 413);
  EXPECT_EQ(post(body_of(items({{"a", "1"}}))).first, 200);
}

TEST_F(Http, SaysWhenToComeBack) {
  listen(1, 1);
  auto waiting = service->admit(body_of(items({{"a", "wait go"}})));
  ASSERT_TRUE(waiting.ok());
  const auto busy = client().Post("/v1/score", body_of(items({{"a", "1"}})), kJsonType);
  ASSERT_TRUE(busy);
  EXPECT_EQ(busy->status, 503);
  EXPECT_EQ(busy->get_header_value("Retry-After"), "2");
  make_file("go");
  EXPECT_TRUE((*waiting)->wait(kPatience));
}

// By another process: so many descriptors are too many for one.
TEST_F(Http, ServesFiveHundredAtOnce) {
  listen(2);
  ChildRequest request;
  request.program = REGRAPH_PYTHON;
  request.arguments = {std::string(REGRAPH_SOURCE_DIR) + "/bench/score/requests",
                       "http://127.0.0.1:" + std::to_string(server->port()),
                       "--state",
                       "a",
                       "--items",
                       "1024",
                       "--batch",
                       "2",
                       "--connections",
                       "512"};
  if (const char* path = std::getenv("PATH")) request.environment = {std::string("PATH=") + path};
  const auto outcome = run_child(request, Cancellation());
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->succeeded()) << outcome->error;
  EXPECT_TRUE(outcome->output.starts_with("1024 items in ")) << outcome->output;
  EXPECT_NE(outcome->output.find("0 cached; 1024 correct"), std::string::npos) << outcome->output;
  EXPECT_EQ(workers->counts().scored, 1024U);
}

TEST_F(Http, DropsWhatAClientLeftBehind) {
  listen(1);
  const std::string body = body_of(items({{"a", "wait go"}, {"b", "1"}, {"c", "1"}}));
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string request =
      "POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  ASSERT_EQ(::send(connection, request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  ASSERT_TRUE(comes_true([&] { return asked("a").size() == 1; }));
  ::close(connection);
  // Dropped, at the latest, when the next worker comes by.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  make_file("go");
  EXPECT_EQ(post(body_of(items({{"d", "1"}}))).first, 200);
  EXPECT_TRUE(asked("b").empty());
  EXPECT_TRUE(asked("c").empty());
}

TEST_F(Http, StopsWithRequestsInFlight) {
  listen(1);
  std::thread waiting([&] {
    // Broken off, or told that there is no verdict.
    const auto [status, answer] = post(body_of(items({{"a", "wait for ever"}})));
    EXPECT_TRUE(status == 0 || answer["results"][0]["reward"].is_null());
  });
  ASSERT_TRUE(comes_true([&] { return asked("a").size() == 1; }));
  workers->stop();
  server->stop();
  waiting.join();
  EXPECT_EQ(post("{}").first, 0);
}

TEST_F(Http, NeedsAFreePort) {
  listen(1);
  HttpServerOptions options;
  options.host = "192.0.2.1";  // of no machine
  EXPECT_FALSE(HttpServer::start(options, *service).ok());
}

}  // namespace
}  // namespace regraph::score::http_server_test
