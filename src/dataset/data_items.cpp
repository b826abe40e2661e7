#include "dataset/data_items.h"

#include "base/field_json.h"
#include "base/hash.h"
#include "learn/source_shingles.h"
#include "search/journal_rows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace regraph::dataset {

namespace {

using Json = nlohmann::ordered_json;

template <typename Pair, typename Field>
void for_each_field(Pair& pair, Field&& field, const PairRecord* /*chooses*/) {
  field("id", pair.id);
  field("benchmark", pair.benchmark);
  field("source_file", pair.source_file);
  field("description", pair.description);
  field("slow", pair.slow);
  field("fast", pair.fast);
  field("problem", pair.problem);
  field("kernel", pair.kernel);
  field("family", pair.family);
  field("split", pair.split);
  field("step", pair.step);
  field("parameters", pair.parameters);
  field("history", pair.history);
  field("launch_slow", pair.launch_slow);
  field("launch_fast", pair.launch_fast);
  field("manifest", pair.manifest);
  field("assumptions", pair.assumptions);
  field("device", pair.device);
  field("method", pair.method);
  field("seconds_slow", pair.seconds_slow);
  field("seconds_slow_low", pair.seconds_slow_low);
  field("seconds_slow_high", pair.seconds_slow_high);
  field("seconds_fast", pair.seconds_fast);
  field("seconds_fast_low", pair.seconds_fast_low);
  field("seconds_fast_high", pair.seconds_fast_high);
  field("speedup", pair.speedup);
  field("speedup_low", pair.speedup_low);
  field("speedup_high", pair.speedup_high);
  field("verdict", pair.verdict);
  field("verification", pair.verification);
  field("tolerance", pair.tolerance);
  field("origin", pair.origin);
  field("tool_version", pair.tool_version);
  field("licence", pair.licence);
  field("fingerprint", pair.fingerprint);
}

template <typename State, typename Field>
void for_each_field(State& state, Field&& field, const StateItem* /*chooses*/) {
  field("id", state.id);
  field("state", state.state);
  field("kernel", state.kernel);
  field("family", state.family);
  field("step", state.step);
  field("stage", state.stage);
  field("settings", state.settings);
  field("system", state.system);
  field("user", state.user);
}

template <typename Answer, typename Field>
void for_each_field(Answer& answer, Field&& field, const AnswerItem* /*chooses*/) {
  field("state", answer.state);
  field("kernel", answer.kernel);
  field("family", answer.family);
  field("step", answer.step);
  field("completion", answer.completion);
  field("outcome", answer.outcome);
  field("method", answer.method);
  field("seconds", answer.seconds);
  field("seconds_low", answer.seconds_low);
  field("seconds_high", answer.seconds_high);
  field("parent_seconds", answer.parent_seconds);
  field("parent_seconds_low", answer.parent_seconds_low);
  field("parent_seconds_high", answer.parent_seconds_high);
  field("origin", answer.origin);
}

template <typename Item>
std::string text_of(const Item& item) {
  Json json = Json::object();
  for_each_field(item, FieldWriter(json), static_cast<const Item*>(nullptr));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Item>
Result<Item> read_as(std::string_view line, const char* what) {
  constexpr int kDeepest = 1;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(line.begin(), line.end(), shallow, false);
  if (!json.is_object())
    return fail(ErrorCode::parse, std::string("no ") + what + ": not an object of JSON");
  Item item;
  FieldReader reader(json);
  for_each_field(item, reader, static_cast<const Item*>(nullptr));
  if (!reader.whole()) {
    return fail(ErrorCode::parse,
                std::string("no ") + what +
                    " of this version: a field is missing, of another type, or does not belong");
  }
  return item;
}

// Of a plan's launches, grids left out: they are made of the sizes' names.
std::string blocks_of(const std::string& plan_text) {
  const auto plan = journal::read_plan(plan_text);
  if (!plan) return plan_text;
  std::string text;
  for (const Launch& launch : plan->launches)
    text += fmt::format("{}x{}x{};", launch.block.x, launch.block.y, launch.block.z);
  return text;
}

std::string shingle_hash(std::string_view source) {
  Hasher hasher;
  for (const std::uint64_t shingle : learn::source_shingles(source))
    hasher.add(shingle);
  return hasher.finish().hex();
}

}  // namespace

std::string pair_id(const PairRecord& pair) {
  return Hasher()
      .add(pair.problem)
      .add(pair.slow)
      .add(pair.fast)
      .add(pair.launch_slow)
      .add(pair.launch_fast)
      .add(pair.step)
      .add(pair.parameters)
      .finish()
      .hex();
}

std::string pair_fingerprint(const PairRecord& pair) {
  Hasher hasher;
  hasher.add(shingle_hash(pair.slow)).add(shingle_hash(pair.fast)).add(pair.step);
  hasher.add(pair.parameters).add(blocks_of(pair.launch_slow)).add(blocks_of(pair.launch_fast));
  return hasher.finish().hex();
}

std::string item_text(const PairRecord& pair) {
  return text_of(pair);
}
std::string item_text(const StateItem& state) {
  return text_of(state);
}
std::string item_text(const AnswerItem& answer) {
  return text_of(answer);
}

Result<PairRecord> read_pair(std::string_view line) {
  return read_as<PairRecord>(line, "pair");
}
Result<StateItem> read_state_item(std::string_view line) {
  return read_as<StateItem>(line, "state");
}
Result<AnswerItem> read_answer(std::string_view line) {
  return read_as<AnswerItem>(line, "answer");
}

int stage_of(std::string_view step) {
  struct Staged {
    std::string_view step;
    int stage;
  };
  // Steps that are not named change what a block shares, or are of a model's own.
  static constexpr std::array kStages = {
      Staged{"restrict_ldg", 1},
      Staged{"loop_unroll", 1},
      Staged{"launch_bounds", 1},
      Staged{"smem_pad", 1},
      Staged{"fast_math", 1},
      Staged{"block_size", 2},
      Staged{"coalesce_swap", 2},
      Staged{"thread_coarsen", 3},
      Staged{"grid_stride", 3},
      Staged{"vectorize_global", 3},
      Staged{"reduce_shuffle", 3},
      Staged{"multi_accumulator", 3},
      Staged{"cross_thread_reduction", 3},
  };
  constexpr int kShared = 4;
  for (const Staged& staged : kStages) {
    if (staged.step == step) return staged.stage;
  }
  return kShared;
}

}  // namespace regraph::dataset
