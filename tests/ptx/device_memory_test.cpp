#include "ptx/device_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace regraph::ptx::device_memory_test {
namespace {

std::vector<std::uint64_t> begins(const DeviceMemory& memory) {
  std::vector<std::uint64_t> all;
  for (const DeviceMemory::Region& region : memory.regions())
    all.push_back(region.begin);
  return all;
}

TEST(DeviceMemoryTest, AdoptedBuffersAreFoundByAddressAndGoAgain) {
  DeviceMemory memory;
  std::vector<std::byte> first(100);
  std::vector<std::byte> second(64);
  ASSERT_TRUE(memory.adopt("second", 0x9000, second).ok());
  ASSERT_TRUE(memory.adopt("first", 0x1000, first).ok());
  EXPECT_EQ(begins(memory), (std::vector<std::uint64_t>{0x1000, 0x9000}));
  EXPECT_EQ(memory.view(0x1000).data(), first.data());
  EXPECT_EQ(memory.view(0x9000).size(), 64U);

  EXPECT_TRUE(memory.release(0x1000));
  EXPECT_FALSE(memory.release(0x1000));
  EXPECT_EQ(begins(memory), (std::vector<std::uint64_t>{0x9000}));
  ASSERT_TRUE(memory.adopt("again", 0x1000, first).ok());
}

TEST(DeviceMemoryTest, APlacementDecidesWhereBuffersBegin) {
  const auto first = [](std::uint64_t placement) {
    DeviceMemory memory(placement);
    const auto address = memory.allocate("buffer", 100, BufferAccess::read_write);
    EXPECT_TRUE(address.ok());
    EXPECT_EQ(memory.twin()->regions().front().begin, *address);
    return *address;
  };
  EXPECT_EQ(first(7), first(7));
  EXPECT_NE(first(7), first(8));
  // As high as a GPU has them.
  for (const std::uint64_t placement : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
    EXPECT_EQ(first(placement) >> 41U, 0x3fU) << placement;
}

TEST(DeviceMemoryTest, AdoptedBuffersDoNotOverlap) {
  DeviceMemory memory;
  std::vector<std::byte> buffer(0x100);
  ASSERT_TRUE(memory.adopt("one", 0x1000, buffer).ok());
  for (const std::uint64_t address : {0xf01U, 0x1000U, 0x10ffU})
    EXPECT_EQ(memory.adopt("two", address, buffer).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(memory.adopt("empty", 0x5000, {}).ok());
  EXPECT_TRUE(memory.adopt("before", 0xf00, buffer).ok());
  EXPECT_TRUE(memory.adopt("behind", 0x1100, buffer).ok());
}

TEST(DeviceMemoryTest, SlackIsNoPartOfABuffer) {
  DeviceMemory memory;
  std::vector<std::byte> buffer(0x100);
  ASSERT_TRUE(memory.adopt("one", 0x1000, buffer, 0x10).ok());
  EXPECT_EQ(memory.view(0x1000).size(), 0xf0U);
  EXPECT_FALSE(memory.adopt("two", 0x10f0, buffer).ok());
  EXPECT_TRUE(memory.adopt("behind", 0x1100, buffer).ok());
  EXPECT_FALSE(memory.adopt("all slack", 0x5000, buffer, 0x100).ok());
}

TEST(DeviceMemoryTest, OwnBuffersAreNotReleased) {
  DeviceMemory memory;
  const auto own = memory.allocate("own", 256, BufferAccess::read_write);
  ASSERT_TRUE(own.ok());
  EXPECT_FALSE(memory.release(*own));
  EXPECT_EQ(memory.view(*own).size(), 256U);
}

}  // namespace
}  // namespace regraph::ptx::device_memory_test
