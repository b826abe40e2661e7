#include "llm/record/prefix_tracker.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::llm::prefix_tracker_test {
namespace {

ChatRequest request(const std::string& common, const std::string& own) {
  ChatRequest request;
  request.messages = {{Role::system, common}, {Role::user, own}};
  return request;
}

TEST(PrefixTracker, CountsWhatStoodInFrontOfEarlierRequests) {
  PrefixTracker tracker;
  const std::string common(6400, 'a');
  EXPECT_EQ(tracker.share(request(common, std::string(6400, 'b'))), 0.0);
  // The first half is known, but for what does not fill a block.
  EXPECT_NEAR(tracker.share(request(common, std::string(6400, 'c'))), 0.5, 0.02);
  EXPECT_NEAR(tracker.share(request(common, std::string(6400, 'c'))), 1.0, 0.01);
  EXPECT_NEAR(tracker.share(request(common, std::string(6400, 'c') + std::string(12800, 'd'))), 0.5,
              0.02);
  // What is alike further back is of no use.
  EXPECT_EQ(tracker.share(request("x" + common, std::string(6400, 'b'))), 0.0);
  EXPECT_EQ(tracker.share({}), 0.0);
}

}  // namespace
}  // namespace regraph::llm::prefix_tracker_test
