#include "session/language_model_options.h"

#include "base/field_json.h"
#include "session/expanders.h"

#include <nlohmann/json.hpp>

namespace regraph {

namespace {

using OrderedJson = nlohmann::ordered_json;

// Visits every field by name, so that writing and reading cannot differ.
template <typename Options, typename Field>
void for_each_field(Options& options, Field&& field) {
  field("expander", options.expander);
  field("server", options.server);
  field("url", options.url);
  field("model", options.model);
  field("key_file", options.key_file);
  field("temperature", options.temperature);
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
}

}  // namespace

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
