#include "base/field_json.h"

#include <gtest/gtest.h>

namespace regraph::field_json_test {
namespace {

using Json = nlohmann::ordered_json;

struct Settings {
  std::string name = "a";
  bool loud = true;
  int count = 3;
  std::int64_t tokens = std::int64_t{1} << 40;
  std::uint64_t seed = ~std::uint64_t{0};
  double share = 0.25;
  std::optional<double> limit;
  bool operator==(const Settings&) const = default;
};

template <typename Config, typename Field>
void for_each_field(Config& config, Field&& field) {
  field("name", config.name);
  field("loud", config.loud);
  field("count", config.count);
  field("tokens", config.tokens);
  field("seed", config.seed);
  field("share", config.share);
  field("limit", config.limit);
}

std::optional<Settings> read(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  Settings settings;
  FieldReader reader(json);
  for_each_field(settings, reader);
  return reader.whole() ? std::optional(settings) : std::nullopt;
}

std::string write(const Settings& settings) {
  Json json;
  for_each_field(settings, FieldWriter(json));
  return json.dump();
}

TEST(FieldJson, WhatIsWrittenIsReadBack) {
  Settings settings;
  EXPECT_EQ(read(write(settings)), settings);
  settings = {"", false, 0, 0, 0, -1.5, 7.0};
  EXPECT_EQ(read(write(settings)), settings);
}

TEST(FieldJson, AnythingElseIsRefused) {
  const std::string whole = write({});
  ASSERT_TRUE(read(whole));
  const auto with = [&](const char* key, const Json& value) {
    Json json = Json::parse(whole);
    json[key] = value;
    return read(json.dump());
  };
  EXPECT_FALSE(with("name", 1));
  EXPECT_FALSE(with("loud", 1));
  EXPECT_FALSE(with("count", -1));
  EXPECT_FALSE(with("count", 1.5));
  EXPECT_FALSE(with("count", std::int64_t{1} << 31));
  EXPECT_FALSE(with("tokens", ~std::uint64_t{0}));
  EXPECT_FALSE(with("share", "0.5"));
  EXPECT_FALSE(with("limit", "none"));
  EXPECT_FALSE(with("further", 1));
  EXPECT_TRUE(with("limit", 2));
  EXPECT_FALSE(read("{}"));
}

}  // namespace
}  // namespace regraph::field_json_test
