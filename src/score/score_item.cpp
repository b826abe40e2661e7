#include "score/score_item.h"

#include "base/field_json.h"
#include "base/json_text.h"
#include "score/item_json.h"

#include <fmt/format.h>

#include <utility>

namespace regraph::score {
namespace {

using ItemJson = nlohmann::ordered_json;

// Escaped, a byte takes six at most.
constexpr JsonLimits kItemLimits = {6 * (kLargestCompletion + 2 * kLargestName) + 1024, 1};
// Messages are whatever a compiler says.
constexpr JsonLimits kScoreLimits = {std::size_t{16} << 20, 2};

// Enumerations are written by name; reading puts them into fields of text first.
struct ScoreNames {
  std::string outcome;
  std::string verdict;
  std::string method;
  std::string parent_method;
};

std::optional<Verdict> read_verdict_name(std::string_view text) {
  for (int i = 0; i < kVerdictCount; ++i) {
    if (text == name(static_cast<Verdict>(i))) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

std::optional<TimeMethod> read_method_name(std::string_view text) {
  for (const TimeMethod method : {TimeMethod::predicted, TimeMethod::measured}) {
    if (text == name(method)) return method;
  }
  return std::nullopt;
}

template <typename AnyScore, typename Names, typename Field>
void for_each_score_field(AnyScore& score, Names& names, Field&& field) {
  field("id", score.id);
  field("outcome", names.outcome);
  field("seconds", score.facts.seconds);
  field("parent_seconds", score.facts.parent_seconds);
  field("original_seconds", score.facts.original_seconds);
  field("step_is_no_op", score.facts.step_is_no_op);
  field("verdict", names.verdict);
  field("message", score.message);
  field("median", score.time.median_seconds);
  field("low", score.time.low_seconds);
  field("high", score.time.high_seconds);
  field("samples", score.time.samples);
  field("method", names.method);
  field("parent_median", score.parent_time.median_seconds);
  field("parent_low", score.parent_time.low_seconds);
  field("parent_high", score.parent_time.high_seconds);
  field("parent_samples", score.parent_time.samples);
  field("parent_method", names.parent_method);
  field("same_as_rewriter", score.same_as_rewriter);
  field("bottleneck", score.bottleneck);
  field("scoring_seconds", score.scoring_seconds);
}

Error item_error(const std::string& what) {
  return fail(ErrorCode::parse, "item: " + what);
}

}  // namespace

std::string item_text(const ScoreItem& item) {
  ItemJson json;
  json["id"] = item.id;
  json["state"] = item.state;
  json["completion"] = item.completion;
  json["cut_off"] = item.cut_off;
  return json_line(json);
}

Result<ScoreItem> item_of(const ItemJson& json) {
  if (!json.is_object()) return item_error("not an object");
  ScoreItem item;
  for (const auto& [key, value] : json.items()) {
    if (key == "cut_off") {
      if (!value.is_boolean()) return item_error("'cut_off' is not true or false");
      item.cut_off = value.get<bool>();
      continue;
    }
    const bool completion = key == "completion";
    std::string* const text = key == "id"      ? &item.id
                              : key == "state" ? &item.state
                              : completion     ? &item.completion
                                               : nullptr;
    if (text == nullptr) return item_error(fmt::format("unknown key '{}'", key.substr(0, 64)));
    if (!value.is_string()) return item_error(fmt::format("'{}' is not a text", key));
    const auto& content = value.get_ref<const std::string&>();
    const std::size_t limit = completion ? kLargestCompletion : kLargestName;
    if (content.size() > limit) {
      return item_error(
          fmt::format("'{}' has {} bytes where {} are the limit", key, content.size(), limit));
    }
    *text = content;
  }
  for (const char* key : {"id", "state", "completion"}) {
    if (!json.contains(key)) return item_error(fmt::format("no '{}'", key));
  }
  return item;
}

Result<ScoreItem> read_item(std::string_view line) {
  const Result<ItemJson> json = parse_json(line, kItemLimits);
  if (!json) return item_error(json.error().message);
  return item_of(*json);
}

ItemJson json_of(const Score& score) {
  const ScoreNames names = {name(score.facts.outcome), name(score.verdict), name(score.time.method),
                            name(score.parent_time.method)};
  ItemJson json;
  for_each_score_field(score, names, FieldWriter(json));
  return json;
}

Result<Score> score_of(const ItemJson& json) {
  if (!json.is_object()) return fail(ErrorCode::parse, "score: not an object");
  Score score;
  ScoreNames names;
  FieldReader reader(json);
  for_each_score_field(score, names, reader);
  const auto outcome = learn::read_answer_outcome(names.outcome);
  const auto verdict = read_verdict_name(names.verdict);
  const auto method = read_method_name(names.method);
  const auto parent_method = read_method_name(names.parent_method);
  if (!reader.whole() || !outcome || !verdict || !method || !parent_method)
    return fail(ErrorCode::parse, "score: a key that is missing, unknown or of another kind");
  score.facts.outcome = *outcome;
  score.verdict = *verdict;
  score.time.method = *method;
  score.parent_time.method = *parent_method;
  return score;
}

std::string score_text(const Score& score) {
  return json_line(json_of(score));
}

Result<Score> read_score(std::string_view line) {
  const Result<ItemJson> json = parse_json(line, kScoreLimits);
  if (!json) return fail(ErrorCode::parse, "score: " + json.error().message);
  return score_of(*json);
}

}  // namespace regraph::score
