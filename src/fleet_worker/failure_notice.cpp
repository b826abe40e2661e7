#include "fleet_worker/failure_notice.h"

#include "base/json_text.h"

namespace regraph::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits kNotice = {std::size_t{64} << 10, 3};
constexpr std::size_t kLongestTry = 4096;  // bytes

}  // namespace

std::string failure_text(const FailureNotice& failure) {
  Json json = Json::object();
  json["lane"] = failure.lane;
  json["tries"] = Json::array();
  for (const std::string& one : failure.tries)
    json["tries"].push_back(one.substr(0, kLongestTry));
  json["given_up"] = failure.given_up;
  return json_line(json);
}

Result<FailureNotice> read_failure(std::string_view text) {
  auto json = parse_json(text, kNotice);
  if (!json) return std::move(json).error();
  const Error odd = fail(ErrorCode::parse, "no notice of a failure");
  if (!json->is_object() || !json->contains("lane") || !json->contains("tries") ||
      !json->contains("given_up"))
    return odd;
  const Json& tries = (*json)["tries"];
  if (!(*json)["lane"].is_string() || !tries.is_array() || !(*json)["given_up"].is_boolean() ||
      tries.size() > static_cast<std::size_t>(kMostTries))
    return odd;
  FailureNotice failure;
  failure.lane = (*json)["lane"].get<std::string>();
  failure.given_up = (*json)["given_up"].get<bool>();
  for (const Json& one : tries) {
    if (!one.is_string()) return odd;
    failure.tries.push_back(one.get<std::string>());
  }
  return failure;
}

}  // namespace regraph::fleet
