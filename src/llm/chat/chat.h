// What is asked of a language model and what comes back: plain data and the seam between those who
// ask (the expander) and those who answer (a server, a recorded conversation, a test).
#pragma once

#include "base/cancellation.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::llm {

enum class Role : std::uint8_t { system, user, assistant };
// Returns the word of the protocol, e.g. "system".
[[nodiscard]] const char* name(Role role);

struct ChatMessage {
  Role role = Role::user;
  std::string text;  // UTF-8
  bool operator==(const ChatMessage&) const = default;
};

// Everything that decides what an answer may be, and nothing that does not (no address, no key, no
// deadline): two equal requests are one entry of a cache.
struct ChatRequest {
  std::string model;
  std::vector<ChatMessage> messages;
  std::optional<double> temperature;  // none: the server's own; reasoning models refuse any
  std::optional<std::int64_t> seed;
  int max_tokens = 0;                      // of the answer, reasoning included; 0: the server's own
  int choices = 1;                         // how many answers ("n")
  std::optional<std::string> json_schema;  // the answer must be JSON of this schema (JSON text)
  std::string reasoning_effort = {};       // of reasoning models: "low", ...; empty: their own
  int reasoning_tokens = 0;                // for thoughts at most; 0: no limit of its own
  bool operator==(const ChatRequest&) const = default;
};

enum class FinishReason : std::uint8_t {
  stop,            // the answer is whole
  length,          // cut at max_tokens
  content_filter,  // the server withheld it
  other,           // absent or a word that is not known
};
[[nodiscard]] const char* name(FinishReason reason);

struct ChatChoice {
  std::string text;       // the answer proper, UTF-8; may be empty
  std::string refusal;    // the server's "refusal" field, empty when there is none
  std::string reasoning;  // what a reasoning model showed of its thoughts; not part of the answer
  FinishReason finish = FinishReason::other;
  bool operator==(const ChatChoice&) const = default;
};

// Tokens as the server counted them.
struct TokenUsage {
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;      // of prompt_tokens, that the server had in its own cache
  std::int64_t completion_tokens = 0;  // reasoning included
  std::int64_t reasoning_tokens = 0;   // of completion_tokens
  bool reported = false;               // false: the server said nothing and these are estimates
  TokenUsage& operator+=(const TokenUsage& other);
  bool operator==(const TokenUsage&) const = default;
};

struct ChatAnswer {
  std::vector<ChatChoice> choices;  // at least one, at most as many as were asked for
  TokenUsage usage;                 // of the requests that succeeded
  std::string model;                // as the server names it
  double seconds = 0.0;             // from asking to the whole answer, retries included
  int attempts = 1;                 // requests sent for it; 0 from a cache or a recording
};

// Why there is no answer, as far as callers act on it.
enum class ChatFailure : std::uint8_t {
  unreachable,    // refused, no such host, TLS, proxy; after retries
  unauthorised,   // 401, 403: no request of this run will succeed
  unknown_model,  // 404: neither will another
  rejected,       // 400, 413, 422: this request is at fault (too long, say)
  overloaded,     // 429, 5xx; after retries
  timed_out,      // a deadline passed
  malformed,      // the body is cut, too long, not JSON, not UTF-8 or without a choice
  over_budget,    // asking would exceed what the user allows
  not_recorded,   // a replay without a network does not know the request
  cancelled,
};
[[nodiscard]] const char* name(ChatFailure failure);
// Whether every later request of the run would fail in the same way.
[[nodiscard]] bool is_permanent(ChatFailure failure);

struct ChatError {
  ChatFailure failure = ChatFailure::unreachable;
  std::string message;  // never holds a key; says what happened, where (URL), and what to do next
  int attempts = 0;     // requests sent
  TokenUsage usage;     // of malformed answers that were paid for
};

using ChatResult = Result<ChatAnswer, ChatError>;

// Somebody who answers. Called from worker threads, many calls at once; must be thread-safe.
class ChatModel {
 public:
  virtual ~ChatModel() = default;
  // Blocks until there is an answer or none will come. Never throws. Looks at `cancellation` at
  // least every 50 ms.
  [[nodiscard]] virtual ChatResult complete(const ChatRequest& request,
                                            const Cancellation& cancellation) = 0;
};

// A key that names the request in caches and recordings: a hash of the canonical JSON of all its
// fields, 32 hexadecimal digits. The same on every machine and for every later version.
[[nodiscard]] std::string request_key(const ChatRequest& request);

}  // namespace regraph::llm
