// A device whose memory is a few numbers, with and without skipping.
#include "capture/device/periodic_work.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace regraph::capture::periodic_work_test {
namespace {

using Cells = std::vector<std::uint32_t>;

// Every piece of work is a digit; `meaning` says what it does to memory.
class ToyDevice {
 public:
  explicit ToyDevice(std::function<void(char, Cells&)> meaning) : meaning_(std::move(meaning)) {}

  void work(char what, double seconds = 1.0) {
    meaning_(what, wanted_);
    const Hash128 key = hash_text(std::string(1, what));
    if (repeats_.skip(key)) {
      ++skipped;
      return;
    }
    catch_up();
    execute(what);
    if (repeats_.done({key, 0, std::string(1, what)}, seconds, hash_seconds)) {
      ++hashes;
      Hasher all;
      for (const std::uint32_t value : cells_)
        all.add(value);
      repeats_.remember(all.finish());
    }
  }
  void works(const std::string& all) {
    for (const char what : all)
      work(what);
  }
  // As the host reads it.
  void expect_memory() {
    catch_up();
    EXPECT_EQ(cells_, wanted_);
  }
  // As the host writes it.
  void poke(std::size_t cell, std::uint32_t value) {
    catch_up();
    repeats_.forget();
    cells_[cell] = wanted_[cell] = value;
  }
  [[nodiscard]] const PeriodicWork& repeats() const { return repeats_; }

  int skipped = 0;
  int executed = 0;
  int hashes = 0;
  double hash_seconds = 0.0;

 private:
  void execute(char what) {
    ++executed;
    meaning_(what, cells_);
  }
  void catch_up() {
    const auto behind = repeats_.behind();
    EXPECT_LT(behind.size(), std::max<std::size_t>(repeats_.period(), 1));
    for (const PeriodicWork::Work* work : behind)
      execute(work->request[0]);
    repeats_.caught_up();
  }

  std::function<void(char, Cells&)> meaning_;
  Cells cells_ = Cells(4);
  Cells wanted_ = Cells(4);  // what it is when all is executed
  PeriodicWork repeats_;
};

// '0'..'3' set a cell, 'a'..'d' add 1 to one, 's' swaps two, 'h' halves.
void usual(char what, Cells& cells) {
  if (what >= '0' && what <= '3') cells[static_cast<std::size_t>(what - '0')] = 7;
  if (what >= 'a' && what <= 'd') ++cells[static_cast<std::size_t>(what - 'a')];
  if (what == 's') std::swap(cells[0], cells[1]);
  if (what == 'h') cells[2] /= 2;
}

std::string times(int n, const std::string& what) {
  std::string all;
  for (int i = 0; i < n; ++i)
    all += what;
  return all;
}

TEST(PeriodicWorkTest, AFixedPointIsExecutedAFewTimes) {
  ToyDevice device(usual);
  device.works(times(100, "0"));
  EXPECT_EQ(device.repeats().period(), 1U);
  EXPECT_EQ(device.executed, 3);
  EXPECT_EQ(device.skipped, 97);
  device.expect_memory();
  EXPECT_EQ(device.executed, 3);
}

TEST(PeriodicWorkTest, WhatIsSetAnewAndChangedIsAPeriod) {
  ToyDevice device(usual);
  device.works(times(50, "0aa"));
  EXPECT_EQ(device.repeats().period(), 3U);
  EXPECT_LT(device.executed, 15);
  device.expect_memory();
  device.works("0a");  // in the midst of a round
  device.expect_memory();
  device.works("a0aa0");
  device.expect_memory();
  device.works("1");  // another sequence
  EXPECT_EQ(device.repeats().period(), 0U);
  device.works(times(20, "1b"));
  EXPECT_EQ(device.repeats().period(), 2U);
  device.expect_memory();
}

TEST(PeriodicWorkTest, MemoryThatGoesOnIsNeverSkipped) {
  ToyDevice device(usual);
  device.works(times(100, "a"));
  device.works(times(100, "0ab"));
  EXPECT_EQ(device.skipped, 0);
  device.expect_memory();
}

TEST(PeriodicWorkTest, ConvergenceIsSeenWhenItComes) {
  ToyDevice device(usual);
  device.poke(2, 1U << 20);
  device.works(times(100, "h"));
  EXPECT_GT(device.skipped, 70);
  device.expect_memory();
}

// Two swaps are a period of the memory, one is a period of the work.
TEST(PeriodicWorkTest, ShorterPeriodsOfTheWorkDoNotHideThoseOfMemory) {
  ToyDevice device(usual);
  device.poke(0, 5);
  device.works(times(100, "s"));
  EXPECT_EQ(device.repeats().period(), 2U);
  EXPECT_GT(device.skipped, 90);
  device.expect_memory();
  device.works("s");
  device.expect_memory();
}

TEST(PeriodicWorkTest, WritesOfTheHostBeginAnew) {
  ToyDevice device(usual);
  device.works(times(20, "0a"));
  EXPECT_EQ(device.repeats().period(), 2U);
  device.poke(1, 9);
  EXPECT_EQ(device.repeats().period(), 0U);
  device.works(times(20, "0a"));
  device.expect_memory();
  EXPECT_EQ(device.repeats().period(), 2U);
}

TEST(PeriodicWorkTest, PeriodsThatAreTooLongAreExecuted) {
  ToyDevice device(usual);
  device.works(times(20, "00000000000000001"));
  device.expect_memory();
  ToyDevice longest(usual);
  longest.works(times(20, "abcdabcdabcd0123"));
  EXPECT_EQ(longest.repeats().period(), 16U);
  longest.expect_memory();
}

TEST(PeriodicWorkTest, HashingTakesItsShareOfTheTime) {
  ToyDevice device(usual);
  device.hash_seconds = 10.0;
  device.works(times(1000, "a"));
  EXPECT_LE(device.hashes * 10.0, 1000 * PeriodicWork::kHashingShare);
  EXPECT_GE(device.hashes, 10);
  ToyDevice cheap(usual);
  cheap.hash_seconds = 0.5;
  cheap.works(times(100, "0"));
  EXPECT_LT(cheap.executed, 10);
}

TEST(PeriodicWorkTest, WorkThatIsTooLargeToKeepIsExecuted) {
  PeriodicWork repeats;
  const Hash128 key = hash_text("x");
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(repeats.skip(key));
    EXPECT_FALSE(
        repeats.done({key, 0, std::string(PeriodicWork::kMostKeptBytes + 1, 'x')}, 1.0, 0.0));
  }
}

TEST(PeriodicWorkTest, RandomProgramsAreAsIfAllWereExecuted) {
  std::mt19937 random(20250101);
  int skipped = 0;
  for (int program = 0; program < 3000; ++program) {
    ToyDevice device(usual);
    device.hash_seconds = std::uniform_real_distribution(0.0, 0.3)(random);
    for (int loop = 0; loop < 6; ++loop) {
      std::string body;
      for (unsigned n = 1 + random() % 5; n > 0; --n)
        body += "0123abcdsh"[random() % 10];
      for (unsigned n = random() % 30; n > 0; --n) {
        device.works(body);
        if (random() % 10 == 0) device.expect_memory();
        if (random() % 60 == 0) device.poke(random() % 4, random() % 8);
        if (random() % 40 == 0) device.works("a");
      }
    }
    device.expect_memory();
    skipped += device.skipped;
  }
  EXPECT_GT(skipped, 10000);
}

}  // namespace
}  // namespace regraph::capture::periodic_work_test
