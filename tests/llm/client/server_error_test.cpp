#include "llm/client/server_error.h"

#include <gtest/gtest.h>

namespace regraph::llm::server_error_test {
namespace {

TEST(ServerError, ReadsOpenAi) {
  const ServerError error = read_server_error(std::string_view(
      R"({"error": {"message": "Incorrect API key", "type": "invalid_request_error",
                    "param": null, "code": "invalid_api_key"}})"));
  EXPECT_EQ(error.message, "Incorrect API key");
  EXPECT_EQ(error.type, "invalid_request_error");
  EXPECT_EQ(error.code, "invalid_api_key");
  EXPECT_EQ(error.parameter, "");
  EXPECT_EQ(error.status, 0);
}

TEST(ServerError, ReadsTheOthers) {
  const ServerError vllm = read_server_error(std::string_view(
      R"({"object": "error", "message": "too long", "type": "BadRequestError", "code": 400})"));
  EXPECT_EQ(vllm.message, "too long");
  EXPECT_EQ(vllm.status, 400);
  EXPECT_EQ(read_server_error(std::string_view(R"({"error": "model not found"})")).message,
            "model not found");
  const ServerError openrouter = read_server_error(std::string_view(
      R"({"error": {"code": 502, "message": "Provider returned error",
                    "metadata": {"raw": "upstream died", "provider_name": "X"}}})"));
  EXPECT_EQ(openrouter.message, "Provider returned error: upstream died");
  EXPECT_EQ(openrouter.status, 502);
  const ServerError fastapi = read_server_error(std::string_view(
      R"({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})"));
  EXPECT_EQ(fastapi.message, "seed: Extra inputs are not permitted");
  EXPECT_EQ(fastapi.parameter, "seed");
  EXPECT_EQ(read_server_error(std::string_view(R"({"detail": "Not Found"})")).message, "Not Found");
}

TEST(ServerError, TakesAnythingElseAsItIs) {
  for (const char* text : {"", "<html>Bad Gateway</html>", "[1, 2]", "12", "{\"a\""})
    EXPECT_EQ(read_server_error(std::string_view(text)).message, text);
  EXPECT_EQ(read_server_error(std::string_view("{}")).message, "{}");
  EXPECT_EQ(read_server_error(std::string_view(R"({"error": {"code": 1e300}})")).status, 0);
}

std::optional<RequestParameter> refused(const char* body, int status = 400) {
  return refused_parameter(status, read_server_error(std::string_view(body)));
}

TEST(RefusedParameter, IsFoundByName) {
  // Of reasoning models.
  EXPECT_EQ(
      refused(R"({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with
    this model. Use 'max_completion_tokens' instead.", "param": "max_tokens",
    "code": "unsupported_parameter"}})"),
      RequestParameter::max_tokens);
  EXPECT_EQ(
      refused(R"({"error": {"message": "Unsupported value: 'temperature' does not support 0.2 with
    this model. Only the default (1) value is supported.", "param": "temperature",
    "code": "unsupported_value"}})"),
      RequestParameter::temperature);
  EXPECT_EQ(
      refused(R"({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported. Use
 'max_completion_tokens' instead."}})"),
      RequestParameter::max_tokens);
  EXPECT_EQ(
      refused(
          R"({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})"),
      RequestParameter::seed);
  EXPECT_EQ(refused(R"({"error": {"message": "This response_format type is unavailable now"}})"),
            RequestParameter::response_format);
  EXPECT_EQ(
      refused(R"({"error": {"message": "Only one completion choice is allowed", "code": 400}})"),
      RequestParameter::n);
  EXPECT_EQ(refused(R"({"error": {"message": "parameter 'n' is not supported"}})"),
            RequestParameter::n);
  EXPECT_EQ(refused(R"({"error": {"message": "Invalid", "param": "response_format.json_schema",
    "code": "unsupported_parameter"}})"),
            RequestParameter::response_format);
}

TEST(RefusedParameter, IsFoundBehindAnInternalErrorIfItIsClear) {
  // As llama-cpp-python 0.3.36 says it.
  const char* const literal =
      R"({"error": {"message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body',
    'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}", "type":
    "internal_server_error", "param": null, "code": null}})";
  EXPECT_EQ(refused(literal, 500), RequestParameter::response_format);
  EXPECT_FALSE(refused(literal, 503));
  const char* const crash = R"({"error": {"message": "unexpected error; seed 3"}})";
  EXPECT_FALSE(refused(crash, 500));
  EXPECT_EQ(refused(crash, 400), RequestParameter::seed);
}

TEST(RefusedParameter, IsNotAValueOutOfRange) {
  EXPECT_FALSE(refused(
      R"({"error": {"message": "'max_tokens' is too large: 100000", "param": "max_tokens"}})"));
  EXPECT_FALSE(refused(R"({"error": {"message": "temperature must be between 0 and 2"}})"));
  EXPECT_FALSE(
      refused(R"({"error": {"message": "content type not supported", "param": "messages"}})"));
  EXPECT_FALSE(refused(R"({"error": {"message": "unknown error in seeding"}})"));
  EXPECT_FALSE(refused("<html>"));
}

TEST(ServerError, KnowsAnUnknownModelAndAnEmptyAccount) {
  const auto error = [](const char* body) { return read_server_error(std::string_view(body)); };
  EXPECT_TRUE(
      says_unknown_model(error(R"({"error": {"message": "The model `x` does not exist"}})")));
  EXPECT_TRUE(
      says_unknown_model(error(R"({"error": "model 'x' not found, try pulling it first"})")));
  EXPECT_TRUE(says_unknown_model(error(R"({"error": {"message": "Model Not Exist"}})")));
  EXPECT_FALSE(says_unknown_model(
      error(R"({"error": {"message": "This model's maximum context length"}})")));
  EXPECT_TRUE(says_out_of_credit(
      error(R"({"error": {"message": "quota", "code": "insufficient_quota"}})")));
  EXPECT_TRUE(says_out_of_credit(error(R"({"error": {"message": "Insufficient Balance"}})")));
  EXPECT_FALSE(says_out_of_credit(error(R"({"error": {"message": "Rate limit reached"}})")));
}

}  // namespace
}  // namespace regraph::llm::server_error_test
