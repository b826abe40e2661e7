#include "search/run_description.h"

#include "base/field_json.h"

#include <nlohmann/json.hpp>

namespace regraph {

namespace {

using Json = nlohmann::ordered_json;

// Visits every field of a configuration by name, so that writing and reading cannot differ.
template <typename Config, typename Field>
void for_each_field(Config& config, bool has_check, Field field) {
  field("searcher", config.searcher);
  field("seed", config.seed);
  field("evaluations", config.budget.evaluations);
  field("wall_seconds", config.budget.wall_seconds);
  auto& selection = config.selection;
  field("max_share", selection.max_share);
  field("exploration_first", selection.exploration_first);
  field("exploration_last", selection.exploration_last);
  field("first_play_reduction", selection.first_play_reduction);
  field("variant_decay", selection.variant_decay);
  field("variant_limit", selection.variant_limit);
  field("widening_factor", selection.widening_factor);
  field("widening_exponent", selection.widening_exponent);
  field("value_range", selection.value_range);
  field("first_play_value", selection.first_play_value);
  field("greedy_every", selection.greedy_every);
  field("beam_width", selection.beam_width);
  field("random_restart", selection.random_restart);
  field("regrapht_exploration", selection.regrapht.exploration);
  field("regrapht_epsilon", selection.regrapht.epsilon);
  field("regrapht_penalty", selection.regrapht.penalty);
  field("regrapht_rollout_steps", selection.regrapht.rollout_steps);
  field("jobs", config.jobs);
  field("extra_workers", config.extra_workers);
  field("window", config.window);
  field("expansions_first", config.expansions_first);
  field("finalists", config.finalists);
  field("final_repetitions", config.final_repetitions);
  field("evaluation_wall_seconds", config.evaluation_wall_seconds);
  field("learn", config.learn);
  field("policy", config.policy);
  field("device", config.device);
  field("device_table", config.device_table);
  field("evaluator", config.evaluator);
  field("expander_settings", config.expander_settings);
  if (!has_check) return;  // runs without one are written as they were before there was any
  field("check_command", config.check_command);
  field("check_directory", config.check_directory);
  field("check_seconds", config.check_seconds);
}

}  // namespace

std::string config_text(const SearchConfig& config) {
  Json json = Json::object();
  for_each_field(config, !config.check_command.empty(), FieldWriter(json));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<SearchConfig> read_config(const std::string& text) {
  constexpr int kDeepest = 3;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(text, shallow, false);
  if (!json.is_object()) return std::nullopt;
  SearchConfig config;
  FieldReader reader(json);
  for_each_field(config, json.contains("check_command"), std::ref(reader));
  if (!reader.whole()) return std::nullopt;
  return config;
}

}  // namespace regraph
