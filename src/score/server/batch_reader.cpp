#include "score/server/batch_reader.h"

#include "base/json_text.h"
#include "score/item_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace regraph::score {
namespace {

using BatchJson = nlohmann::ordered_json;

constexpr JsonLimits kBatchLimits = {RewardService::kLargestBody, 4};
constexpr int kBadRequest = 400;
constexpr int kTooLarge = 413;

Refusal bad_request(std::string message) {
  return {kBadRequest, std::move(message)};
}

Refusal too_many(std::size_t count) {
  return {kTooLarge,
          fmt::format("{} items where {} are the limit", count, RewardService::kMostItems)};
}

// An object with no other keys than these.
Result<BatchJson, Refusal> read_object(std::string_view body,
                                       std::initializer_list<std::string_view> keys) {
  Result<BatchJson> json = parse_json(body, kBatchLimits);
  if (!json) {
    const bool large = body.size() > kBatchLimits.bytes;
    return Refusal{large ? kTooLarge : kBadRequest, "body: " + json.error().message};
  }
  if (!json->is_object()) return bad_request("body: not an object");
  for (const auto& [key, value] : json->items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      return bad_request(
          fmt::format("unknown key '{}'; there are {}", key.substr(0, 64), fmt::join(keys, ", ")));
    }
  }
  return *std::move(json);
}

Result<learn::RewardKind, Refusal> reward_kind_of(const BatchJson& json) {
  const auto found = json.find("reward");
  if (found == json.end()) return learn::RewardKind::regraph;
  if (!found->is_string()) return bad_request("'reward' is not a text");
  const auto& text = found->get_ref<const std::string&>();
  if (const auto kind = learn::read_reward_kind(text)) return *kind;
  return bad_request(fmt::format("unknown reward '{}'; there are {}", text.substr(0, 64),
                                 fmt::join(learn::reward_names(), ", ")));
}

// The answer in a query that begins with the prompt, but for special tokens around it.
Result<std::string, Refusal> answer_in(const std::string& query, const std::string& prompt,
                                       std::size_t index) {
  const std::size_t at = query.find(prompt);
  if (at == std::string::npos)
    return bad_request(fmt::format("query {} does not hold its prompt", index));
  return query.substr(at + prompt.size());
}

}  // namespace

Result<BatchRequest, Refusal> read_batch(std::string_view body) {
  const Result<BatchJson, Refusal> json = read_object(body, {"reward", "items"});
  if (!json) return json.error();
  const Result<learn::RewardKind, Refusal> kind = reward_kind_of(*json);
  if (!kind) return kind.error();
  const auto items = json->find("items");
  if (items == json->end() || !items->is_array()) return bad_request("no list 'items'");
  if (items->size() > RewardService::kMostItems) return too_many(items->size());
  BatchRequest request{*kind, {}};
  for (const BatchJson& one : *items) {
    Result<ScoreItem> item = item_of(one);
    if (!item)
      return bad_request(fmt::format("items[{}]: {}", request.items.size(), item.error().message));
    request.items.push_back(*std::move(item));
  }
  return request;
}

Result<BatchRequest, Refusal> read_queries(std::string_view body) {
  const Result<BatchJson, Refusal> json =
      read_object(body, {"query", "prompts", "labels", "reward"});
  if (!json) return json.error();
  const Result<learn::RewardKind, Refusal> kind = reward_kind_of(*json);
  if (!kind) return kind.error();
  std::array<const BatchJson*, 3> lists{};
  for (std::size_t i = 0; const char* key : {"query", "prompts", "labels"}) {
    const auto found = json->find(key);
    if (found == json->end() || !found->is_array() ||
        !std::ranges::all_of(*found, [](const BatchJson& text) { return text.is_string(); }))
      return bad_request(fmt::format("no list of texts '{}'", key));
    lists[i++] = &*found;
  }
  const std::size_t count = lists[0]->size();
  if (lists[1]->size() != count || lists[2]->size() != count)
    return bad_request("'query', 'prompts' and 'labels' differ in length");
  if (count > RewardService::kMostItems) return too_many(count);
  BatchRequest request{*kind, {}};
  for (std::size_t i = 0; i < count; ++i) {
    Result<std::string, Refusal> answer =
        answer_in((*lists[0])[i].get_ref<const std::string&>(),
                  (*lists[1])[i].get_ref<const std::string&>(), i);
    if (!answer) return answer.error();
    if (answer->size() > kLargestCompletion)
      return bad_request(fmt::format("the answer in query {} has {} bytes where {} are the limit",
                                     i, answer->size(), kLargestCompletion));
    request.items.push_back(
        {std::to_string(i), (*lists[2])[i].get<std::string>(), *std::move(answer), false});
  }
  return request;
}

}  // namespace regraph::score
