#include "capture/problem/sequence_keeper.h"

#include "base/files.h"
#include "kernel/captured_data.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace regraph::capture::sequence_keeper_test {
namespace {

const std::string kFirst = "_Z5firstPf";
const std::string kSecond = "_Z6secondPfS_";
const std::string kThird = "_Z5thirdPf";

class SequenceKeeperTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(directory.ok());
    options.folder = directory->path();
    options.sequence = {"first", "second"};
  }

  // Launches the kernel on these allocations; contents are the byte `content` everywhere.
  static void launch(SequenceKeeper& keeper, const std::string& symbol,
                     const std::vector<std::uint64_t>& allocations, std::uint32_t blocks = 4,
                     int content = 1, std::uint64_t instructions = 100) {
    const std::vector<std::byte> bytes(64, static_cast<std::byte>(content));
    std::vector<std::byte> parameters(8 * allocations.size(), std::byte{0x11});
    std::vector<KernelAnswer::Slot> slots;
    std::vector<ObservedPointer> pointers;
    for (std::uint32_t i = 0; i < allocations.size(); ++i) {
      slots.push_back({8 * i, 8});
      pointers.push_back({i, 0, allocations[i], 0, bytes.size(), bytes});
    }
    const ObservedLaunch one{symbol,     {blocks, 1, 1}, {32, 1, 1}, 0,
                             parameters, slots,          pointers,   {}};
    keeper.before_launch(one);
    keeper.after_launch(one, instructions);
  }

  Result<TemporaryDirectory> directory = TemporaryDirectory::create("regraph-sequence-");
  KeepOptions options;
};

TEST_F(SequenceKeeperTest, KernelsInARowAreOneProblem) {
  SequenceKeeper keeper(options);
  launch(keeper, kFirst, {1}, 4, 7);
  launch(keeper, kSecond, {1, 2}, 8, 9, 500);
  launch(keeper, kFirst, {1}, 4);
  launch(keeper, kSecond, {1, 2}, 8);
  const auto folders = keeper.take();
  EXPECT_EQ(keeper.trouble(), "");
  ASSERT_EQ(folders.size(), 1U);
  EXPECT_EQ(folders[0].path.filename(), "first+second");
  const CapturedKernel& kernel = folders[0].kernel;
  EXPECT_EQ(kernel.symbol, kSecond);  // the one with the most work
  EXPECT_EQ(kernel.launches, 2U);
  EXPECT_EQ(kernel.thread_instructions, 800U);
  ASSERT_EQ(kernel.stages.size(), 2U);
  EXPECT_EQ(kernel.stages[1].slots, 2U);
  ASSERT_EQ(kernel.slots.size(), 3U);
  EXPECT_EQ(kernel.slots[2].offset, 16U);
  ASSERT_EQ(kernel.kept.size(), 1U);  // the second time is no larger
  const KeptLaunch& kept = kernel.kept[0];
  EXPECT_EQ(kept.stages[1].grid.x, 8U);
  EXPECT_EQ(kept.thread_instructions, 600U);
  ASSERT_EQ(kept.pointers.size(), 3U);
  EXPECT_EQ(kept.pointers[1].parameter, 1U);
  // Contents are those before the first launch that leads there.
  EXPECT_EQ(kept.pointers[0].data, kept.pointers[1].data);
  const auto of_second = read_captured(folders[0].path / kCapturedData / kept.pointers[2].data);
  ASSERT_TRUE(of_second.ok()) << of_second.error().message;
  EXPECT_EQ((*of_second)->front(), std::byte{9});
  const auto of_first = read_captured(folders[0].path / kCapturedData / kept.pointers[0].data);
  ASSERT_TRUE(of_first.ok());
  EXPECT_EQ((*of_first)->front(), std::byte{7});
}

TEST_F(SequenceKeeperTest, LargerOnesAreKeptAndAThatWasAskedFor) {
  SequenceKeeper keeper(options);
  for (const std::uint32_t blocks : {4U, 5U, 16U}) {
    launch(keeper, kFirst, {1}, blocks);
    launch(keeper, kSecond, {1, 2}, blocks);
  }
  const auto folders = keeper.take();
  ASSERT_EQ(folders.size(), 1U);
  ASSERT_EQ(folders[0].kernel.kept.size(), 2U);
  EXPECT_EQ(folders[0].kernel.kept[0].grid.x, 16U);
  options.launch = 2;
  SequenceKeeper second(options);
  for (const std::uint32_t blocks : {4U, 5U, 16U}) {
    EXPECT_EQ(second.may_skip(kFirst), false);
    launch(second, kFirst, {1}, blocks);
    launch(second, kSecond, {1, 2}, blocks);
  }
  const auto asked = second.take();
  ASSERT_EQ(asked.size(), 1U);
  ASSERT_EQ(asked[0].kernel.kept.size(), 1U);
  EXPECT_EQ(asked[0].kernel.kept[0].grid.x, 5U);
}

TEST_F(SequenceKeeperTest, WhatComesBetweenEndsIt) {
  SequenceKeeper keeper(options);
  launch(keeper, kFirst, {1});
  launch(keeper, kThird, {1});
  launch(keeper, kSecond, {1, 2});
  launch(keeper, kFirst, {1});
  keeper.before_write(1);
  launch(keeper, kSecond, {1, 2});
  launch(keeper, kFirst, {1});
  keeper.before_write({});  // nobody knows to what
  launch(keeper, kSecond, {1, 2});
  EXPECT_TRUE(keeper.take().empty());
  EXPECT_NE(keeper.trouble().find("'third' is launched after 'first'"), std::string::npos)
      << keeper.trouble();
  EXPECT_TRUE(std::filesystem::is_empty(directory->path()));
}

TEST_F(SequenceKeeperTest, WhatItHasNotSeenYetMayBeWritten) {
  SequenceKeeper keeper(options);
  launch(keeper, kFirst, {1});
  keeper.before_write(2);
  launch(keeper, kSecond, {1, 2});
  EXPECT_EQ(keeper.take().size(), 1U);
}

TEST_F(SequenceKeeperTest, WhatCameToNothingLeavesNothing) {
  SequenceKeeper keeper(options);
  for (int i = 0; i < 5; ++i)
    launch(keeper, kFirst, {1}, 4, i);
  launch(keeper, kSecond, {1, 2}, 4, 9);
  const auto folders = keeper.take();
  ASSERT_EQ(folders.size(), 1U);
  const auto data = std::filesystem::directory_iterator(folders[0].path / kCapturedData);
  EXPECT_EQ(std::distance(begin(data), end(data)), 2);
}

TEST_F(SequenceKeeperTest, ARareSequenceIsFoundByItsNumber) {
  const auto run = [&](SequenceKeeper& keeper) {
    for (int i = 0; i < 40; ++i)
      launch(keeper, kFirst, {1}, 4, i);
    launch(keeper, kSecond, {1, 2});
    return keeper.take();
  };
  SequenceKeeper keeper(options);
  EXPECT_TRUE(run(keeper).empty());
  EXPECT_NE(keeper.trouble().find("--launch 40"), std::string::npos) << keeper.trouble();
  options.launch = 40;
  SequenceKeeper again(options);
  EXPECT_EQ(run(again).size(), 1U);
}

TEST_F(SequenceKeeperTest, RepeatsMayBeSkippedButNoPart) {
  SequenceKeeper keeper(options);
  EXPECT_FALSE(keeper.may_skip(kFirst));
  EXPECT_TRUE(keeper.may_skip(kThird));
  launch(keeper, kFirst, {1});
  EXPECT_FALSE(keeper.may_skip(kSecond));
  EXPECT_FALSE(keeper.may_skip(kThird));
  launch(keeper, kSecond, {1, 2});
  EXPECT_TRUE(keeper.may_skip(kFirst));
  keeper.begin_run();
  EXPECT_FALSE(keeper.may_skip(kFirst));
}

TEST_F(SequenceKeeperTest, OverlapsAreThoseOfOneLaunch) {
  SequenceKeeper keeper(options);
  launch(keeper, kFirst, {1});
  launch(keeper, kSecond, {1, 1});
  const auto folders = keeper.take();
  ASSERT_EQ(folders.size(), 1U);
  EXPECT_TRUE(folders[0].kernel.overlapping);
}

}  // namespace
}  // namespace regraph::capture::sequence_keeper_test
