#include "session/search_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace regraph::search_jobs_test {
namespace {

SearchConfig chosen(int asked, int places) {
  SearchConfig config;
  choose_jobs(asked, places, config);
  return config;
}

const int kProcessors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

TEST(SearchJobs, AreTheProcessorsWhereThereIsNoFleet) {
  EXPECT_EQ(chosen(0, 0).jobs, kProcessors);
  EXPECT_EQ(chosen(0, 0).extra_workers, SearchConfig().extra_workers);
}

TEST(SearchJobs, AreThePlacesOfAFleetThatHasMore) {
  EXPECT_EQ(chosen(0, kProcessors + 3).jobs, std::max(kProcessors, std::min(kProcessors + 3, 128)));
  EXPECT_EQ(chosen(0, 1).jobs, kProcessors);
  // Each is a thread here.
  EXPECT_EQ(chosen(0, 100'000).jobs, std::max(kProcessors, 128));
  // Steps are applied while all of them wait.
  EXPECT_EQ(chosen(0, 1).extra_workers, kProcessors);
}

TEST(SearchJobs, AreWhatWasAskedFor) {
  EXPECT_EQ(chosen(5, 0).jobs, 5);
  EXPECT_EQ(chosen(5, 64).jobs, 5);
  EXPECT_EQ(chosen(5, 64).extra_workers, kProcessors);
}

}  // namespace
}  // namespace regraph::search_jobs_test
