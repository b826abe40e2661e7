#include "search/journal_rows.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace regraph::journal {

namespace {

using Json = nlohmann::json;
using Type = SqlColumn::Type;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Null when the text is no JSON or too deep to be ours: nesting is bounded by what we write.
Json parse(const std::string& text) {
  constexpr int kDeepest = 6;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  Json json = Json::parse(text, shallow, false);
  return json.is_discarded() ? Json() : json;
}

// Facts may hold what JSON has no number for.
Json fact_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::optional<double> read_fact(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::optional<Facts> read_facts(const std::string& text) {
  const Json json = parse(text);
  if (!json.is_object()) return std::nullopt;
  Facts facts;
  for (const auto& [key, value] : json.items()) {
    const std::optional<double> number = read_fact(value);
    if (!number) return std::nullopt;
    facts.emplace(key, *number);
  }
  return facts;
}

std::string facts_text(const Facts& facts) {
  Json json = Json::object();
  for (const auto& [key, value] : facts)
    json[key] = fact_json(value);
  return dump(json);
}

// A name among those of 0 .. count - 1.
template <typename Enum>
std::optional<Enum> read_name(const std::string* text, int count) {
  for (int index = 0; text != nullptr && index < count; ++index) {
    if (*text == name(static_cast<Enum>(index))) return static_cast<Enum>(index);
  }
  return std::nullopt;
}

template <typename Integer>
std::optional<Integer> read_integer(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()))
      return std::nullopt;
    return static_cast<Integer>(value);
  }
  const auto value = json.get<std::int64_t>();
  if (value < static_cast<std::int64_t>(std::numeric_limits<Integer>::min())) return std::nullopt;
  return static_cast<Integer>(value);
}

std::optional<StepParameters> parameters_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  StepParameters parameters;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return std::nullopt;
    parameters.emplace(key, value.get<std::string>());
  }
  return parameters;
}

std::optional<IntegerExpression> expression_of(const Json& json) {
  if (!json.is_string()) return std::nullopt;
  Result<IntegerExpression> parsed = IntegerExpression::parse(json.get<std::string>());
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

// [x, y, z], expressions of sizes; and what they are at the first bench size.
std::optional<BlockOfSizes> block_of_sizes_of(const Json& json) {
  if (!json.is_array() || json.size() != 6) return std::nullopt;
  BlockOfSizes block;
  std::uint32_t* const extents[] = {&block.at.x, &block.at.y, &block.at.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto expression = expression_of(json[axis]);
    const auto extent = read_integer<std::uint32_t>(json[3 + axis]);
    if (!extent || !expression) return std::nullopt;
    block.extents[axis] = std::move(*expression);
    *extents[axis] = *extent;
  }
  return block;
}

std::optional<Launch> launch_of(const Json& json) {
  if (!json.is_array() || json.size() < 8 || json.size() > 10 || !json[0].is_string())
    return std::nullopt;
  Launch launch;
  launch.kernel = json[0].get<std::string>();
  std::uint32_t* const extents[] = {&launch.block.x, &launch.block.y, &launch.block.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto extent = read_integer<std::uint32_t>(json[1 + axis]);
    auto blocks = expression_of(json[4 + axis]);
    if (!extent || !blocks) return std::nullopt;
    *extents[axis] = *extent;
    launch.grid[axis] = std::move(*blocks);
  }
  auto shared = expression_of(json[7]);
  if (!shared) return std::nullopt;
  launch.dynamic_shared_bytes = std::move(*shared);
  if (json.size() == 10) {
    launch.block_of_sizes = block_of_sizes_of(json[9]);
    if (!launch.block_of_sizes) return std::nullopt;
  }
  if (json.size() >= 9) {
    if (!json[8].is_array()) return std::nullopt;
    for (const Json& argument : json[8]) {
      if (!argument.is_string()) return std::nullopt;
      launch.arguments.push_back(argument.get<std::string>());
    }
  }
  return launch;
}

constexpr int kTimeMethods = static_cast<int>(TimeMethod::measured) + 1;

}  // namespace

std::optional<std::int64_t> integer_at(const SqlRow& row, std::size_t at) {
  const auto* value = at < row.size() ? std::get_if<std::int64_t>(&row[at]) : nullptr;
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> real_at(const SqlRow& row, std::size_t at) {
  const auto* value = at < row.size() ? std::get_if<double>(&row[at]) : nullptr;
  return value == nullptr ? std::nullopt : std::optional(*value);
}

const std::string* text_at(const SqlRow& row, std::size_t at) {
  return at < row.size() ? std::get_if<std::string>(&row[at]) : nullptr;
}

std::vector<SqlColumn> with_evaluation(std::vector<SqlColumn> columns) {
  for (const SqlColumn column : {
           SqlColumn{"verdict", Type::text},
           {"message", Type::text},
           {"median_seconds", Type::real},
           {"low_seconds", Type::real},
           {"high_seconds", Type::real},
           {"samples", Type::integer},
           {"method", Type::text},
           {"registers_per_thread", Type::integer},
           {"spill_store_bytes", Type::integer},
           {"spill_load_bytes", Type::integer},
           {"stack_bytes", Type::integer},
           {"static_shared_bytes", Type::integer},
           {"facts", Type::text},
           {"bottleneck", Type::text},
           {"roofline_seconds", Type::real},
           {"machine_code", Type::text},
       }) {
    columns.push_back(column);
  }
  return columns;
}

void append(const Evaluation& evaluation, SqlRow& row) {
  const TimeEstimate& time = evaluation.time;
  const ResourceUsage& resources = evaluation.resources;
  const auto add = [&](auto value) { row.emplace_back(std::move(value)); };
  add(std::string(name(evaluation.verdict)));
  add(evaluation.message);
  add(time.median_seconds);
  add(time.low_seconds);
  add(time.high_seconds);
  add(std::int64_t{time.samples});
  add(std::string(name(time.method)));
  add(std::int64_t{resources.registers_per_thread});
  add(std::int64_t{resources.spill_store_bytes});
  add(std::int64_t{resources.spill_load_bytes});
  add(std::int64_t{resources.stack_bytes});
  add(std::int64_t{resources.static_shared_bytes});
  add(facts_text(evaluation.facts));
  add(evaluation.bottleneck);
  add(evaluation.roofline_seconds);
  add(evaluation.machine_code.hex());
}

std::optional<Evaluation> read_evaluation(const SqlRow& row, std::size_t at) {
  Evaluation evaluation;
  const auto verdict = read_name<Verdict>(text_at(row, at), kVerdictCount);
  const std::string* message = text_at(row, at + 1);
  const auto method = read_name<TimeMethod>(text_at(row, at + 6), kTimeMethods);
  const std::string* facts_json = text_at(row, at + 12);
  const std::string* bottleneck = text_at(row, at + 13);
  const std::string* machine_code = text_at(row, at + 15);
  if (!verdict || !message || !method || !facts_json || !bottleneck || !machine_code) {
    return std::nullopt;
  }
  evaluation.verdict = *verdict;
  evaluation.message = *message;
  TimeEstimate& time = evaluation.time;
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  time.median_seconds = real_at(row, at + 2).value_or(kNotANumber);
  time.low_seconds = real_at(row, at + 3).value_or(kNotANumber);
  time.high_seconds = real_at(row, at + 4).value_or(kNotANumber);
  time.method = *method;
  ResourceUsage& resources = evaluation.resources;
  int* const integers[] = {&time.samples,
                           nullptr,
                           &resources.registers_per_thread,
                           &resources.spill_store_bytes,
                           &resources.spill_load_bytes,
                           &resources.stack_bytes,
                           &resources.static_shared_bytes};
  std::size_t place = at + 5;
  for (int* integer : integers) {
    const auto value = integer_at(row, place++);
    if (integer == nullptr) continue;
    if (!value || *value < 0 || *value > std::numeric_limits<int>::max()) return std::nullopt;
    *integer = static_cast<int>(*value);
  }
  std::optional<Facts> facts = read_facts(*facts_json);
  const std::optional<Hash128> hash = read_hash(*machine_code);
  if (!facts || !hash) return std::nullopt;
  evaluation.facts = std::move(*facts);
  evaluation.bottleneck = *bottleneck;
  evaluation.roofline_seconds = real_at(row, at + 14).value_or(kNotANumber);
  evaluation.machine_code = *hash;
  const bool timed = time.median_seconds > 0.0 && std::isfinite(time.median_seconds);
  if (evaluation.correct() && !timed) return std::nullopt;
  return evaluation;
}

std::string parameters_text(const StepParameters& parameters) {
  return dump(Json(parameters));
}

std::optional<StepParameters> read_parameters(const std::string& text) {
  return parameters_of(parse(text));
}

std::string proposals_text(const std::vector<StepProposal>& proposals) {
  Json json = Json::array();
  for (const StepProposal& proposal : proposals) {
    json.push_back({proposal.step, proposal.parameters, proposal.variant_limit});
    const bool worded = !proposal.advice.reason.empty() || !proposal.advice.title.empty();
    const bool scored = proposal.score.correction != 0.0 || proposal.score.expected_log_gain != 0.0;
    if (proposal.advice.opinions == 0 && !scored && !worded) continue;
    json.back().push_back(proposal.advice.named_share);
    json.back().push_back(proposal.advice.opinions);
    if (!scored && !worded) continue;
    json.back().push_back(proposal.score.correction);
    json.back().push_back(proposal.score.expected_log_gain);
    if (!worded) continue;
    json.back().push_back(proposal.advice.reason);
    json.back().push_back(proposal.advice.title);
  }
  return dump(json);
}

std::optional<std::vector<StepProposal>> read_proposals(const std::string& text) {
  const Json json = parse(text);
  if (!json.is_array()) return std::nullopt;
  std::vector<StepProposal> result;
  for (const Json& entry : json) {
    const bool shaped =
        entry.is_array() && entry.size() >= 3 && entry.size() <= 9 && entry.size() % 2 == 1;
    if (!shaped || !entry[0].is_string()) return std::nullopt;
    auto parameters = parameters_of(entry[1]);
    const auto variants = read_integer<int>(entry[2]);
    if (!parameters || !variants) return std::nullopt;
    StepProposal proposal;
    proposal.step = entry[0].get<std::string>();
    proposal.parameters = std::move(*parameters);
    proposal.variant_limit = *variants;
    if (entry.size() >= 5) {
      const auto opinions = read_integer<int>(entry[4]);
      if (!entry[3].is_number() || !opinions || *opinions < 0) return std::nullopt;
      proposal.advice.named_share = std::clamp(entry[3].get<double>(), 0.0, 1.0);
      proposal.advice.opinions = *opinions;
    }
    if (entry.size() >= 7) {
      if (!entry[5].is_number() || !entry[6].is_number()) return std::nullopt;
      proposal.score.correction = entry[5].get<double>();
      proposal.score.expected_log_gain = entry[6].get<double>();
    }
    if (entry.size() == 9) {
      if (!entry[7].is_string() || !entry[8].is_string()) return std::nullopt;
      proposal.advice.reason = entry[7].get<std::string>();
      proposal.advice.title = entry[8].get<std::string>();
    }
    result.push_back(std::move(proposal));
  }
  return result;
}

std::string plan_text(const LaunchPlan& plan) {
  Json json = Json::array();
  for (const Launch& launch : plan.launches) {
    json.push_back({launch.kernel, launch.block.x, launch.block.y, launch.block.z,
                    launch.grid[0].text(), launch.grid[1].text(), launch.grid[2].text(),
                    launch.dynamic_shared_bytes.text()});
    if (!launch.arguments.empty() || launch.block_of_sizes) json.back().push_back(launch.arguments);
    if (const auto& block = launch.block_of_sizes) {
      json.back().push_back({block->extents[0].text(), block->extents[1].text(),
                             block->extents[2].text(), block->at.x, block->at.y, block->at.z});
    }
  }
  return dump(json);
}

std::optional<LaunchPlan> read_plan(const std::string& text) {
  const Json json = parse(text);
  if (!json.is_array()) return std::nullopt;
  LaunchPlan plan;
  for (const Json& entry : json) {
    std::optional<Launch> launch = launch_of(entry);
    if (!launch) return std::nullopt;
    plan.launches.push_back(std::move(*launch));
  }
  return plan;
}

std::string texts_text(const std::vector<std::string>& texts) {
  return dump(Json(texts));
}

std::optional<std::vector<std::string>> read_texts(const std::string& text) {
  const Json json = parse(text);
  if (!json.is_array()) return std::nullopt;
  std::vector<std::string> result;
  for (const Json& entry : json) {
    if (!entry.is_string()) return std::nullopt;
    result.push_back(entry.get<std::string>());
  }
  return result;
}

std::optional<Hash128> read_hash(const std::string& hex) {
  constexpr std::size_t kHalf = 16;
  if (hex.size() != 2 * kHalf) return std::nullopt;
  Hash128 hash;
  std::uint64_t* const halves[] = {&hash.high, &hash.low};
  const char* cursor = hex.data();
  for (std::uint64_t* half : halves) {
    const auto [end, error] = std::from_chars(cursor, cursor + kHalf, *half, 16);
    if (error != std::errc() || end != cursor + kHalf) return std::nullopt;
    cursor = end;
  }
  return hash;
}

}  // namespace regraph::journal
