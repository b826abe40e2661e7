#include "agent/mcp_message.h"

#include <fmt/format.h>

#include <utility>

namespace regraph::agent {

namespace {

bool is_id(const Json& json) {
  if (json.is_string()) return json.get_ref<const std::string&>().size() <= kLongestId;
  return json.is_number_integer();
}

}  // namespace

Result<Message, BadMessage> read_message(std::string_view line, std::size_t limit_bytes) {
  auto parsed = parse_json(line, {limit_bytes, kDeepestMessage});
  if (!parsed) return BadMessage{RpcError::parse, nullptr, parsed.error().message};
  Json& json = *parsed;
  if (json.is_array()) {
    return BadMessage{RpcError::invalid_request, nullptr,
                      "batches are not taken; send one message a line"};
  }
  if (!json.is_object())
    return BadMessage{RpcError::invalid_request, nullptr, "a message is an object of JSON"};
  Message message;
  const auto id = json.find("id");
  if (id != json.end() && is_id(*id)) message.id = *id;
  const auto bad = [&](std::string why) {
    return BadMessage{RpcError::invalid_request, message.id, std::move(why)};
  };
  const auto version = json.find("jsonrpc");
  if (version == json.end() || !version->is_string() || version->get<std::string>() != "2.0")
    return bad("'jsonrpc' must be \"2.0\"");
  if (id != json.end() && !is_id(*id)) {
    return bad(
        fmt::format("'id' must be a whole number or a text of at most {} bytes", kLongestId));
  }
  const auto method = json.find("method");
  if (method == json.end()) {
    if (!json.contains("result") && !json.contains("error")) return bad("'method' is missing");
    message.kind = Message::Kind::response;
    return message;
  }
  if (!method->is_string()) return bad("'method' must be a text");
  message.method = method->get<std::string>();
  message.kind = id == json.end() ? Message::Kind::notification : Message::Kind::request;
  if (const auto parameters = json.find("params"); parameters != json.end()) {
    if (!parameters->is_object()) return bad("'params' must be an object");
    message.parameters = std::move(*parameters);
  }
  return message;
}

std::string response_line(const Json& id, Json result) {
  Json json;
  json["jsonrpc"] = "2.0";
  json["id"] = id;
  json["result"] = std::move(result);
  return json_line(json);
}

std::string notification_line(const std::string& method, Json parameters) {
  Json message;
  message["jsonrpc"] = "2.0";
  message["method"] = method;
  message["params"] = std::move(parameters);
  return json_line(message);
}

std::string error_line(const Json& id, RpcError code, const std::string& message) {
  Json json;
  json["jsonrpc"] = "2.0";
  json["id"] = id;
  json["error"] = {{"code", static_cast<int>(code)}, {"message", message}};
  return json_line(json);
}

}  // namespace regraph::agent
