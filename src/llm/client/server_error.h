// What a server says about a request that it did not fulfil.
#pragma once

#include "llm/client/server_dialect.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace regraph::llm {

// As the server wrote it: not scrubbed, not shortened.
struct ServerError {
  std::string message;
  std::string code;       // e.g. "model_not_found"; numbers in decimal
  std::string type;       // e.g. "invalid_request_error"
  std::string parameter;  // the one at fault, where the server names it
  int status = 0;         // a status within the body (400 to 599), 0 if there is none
};

// Reads the body of an error. Knows the forms of OpenAI, vLLM, FastAPI, llama.cpp, Ollama and
// OpenRouter; of anything else the body is the message. Never fails.
[[nodiscard]] ServerError read_server_error(std::string_view body);

// Reads the value of an "error" member, or of what carries one.
[[nodiscard]] ServerError read_server_error(const nlohmann::json& body);

// Returns the parameter that the server does not take, if that is what it complains about with
// `status`: 400, 422 and 501, and 500 where the words leave no doubt (llama-cpp-python). A value
// out of range is not such a complaint. Where several are named, the first one of RequestParameter.
[[nodiscard]] std::optional<RequestParameter> refused_parameter(int status,
                                                                const ServerError& error);

// Whether the error says that there is no such model.
[[nodiscard]] bool says_unknown_model(const ServerError& error);

// Whether the error says that the account is empty: waiting will not help.
[[nodiscard]] bool says_out_of_credit(const ServerError& error);

}  // namespace regraph::llm
