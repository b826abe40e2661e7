#include "capture/device/host_memory.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <limits>

namespace regraph::capture::host_memory_test {
namespace {

TEST(HostMemoryTest, TheSmallestLimitCounts) {
  const auto root = TemporaryDirectory::create("regraph-capture-");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(spare_host_bytes(root->path()), std::numeric_limits<std::uint64_t>::max());
  std::filesystem::create_directories(root->path() / "proc");
  std::filesystem::create_directories(root->path() / "sys/fs/cgroup");
  ASSERT_TRUE(write_file(root->path() / "proc/meminfo",
                         "MemTotal: 100 kB\nMemFree: 2 kB\nMemAvailable:   50 kB\nBuffers: 1 kB\n")
                  .ok());
  EXPECT_EQ(spare_host_bytes(root->path()), 50U << 10);
  ASSERT_TRUE(write_file(root->path() / "sys/fs/cgroup/memory.max", "max\n").ok());
  ASSERT_TRUE(write_file(root->path() / "sys/fs/cgroup/memory.current", "1000\n").ok());
  EXPECT_EQ(spare_host_bytes(root->path()), 50U << 10);
  ASSERT_TRUE(write_file(root->path() / "sys/fs/cgroup/memory.max", "11000\n").ok());
  EXPECT_EQ(spare_host_bytes(root->path()), 10000U);
  ASSERT_TRUE(write_file(root->path() / "sys/fs/cgroup/memory.max", "999\n").ok());
  EXPECT_EQ(spare_host_bytes(root->path()), 0U);
  EXPECT_GT(spare_host_bytes(), 0U);
}

}  // namespace
}  // namespace regraph::capture::host_memory_test
