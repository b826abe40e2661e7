#include "llm/client/curl_library.h"

#include "llm/client/chat_client.h"

#include <gtest/gtest.h>

namespace regraph::llm::curl_library_test {
namespace {

TEST(CurlLibrary, IsLoaded) {
  const auto candidates = curl_candidates();
  const auto api = load_curl(candidates);
  EXPECT_TRUE(api.ok()) << api.error().message;
}

TEST(CurlLibrary, IsNamedWithItsPackageWhereItIsMissing) {
  const std::vector<std::filesystem::path> none = {"libcurl-that-is-not-there.so.4"};
  const auto api = load_curl(none);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, ErrorCode::not_found);
  EXPECT_NE(api.error().message.find("libcurl4"), std::string::npos);
  EXPECT_NE(api.error().message.find(none[0].string()), std::string::npos);
  ChatClientOptions options;
  options.base_url = "http://127.0.0.1";
  options.curl = none;
  const auto client = ChatClient::create(options);
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().code, ErrorCode::not_found);
}

TEST(CurlLibrary, IsRefusedWhereItIsSomethingElse) {
  const std::vector<std::filesystem::path> other = {"libz.so.1"};
  const auto api = load_curl(other);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, ErrorCode::unsupported);
  EXPECT_NE(api.error().message.find("curl_global_init"), std::string::npos);
}

}  // namespace
}  // namespace regraph::llm::curl_library_test
