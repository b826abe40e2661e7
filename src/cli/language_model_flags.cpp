#include "cli/language_model_flags.h"

#include "cli/kinds.h"
#include "session/expanders.h"

#include <CLI/CLI.hpp>

#include <cmath>

namespace regraph::cli {

namespace {

constexpr const char* kGroup = "Language model";

// A number of at most `largest` and at least 0; CLI11's Range would print all its digits.
CLI::Validator amount(double largest, const char* what) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        double value = 0.0;
        const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        if (number && value >= 0.0 && value <= largest) return "";
        return "'" + text + "' is not " + what;
      },
      "AMOUNT");
}

}  // namespace

void add_language_model_options(CLI::App& app, LanguageModelOptions& options) {
  const auto text = [&](const char* name, std::string& value, const char* what) {
    return app.add_option(name, value, what)->group(kGroup);
  };
  const auto integer = [&](const char* name, auto& value, int least, int most, const char* what) {
    app.add_option(name, value, what)
        ->check(CLI::Range(least, most))
        ->capture_default_str()
        ->group(kGroup);
  };
  text("--expander", options.expander,
       ("who applies steps: " + described(expander_kinds())).c_str())
      ->check(CLI::IsMember(names(expander_kinds())))
      ->capture_default_str();
  text("--llm-server", options.server,
       "kind of server: sets address and dialect (docs/language-models.md)");
  text("--llm-url", options.url, "base address, e.g. http://localhost:8000/v1 (OPENAI_BASE_URL)");
  text("--llm-model", options.model, "model to ask for (OPENAI_MODEL)");
  text("--llm-key-file", options.key_file,
       "file with the key (default: the variable OPENAI_API_KEY; it is never kept or shown)");
  app.add_option("--llm-temperature", options.temperature,
                 "temperature of answers (default: the server's)")
      ->check(CLI::Range(0.0, 2.0))
      ->group(kGroup);
  integer("--llm-max-tokens", options.max_tokens, 0, 1'000'000,
          "tokens of an answer at most, thoughts included; 0: the server's limit");
  integer("--llm-variants", options.variants, 1, 4,
          "answers to one step at one candidate, at most");
  integer("--llm-repairs", options.repairs, 0, 10,
          "times an answer that fails is sent back with the reason");
  app.add_flag("--llm-no-proposals", options.no_proposals,
               "do not ask which steps to try: the ReGraph decides alone")
      ->group(kGroup);
  app.add_flag("--llm-judge", options.judge,
               "ask for a diagnosis before a repair, and of what limits a candidate")
      ->group(kGroup);
  integer("--llm-in-flight", options.in_flight, 1, 256, "requests under way at once");
  app.add_option("--llm-timeout", options.timeout_seconds,
                 "seconds a call may take, retries included")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--llm-tokens", options.token_budget, "tokens to use at most, 0: no limit")
      ->check(amount(1e15, "a number of tokens"))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--llm-cost", options.cost_budget, "US dollars to spend at most, 0: no limit")
      ->check(amount(1e9, "an amount of dollars"))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--llm-time", options.seconds_budget,
                 "seconds after the first request in which others are sent, 0: no limit")
      ->check(amount(1e9, "a number of seconds"))
      ->capture_default_str()
      ->group(kGroup);
  text("--llm-prices", options.prices, "price table (default: the shipped graphs/prices.yaml)");
  integer("--llm-requests-per-minute", options.requests_per_minute, 0, 1'000'000,
          "requests a minute at most, 0: no limit");
  integer("--llm-tokens-per-minute", options.tokens_per_minute, 0, 1'000'000'000,
          "tokens a minute at most, 0: no limit");
  text("--llm-prompts", options.prompts, "folder of prompts (default: the shipped ones)");
  text("--llm-ca-file", options.ca_file, "certificates to trust instead of the system's");
  text("--llm-record", options.record, "write the conversation to this file");
  text("--llm-replay", options.replay,
       "take every answer from such a file: no network, the same search");
  app.add_flag("--llm-no-store", options.no_store,
               "ask again even for what was answered before, by any run")
      ->group(kGroup);
}

std::string misuse(const LanguageModelOptions& options) {
  if (!options.asks()) return "";
  if (!options.record.empty() && !options.replay.empty()) {
    return "--llm-record and --llm-replay exclude each other: a replay asks nobody";
  }
  return "";
}

}  // namespace regraph::cli
