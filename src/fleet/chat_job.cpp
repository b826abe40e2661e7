#include "fleet/chat_job.h"

#include "base/hash.h"
#include "base/json_text.h"
#include "fleet/lanes.h"
#include "llm/record/chat_text.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <random>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr JsonLimits kChatText = {std::size_t{16} << 20, 8};
constexpr std::size_t kLongestName = 200;  // bytes, of an occasion, a model, a worker
constexpr std::size_t kMostMessages = 1000;
constexpr int kMostChoices = 64;
constexpr int kMostSamples = 1'000'000;
constexpr int kMostAttempts = 1'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000'000;
constexpr double kLongestAnswer = 1e7;  // seconds

Error chat_damage(const char* what) {
  return fail(ErrorCode::parse, std::string(what) + " that cannot be read");
}

// Null where there is none.
const nlohmann::json* member(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

std::optional<std::string> short_text(const nlohmann::json& json, const char* key) {
  const nlohmann::json* const value = member(json, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const auto& text = value->get_ref<const std::string&>();
  return text.size() <= kLongestName ? std::optional(text) : std::nullopt;
}

bool is_sane(const llm::TokenUsage& usage) {
  const auto fits = [](std::int64_t tokens) { return tokens <= kMostTokens; };
  return fits(usage.prompt_tokens) && fits(usage.cached_tokens) && fits(usage.completion_tokens) &&
         fits(usage.reasoning_tokens);
}

bool is_sane(const llm::ChatAnswer& answer) {
  return answer.choices.size() <= static_cast<std::size_t>(kMostChoices) &&
         answer.attempts <= kMostAttempts && answer.seconds <= kLongestAnswer &&
         is_sane(answer.usage);
}

// Whether it is somebody else's to say: who asks knows of themselves that they have stopped.
bool may_say(llm::ChatFailure failure) {
  return failure != llm::ChatFailure::cancelled && failure != llm::ChatFailure::not_recorded;
}

bool is_sane(const llm::ChatError& error) {
  return may_say(error.failure) && error.attempts <= kMostAttempts && is_sane(error.usage);
}

bool is_sane(const llm::ChatRequest& request) {
  return !request.model.empty() && request.model.size() <= kLongestName &&
         !request.messages.empty() && request.messages.size() <= kMostMessages &&
         request.choices >= 1 && request.choices <= kMostChoices;
}

// As an object of `members` members.
Result<nlohmann::json> read_object(std::string_view text, std::size_t members, const char* what) {
  auto json = parse_json(text, kChatText);
  if (!json) return std::move(json).error();
  if (!json->is_object() || json->size() != members) return chat_damage(what);
  return nlohmann::json(*json);
}

}  // namespace

Job job_of(const ChatJob& chat) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["occasion"] = chat.occasion;
  json["sample"] = chat.sample;
  json["request"] = llm::request_json(chat.request);
  Job job;
  job.lane = model_lane(chat.request.model);
  job.payload = json_line(json);
  job.id = Hasher().add(job.lane).add(job.payload).finish();
  return job;
}

// What was read must say all that is there: nothing is passed over in silence.
Result<ChatJob> read_chat_job(std::string_view payload) {
  constexpr const char* kWhat = "a question";
  const auto json = read_object(payload, 3, kWhat);
  if (!json) return json.error();
  ChatJob job;
  const auto occasion = short_text(*json, "occasion");
  const nlohmann::json* const sample = member(*json, "sample");
  const nlohmann::json* const asked = member(*json, "request");
  if (!occasion || sample == nullptr || asked == nullptr) return chat_damage(kWhat);
  if (!sample->is_number_unsigned() ||
      sample->get<std::uint64_t>() > static_cast<std::uint64_t>(kMostSamples))
    return chat_damage(kWhat);
  auto request = llm::read_request(*asked);
  if (!request || llm::request_json(*request) != *asked || !is_sane(*request))
    return chat_damage(kWhat);
  return ChatJob{*occasion, sample->get<int>(), *std::move(request)};
}

std::string new_occasion() {
  std::random_device random;
  const auto draw = [&random] {
    return static_cast<std::uint64_t>(random()) << 32 | static_cast<std::uint64_t>(random());
  };
  return Hash128{draw(), draw()}.hex();
}

std::string reply_text(const ChatReply& reply) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["worker"] = reply.worker;
  if (reply.result) {
    json["answer"] = llm::answer_json(*reply.result);
  } else {
    json["error"] = llm::error_json(reply.result.error());
  }
  return json_line(json);
}

Result<ChatReply> read_reply(std::string_view text) {
  constexpr const char* kWhat = "an answer";
  const auto json = read_object(text, 2, kWhat);
  if (!json) return json.error();
  auto worker = short_text(*json, "worker");
  if (!worker) return chat_damage(kWhat);
  if (const nlohmann::json* const said = member(*json, "answer")) {
    auto answer = llm::read_answer(*said);
    if (!answer || llm::answer_json(*answer) != *said || !is_sane(*answer))
      return chat_damage(kWhat);
    return ChatReply{*std::move(answer), *std::move(worker)};
  }
  const nlohmann::json* const said = member(*json, "error");
  if (said == nullptr) return chat_damage(kWhat);
  auto error = llm::read_error(*said);
  if (!error || llm::error_json(*error) != *said || !is_sane(*error)) return chat_damage(kWhat);
  return ChatReply{*std::move(error), *std::move(worker)};
}

}  // namespace regraph::fleet
