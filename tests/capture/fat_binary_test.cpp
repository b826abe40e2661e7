#include "capture/fat_binary.h"

#include "capture/fat_binary_builder.h"

#include <gtest/gtest.h>

namespace regraph::capture::fat_binary_test {
namespace {

using test::container;
using test::Entry;
using test::entry_bytes;
using test::put;

Result<std::vector<DeviceImage>> read(const std::string& bytes) {
  return read_fat_binaries(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

const std::string kText = ".version 9.0\n.entry k()\n" + std::string(500, ' ') + "{ ret; }\n";

TEST(FatBinaryTest, PlainAndPackedImagesOfSeveralContainers) {
  const std::string first =
      container(entry_bytes({2, 80, "ELF, say", 0}) + entry_bytes({1, 90, kText + '\0', 0x8000}));
  const std::string second = container(entry_bytes({1, 100, kText, 0}));
  const auto images = read(first + second);
  ASSERT_TRUE(images.ok()) << images.error().message;
  ASSERT_EQ(images->size(), 3U);
  EXPECT_EQ((*images)[0].kind, DeviceImage::Kind::machine_code);
  EXPECT_EQ((*images)[0].architecture, 80);
  EXPECT_EQ((*images)[0].content, "ELF, say");
  EXPECT_EQ((*images)[1].kind, DeviceImage::Kind::ptx);
  EXPECT_EQ((*images)[1].content, kText);
  EXPECT_EQ((*images)[2].architecture, 100);
  EXPECT_EQ((*images)[2].content, kText);
}

TEST(FatBinaryTest, NothingAndOtherKindsAreNoImages) {
  ASSERT_TRUE(read("").ok());
  const auto images = read(container(entry_bytes({7, 90, "something", 0})));
  ASSERT_TRUE(images.ok());
  EXPECT_TRUE(images->empty());
}

TEST(FatBinaryTest, WhatCannotBeUnpackedIsSaid) {
  const auto packed_by_lz4 = read(container(entry_bytes({1, 90, kText, 0x2000})));
  ASSERT_TRUE(packed_by_lz4.ok());
  EXPECT_NE(packed_by_lz4->front().not_read.find("LZ4"), std::string::npos);

  std::string damaged = entry_bytes({1, 90, kText, 0x8000});
  damaged[70] = static_cast<char>(damaged[70] ^ 0x55);
  const auto torn = read(container(damaged));
  ASSERT_TRUE(torn.ok());
  EXPECT_EQ(torn->front().not_read, "it does not unpack");
  EXPECT_TRUE(torn->front().content.empty());

  // A size that would fill the memory.
  std::string large = entry_bytes({1, 90, kText, 0x8000});
  put(large, 56, std::uint64_t{1} << 60);
  const auto bomb = read(container(large));
  ASSERT_TRUE(bomb.ok());
  EXPECT_NE(bomb->front().not_read.find("1152921504606846976 bytes"), std::string::npos);
}

TEST(FatBinaryTest, CutAnywhereItIsAnErrorOrShorter) {
  const std::string whole =
      container(entry_bytes({1, 90, kText, 0x8000}) + entry_bytes({2, 90, "ELF, say", 0}));
  ASSERT_TRUE(read(whole).ok());
  for (std::size_t bytes = 16; bytes < whole.size(); ++bytes) {
    const auto images = read(whole.substr(0, bytes));
    ASSERT_FALSE(images.ok()) << bytes;
    EXPECT_EQ(images.error().code, ErrorCode::parse);
  }
  const auto foreign = read("this is something else altogether");
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().message, "device code, byte 0: no fat binary");
}

TEST(FatBinaryTest, SizesThatLieAreErrors) {
  std::string entry = entry_bytes({1, 90, kText, 0});
  put(entry, 8, ~std::uint64_t{0});
  EXPECT_FALSE(read(container(entry)).ok());
  put(entry, 8, std::uint64_t{8});
  put(entry, 4, std::uint32_t{0});
  EXPECT_FALSE(read(container(entry)).ok());
  std::string outer = container(entry_bytes({1, 90, kText, 0}));
  put(outer, 8, ~std::uint64_t{0});
  EXPECT_FALSE(read(outer).ok());
}

}  // namespace
}  // namespace regraph::capture::fat_binary_test
