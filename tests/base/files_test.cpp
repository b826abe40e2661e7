#include "base/files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace regraph::files_test {
namespace {

namespace fs = std::filesystem;

TEST(Files, WritesAndReadsBack) {
  const auto directory = TemporaryDirectory::create("regraph-files-");
  ASSERT_TRUE(directory.ok());
  const fs::path path = directory->path() / "deep" / "er" / "file";
  const std::string content = std::string("a\0b", 3) + std::string(100000, 'z');
  for (const Durability durability : {Durability::fast, Durability::disk}) {
    ASSERT_TRUE(write_file(path, content, durability).ok());
    const auto read = read_file(path, 1 << 20);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, content);
  }
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(path.parent_path()))
    ++entries;
  EXPECT_EQ(entries, 1);  // no temporary file is left
}

TEST(Files, LimitIsExact) {
  const auto directory = TemporaryDirectory::create("regraph-files-");
  ASSERT_TRUE(directory.ok());
  const fs::path path = directory->path() / "file";
  ASSERT_TRUE(write_file(path, "12345").ok());
  EXPECT_EQ(read_file(path, 5).value(), "12345");
  const auto over = read_file(path, 4);
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().code, ErrorCode::resource);
  ASSERT_TRUE(write_file(path, "").ok());
  EXPECT_EQ(read_file(path, 0).value(), "");
}

TEST(Files, RefusesWhatIsNotAFile) {
  const auto directory = TemporaryDirectory::create("regraph-files-");
  ASSERT_TRUE(directory.ok());
  EXPECT_EQ(read_file(directory->path() / "none", 10).error().code, ErrorCode::not_found);
  EXPECT_EQ(read_file(directory->path(), 10).error().code, ErrorCode::invalid_argument);
  const fs::path fifo = directory->path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read_file(fifo, 10).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(write_file("/proc/nothing/here", "x").ok());
  EXPECT_FALSE(write_file(directory->path(), "x").ok());
}

TEST(Files, ReadersNeverSeeAPart) {
  const auto directory = TemporaryDirectory::create("regraph-files-");
  ASSERT_TRUE(directory.ok());
  const fs::path path = directory->path() / "file";
  const auto content = [](int i) { return std::string(50000, static_cast<char>('a' + i % 26)); };
  ASSERT_TRUE(write_file(path, content(0)).ok());
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::thread reader([&] {
    while (!stop) {
      const auto read = read_file(path, 1 << 20);
      if (!read.ok() || read->size() != 50000 ||
          read->find_first_not_of(read->front()) != std::string::npos) {
        ++torn;
      }
    }
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 100; ++i) {
        if (!write_file(path, content(w * 100 + i)).ok()) ++torn;
      }
    });
  }
  for (std::thread& writer : writers)
    writer.join();
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

TEST(Files, TemporaryDirectoryGoesWithItsOwner) {
  fs::path path;
  {
    auto directory = TemporaryDirectory::create("regraph-files-");
    ASSERT_TRUE(directory.ok());
    path = directory->path();
    ASSERT_TRUE(write_file(path / "a" / "b", "x").ok());
    const TemporaryDirectory moved = std::move(*directory);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace regraph::files_test
