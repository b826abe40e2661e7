// A server whose calls are kept instead of done, and whose lines are read back.
#pragma once

#include "agent/mcp_server.h"
#include "agent/tool_list.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

class RecordedRunner final : public agent::CallRunner {
 public:
  void start(agent::ToolCall call) override { started.push_back(std::move(call)); }
  void cancel(std::int64_t number) override { cancelled.push_back(number); }

  std::vector<agent::ToolCall> started;
  std::vector<std::int64_t> cancelled;
};

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() { restart({}); }

  void restart(agent::ServerOptions options) {
    options.version = "1.2.3";
    options.instructions = "Do it well.";
    lines.clear();
    server = std::make_unique<agent::McpServer>(
        agent::tools_of(agent::Interface::regraph), runner,
        [this](const std::string& line) { lines.push_back(line); },
        [this](const agent::FinishedCall& call) { finished.push_back(call); }, options);
  }
  // What is answered to one line: nothing (null), or the one answer.
  nlohmann::json tell(const std::string& line) {
    const std::size_t before = lines.size();
    server->take(line);
    if (lines.size() == before) return nullptr;
    EXPECT_EQ(lines.size(), before + 1);
    EXPECT_EQ(lines.back().find('\n'), std::string::npos);
    return nlohmann::json::parse(lines.back());
  }
  nlohmann::json ask(const nlohmann::json& message) { return tell(message.dump()); }
  void initialize(const std::string& version = "2025-06-18") {
    const auto answer = ask({{"jsonrpc", "2.0"},
                             {"id", "first"},
                             {"method", "initialize"},
                             {"params",
                              {{"protocolVersion", version},
                               {"capabilities", nlohmann::json::object()},
                               {"clientInfo", {{"name", "test"}, {"version", "7"}}}}}});
    ASSERT_TRUE(answer.contains("result")) << answer;
    EXPECT_EQ(ask({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}), nullptr);
  }
  static nlohmann::json request(const nlohmann::json& id, const std::string& method,
                                const nlohmann::json& parameters = nlohmann::json::object()) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", parameters}};
  }
  static nlohmann::json call(const nlohmann::json& id, const std::string& tool,
                             const nlohmann::json& arguments) {
    return request(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
  }
  static int code_of(const nlohmann::json& answer) {
    return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
  }

  RecordedRunner runner;
  std::vector<std::string> lines;
  std::vector<agent::FinishedCall> finished;
  std::unique_ptr<agent::McpServer> server;
};

}  // namespace regraph::test
