#include "agent/mcp_server.h"

#include "agent/line_splitter.h"
#include "agent/recorded_runner.h"
#include "base/random.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace regraph::agent::mcp_server_test {
namespace {

using nlohmann::json;

class McpServerTest : public test::ServerTest {};

TEST_F(McpServerTest, SaysWhatItIs) {
  const json answer =
      ask(request(1, "initialize", {{"protocolVersion", "2025-03-26"}, {"capabilities", {}}}));
  EXPECT_EQ(answer["jsonrpc"], "2.0");
  EXPECT_EQ(answer["id"], 1);
  EXPECT_EQ(answer["result"]["protocolVersion"], "2025-03-26");
  EXPECT_EQ(answer["result"]["capabilities"], json({{"tools", json::object()}}));
  EXPECT_EQ(answer["result"]["serverInfo"]["name"], "regraph");
  EXPECT_EQ(answer["result"]["serverInfo"]["version"], "1.2.3");
  EXPECT_EQ(answer["result"]["instructions"], "Do it well.");
}

TEST_F(McpServerTest, AnswersAnUnknownVersionWithTheNewestItKnows) {
  const json answer = ask(request(1, "initialize", {{"protocolVersion", "2031-01-01"}}));
  EXPECT_EQ(answer["result"]["protocolVersion"], "2025-06-18");
}

TEST_F(McpServerTest, IsInitializedOnceAndFirst) {
  EXPECT_EQ(code_of(ask(request(1, "tools/list"))), -32600);
  EXPECT_EQ(code_of(ask(call(1, "compile", {{"problem", "x"}}))), -32600);
  EXPECT_TRUE(runner.started.empty());
  EXPECT_EQ(ask(request(1, "ping"))["result"], json::object());  // allowed at any time
  EXPECT_EQ(code_of(ask(request(1, "initialize"))), -32602);     // without a version
  initialize();
  EXPECT_EQ(code_of(ask(request(2, "initialize", {{"protocolVersion", "2025-06-18"}}))), -32600);
}

TEST_F(McpServerTest, ListsToolsWithSchemas) {
  initialize();
  const json tools = ask(request("list", "tools/list"))["result"]["tools"];
  std::vector<std::string> names;
  for (const json& tool : tools) {
    names.push_back(tool["name"]);
    EXPECT_FALSE(tool["description"].get<std::string>().empty());
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"open_problem", "compile", "verify", "profile",
                                             "score", "propose_steps", "apply_step", "search"}));
  EXPECT_EQ(code_of(ask(request(2, "tools/list", {{"cursor", "more"}}))), -32602);
}

TEST_F(McpServerTest, HandsCallsOnAndTheirAnswersBack) {
  initialize();
  EXPECT_EQ(ask(call("a", "compile", {{"problem", "x"}})), nullptr);
  EXPECT_EQ(ask(call(7, "search", {{"problem", "x"}, {"evaluations", 3}})), nullptr);
  ASSERT_EQ(runner.started.size(), 2);
  EXPECT_EQ(runner.started[1].tool, "search");
  EXPECT_EQ(runner.started[1].arguments["evaluations"], 3);
  EXPECT_EQ(ask(request(3, "ping"))["id"], 3);  // meanwhile
  server->finish(runner.started[1].number, {"found", {{"improved", true}}, false});
  const json answer = json::parse(lines.back());
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["result"]["content"][0]["type"], "text");
  EXPECT_EQ(answer["result"]["content"][0]["text"], "found");
  EXPECT_EQ(answer["result"]["structuredContent"]["improved"], true);
  EXPECT_EQ(answer["result"]["isError"], false);
  server->finish(runner.started[0].number, failed_call("no such problem"));
  const json failed = json::parse(lines.back());
  EXPECT_EQ(failed["id"], "a");
  EXPECT_EQ(failed["result"]["isError"], true);
  EXPECT_FALSE(failed["result"].contains("structuredContent"));
  const std::size_t written = lines.size();
  server->finish(runner.started[0].number, failed_call("again"));
  server->finish(99, failed_call("unknown"));
  EXPECT_EQ(lines.size(), written);
  ASSERT_EQ(finished.size(), 2);
  EXPECT_EQ(finished[0].client, "test 7");
  EXPECT_EQ(finished[0].call.tool, "search");
}

TEST_F(McpServerTest, TellsHowFarACallIsWhereThatWasAskedFor) {
  initialize();
  json asked = call(1, "search", {{"problem", "x"}});
  asked["params"]["_meta"] = {{"progressToken", "p1"}};
  EXPECT_EQ(ask(asked), nullptr);
  EXPECT_EQ(ask(call(2, "search", {{"problem", "x"}})), nullptr);
  const std::size_t before = lines.size();
  server->progress(2, {0.5, "nobody asked"});
  server->progress(7, {0.5, "no such call"});
  EXPECT_EQ(lines.size(), before);
  server->progress(1, {0.25, "3 candidates"});
  ASSERT_EQ(lines.size(), before + 1);
  const json told = json::parse(lines.back());
  EXPECT_EQ(told["method"], "notifications/progress");
  EXPECT_FALSE(told.contains("id"));
  EXPECT_EQ(told["params"], json({{"progressToken", "p1"},
                                  {"progress", 0.25},
                                  {"total", 1.0},
                                  {"message", "3 candidates"}}));
  server->progress(1, {0.25, "no more"});  // it must grow
  EXPECT_EQ(lines.size(), before + 1);
  server->finish(1, {"found", nullptr, false});
  server->progress(1, {0.9, "too late"});
  EXPECT_EQ(lines.size(), before + 2);
}

TEST_F(McpServerTest, OldClientsGetNoMessageWithProgress) {
  initialize("2024-11-05");
  json asked = call(1, "search", {{"problem", "x"}});
  asked["params"]["_meta"] = {{"progressToken", 17}};
  EXPECT_EQ(ask(asked), nullptr);
  server->progress(1, {0.25, "3 candidates"});
  EXPECT_EQ(json::parse(lines.back())["params"],
            json({{"progressToken", 17}, {"progress", 0.25}, {"total", 1.0}}));
  asked["id"] = 2;
  asked["params"]["_meta"] = {{"progressToken", {1, 2}}};  // no token
  EXPECT_EQ(ask(asked), nullptr);
  const std::size_t before = lines.size();
  server->progress(2, {0.5, ""});
  EXPECT_EQ(lines.size(), before);
}

TEST_F(McpServerTest, DoesNotAnswerWhatWasCancelled) {
  initialize();
  ask(call(1, "compile", {{"problem", "x"}}));
  const auto cancel = [&](const json& id) {
    return ask({{"jsonrpc", "2.0"},
                {"method", "notifications/cancelled"},
                {"params", {{"requestId", id}, {"reason", "no need"}}}});
  };
  EXPECT_EQ(cancel(2), nullptr);    // nobody's
  EXPECT_EQ(cancel("1"), nullptr);  // a text is no number
  EXPECT_TRUE(runner.cancelled.empty());
  EXPECT_EQ(cancel(1), nullptr);
  EXPECT_EQ(cancel(1), nullptr);
  EXPECT_EQ(runner.cancelled, std::vector<std::int64_t>{runner.started[0].number});
  const std::size_t written = lines.size();
  server->finish(runner.started[0].number, failed_call("cancelled"));
  EXPECT_EQ(lines.size(), written);
  ASSERT_EQ(finished.size(), 1);
  EXPECT_TRUE(finished[0].cancelled);
}

TEST_F(McpServerTest, RefusesBadCalls) {
  initialize();
  EXPECT_EQ(code_of(ask(call(1, "format_disk", json::object()))), -32602);
  EXPECT_EQ(code_of(ask(call(1, "compile", json::object()))), -32602);
  EXPECT_EQ(code_of(ask(call(1, "compile", {{"problem", 5}}))), -32602);
  EXPECT_EQ(code_of(ask(call(1, "compile", {{"problem", "x"}, {"sources", "typo"}}))), -32602);
  EXPECT_EQ(code_of(ask(call(1, "compile", json::array({1})))), -32602);
  EXPECT_EQ(code_of(ask(call(1, "score", {{"problem", "x"}, {"depth", "deep"}}))), -32602);
  EXPECT_EQ(code_of(ask(request(1, "tools/call", {{"name", 5}}))), -32602);
  EXPECT_TRUE(runner.started.empty());
  const json answer = ask(call(1, "compile", {{"problem", 5}}));
  EXPECT_NE(answer["error"]["message"].get<std::string>().find("problem"), std::string::npos);
  ask(call(1, "compile", {{"problem", "x"}}));
  EXPECT_EQ(code_of(ask(call(1, "compile", {{"problem", "x"}}))), -32600);  // the id is in use
  EXPECT_EQ(runner.started.size(), 1);
}

TEST_F(McpServerTest, RefusesWhatIsNoMessage) {
  initialize();
  EXPECT_EQ(code_of(tell("{")), -32700);
  EXPECT_EQ(code_of(tell("hello")), -32700);
  EXPECT_EQ(code_of(tell("\xff\xfe{}")), -32700);
  EXPECT_EQ(code_of(tell("[]")), -32600);
  EXPECT_EQ(code_of(tell("5")), -32600);
  EXPECT_EQ(code_of(tell("{}")), -32600);
  EXPECT_EQ(code_of(tell(R"({"jsonrpc": "1.0", "id": 1, "method": "ping"})")), -32600);
  EXPECT_EQ(code_of(tell(R"({"jsonrpc": "2.0", "id": 1})")), -32600);
  EXPECT_EQ(code_of(tell(R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})")), -32600);
  EXPECT_EQ(code_of(tell(R"({"jsonrpc": "2.0", "id": 1.5, "method": "ping"})")), -32600);
  EXPECT_EQ(code_of(tell(R"({"jsonrpc": "2.0", "id": 1, "method": 3})")), -32600);
  EXPECT_EQ(code_of(tell(R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]})")),
            -32600);
  EXPECT_EQ(code_of(ask(request(1, "resources/list"))), -32601);
  EXPECT_EQ(tell(R"({"jsonrpc": "2.0", "method": "notifications/unknown"})"), nullptr);
  EXPECT_EQ(tell(R"({"jsonrpc": "2.0", "id": 9, "result": {}})"), nullptr);
  EXPECT_EQ(tell(std::string()), nullptr);
  EXPECT_EQ(tell("\r"), nullptr);
  // Deep JSON costs no stack.
  EXPECT_EQ(code_of(tell(std::string(100'000, '['))), -32700);
  server->take_oversized();
  EXPECT_EQ(code_of(json::parse(lines.back())), -32700);
  EXPECT_EQ(json::parse(lines.back())["id"], nullptr);
}

TEST_F(McpServerTest, KeepsItsLimits) {
  ServerOptions options;
  options.most_calls = 3;
  options.most_waiting = 2;
  options.longest_line = 1000;
  restart(options);
  initialize();
  ask(call(1, "compile", {{"problem", "x"}}));
  ask(call(2, "compile", {{"problem", "x"}}));
  const json busy = ask(call(3, "compile", {{"problem", "x"}}));
  EXPECT_EQ(busy["result"]["isError"], true);
  server->finish(1, {"done", nullptr, false});
  server->finish(2, {"done", nullptr, false});
  EXPECT_EQ(ask(call(4, "compile", {{"problem", "x"}})), nullptr);
  server->finish(3, {"done", nullptr, false});
  const json used_up = ask(call(5, "compile", {{"problem", "x"}}));
  EXPECT_EQ(used_up["result"]["isError"], true);
  EXPECT_NE(used_up["result"]["content"][0]["text"].get<std::string>().find("--most-calls"),
            std::string::npos);
  EXPECT_EQ(code_of(tell(std::string(1001, ' ') + "{}")), -32700);
}

TEST_F(McpServerTest, CancelsEverythingWhenNobodyListens) {
  initialize();
  ask(call(1, "compile", {{"problem", "x"}}));
  ask(call(2, "compile", {{"problem", "x"}}));
  server->close();
  EXPECT_EQ(runner.cancelled.size(), 2);
}

// Bytes and messages drawn at random: every line of an answer is a message, and the server goes on.
TEST_F(McpServerTest, TakesGarbage) {
  initialize();
  const std::vector<std::string> seeds = {
      request(1, "ping").dump(), request("x", "tools/list").dump(),
      call(2, "compile", {{"problem", "x"}, {"source", "__global__ void k() {}"}}).dump(),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})",
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"};
  constexpr std::uint64_t kRounds = 20'000;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::uint64_t draw = 0;
    const auto next = [&](std::uint64_t bound) { return random_bits(3, round, ++draw) % bound; };
    std::string line = seeds[next(seeds.size())];
    for (std::uint64_t change = next(6); change > 0; --change) {
      const std::size_t at = next(line.size() + 1);
      switch (next(4)) {
        case 0:
          line.insert(at, 1, static_cast<char>(next(256)));
          break;
        case 1:
          line.erase(at, next(9));
          break;
        case 2:
          line.insert(at, line.substr(next(line.size() + 1), next(20)));
          break;
        default:
          if (at < line.size()) line[at] = "{}[]\",:0\\"[next(9)];
      }
    }
    const std::size_t before = lines.size();
    server->take(line);
    ASSERT_LE(lines.size(), before + 1);
    for (std::size_t i = before; i < lines.size(); ++i) {
      const json answer = json::parse(lines[i], nullptr, false);
      ASSERT_TRUE(answer.is_object()) << line;
      ASSERT_EQ(answer["jsonrpc"], "2.0");
      ASSERT_EQ(lines[i].find('\n'), std::string::npos);
    }
    while (!runner.started.empty()) {
      server->finish(runner.started.back().number, {"done", nullptr, false});
      runner.started.pop_back();
    }
  }
  EXPECT_EQ(ask(request("after", "ping"))["id"], "after");
}

TEST(LineSplitter, KeepsNothingOfLongLines) {
  std::vector<std::string> lines;
  int too_long = 0;
  LineSplitter splitter(
      5, [&](std::string_view line) { lines.emplace_back(line); }, [&] { ++too_long; });
  splitter.feed("ab\ncd");
  splitter.feed("e\n\n123456");
  splitter.feed(std::string(100'000, 'x'));
  splitter.feed("\n12345\nend");
  splitter.end();
  EXPECT_EQ(lines, (std::vector<std::string>{"ab", "cde", "", "12345", "end"}));
  EXPECT_EQ(too_long, 1);
}

}  // namespace
}  // namespace regraph::agent::mcp_server_test
