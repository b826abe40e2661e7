#include "search/run_description.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace regraph {

namespace {

using Json = nlohmann::ordered_json;

// Visits every field of a configuration by name, so that writing and reading cannot differ.
template <typename Config, typename Field>
void for_each_field(Config& config, Field field) {
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
  field("device", config.device);
  field("device_table", config.device_table);
  field("evaluator", config.evaluator);
  field("expander_settings", config.expander_settings);
}

class Writer {
 public:
  explicit Writer(Json& json) : json_(json) {}

  template <typename Value>
  void operator()(const char* name, const Value& value) {
    json_[name] = value;
  }
  template <typename Value>
  void operator()(const char* name, const std::optional<Value>& value) {
    json_[name] = value ? Json(*value) : Json();
  }

 private:
  Json& json_;
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename Value>
  void operator()(const char* name, Value& value) {
    const auto found = json_.find(name);
    if (found == json_.end() || !read(*found, value)) {
      whole_ = false;
    } else {
      ++fields_;
    }
  }
  // Whether every field was there and nothing else.
  [[nodiscard]] bool whole() const { return whole_ && fields_ == json_.size(); }

 private:
  static bool read(const Json& json, std::string& value) {
    if (json.is_string()) value = json.get<std::string>();
    return json.is_string();
  }
  static bool read(const Json& json, bool& value) {
    if (json.is_boolean()) value = json.get<bool>();
    return json.is_boolean();
  }
  static bool read(const Json& json, double& value) {
    if (json.is_number()) value = json.get<double>();
    return json.is_number() && std::isfinite(value);
  }
  static bool read(const Json& json, std::uint64_t& value) {
    if (json.is_number_unsigned()) value = json.get<std::uint64_t>();
    return json.is_number_unsigned();
  }
  static bool read(const Json& json, int& value) {
    if (!json.is_number_unsigned()) return false;
    const auto number = json.get<std::uint64_t>();
    value = static_cast<int>(number);
    return number <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  }
  static bool read(const Json& json, std::pair<double, double>& value) {
    return json.is_array() && json.size() == 2 && read(json[0], value.first) &&
           read(json[1], value.second);
  }
  template <typename Value>
  static bool read(const Json& json, std::optional<Value>& value) {
    value.reset();
    if (json.is_null()) return true;
    Value content{};
    if (!read(json, content)) return false;
    value = content;
    return true;
  }

  const Json& json_;
  std::size_t fields_ = 0;
  bool whole_ = true;
};

}  // namespace

std::string config_text(const SearchConfig& config) {
  Json json = Json::object();
  for_each_field(config, Writer(json));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<SearchConfig> read_config(const std::string& text) {
  constexpr int kDeepest = 3;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(text, shallow, false);
  if (!json.is_object()) return std::nullopt;
  SearchConfig config;
  Reader reader(json);
  for_each_field(config, std::ref(reader));
  if (!reader.whole()) return std::nullopt;
  return config;
}

}  // namespace regraph
