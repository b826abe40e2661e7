#include "session/recorded_run.h"

#include "report/run_report.h"
#include "session/opened_session.h"

namespace regraph::recorded_run_test {
namespace {

class RecordedRunOf : public test::SessionTest {
 protected:
  static SearchConfig four_evaluations(const Session& session) {
    SearchConfig config = session.configuration();
    config.budget.evaluations = 4;
    config.jobs = 2;
    return config;
  }
};

TEST_F(RecordedRunOf, GoesOnAsIfItHadNeverStopped) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  const SearchConfig config = four_evaluations(**session);
  const auto expander = (*session)->expander({}, config);
  ASSERT_TRUE(expander) << expander.error().message;
  const auto whole = (*session)->search({config, **expander});
  ASSERT_TRUE(whole) << whole.error().message;

  {
    const auto run = RecordedRun::begin(**session, config, true, path("run"));
    ASSERT_TRUE(run) << run.error().message;
    const auto recorded = (*run)->search(**session, {config, **expander});
    ASSERT_TRUE(recorded) << recorded.error().message;
    EXPECT_EQ((*run)->evaluations(), recorded->outcome.evaluations);
    // Not finished: as if the program had been killed just before its last write.
  }

  const auto again = RecordedRun::open(path("run"));
  ASSERT_TRUE(again) << again.error().message;
  const auto over = (*again)->finished();
  ASSERT_TRUE(over) << over.error().message;
  EXPECT_FALSE(*over);
  const auto reopened = Session::reopen((*again)->description(), installation, never);
  ASSERT_TRUE(reopened) << reopened.error().message;
  const auto same_expander = (*reopened)->expander({}, config);
  ASSERT_TRUE(same_expander) << same_expander.error().message;
  const auto found = (*again)->search(**reopened, {config, **same_expander});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->outcome.best.source, whole->outcome.best.source);
  EXPECT_EQ(found->outcome.log_speedup, whole->outcome.log_speedup);

  const RunReport report = (*reopened)->report(*found, config, (*again)->directory());
  const FinishedRun finished{0, (*again)->directory(), "text", "{}"};
  ASSERT_TRUE((*again)->finish(report, finished));
  const auto told = (*again)->finished();
  ASSERT_TRUE(told && *told);
  EXPECT_EQ((*told)->text, "text");
  EXPECT_TRUE(std::filesystem::exists(path("run") + "/result.json"));
}

TEST_F(RecordedRunOf, LeavesNothingWhenItIsAbandoned) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  const auto run = RecordedRun::begin(**session, four_evaluations(**session), true, path("run"));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(std::filesystem::exists(path("run")));
  (*run)->abandon();
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(RecordedRunOf, SaysWhyADirectoryIsNoRun) {
  const auto run = RecordedRun::open(path("nothing"));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().cause, FailureCause::usage);
  EXPECT_NE(run.error().message.find("nothing"), std::string::npos) << run.error().message;
}

}  // namespace
}  // namespace regraph::recorded_run_test
