// Feeds damaged answers and errors of language model servers to their readers. What is read must be
// text, have sane counts, and hold no key once it is scrubbed.
#include "base/utf8.h"
#include "fuzz/mutate.h"
#include "llm/client/decode_answer.h"
#include "llm/client/endpoint.h"
#include "llm/client/retry_after.h"
#include "llm/client/scrub.h"

#include <string>

namespace {

using namespace regraph;       // NOLINT: a program of its own
using namespace regraph::llm;  // NOLINT

constexpr std::string_view kKey = "sk-live/0123456789abcdef";

constexpr std::string_view kWords[] = {
    "null",
    "\"content\":",
    "\"message\":",
    "\"choices\":[",
    "{\"type\":\"text\",\"text\":\"a\"}",
    "{\"type\":\"thinking\",\"thinking\":[",
    "\"error\":{\"code\":429}",
    "\"error\":\"no\"",
    "1e999",
    "-1",
    "18446744073709551615",
    "\\ud800",
    "\\ud83d\\ude00",
    "\xFF\xFE",
    "\xF0\x9F\x98\x80",
    "\xEF\xBB\xBF",
    "sk-live/0123456789abcdef",
    "sk-live\\/0123456789abcdef",
    "sk-live%2F0123456789abcdef",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "http://[::1]:8080/v1",
    "[[[[",
    "]}",
};

constexpr std::string_view kAnswer = R"json({"id": "1", "model": "m", "choices": [
 {"index": 0, "message": {"role": "assistant", "content": "a \u00e4 sk-live/0123456789abcdef",
  "refusal": null, "reasoning_content": "b"}, "finish_reason": "stop"},
 {"index": 1, "message": {"content": [{"type": "text", "text": "c"},
  {"type": "thinking", "thinking": [{"type": "text", "text": "d"}]}], "refusal": "no"},
  "finish_reason": "length"},
 {"text": "old", "finish_reason": null}],
 "usage": {"prompt_tokens": 12, "completion_tokens": 34, "prompt_cache_hit_tokens": 3,
  "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 6}}})json";

constexpr std::string_view kErrors[] = {
    R"json({"error": {"message": "Unsupported parameter: 'max_tokens'", "type": "invalid_request_error",
 "param": "max_tokens", "code": "unsupported_parameter"}})json",
    R"json({"error": {"code": 502, "message": "Provider", "metadata": {"raw": "sk-live/0123456789abcdef"}}})json",
    R"json({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})json",
    R"json({"object": "error", "message": "model `x` does not exist", "code": 404})json",
};

void check_text(const std::string& text, const fuzz::Rounds& rounds) {
  if (find_invalid_utf8(text)) rounds.fail("a text that was read is not UTF-8");
  const std::string clean = scrub(text, kKey);
  if (clean.find(kKey) != std::string::npos) rounds.fail("a key was left: " + clean);
  if (scrub(clean, kKey) != clean) rounds.fail("scrubbing twice changes: " + clean);
}

void check_usage(const TokenUsage& usage, const fuzz::Rounds& rounds) {
  if (usage.prompt_tokens < 0 || usage.completion_tokens < 0 || usage.cached_tokens < 0 ||
      usage.reasoning_tokens < 0 || usage.cached_tokens > usage.prompt_tokens ||
      usage.reasoning_tokens > usage.completion_tokens)
    rounds.fail("impossible counts of tokens");
}

void check_error(const ServerError& error, const fuzz::Rounds& rounds) {
  if (error.status != 0 && (error.status < 400 || error.status > 599))
    rounds.fail("a status that is none of an error");
  (void)refused_parameter(500, error);
  (void)refused_parameter(400, error);
  (void)says_unknown_model(error);
  (void)says_out_of_credit(error);
}

void try_answer(std::string text, fuzz::Random& random, const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  const auto decoded = decode_answer(text);
  if (decoded) {
    const DecodedAnswer* const answer = &*decoded;
    if (answer->choices.empty()) rounds.fail("an answer without a choice");
    check_usage(answer->usage, rounds);
    check_text(answer->model, rounds);
    for (const ChatChoice& choice : answer->choices) {
      check_text(choice.text, rounds);
      check_text(choice.refusal, rounds);
      check_text(choice.reasoning, rounds);
    }
    return;
  }
  const UndecodedAnswer& undecoded = decoded.error();
  if (undecoded.why.empty() == !undecoded.error) rounds.fail("not one reason, but none or two");
  check_usage(undecoded.usage, rounds);
  if (undecoded.error) check_error(*undecoded.error, rounds);
}

void try_error(std::string text, fuzz::Random& random, const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  const ServerError error = read_server_error(std::string_view(text));
  check_error(error, rounds);
  const std::string quote = excerpt(scrub(error.message, kKey), 100);
  if (find_invalid_utf8(quote)) rounds.fail("a quotation is not UTF-8");
  if (quote.size() > 103 || quote.find('\n') != std::string::npos)
    rounds.fail("a quotation is too long or not a line");
}

void try_headers(fuzz::Random& random, const fuzz::Rounds& rounds) {
  std::string text = "Sun, 06 Nov 1994 08:49:37 GMT";
  fuzz::damage(text, random, kWords);
  const auto wait = parse_retry_after(text, std::chrono::sys_seconds{});
  if (wait && !(*wait >= 0.0 && *wait <= 1e9)) rounds.fail("an impossible wait: " + text);
  std::string url = "https://[2001:db8::1]:8443/api/v1/";
  fuzz::damage(url, random, kWords);
  const auto endpoint = parse_endpoint(url);
  if (!endpoint.ok()) return;
  const auto again = parse_endpoint(endpoint->chat_url);
  if (!again.ok() || again->chat_url != endpoint->chat_url || again->port != endpoint->port)
    rounds.fail("an address that was accepted is refused or changed: " + endpoint->chat_url);
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  return rounds.run([&](fuzz::Random& random) {
    switch (random() % 4) {
      case 0:
        return try_error(std::string(kErrors[random() % std::size(kErrors)]), random, rounds);
      case 1:
        return try_headers(random, rounds);
      default:
        return try_answer(std::string(kAnswer), random, rounds);
    }
  });
}
