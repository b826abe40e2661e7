#include "fleet/nats/nats_library.h"

#include "fleet/nats/nats_api.h"

#include <gtest/gtest.h>

namespace regraph::fleet::nats_library_test {
namespace {

TEST(NatsLibrary, IsLoadedWhereItIsInstalled) {
  const auto candidates = nats_candidates();
  const auto api = load_nats(candidates);
  if (!api) GTEST_SKIP() << "needs libnats (Debian: apt-get install libnats-dev)";
  EXPECT_GE((*api)->get_version_number(), 0x030400U);
  EXPECT_EQ((*api)->version, (*api)->get_version());
}

TEST(NatsLibrary, AbsentOneIsNamedWithItsPackage) {
  const std::vector<std::filesystem::path> candidates = {"libnats.so.none", "/nowhere/libnats.so"};
  const auto api = load_nats(candidates);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, ErrorCode::not_found);
  EXPECT_NE(api.error().message.find("libnats.so.none"), std::string::npos);
  EXPECT_NE(api.error().message.find("libnats3.4"), std::string::npos);
}

TEST(NatsLibrary, AnotherLibraryUnderTheNameIsRefused) {
  const std::vector<std::filesystem::path> candidates = {"libc.so.6"};
  const auto api = load_nats(candidates);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, ErrorCode::unsupported);
  EXPECT_NE(api.error().message.find("nats_GetVersion"), std::string::npos);
}

}  // namespace
}  // namespace regraph::fleet::nats_library_test
