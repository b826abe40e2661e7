// A message of the Model Context Protocol: JSON-RPC 2.0, one object a line.
#pragma once

#include "base/json_text.h"
#include "base/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::agent {

using Json = nlohmann::ordered_json;

// Codes of JSON-RPC.
enum class RpcError : int {
  parse = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_parameters = -32602,
  internal = -32603,
};

struct Message {
  enum class Kind : unsigned char { request, notification, response };
  Kind kind = Kind::request;
  Json id;  // of a request: a text or a whole number
  std::string method;
  Json parameters = Json::object();
};

// A line that is no message, and what is to be said of it.
struct BadMessage {
  RpcError code = RpcError::parse;
  Json id;  // null where it could not be read
  std::string message;
};

// Ids may be texts of at most this many bytes.
inline constexpr std::size_t kLongestId = 256;
// Of arrays and objects in each other.
inline constexpr std::size_t kDeepestMessage = 24;

// `limit_bytes`: of the line.
[[nodiscard]] Result<Message, BadMessage> read_message(std::string_view line,
                                                       std::size_t limit_bytes);

// Lines, without their newline.
[[nodiscard]] std::string response_line(const Json& id, Json result);
[[nodiscard]] std::string notification_line(const std::string& method, Json parameters);
[[nodiscard]] std::string error_line(const Json& id, RpcError code, const std::string& message);

}  // namespace regraph::agent
