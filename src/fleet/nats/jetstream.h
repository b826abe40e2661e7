// JetStream's requests and answers, which are messages with JSON.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_session.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace regraph::fleet {

// How long an answer may take; then it is asked again.
inline constexpr double kAnswerSeconds = 2.0;

// The server's own numbers for why it refuses.
enum class ApiRefusal : std::uint16_t {
  none = 0,
  consumer_not_found = 10014,
  jetstream_not_enabled_for_account = 10039,
  stream_name_in_use = 10058,  // with another configuration
  stream_not_found = 10059,
  subjects_overlap = 10065,
  wrong_last_sequence = 10071,
  store_failed = 10077,  // of many kinds, which its text tells
  jetstream_not_enabled = 10076,
};

struct ApiAnswer {
  ApiRefusal refusal = ApiRefusal::none;
  std::string description;  // of the refusal; printable
  nlohmann::json content;   // an object
};

// What a message says, whoever sent it. Errors: io (nobody listens: there is no such stream, or no
// JetStream), parse.
[[nodiscard]] Result<ApiAnswer> read_answer(const Message& message);

// Stores a message in the stream of its subject. Errors: io, parse, resource (too large),
// cancelled.
[[nodiscard]] Result<ApiAnswer> store(NatsSession& session, const Outgoing& outgoing,
                                      const Cancellation& cancellation);

// Asks "$JS.API.<what>". Errors: io, parse, cancelled.
[[nodiscard]] Result<ApiAnswer> ask_api(NatsSession& session, const std::string& what,
                                        const nlohmann::json& body,
                                        const Cancellation& cancellation);

// A refusal as an error that is worth another attempt.
[[nodiscard]] Error refused_by_server(const std::string& what, const ApiAnswer& answer);

// Reading foreign JSON: what is not there, or of another type, is `otherwise`.
[[nodiscard]] std::string text_in(const nlohmann::json& object, const char* key);
[[nodiscard]] std::int64_t number_in(const nlohmann::json& object, const char* key,
                                     std::int64_t otherwise = 0);
[[nodiscard]] bool flag_in(const nlohmann::json& object, const char* key);
// An empty object where it is none.
[[nodiscard]] const nlohmann::json& object_in(const nlohmann::json& object, const char* key);

}  // namespace regraph::fleet
