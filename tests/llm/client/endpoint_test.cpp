#include "llm/client/endpoint.h"

#include <gtest/gtest.h>

namespace regraph::llm::endpoint_test {
namespace {

std::string url(const char* base) {
  const auto endpoint = parse_endpoint(base);
  return endpoint.ok() ? endpoint->chat_url : "error: " + endpoint.error().message;
}

TEST(Endpoint, AddsWhatIsMissing) {
  EXPECT_EQ(url("https://api.openai.com/v1"), "https://api.openai.com/v1/chat/completions");
  EXPECT_EQ(url("https://api.openai.com/v1/"), "https://api.openai.com/v1/chat/completions");
  EXPECT_EQ(url("https://api.openai.com"), "https://api.openai.com/v1/chat/completions");
  EXPECT_EQ(url("http://localhost:11434/"), "http://localhost:11434/v1/chat/completions");
  EXPECT_EQ(url("HTTP://LocalHost:8000"), "http://localhost:8000/v1/chat/completions");
  EXPECT_EQ(url("https://openrouter.ai/api/v1"), "https://openrouter.ai/api/v1/chat/completions");
  EXPECT_EQ(url("https://openrouter.ai/api"), "https://openrouter.ai/api/v1/chat/completions");
  EXPECT_EQ(url("http://h/v1/chat/completions/"), "http://h/v1/chat/completions");
  EXPECT_EQ(url("http://h/v1beta/openai"), "http://h/v1beta/openai/chat/completions");
  EXPECT_EQ(url("http://h/api/paas/v4"), "http://h/api/paas/v4/chat/completions");
}

TEST(Endpoint, KnowsHostPortAndScheme) {
  const auto six = parse_endpoint("https://[::1]:8443/v1");
  ASSERT_TRUE(six.ok()) << six.error().message;
  EXPECT_EQ(six->chat_url, "https://[::1]:8443/v1/chat/completions");
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, 8443);
  EXPECT_TRUE(six->tls);
  const auto four = parse_endpoint("http://127.0.0.1");
  ASSERT_TRUE(four.ok()) << four.error().message;
  EXPECT_EQ(four->port, 80);
  EXPECT_FALSE(four->tls);
}

TEST(Endpoint, RefusesWhatIsNoAddress) {
  for (const char* bad : {"",
                          "localhost:8000",
                          "ftp://h",
                          "file:///etc/passwd",
                          "http://",
                          "http:///v1",
                          "http://h:0",
                          "http://h:65536",
                          "http://h:",
                          "http://h:80x",
                          "http://h:-1",
                          "http://a b",
                          "http://h/v1?x=1",
                          "http://h/v1#x",
                          "http://h/a b",
                          "http://h/\n",
                          "http://[::1",
                          "http://[zz]",
                          "http://[::1]x",
                          "http://-h",
                          "http://h..i",
                          "http://h\r\nX: y",
                          "http://\xC3\xBC.de"}) {
    const auto endpoint = parse_endpoint(bad);
    ASSERT_FALSE(endpoint.ok()) << bad;
    EXPECT_EQ(endpoint.error().code, ErrorCode::invalid_argument) << bad;
  }
}

TEST(Endpoint, NeverRepeatsAPassword) {
  const auto endpoint = parse_endpoint("http://user:sesame@h/v1");
  ASSERT_FALSE(endpoint.ok());
  EXPECT_EQ(endpoint.error().message.find("sesame"), std::string::npos);
}

}  // namespace
}  // namespace regraph::llm::endpoint_test
