#include "session/language_model_options.h"

#include "base/field_json.h"
#include "session/expanders.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace regraph {

namespace {

using OrderedJson = nlohmann::ordered_json;

// Visits every field by name, so that writing and reading cannot differ.
template <typename Options, typename Field>
void for_each_field(Options& options, Field&& field) {
  field("expander", options.expander);
  field("steps", options.steps);
  field("server", options.server);
  field("url", options.url);
  field("model", options.model);
  field("key_file", options.key_file);
  field("temperature", options.temperature);
  field("style", options.style);
  field("reasoning_effort", options.reasoning_effort);
  field("reasoning_tokens", options.reasoning_tokens);
  field("no_leaps", options.no_leaps);
  field("no_combinations", options.no_combinations);
  field("max_tokens", options.max_tokens);
  field("variants", options.variants);
  field("repairs", options.repairs);
  field("no_proposals", options.no_proposals);
  field("opinions", options.opinions);
  field("judge", options.judge);
  field("in_flight", options.in_flight);
  field("timeout_seconds", options.timeout_seconds);
  field("token_budget", options.token_budget);
  field("cost_budget", options.cost_budget);
  field("seconds_budget", options.seconds_budget);
  field("prices", options.prices);
  field("requests_per_minute", options.requests_per_minute);
  field("tokens_per_minute", options.tokens_per_minute);
  field("prompts", options.prompts);
  field("ca_file", options.ca_file);
  field("record", options.record);
  field("replay", options.replay);
  field("no_store", options.no_store);
  field("occasion", options.occasion);
}

constexpr AskingStyleName kStyles[] = {
    {"separate", "which steps, then each of them"},
    {"together", "which steps and the first of them applied, in one request"},
};

// From 0 to 2, whole; nothing for other text.
std::optional<double> temperature_of(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double kHighest = 2.0;
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(value >= 0.0 && value <= kHighest)) return std::nullopt;
  return value;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::span<const AskingStyleName> asking_styles() {
  return kStyles;
}

Result<PurposeTemperatures> read_temperatures(const std::string& text) {
  PurposeTemperatures result;
  if (text.empty()) return result;
  if (const auto all = temperature_of(without_blanks(text))) {
    result.choosing = result.writing = result.repairing = all;
    return result;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view entry = without_blanks(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view purpose = without_blanks(entry.substr(0, equals));
    std::optional<double>* target = purpose == "choose"   ? &result.choosing
                                    : purpose == "write"  ? &result.writing
                                    : purpose == "repair" ? &result.repairing
                                                          : nullptr;
    const auto value = equals < entry.size()
                           ? temperature_of(without_blanks(entry.substr(equals + 1)))
                           : std::nullopt;
    if (target == nullptr || !value || *target) {
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(entry) +
                      "' is no temperature: give a number from 0 to 2, or choose=, write= and "
                      "repair= with one each, with commas between them");
    }
    *target = value;
  }
  return result;
}

bool LanguageModelOptions::asks() const {
  const ExpanderKind* kind = find_expander_kind(expander);
  return kind != nullptr && kind->asks_model;
}

bool LanguageModelOptions::applies() const {
  const ExpanderKind* kind = find_expander_kind(expander);
  return kind != nullptr && kind->model_applies;
}

std::string settings_of(const LanguageModelOptions& options) {
  if (options == LanguageModelOptions{}) return "";
  OrderedJson json;
  for_each_field(options, FieldWriter(json));
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::optional<LanguageModelOptions> read_language_model_settings(const std::string& text) {
  LanguageModelOptions options;
  if (text.empty()) return options;
  const OrderedJson json = OrderedJson::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  FieldReader reader(json);
  for_each_field(options, reader);
  return reader.whole() ? std::optional(options) : std::nullopt;
}

}  // namespace regraph
