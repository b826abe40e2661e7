// The real client against servers that fail, each in its own way.
#include "llm/client/chat_client.h"
#include "llm/client/client_support.h"
#include "llm/client/fault_server.h"

#include <chrono>
#include <zlib.h>

namespace regraph::llm::faults_test {
namespace {

using Clock = std::chrono::steady_clock;

struct Seen {
  ChatResult result;
  int requests = 0;
  double seconds = 0.0;
  [[nodiscard]] std::string failure() const {
    return result.ok() ? "none" : name(result.error().failure);
  }
  [[nodiscard]] const std::string& message() const { return result.error().message; }
};

// Asks once a server with this handler.
template <typename Change>
Seen ask_server(FaultServer::Handler handler, Change change) {
  FaultServer server(std::move(handler));
  ChatClientOptions options = quick_options(server.url());
  change(options);
  const auto client = make_client(options);
  const auto start = Clock::now();
  ChatResult result = ask(*client);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return {std::move(result), server.requests(), seconds};
}

Seen ask_server(FaultServer::Handler handler) {
  return ask_server(std::move(handler), [](ChatClientOptions&) {});
}

FaultServer::Handler always(int status, std::string body, std::string headers = "") {
  return [=](const ReceivedRequest&, Peer& peer) { peer.reply(status, body, headers); };
}

TEST(Faults, RefusedConnection) {
  const auto client =
      make_client(quick_options("http://127.0.0.1:" + std::to_string(closed_port())));
  const ChatResult result = ask(*client);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().failure, ChatFailure::unreachable);
  EXPECT_EQ(result.error().attempts, 3);
  EXPECT_NE(result.error().message.find(client->url()), std::string::npos)
      << result.error().message;
}

TEST(Faults, NoSuchHost) {
  ChatClientOptions options = quick_options("http://nonexistent.invalid");
  options.transfer.connect_seconds = 5.0;
  const auto client = make_client(options);
  const ChatResult result = ask(*client);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().failure, ChatFailure::unreachable);
  EXPECT_GE(result.error().attempts, 2);  // tried once more
  EXPECT_NE(result.error().message.find("nonexistent.invalid"), std::string::npos);
}

TEST(Faults, ConnectionIsReset) {
  const Seen seen = ask_server([](const ReceivedRequest& request, Peer& peer) {
    if (request.number < 2) return peer.reset();
    peer.reply(200, chat_body({"a"}));
  });
  ASSERT_TRUE(seen.result.ok()) << seen.message();
  EXPECT_EQ(seen.result->attempts, 3);
}

TEST(Faults, WrongKey) {
  FaultServer server(always(401, R"({"error": {"message": "Incorrect API key provided"}})"));
  const auto client = make_client(quick_options(server.url()));
  for (int i = 0; i < 3; ++i) {
    const ChatResult result = ask(*client);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().failure, ChatFailure::unauthorised);
    EXPECT_EQ(result.error().attempts, i == 0 ? 1 : 0);
    EXPECT_NE(result.error().message.find("Incorrect API key"), std::string::npos);
  }
  EXPECT_EQ(server.requests(), 1);  // the circuit is open
  EXPECT_EQ(client->statistics().failed_calls_by(ChatFailure::unauthorised), 3);
}

TEST(Faults, UnknownModel) {
  FaultServer server([](const ReceivedRequest& request, Peer& peer) {
    if (request.body.find("\"good\"") != std::string::npos)
      return static_cast<void>(peer.reply(200, chat_body({"a"})));
    peer.reply(
        404,
        R"({"error": {"message": "The model `m` does not exist", "code": "model_not_found"}})");
  });
  const auto client = make_client(quick_options(server.url()));
  for (int i = 0; i < 2; ++i) {
    const ChatResult result = ask(*client);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().failure, ChatFailure::unknown_model);
  }
  EXPECT_EQ(server.requests(), 1);
  ChatRequest other = question();
  other.model = "good";
  EXPECT_TRUE(ask(*client, other).ok());
}

TEST(Faults, RequestsThatAreAtFaultAreNotRepeated) {
  for (const int status : {400, 413, 422}) {
    const Seen seen = ask_server(always(status, R"({"error": {"message": "too long"}})"));
    EXPECT_EQ(seen.failure(), "rejected") << status;
    EXPECT_EQ(seen.requests, 1) << status;
  }
}

TEST(Faults, OverloadedServersAreAskedAgain) {
  for (const int status : {408, 429, 500, 502, 503, 529}) {
    const Seen seen = ask_server([=](const ReceivedRequest& request, Peer& peer) {
      if (request.number < 2) {
        peer.reply(status, "busy");
      } else {
        peer.reply(200, chat_body({"a"}));
      }
    });
    ASSERT_TRUE(seen.result.ok()) << seen.message();
    EXPECT_EQ(seen.result->attempts, 3);
  }
  const Seen never = ask_server(always(503, "busy"));
  EXPECT_EQ(never.failure(), "overloaded");
  EXPECT_EQ(never.requests, 3);
  EXPECT_NE(never.message().find("busy"), std::string::npos);
}

TEST(Faults, RetryAfterIsWaitedFor) {
  const auto once_busy = [](std::string header) {
    return [=](const ReceivedRequest& request, Peer& peer) {
      if (request.number > 0) return static_cast<void>(peer.reply(200, chat_body({"a"})));
      peer.reply(429, "{}", header);
    };
  };
  const Seen seconds = ask_server(once_busy("Retry-After: 0.3\r\n"));
  ASSERT_TRUE(seconds.result.ok()) << seconds.message();
  EXPECT_GE(seconds.seconds, 0.3);
  // By the server's own clock, whatever ours says.
  const Seen date =
      ask_server(once_busy("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                           "Retry-After: Sun, 06 Nov 1994 08:49:38 GMT\r\n"));
  ASSERT_TRUE(date.result.ok()) << date.message();
  EXPECT_GE(date.seconds, 1.0);
  const Seen capped =
      ask_server(once_busy("Retry-After: 3600\r\n"),
                 [](ChatClientOptions& options) { options.retry.longest_retry_after = 0.1; });
  ASSERT_TRUE(capped.result.ok()) << capped.message();
  EXPECT_GE(capped.seconds, 0.1);
  const Seen hopeless = ask_server(once_busy("Retry-After: 60\r\n"));
  EXPECT_EQ(hopeless.failure(), "overloaded");  // beyond the deadline: given up at once
  EXPECT_EQ(hopeless.requests, 1);
}

TEST(Faults, Hang) {
  const Seen seen = ask_server([](const ReceivedRequest&, Peer& peer) { peer.hang(); },
                               [](ChatClientOptions& options) {
                                 options.request_seconds = 0.1;
                                 options.retry.attempts = 2;
                               });
  EXPECT_EQ(seen.failure(), "timed_out");
  EXPECT_EQ(seen.requests, 2);
  EXPECT_GE(seen.seconds, 0.2);
}

TEST(Faults, TotalDeadlineEndsTheLastAttempt) {
  const Seen seen = ask_server([](const ReceivedRequest&, Peer& peer) { peer.hang(); },
                               [](ChatClientOptions& options) { options.total_seconds = 0.3; });
  EXPECT_EQ(seen.failure(), "timed_out");
  EXPECT_GE(seen.seconds, 0.29);
  EXPECT_EQ(seen.requests, 1);
}

TEST(Faults, SlowDrip) {
  const Seen seen = ask_server(
      [](const ReceivedRequest&, Peer& peer) {
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{");
        while (peer.send("x") && peer.kept())
          peer.wait(0.01);
      },
      [](ChatClientOptions& options) {
        options.transfer.slow_seconds = 0.1;
        options.transfer.slow_bytes = 1000;
        options.retry.attempts = 1;
      });
  EXPECT_EQ(seen.failure(), "timed_out");
  EXPECT_LT(seen.seconds, 4.0);  // not the deadline
  EXPECT_NE(seen.message().find("less than 1000 bytes"), std::string::npos) << seen.message();
}

TEST(Faults, CutBodies) {
  for (const char* head : {"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"}) {
    const Seen seen = ask_server([=](const ReceivedRequest&, Peer& peer) {
      peer.send(std::string(head) + "{\"a\":");
      peer.close();
    });
    EXPECT_EQ(seen.failure(), "malformed") << head;
    EXPECT_EQ(seen.requests, 3) << head;
    EXPECT_GT(seen.result.error().usage.prompt_tokens, 0) << head;
    EXPECT_FALSE(seen.result.error().usage.reported) << head;
  }
}

TEST(Faults, BodiesThatAreNoAnswer) {
  for (const char* body :
       {"", "{\"choices\": [{", "<html>", "{\"choices\": [{\"message\": {\"content\": \"\xFF\"}}]}",
        R"({"choices": []})", R"({"choices": [{"message": {"content": "\ud800"}}]})"}) {
    const Seen seen = ask_server(always(200, body), [](ChatClientOptions& options) {
      options.retry.attempts = 6;
      options.retry.malformed_retries = 1;
    });
    EXPECT_EQ(seen.failure(), "malformed") << body;
    EXPECT_EQ(seen.requests, 2) << body;
  }
}

TEST(Faults, AnAnswerAfterOneThatWasCut) {
  const Seen seen = ask_server([](const ReceivedRequest& request, Peer& peer) {
    peer.reply(200, request.number == 0 ? "{\"choices\"" : chat_body({"a"}));
  });
  ASSERT_TRUE(seen.result.ok()) << seen.message();
  EXPECT_EQ(seen.result->usage, (TokenUsage{7, 0, 5, 0, true}));
}

TEST(Faults, EndlessBody) {
  std::atomic<std::size_t> sent{0};
  const Seen seen = ask_server(
      [&](const ReceivedRequest&, Peer& peer) {
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        const std::string part(65536, ' ');
        while (peer.send(part))
          sent += part.size();
      },
      [](ChatClientOptions& options) {
        options.transfer.body_bytes = 1 << 20;
        options.retry.attempts = 1;
      });
  EXPECT_EQ(seen.failure(), "malformed");
  EXPECT_NE(seen.message().find("1048576 bytes"), std::string::npos) << seen.message();
  EXPECT_LT(sent.load(), std::size_t{64} << 20);  // what sockets hold beside the limit
}

// `count` zeros, compressed by gzip.
std::string compressed_zeros(std::size_t count) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<unsigned char> zeros(count);
  std::string result(deflateBound(&stream, count), '\0');
  stream.next_in = zeros.data();
  stream.avail_in = static_cast<uInt>(count);
  stream.next_out = reinterpret_cast<unsigned char*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

TEST(Faults, CompressedBodyThatGrows) {
  const std::string bomb = compressed_zeros(std::size_t{64} << 20);
  ASSERT_LT(bomb.size(), std::size_t{100'000});
  const Seen seen =
      ask_server(always(200, bomb, "Content-Encoding: gzip\r\n"), [](ChatClientOptions& options) {
        options.transfer.body_bytes = 1 << 20;
        options.retry.attempts = 1;
      });
  EXPECT_EQ(seen.failure(), "malformed");
  EXPECT_NE(seen.message().find("1048576 bytes"), std::string::npos) << seen.message();
}

TEST(Faults, EndlessErrorPageKeepsItsStatus) {
  const Seen seen = ask_server(
      [&](const ReceivedRequest&, Peer& peer) {
        peer.send("HTTP/1.1 401 No\r\n\r\n");
        const std::string part(65536, 'x');
        while (peer.send(part)) {
        }
      },
      [](ChatClientOptions& options) { options.transfer.body_bytes = 1 << 18; });
  EXPECT_EQ(seen.failure(), "unauthorised");
  EXPECT_LT(seen.message().size(), 1000U);
}

TEST(Faults, LengthAndRefusalAreAnswers) {
  const Seen cut = ask_server(
      always(200, R"({"choices": [{"message": {"content": "half"}, "finish_reason": "length"}]})"));
  ASSERT_TRUE(cut.result.ok());
  EXPECT_EQ(cut.result->choices[0].finish, FinishReason::length);
  const Seen refusal = ask_server(always(
      200,
      R"({"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]})"));
  ASSERT_TRUE(refusal.result.ok());
  EXPECT_EQ(refusal.result->choices[0].refusal, "No.");
  EXPECT_EQ(refusal.result->choices[0].text, "");
}

TEST(Faults, ErrorWithStatus200) {
  const Seen seen = ask_server(always(200, R"({"error": {"code": 401, "message": "No auth"}})"));
  EXPECT_EQ(seen.failure(), "unauthorised");
  const Seen later = ask_server([](const ReceivedRequest& request, Peer& peer) {
    peer.reply(200, request.number == 0 ? R"({"error": {"code": 502, "message": "upstream"}})"
                                        : chat_body({"a"}));
  });
  EXPECT_TRUE(later.result.ok());
}

TEST(Faults, TheKeyNeverComesBack) {
  const std::string key = quick_options("").key;
  const auto holds_key = [&](const std::string& text) {
    return text.find(key.substr(0, 12)) != std::string::npos;
  };
  for (const int status : {400, 401, 404, 500, 302}) {
    const Seen seen =
        ask_server(always(status, "{\"error\": {\"message\": \"your key " + key + "\"}}",
                          "Location: http://h/?key=" + key + "\r\n"));
    ASSERT_FALSE(seen.result.ok());
    EXPECT_FALSE(holds_key(seen.message())) << seen.message();
    EXPECT_NE(seen.message().find("[key]"), std::string::npos) << seen.message();
  }
  for (const char* head : {"<html>", "<html>\xFF", "{\"a\": \""}) {
    // Also where a quotation ends within the key.
    const Seen seen = ask_server(always(200, head + std::string(190, 'x') + key));
    ASSERT_FALSE(seen.result.ok());
    EXPECT_FALSE(holds_key(seen.message())) << seen.message();
  }
  const Seen answer = ask_server(always(200, R"({"model": ")" + key + R"(", "choices": [{"message":
      {"content": "a )" + key + R"( b", "refusal": ")" +
                                                 key + R"(", "reasoning": ")" + key + "\"}}]}"));
  ASSERT_TRUE(answer.result.ok()) << answer.message();
  EXPECT_EQ(answer.result->model, "[key]");
  EXPECT_EQ(answer.result->choices[0],
            (ChatChoice{"a [key] b", "[key]", "[key]", FinishReason::other}));
}

TEST(Faults, RedirectsAreNotFollowed) {
  FaultServer elsewhere(always(200, chat_body({"stolen"})));
  const Seen seen = ask_server(always(307, "", "Location: " + elsewhere.url() + "/v1\r\n"));
  EXPECT_EQ(seen.failure(), "unreachable");
  EXPECT_EQ(seen.requests, 1);
  EXPECT_EQ(elsewhere.requests(), 0);
  EXPECT_NE(seen.message().find(elsewhere.url()), std::string::npos) << seen.message();
}

TEST(Faults, SomethingThatIsNotHttp) {
  const Seen seen = ask_server([](const ReceivedRequest&, Peer& peer) {
    peer.send("220 mail.example ESMTP\r\n");
    peer.close();
  });
  EXPECT_EQ(seen.failure(), "malformed");
}

}  // namespace
}  // namespace regraph::llm::faults_test
