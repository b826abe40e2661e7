#include "eval/gpu/protocol/messages.h"

#include "base/random.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::gpu::messages_test {
namespace {

TimeRequest some_request() {
  TimeRequest request;
  LaunchMessage launch;
  launch.module = 3;
  launch.grid = {5, 6, 7};
  launch.parameters = {0, 255, 128};
  request.plans.push_back({{launch}, {{1, 2}}, {9}});
  request.samples = {0, 0};
  request.poison_seed = ~std::uint64_t{0};
  return request;
}

TEST(Messages, ComeBackAsTheyWere) {
  const std::string bytes = encode("time", some_request());
  const auto message = Message::decode(bytes);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->operation(), "time");
  const auto back = message->fields<TimeRequest>();
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(encode("time", *back), bytes);
  EXPECT_EQ(back->plans[0].launches[0].parameters, (std::vector<std::uint8_t>{0, 255, 128}));
  EXPECT_EQ(back->poison_seed, ~std::uint64_t{0});
}

TEST(Messages, FieldsThatAreMissingOrWrongAreErrors) {
  const auto message = Message::decode(encode("open", ProbeRequest{}));
  ASSERT_TRUE(message.ok());
  EXPECT_FALSE(message->fields<OpenRequest>().ok());
  std::string wrong;
  nlohmann::json::to_cbor({{"op", "probe"}, {"device", "first"}}, wrong);
  EXPECT_FALSE(Message::decode(wrong)->fields<ProbeRequest>().ok());
  EXPECT_FALSE(Message::decode("").ok());
  EXPECT_FALSE(Message::decode("\x01").ok());
}

TEST(Messages, GarbageIsSurvived) {
  const std::string good = encode("time", some_request());
  int accepted = 0;
  for (std::uint64_t round = 0; round < 20000; ++round) {
    std::string bytes = good;
    const std::uint64_t changes = 1 + random_bits(1, round) % 4;
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::uint64_t draw = random_bits(2, round, i);
      bytes[draw % bytes.size()] = static_cast<char>(draw >> 32);
    }
    bytes.resize(bytes.size() - random_bits(3, round) % 8);
    const auto message = Message::decode(bytes);
    if (message.ok() && message->fields<TimeRequest>().ok()) ++accepted;
  }
  EXPECT_LT(accepted, 20000);
}

}  // namespace
}  // namespace regraph::gpu::messages_test
