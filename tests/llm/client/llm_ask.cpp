// Asks a server one question with the real client and prints what comes back.
//
//   llm_ask URL MODEL PROMPT [CHOICES [MAX_TOKENS [SCHEMA]]]
//
// The key, if any, is read from REGRAPH_LLM_KEY. SCHEMA is the JSON schema of the answer. Exits
// with 0 if there was an answer, whatever it says.
#include "base/cancellation.h"
#include "llm/client/chat_client.h"
#include "llm/client/scrub.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace regraph;  // NOLINT: a program of its own

void print_answer(const llm::ChatAnswer& answer) {
  fmt::print("model {}, {} choices, {} attempts, {:.2f} s, {} tokens {} + {}\n", answer.model,
             answer.choices.size(), answer.attempts, answer.seconds,
             answer.usage.reported ? "reported" : "estimated", answer.usage.prompt_tokens,
             answer.usage.completion_tokens);
  for (const llm::ChatChoice& choice : answer.choices) {
    fmt::print("choice: finish {}, {} bytes: {}\n", llm::name(choice.finish), choice.text.size(),
               llm::excerpt(choice.text, 100));
    if (!choice.refusal.empty()) fmt::print("refusal: {}\n", choice.refusal);
    if (!choice.reasoning.empty()) fmt::print("reasoning: {} bytes\n", choice.reasoning.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: llm_ask URL MODEL PROMPT [CHOICES [MAX_TOKENS [SCHEMA]]]\n");
    return 2;
  }
  llm::ChatClientOptions options;
  options.base_url = argv[1];
  if (const char* const key = std::getenv("REGRAPH_LLM_KEY")) options.key = key;
  options.total_seconds = 120.0;
  auto client = llm::ChatClient::create(options);
  if (!client.ok()) {
    fmt::print(stderr, "llm_ask: {}\n", client.error().message);
    return 2;
  }
  llm::ChatRequest request;
  request.model = argv[2];
  request.messages = {{llm::Role::user, argv[3]}};
  request.choices = argc > 4 ? std::atoi(argv[4]) : 1;
  request.max_tokens = argc > 5 ? std::atoi(argv[5]) : 32;
  if (argc > 6) request.json_schema = argv[6];
  request.seed = 1;
  request.temperature = 1.0;
  const Cancellation never;
  const llm::ChatResult result = (*client)->complete(request, never);
  if (!result.ok()) {
    fmt::print(stderr, "llm_ask: {}: {}\n", llm::name(result.error().failure),
               result.error().message);
    return 1;
  }
  print_answer(*result);
  return 0;
}
