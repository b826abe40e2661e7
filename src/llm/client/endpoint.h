// The address of a server, from what a user writes.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace regraph::llm {

struct Endpoint {
  std::string
      chat_url;      // where requests are posted, e.g. "http://127.0.0.1:8000/v1/chat/completions"
  std::string host;  // without the brackets of an IPv6 address
  int port = 0;      // the scheme's own where none is given
  bool tls = false;
};

// Reads a base URL as OpenAI's clients take it: "https://api.openai.com/v1", with or without the
// version, a slash at the end, a port, or the whole path to chat/completions. "/v1" is added where
// no part of the path is a version. Errors: invalid_argument (no http or https, a user name or
// password, a query, a bad host or port); the message never repeats a password.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view base_url);

}  // namespace regraph::llm
