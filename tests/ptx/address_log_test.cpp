#include "ptx/address_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace regraph::ptx::address_log_test {
namespace {

TEST(AddressLog, JoinsWhatContinues) {
  AddressLog log;
  log.add(1000, 4);
  log.add(1004, 4);
  log.add(2000, 4);
  ASSERT_EQ(log.ranges.size(), 2U);
  EXPECT_EQ(log.ranges[0].begin, 1000U);
  EXPECT_EQ(log.ranges[0].end, 1008U);
}

TEST(AddressLog, StaysSmallWherePlacesAreAccessedAgainAndAgain) {
  constexpr std::uint64_t kPlaces = 4096;
  constexpr std::uint64_t kApart = 256;
  AddressLog log;
  for (int again = 0; again < 100; ++again) {
    for (std::uint64_t i = 0; i < kPlaces; ++i)
      log.add(i * kApart, 4);
  }
  // Some share a place of the memory of what was accessed.
  EXPECT_LT(log.ranges.size(), kPlaces * 100 / 4);
  EXPECT_FALSE(log.full);
  std::set<std::uint64_t> places;
  for (const AddressLog::Range& range : log.ranges)
    places.insert(range.begin);
  EXPECT_EQ(places.size(), kPlaces);
}

TEST(AddressLog, EveryThreadsRowIsARange) {
  constexpr std::uint64_t kThreads = 256;
  constexpr std::uint64_t kColumns = 1000;
  AddressLog log;
  for (std::uint64_t column = 0; column < kColumns; ++column) {
    for (std::uint64_t thread = 0; thread < kThreads; ++thread)
      log.add((thread * kColumns + column) * 4, 4);
  }
  EXPECT_LT(log.ranges.size(), kThreads * kColumns / 10);
  std::set<std::uint64_t> places;
  for (const AddressLog::Range& range : log.ranges) {
    for (std::uint64_t at = range.begin; at < range.end; at += 4)
      places.insert(at);
  }
  EXPECT_EQ(places.size(), kThreads * kColumns);
}

TEST(AddressLog, WhatWasClearedIsLoggedAgain) {
  AddressLog log;
  const auto access = [&] {
    for (std::uint64_t i = 0; i < 5000; ++i)
      log.add(i * 64, 4);
  };
  access();
  log.clear();
  EXPECT_TRUE(log.ranges.empty());
  access();
  EXPECT_EQ(log.ranges.size(), 5000U);
}

TEST(AddressLog, ALargerAccessIsNotThatOfItsFirstBytes) {
  AddressLog log;
  for (std::uint64_t i = 0; i < 10'000; ++i)
    log.add(i * 64, 4);
  log.add(9'999 * 64, 16);
  EXPECT_EQ(log.ranges.back().begin, 9'999U * 64);
  EXPECT_EQ(log.ranges.back().end, 9'999U * 64 + 16);
}

}  // namespace
}  // namespace regraph::ptx::address_log_test
