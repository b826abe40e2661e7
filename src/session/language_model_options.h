// What a user may say about the language model.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace regraph {

// The LanguageModelOptions::server that is no server.
inline constexpr const char* kFleetServer = "fleet";

// Everything but the key, which is nowhere kept.
struct LanguageModelOptions {
  std::string expander = "rewriter";  // who applies steps: a name of expander_kinds()
  std::string steps;                  // to be applied one after another; empty: it is searched
  // Preset of address and dialect, e.g. "vllm"; kFleetServer: whatever workers of a fleet ask.
  std::string server;
  std::string url;  // base address; empty: the preset's
  std::string model;
  std::string key_file;  // holds the key; empty: from OPENAI_API_KEY
  // Of the model's answers: "0.7" of all, "choose=1, write=0.2, repair=0" by purpose; empty: the
  // server's own.
  std::string temperature;
  // How it is asked: a name of asking_styles().
  std::string style = "separate";
  std::string reasoning_effort;  // "low", "medium", "high", ...; empty: the server's own
  int reasoning_tokens = 0;      // for thoughts at most, 0: no limit of its own
  bool no_leaps = false;         // no plans of several steps at once
  bool no_combinations = false;  // no two states in one kernel
  int max_tokens = 16384;        // of an answer, 0: the server's own limit
  int variants = 1;
  int repairs = 1;
  bool no_proposals = false;
  int opinions = 1;  // answers to the question which steps to try
  bool judge = false;
  int in_flight = 8;
  double timeout_seconds = 180.0;  // a call, retries included
  std::int64_t token_budget = 0;
  double cost_budget = 0.0;     // US dollars
  double seconds_budget = 0.0;  // for asking, from the first request on
  std::string prices;           // price table; empty: the shipped one
  int requests_per_minute = 0;
  int tokens_per_minute = 0;
  std::string prompts;  // folder; empty: the shipped ones
  std::string ca_file;
  std::string record;
  std::string replay;
  bool no_store = false;
  // Where what was spent is kept, for a run to go on with: beside its results, no setting of the
  // user's. Empty: nowhere.
  std::string spending_file;

  // Of answers by a fleet: a run that is continued finds those that came meanwhile. Empty: whoever
  // asks is somebody new each time.
  std::string occasion;

  // Whether the expander asks a model at all.
  [[nodiscard]] bool asks() const;
  // Whether it is asked by the workers of a fleet.
  [[nodiscard]] bool asks_fleet() const { return server == kFleetServer; }
  // Whether the model applies steps itself.
  [[nodiscard]] bool applies() const;
  bool operator==(const LanguageModelOptions&) const = default;
};

struct AskingStyleName {
  const char* name;
  const char* description;  // a line for people
};
[[nodiscard]] std::span<const AskingStyleName> asking_styles();

// Temperatures by purpose.
struct PurposeTemperatures {
  std::optional<double> choosing;
  std::optional<double> writing;
  std::optional<double> repairing;
};
// Reads LanguageModelOptions::temperature. Error (invalid_argument): no number from 0 to 2, a
// purpose that is not known or named twice.
[[nodiscard]] Result<PurposeTemperatures> read_temperatures(const std::string& text);

// As JSON text, kept with a run so that it can be continued; the reader returns nothing for any
// other text. Empty text stands for the defaults.
[[nodiscard]] std::string settings_of(const LanguageModelOptions& options);
[[nodiscard]] std::optional<LanguageModelOptions> read_language_model_settings(
    const std::string& text);

}  // namespace regraph
