#include "report/page/payload.h"

#include "kernel/facts.h"
#include "regraph/expander.h"
#include "report/page/source_deltas.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace regraph {
namespace {

using Json = nlohmann::ordered_json;

// The state that "combine(by=model, with=17)" names; nothing for other steps.
std::optional<std::int64_t> combined_state(std::string_view step) {
  constexpr std::string_view kName = "with=";
  const std::size_t begin = step.find(kName);
  if (!step.starts_with(kCombine) || begin == std::string_view::npos) return std::nullopt;
  std::int64_t state = 0;
  const std::string_view text = step.substr(begin + kName.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), state);
  return error == std::errc() ? std::optional(state) : std::nullopt;
}

// Every text once; what refers to it has its place.
class Texts {
 public:
  std::size_t place_of(const std::string& text) {
    const auto [place, is_new] = places_.emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> texts_;
};

// Ours is a few levels deep; what is deeper than a page could show is not.
Result<Json> result_of(const std::string& text) {
  if (text.empty()) return Json();
  constexpr int kDeepest = 16;
  bool deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kDeepest;
    return depth <= kDeepest;
  };
  Json result = Json::parse(text, shallow, false);
  const bool ours = result.is_object() && result.contains("schema") &&
                    result["schema"].is_string() &&
                    result["schema"].get<std::string>().starts_with("regraph-result/");
  if (!ours || deep) return fail(ErrorCode::parse, "result.json is no result of regraph-search");
  return result;
}

Json facts_json() {
  Json facts = Json::object();
  for (const FactDescription& fact : kFactDescriptions)
    facts[std::string(fact.name)] = {std::string(fact.unit), std::string(fact.meaning)};
  return facts;
}

Json hunks_json(const std::vector<SourceHunk>& hunks) {
  Json json = Json::array();
  for (const SourceHunk& hunk : hunks)
    json.push_back({hunk.at, hunk.removed, hunk.inserted});
  return json;
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// The states and what belongs to them.
class StatePayload {
 public:
  explicit StatePayload(const RunFiles& files) : files_(files) {
    for (std::size_t index = 0; index < files.states.size(); ++index) {
      places_.emplace(files.states[index].id, index);
      if (!files.states[index].identity.empty())
        by_identity_.emplace(files.states[index].identity, files.states[index].id);
    }
  }

  void write(Json& json) {
    json["columns"] = {"id",          "parent",    "step",   "verdict", "message",    "seconds",
                       "low",         "high",      "method", "samples", "bottleneck", "launch",
                       "assumptions", "registers", "spill",  "shared",  "source"};
    json["states"] = Json::array();
    for (std::size_t index = 0; index < files_.states.size(); ++index)
      json["states"].push_back(state_json(index));
    json["refused"] = Json::array();
    json["known"] = Json::array();
    for (const PageAttempt& attempt : files_.attempts)
      add(attempt, json);
    json["texts"] = texts_.all();
    json["lines"] = lines_.lines();
  }

 private:
  // Where the parent's source stands; the empty text before the original's.
  [[nodiscard]] std::string_view source_before(std::size_t index) const {
    const auto& parent = files_.states[index].parent;
    const auto place = parent ? places_.find(*parent) : places_.end();
    // A parent is evaluated before its children; in a damaged order each source stands alone.
    return place != places_.end() && place->second < index
               ? std::string_view(files_.sources[place->second])
               : std::string_view();
  }

  Json state_json(std::size_t index) {
    const PageState& state = files_.states[index];
    const auto text = [&](const std::string& one) { return texts_.place_of(one); };
    return {state.id,
            or_null(state.parent),
            text(state.step),
            text(state.verdict),
            text(state.message),
            or_null(state.seconds),
            or_null(state.low_seconds),
            or_null(state.high_seconds),
            text(state.method),
            state.samples,
            text(state.bottleneck),
            text(state.launch),
            text(state.assumptions),
            state.registers_per_thread,
            state.spill_bytes,
            state.shared_bytes,
            hunks_json(lines_.change(source_before(index), files_.sources[index]))};
  }

  // Of the steps applied, those that made no state of their own.
  void add(const PageAttempt& attempt, Json& json) {
    if (!attempt.refusal.empty()) {
      json["refused"].push_back(
          {attempt.parent, texts_.place_of(attempt.step), texts_.place_of(attempt.refusal)});
      return;
    }
    const auto known = by_identity_.find(attempt.identity);
    if (known == by_identity_.end()) return;
    const PageState& child = files_.states[places_.at(known->second)];
    if (child.parent == attempt.parent && child.step == attempt.step) {
      // Two states were put together: the second leads here as well.
      const std::optional<std::int64_t> other = combined_state(attempt.step);
      if (!other || !places_.contains(*other)) return;
      json["known"].push_back({*other, texts_.place_of(attempt.step), child.id});
      return;
    }
    json["known"].push_back({attempt.parent, texts_.place_of(attempt.step), child.id});
  }

  const RunFiles& files_;
  std::map<std::int64_t, std::size_t> places_;
  std::map<std::string, std::int64_t> by_identity_;
  Texts texts_;
  SourceLines lines_;
};

}  // namespace

Result<std::string> page_payload(const RunFiles& files) {
  Result<Json> result = result_of(files.result);
  if (!result) return result.error();
  Json json;
  json["result"] = std::move(*result);
  json["run"] = {{"version", files.tool_version},  {"kernel", files.kernel},
                 {"source", files.source_path},    {"device", files.device},
                 {"stopped", files.stopped},       {"captured", files.captured},
                 {"database", files.has_database}, {"left_out", files.states_left_out}};
  json["facts"] = facts_json();
  json["best"] = files.best;
  StatePayload(files).write(json);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace regraph
