#include "fleet/nats/packing.h"

#include <gtest/gtest.h>

#include <random>
#include <zstd.h>

namespace regraph::fleet::packing_test {
namespace {

TEST(Packing, WhatIsPackedComesOutAgain) {
  std::mt19937 random(1);
  std::string noise(100000, '\0');
  for (char& byte : noise)
    byte = static_cast<char>(random());
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(1 << 20, 'a'),
                                   noise, std::string(200000, 'b') + noise}) {
    const std::string packed = pack(bytes);
    EXPECT_LE(packed.size(), bytes.size() + 1);
    const auto unpacked = unpack(packed, bytes.size());
    ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
    EXPECT_TRUE(*unpacked == bytes);
    if (bytes.empty()) continue;
    EXPECT_EQ(unpack(packed, bytes.size() - 1).error().code, ErrorCode::parse);
  }
  EXPECT_LT(pack(std::string(1 << 20, 'a')).size(), 1000U);
}

TEST(Packing, WhatIsNoPackingIsRefused) {
  const std::string packed = pack(std::string(1000, 'a'));
  for (const std::string& bytes :
       {std::string(), std::string("q"), std::string("z"), std::string("zzzz"), packed + "x",
        packed.substr(0, packed.size() - 1), packed.substr(0, 3), packed + packed.substr(1)})
    EXPECT_EQ(unpack(bytes, kLargestText).error().code, ErrorCode::parse);
}

TEST(Packing, ClaimsOfHugeFramesCostNothing) {
  // 80 MiB in a few kilobytes; more than is allowed never comes out.
  const std::string bomb = pack(std::string(std::size_t{80} << 20, '\0'));
  EXPECT_LT(bomb.size(), std::size_t{16} << 10);
  EXPECT_EQ(unpack(bomb, kLargestText).error().code, ErrorCode::parse);
  // A frame that wants a window of a gibibyte.
  const std::string window("z\x28\xb5\x2f\xfd\x00\xa0", 7);
  EXPECT_EQ(unpack(window + std::string(100, '\0'), kLargestText).error().code, ErrorCode::parse);
  // One that says it holds 2^62 bytes.
  const std::string size("z\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x00\x00\x40", 14);
  EXPECT_EQ(unpack(size + std::string(100, '\0'), kLargestText).error().code, ErrorCode::parse);
}

TEST(Packing, DamagedBytesDoNoHarm) {
  std::mt19937 random(7);
  const std::string good =
      pack(std::string(5000, 'a') + "and something else" + std::string(900, 'b'));
  for (int round = 0; round < 10000; ++round) {
    std::string bytes = good;
    if (round % 3 == 0) {
      bytes.assign(random() % 200, '\0');
      for (char& byte : bytes)
        byte = static_cast<char>(random());
      if (!bytes.empty() && round % 2 == 0) bytes[0] = 'z';
      // The magic number of zstd, so that more is read than that.
      if (bytes.size() > 5 && round % 4 == 0) bytes.replace(1, 4, "\x28\xb5\x2f\xfd");
    } else {
      const std::size_t changes = 1 + random() % 8;
      for (std::size_t change = 0; change < changes; ++change)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      if (round % 5 == 0) bytes.resize(random() % bytes.size());
    }
    const auto unpacked = unpack(bytes, 100000);
    ASSERT_LE(unpacked ? unpacked->size() : 0, 100000U);
  }
}

}  // namespace
}  // namespace regraph::fleet::packing_test
