#include "agent/mcp_server.h"

#include "llm/prompt/json_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace regraph::agent {

namespace {

constexpr std::array<std::string_view, 3> kProtocolVersions = {"2024-11-05", "2025-03-26",
                                                               "2025-06-18"};
constexpr std::size_t kLongestClientName = 200;

// Of what a client says of itself; anything else than a text is nothing.
std::string text_in(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

// As the client gave it with its request; null without one.
Json progress_token_of(const Json& parameters) {
  const auto meta = parameters.find("_meta");
  if (meta == parameters.end() || !meta->is_object()) return nullptr;
  const auto token = meta->find("progressToken");
  const bool fits =
      token != meta->end() &&
      (token->is_number_integer() ||
       (token->is_string() && token->get_ref<const std::string&>().size() <= kLongestId));
  return fits ? *token : Json(nullptr);
}

Json result_json(const ToolResult& result) {
  Json json;
  json["content"] = Json::array({{{"type", "text"}, {"text", result.text}}});
  if (result.structured.is_object()) json["structuredContent"] = result.structured;
  json["isError"] = result.is_error;
  return json;
}

}  // namespace

std::span<const std::string_view> protocol_versions() {
  return kProtocolVersions;
}

McpServer::McpServer(std::span<const Tool> tools, CallRunner& runner, Sink sink, Recorder recorder,
                     ServerOptions options)
    : tools_(tools),
      runner_(runner),
      sink_(std::move(sink)),
      recorder_(std::move(recorder)),
      options_(std::move(options)) {
  for (const Tool& tool : tools_) {
    auto schema = llm::JsonSchema::parse(tool.schema);
    if (!schema)
      throw std::logic_error(fmt::format("schema of {}: {}", tool.name, schema.error().message));
    schemas_.push_back(*std::move(schema));
  }
}

McpServer::~McpServer() = default;

void McpServer::error(const Json& id, RpcError code, const std::string& message) {
  sink_(error_line(id, code, message));
}

void McpServer::take(std::string_view line) {
  const std::lock_guard lock(mutex_);
  // Ends of lines of another system, and empty lines between messages.
  while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
    line.remove_suffix(1);
  if (line.empty()) return;
  const auto message = read_message(line, options_.longest_line);
  if (!message) return error(message.error().id, message.error().code, message.error().message);
  switch (message->kind) {
    case Message::Kind::request:
      return answer_request(*message);
    case Message::Kind::notification:
      return note(*message);
    case Message::Kind::response:
      return;  // the server asks nothing
  }
}

void McpServer::take_oversized() {
  const std::lock_guard lock(mutex_);
  error(nullptr, RpcError::parse,
        fmt::format("the line is longer than {} bytes and was not read", options_.longest_line));
}

void McpServer::answer_request(const Message& message) {
  if (message.method == "ping") return sink_(response_line(message.id, Json::object()));
  if (message.method == "initialize") return initialize(message);
  const bool known = message.method == "tools/list" || message.method == "tools/call";
  if (!known) {
    return error(message.id, RpcError::unknown_method,
                 fmt::format("there is no method '{}'; there are initialize, ping, tools/list and "
                             "tools/call",
                             message.method.substr(0, 100)));
  }
  if (!initialized_) return error(message.id, RpcError::invalid_request, "send 'initialize' first");
  if (message.method == "tools/list") return list_tools(message);
  call_tool(message);
}

void McpServer::initialize(const Message& message) {
  if (initialized_) {
    return error(message.id, RpcError::invalid_request, "the session is initialized already");
  }
  const std::string asked = text_in(message.parameters, "protocolVersion");
  if (asked.empty()) {
    return error(message.id, RpcError::invalid_parameters,
                 fmt::format("'protocolVersion' is missing; spoken are {}",
                             fmt::join(kProtocolVersions, ", ")));
  }
  const bool known = std::ranges::find(kProtocolVersions, asked) != kProtocolVersions.end();
  client_takes_messages_ = asked != kProtocolVersions.front();  // since 2025-03-26
  if (const auto client = message.parameters.find("clientInfo");
      client != message.parameters.end()) {
    client_ = text_in(*client, "name") + " " + text_in(*client, "version");
    client_.resize(std::min(client_.size(), kLongestClientName));
  }
  initialized_ = true;
  Json result;
  result["protocolVersion"] = known ? asked : std::string(kProtocolVersions.back());
  result["capabilities"] = {{"tools", Json::object()}};
  result["serverInfo"] = {{"name", options_.name}, {"version", options_.version}};
  result["instructions"] = options_.instructions;
  sink_(response_line(message.id, std::move(result)));
}

void McpServer::list_tools(const Message& message) {
  if (!text_in(message.parameters, "cursor").empty()) {
    return error(message.id, RpcError::invalid_parameters,
                 "no such cursor: all tools are in the first page");
  }
  Json tools = Json::array();
  for (const Tool& tool : tools_) {
    Json one;
    one["name"] = tool.name;
    one["title"] = tool.title;
    one["description"] = tool.description;
    one["inputSchema"] = Json::parse(tool.schema);
    one["annotations"] = {{"readOnlyHint", tool.read_only}, {"openWorldHint", false}};
    tools.push_back(std::move(one));
  }
  sink_(response_line(message.id, {{"tools", std::move(tools)}}));
}

const Tool* McpServer::find_tool(std::string_view name) const {
  const auto found = std::ranges::find(tools_, name, &Tool::name);
  return found == tools_.end() ? nullptr : &*found;
}

McpServer::Pending* McpServer::find_pending(const Json& id) {
  for (auto& [number, pending] : pending_) {
    if (pending.id == id) return &pending;
  }
  return nullptr;
}

void McpServer::call_tool(const Message& message) {
  const std::string name = text_in(message.parameters, "name");
  const Tool* tool = find_tool(name);
  if (tool == nullptr) {
    std::vector<std::string_view> names;
    for (const Tool& one : tools_)
      names.push_back(one.name);
    return error(message.id, RpcError::invalid_parameters,
                 fmt::format("there is no tool '{}'; there are {}", name.substr(0, 100),
                             fmt::join(names, ", ")));
  }
  Json arguments = Json::object();
  if (const auto given = message.parameters.find("arguments"); given != message.parameters.end())
    arguments = *given;
  const auto& schema = schemas_[static_cast<std::size_t>(tool - tools_.data())];
  if (const Status fits = schema.check(nlohmann::json(arguments)); !fits) {
    return error(message.id, RpcError::invalid_parameters,
                 fmt::format("arguments of {}: {}; tools/list has their schema", name,
                             fits.error().message));
  }
  if (find_pending(message.id) != nullptr) {
    return error(message.id, RpcError::invalid_request,
                 "a call with this id is under way; every request has an id of its own");
  }
  const auto refuse = [&](const std::string& why) {
    sink_(response_line(message.id, result_json(failed_call(why))));
  };
  if (calls_ >= options_.most_calls) {
    return refuse(fmt::format("all {} calls of this session are used up (--most-calls)",
                              options_.most_calls));
  }
  if (pending_.size() >= options_.most_waiting) {
    return refuse(fmt::format("{} calls are waiting already; wait for an answer first",
                              options_.most_waiting));
  }
  ToolCall call{++calls_, name, std::move(arguments)};
  pending_.emplace(call.number, Pending{message.id, call, std::chrono::steady_clock::now(),
                                        progress_token_of(message.parameters)});
  runner_.start(std::move(call));
}

void McpServer::note(const Message& notification) {
  if (notification.method != "notifications/cancelled") return;
  const auto id = notification.parameters.find("requestId");
  if (id == notification.parameters.end()) return;
  Pending* pending = find_pending(*id);
  if (pending == nullptr || pending->cancelled) return;
  pending->cancelled = true;
  runner_.cancel(pending->call.number);
}

void McpServer::record(Pending pending, ToolResult result) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - pending.since;
  recorder_({std::move(pending.call), std::move(result), took.count(), pending.cancelled, client_});
}

void McpServer::finish(std::int64_t number, ToolResult result) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  // Whoever cancelled does not want to hear of it.
  if (!pending.cancelled) sink_(response_line(pending.id, result_json(result)));
  record(std::move(pending), std::move(result));
}

void McpServer::progress(std::int64_t number, const CallProgress& progress) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  // The protocol wants it to grow.
  if (pending.progress_token.is_null() || pending.cancelled || progress.done <= pending.told)
    return;
  pending.told = progress.done;
  Json parameters{
      {"progressToken", pending.progress_token}, {"progress", progress.done}, {"total", 1.0}};
  if (client_takes_messages_) parameters["message"] = progress.message;
  sink_(notification_line("notifications/progress", std::move(parameters)));
}

bool McpServer::is_busy() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(pending_, [](const auto& entry) { return !entry.second.cancelled; });
}

void McpServer::close() {
  const std::lock_guard lock(mutex_);
  for (auto& [number, pending] : pending_) {
    if (pending.cancelled) continue;
    pending.cancelled = true;
    runner_.cancel(number);
  }
}

}  // namespace regraph::agent
