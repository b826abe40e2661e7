// Of regraph-judge's work what needs no problem opened; searches by real judges are
// tools/fleet-faults.
#include "fleet_worker/judge.h"

#include "fleet/problem_text.h"
#include "fleet_worker/judge_request.h"

#include <gtest/gtest.h>

namespace regraph::fleet::judge_test {
namespace {

// What a judge that may read `files` says of a problem with data from there.
std::string trouble_with(const std::string& data, const std::string& files) {
  RunDescription description;
  description.kernel = "f";
  description.source = "no kernel";
  description.manifest = "args: {x: {init: {file: \"" + data + "\"}}}\n";
  EvaluationJob job;
  job.candidate.source = "x";
  const std::string request =
      judge_request({problem_text(description).text, job_of("lane", job).payload});
  Judge judge({}, 1, files);
  return judge.judge(request, Cancellation()).trouble;
}

bool is_refused(const std::string& data, const std::string& files) {
  const std::string trouble = trouble_with(data, files);
  EXPECT_FALSE(trouble.empty());
  return trouble.find("may not have data from " + data) != std::string::npos;
}

TEST(Judge, OpensNoFilesButThoseOfItsFolder) {
  EXPECT_TRUE(is_refused("/etc/passwd", "/cache/fleet"));
  EXPECT_TRUE(is_refused("/etc/passwd", ""));
  EXPECT_TRUE(is_refused("x.npy", "/cache/fleet"));
  EXPECT_TRUE(is_refused("/cache/fleet/../secret/x.npy", "/cache/fleet"));
  EXPECT_TRUE(is_refused("/cache/fleeting/x.npy", "/cache/fleet"));
  EXPECT_FALSE(is_refused("/cache/fleet/ab/x.npy", "/cache/fleet"));
  EXPECT_FALSE(is_refused("/cache/fleet/ab/x.npy", "/cache/fleet/"));
}

TEST(Judge, SaysWhatItCannotRead) {
  Judge judge({}, 1, "");
  const Cancellation never{};
  EXPECT_FALSE(judge.judge("garbage", never).trouble.empty());
  EXPECT_FALSE(judge.judge(judge_request({"garbage", "garbage"}), never).trouble.empty());
}

}  // namespace
}  // namespace regraph::fleet::judge_test
