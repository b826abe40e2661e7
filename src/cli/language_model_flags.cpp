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

// Adds options of the group to an application.
class Adder {
 public:
  explicit Adder(CLI::App& app) : app_(app) {}

  CLI::Option* text(const char* name, std::string& value, const std::string& what) {
    return app_.add_option(name, value, what)->group(kGroup);
  }
  template <typename Integer>
  void integer(const char* name, Integer& value, int least, int most, const char* what) {
    app_.add_option(name, value, what)
        ->check(CLI::Range(least, most))
        ->capture_default_str()
        ->group(kGroup);
  }
  template <typename Number>
  void number(const char* name, Number& value, const CLI::Validator& check, const char* what) {
    app_.add_option(name, value, what)->check(check)->capture_default_str()->group(kGroup);
  }
  void flag(const char* name, bool& value, const char* what) {
    app_.add_flag(name, value, what)->group(kGroup);
  }

 private:
  CLI::App& app_;
};

// Whoever asks for others names the model in so many words: what is in the environment is for
// questions of one's own.
void add_server(Adder& add, LanguageModelOptions& options, bool for_others) {
  add.text("--llm-server", options.server,
           std::string("kind of server: sets address and dialect (docs/language-models.md)") +
               (for_others ? "" : ", or fleet: workers of --fleet ask it"));
  CLI::Option* url = add.text("--llm-url", options.url,
                              "base address, e.g. http://localhost:8000/v1 (OPENAI_BASE_URL)");
  if (for_others) url->envname("OPENAI_BASE_URL");
  add.text("--llm-model", options.model,
           for_others ? "model to ask for whoever of the fleet wants to"
                      : "model to ask for (OPENAI_MODEL)");
  add.text("--llm-key-file", options.key_file,
           "file with the key (default: the variable OPENAI_API_KEY; it is never kept or shown)");
  add.text("--llm-ca-file", options.ca_file, "certificates to trust instead of the system's");
}

void add_pace(Adder& add, LanguageModelOptions& options) {
  add.number("--llm-timeout", options.timeout_seconds, CLI::Range(0.1, 86400.0),
             "seconds a call may take, retries included");
  add.integer("--llm-requests-per-minute", options.requests_per_minute, 0, 1'000'000,
              "requests a minute at most, 0: no limit");
  add.integer("--llm-tokens-per-minute", options.tokens_per_minute, 0, 1'000'000'000,
              "tokens a minute at most, 0: no limit");
}

void add_expander(Adder& add, LanguageModelOptions& options) {
  add.text("--expander", options.expander, "who applies steps: " + described(expander_kinds()))
      ->check(CLI::IsMember(names(expander_kinds())))
      ->capture_default_str();
  add.text("--steps", options.steps,
           "apply these steps one after another instead of a search, e.g. 'coalesce_swap; "
           "thread_coarsen(axis=y, factor=4)'")
      ->group("Search methods");
}

void add_asking(Adder& add, LanguageModelOptions& options) {
  add.text("--llm-temperature", options.temperature,
           "temperature of answers, 0 to 2, or by purpose: choose=1,write=0.2,repair=0 (default: "
           "the server's)");
  add.text("--llm-style", options.style, "how it is asked: " + described(asking_styles()))
      ->check(CLI::IsMember(names(asking_styles())))
      ->capture_default_str();
  add.text("--llm-reasoning-effort", options.reasoning_effort,
           "of reasoning models: low, medium, high, or a word that the server knows");
  add.integer("--llm-reasoning-tokens", options.reasoning_tokens, 0, 1'000'000,
              "tokens for the thoughts of an answer at most, where the server can be told; 0: no "
              "limit of their own");
  add.flag("--llm-no-leaps", options.no_leaps, "let it name no plans of several steps at once");
  add.flag("--llm-no-combine", options.no_combinations,
           "let it put no two states' changes into one kernel");
  add.integer("--llm-max-tokens", options.max_tokens, 0, 1'000'000,
              "tokens of an answer at most, thoughts included; 0: the server's limit");
  add.integer("--llm-variants", options.variants, 1, 4,
              "answers to one step at one candidate, at most");
  add.integer("--llm-repairs", options.repairs, 0, 10,
              "times an answer that fails is sent back with the reason");
  add.flag("--llm-no-proposals", options.no_proposals,
           "do not ask which steps to try: the ReGraph decides alone");
  add.integer("--llm-opinions", options.opinions, 1, 16,
              "answers to the question which steps to try, each a vote");
  add.flag("--llm-judge", options.judge,
           "ask for a diagnosis before a repair, and of what limits a candidate");
}

void add_limits(Adder& add, LanguageModelOptions& options) {
  add.integer("--llm-in-flight", options.in_flight, 1, 256, "requests under way at once");
  add.number("--llm-tokens", options.token_budget, amount(1e15, "a number of tokens"),
             "tokens to use at most, 0: no limit");
  add.number("--llm-cost", options.cost_budget, amount(1e9, "an amount of dollars"),
             "US dollars to spend at most, 0: no limit");
  add.number("--llm-time", options.seconds_budget, amount(1e9, "a number of seconds"),
             "seconds after the first request in which others are sent, 0: no limit");
}

void add_files(Adder& add, LanguageModelOptions& options) {
  add.text("--llm-prices", options.prices, "price table (default: the shipped graphs/prices.yaml)");
  add.text("--llm-prompts", options.prompts, "folder of prompts (default: the shipped ones)");
  add.text("--llm-record", options.record, "write the conversation to this file");
  add.text("--llm-replay", options.replay,
           "take every answer from such a file: no network, the same search");
  add.flag("--llm-no-store", options.no_store,
           "ask again even for what was answered before, by any run");
}

}  // namespace

void add_language_model_options(CLI::App& app, LanguageModelOptions& options) {
  Adder add(app);
  add_expander(add, options);
  add_server(add, options, false);
  add_asking(add, options);
  add_pace(add, options);
  add_limits(add, options);
  add_files(add, options);
}

void add_model_server_options(CLI::App& app, LanguageModelOptions& options) {
  Adder add(app);
  add_server(add, options, true);
  add_pace(add, options);
}

std::string misuse(const LanguageModelOptions& options) {
  if (!options.asks()) return "";
  if (!options.record.empty() && !options.replay.empty()) {
    return "--llm-record and --llm-replay exclude each other: a replay asks nobody";
  }
  if (options.no_proposals && !options.applies()) {
    return "--llm-no-proposals leaves nothing to ask: with --expander " + options.expander +
           " the model only names steps; leave one of them out";
  }
  if (const auto temperatures = read_temperatures(options.temperature); !temperatures)
    return "--llm-temperature: " + temperatures.error().message;
  if (options.style == "together" && options.no_proposals)
    return "--llm-style together asks which steps to try, and --llm-no-proposals does not";
  if (options.style == "together" && options.opinions > 1)
    return "--llm-style together takes one answer for each candidate: leave --llm-opinions out";
  return "";
}

}  // namespace regraph::cli
