#include "llm/client/encode_request.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace regraph::llm::encode_request_test {
namespace {

using Json = nlohmann::json;

ChatRequest full_request() {
  ChatRequest request;
  request.model = "gpt";
  request.messages = {
      {Role::system, "Be brief."}, {Role::user, "x \"y\"\n"}, {Role::assistant, "z"}};
  request.temperature = 0.5;
  request.seed = -3;
  request.max_tokens = 100;
  request.choices = 4;
  request.json_schema = R"({"type": "object"})";
  return request;
}

Json encoded(const ChatRequest& request, const ServerDialect& dialect = {}) {
  const auto body = encode_request(request, dialect);
  EXPECT_TRUE(body.ok());
  return body.ok() ? Json::parse(*body) : Json();
}

TEST(EncodeRequest, SendsEverything) {
  const Json expected = Json::parse(R"({"model": "gpt", "messages": [
    {"role": "system", "content": "Be brief."}, {"role": "user", "content": "x \"y\"\n"},
    {"role": "assistant", "content": "z"}],
    "temperature": 0.5, "seed": -3, "max_tokens": 100, "n": 4, "stream": false,
    "response_format": {"type": "json_schema", "json_schema":
      {"name": "answer", "strict": true, "schema": {"type": "object"}}}})");
  EXPECT_EQ(encoded(full_request()), expected);
}

TEST(EncodeRequest, SendsOnlyWhatIsAsked) {
  ChatRequest request;
  request.model = "m";
  request.messages = {{Role::user, "hello"}};
  EXPECT_EQ(encoded(request), Json::parse(R"({"model": "m", "stream": false,
    "messages": [{"role": "user", "content": "hello"}]})"));
}

TEST(EncodeRequest, SpeaksTheDialect) {
  ServerDialect dialect;
  dialect.temperature = dialect.seed = dialect.several_choices = false;
  dialect.token_limit = TokenLimitField::max_completion_tokens;
  dialect.json_format = JsonFormat::json_object;
  const Json body = encoded(full_request(), dialect);
  for (const char* absent : {"temperature", "seed", "n", "max_tokens"})
    EXPECT_FALSE(body.contains(absent)) << absent;
  EXPECT_EQ(body["max_completion_tokens"], 100);
  EXPECT_EQ(body["response_format"], Json::parse(R"({"type": "json_object"})"));
  dialect.token_limit = TokenLimitField::none;
  dialect.json_format = JsonFormat::none;
  const Json bare = encoded(full_request(), dialect);
  EXPECT_FALSE(bare.contains("response_format"));
  EXPECT_FALSE(bare.contains("max_completion_tokens"));
}

TEST(EncodeRequest, MendsWhatIsNotUtf8) {
  ChatRequest request = full_request();
  request.messages = {{Role::user, "gr\xFC\xDF"}};
  EXPECT_EQ(encoded(request)["messages"][0]["content"], "gr\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(EncodeRequest, RefusesWhatCannotBeAsked) {
  const auto refused = [](auto change) {
    ChatRequest request = full_request();
    change(request);
    const auto body = encode_request(request, {});
    return !body.ok() && body.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused([](ChatRequest& r) { r.messages.clear(); }));
  EXPECT_TRUE(
      refused([](ChatRequest& r) { r.temperature = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(refused([](ChatRequest& r) { r.max_tokens = -1; }));
  EXPECT_TRUE(refused([](ChatRequest& r) { r.choices = 0; }));
  EXPECT_TRUE(refused([](ChatRequest& r) { r.json_schema = "{"; }));
  EXPECT_TRUE(refused([](ChatRequest& r) { r.json_schema = "[]"; }));
}

}  // namespace
}  // namespace regraph::llm::encode_request_test
