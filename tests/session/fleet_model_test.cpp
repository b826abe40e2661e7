// Sessions whose language model is asked by the workers of a fleet.
#include "fleet/lanes.h"
#include "fleet/queue/memory_broker.h"
#include "fleet_worker/model_worker.h"
#include "llm/record/scripted_model.h"
#include "session/expanders.h"
#include "session/opened_session.h"

#include <memory>
#include <thread>

namespace regraph::fleet_model_test {
namespace {

class FleetModel : public test::SessionTest {
 protected:
  FleetModel() {
    asking_.expander = "llm";
    asking_.model = "tiny";
    asking_.server = kFleetServer;
    asking_.occasion = "run";
    asking_.no_store = true;
    asking_.repairs = 0;
  }
  ~FleetModel() override {
    leave_.request();
    if (worker_.joinable()) worker_.join();
  }
  void begin_worker() {
    worker_ = std::thread([this] {
      fleet::ModelWorkerOptions options;
      options.self.name = "worker";
      options.self.lanes = {fleet::model_lane("tiny")};
      options.self.places = 2;
      options.model = "tiny";
      fleet::ModelWorker(*broker_, server_, options).run(leave_);
    });
  }
  // What a session has that evaluates here and asks the fleet.
  [[nodiscard]] Result<std::unique_ptr<Session>, SessionError> open_with_fleet() const {
    SessionOptions with_fleet = options();
    with_fleet.fleet.broker = broker_;
    return Session::open(with_fleet, installation, never);
  }
  ModelUse search(Session& session) const {
    SearchConfig config = session.configuration();
    config.budget.evaluations = 2;
    const auto expander = session.expander(asking_, config);
    EXPECT_TRUE(expander) << expander.error().message;
    const auto found = session.search({config, **expander});
    EXPECT_TRUE(found) << found.error().message;
    return (*expander)->model()->use();
  }

  std::shared_ptr<fleet::MemoryBroker> broker_ = std::make_shared<fleet::MemoryBroker>();
  llm::ScriptedModel server_{
      [](const llm::ChatRequest&) -> llm::ChatResult { return llm::answer_of("I do not know."); }};
  LanguageModelOptions asking_;

 private:
  Cancellation leave_;
  std::thread worker_;
};

TEST_F(FleetModel, IsAskedByWorkersOnceARun) {
  write_row_sums();
  begin_worker();
  const auto session = open_with_fleet();
  ASSERT_TRUE(session) << session.error().message;
  const ModelUse use = search(**session);
  EXPECT_GT(use.chat.answered, 0);
  EXPECT_EQ(use.chat.answered, use.chat.asked);
  EXPECT_EQ(use.chat.usage.prompt_tokens, 40 * use.chat.answered);
  EXPECT_EQ(use.chat.attempts, server_.calls);
  // The same run again asks nobody, another one does.
  const int calls = server_.calls;
  EXPECT_EQ(search(**session).chat.answered, use.chat.answered);
  EXPECT_EQ(server_.calls, calls);
  asking_.occasion.clear();
  EXPECT_EQ(search(**session).chat.answered, use.chat.answered);
  EXPECT_EQ(server_.calls, 2 * calls);
}

TEST_F(FleetModel, NeedsAFleet) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  const auto expander = (*session)->expander(asking_, (*session)->configuration());
  ASSERT_FALSE(expander);
  EXPECT_EQ(expander.error().cause, FailureCause::usage);
  EXPECT_NE(expander.error().message.find("--fleet"), std::string::npos);
}

TEST(FleetModelOptions, ComeBackWithTheRun) {
  LanguageModelOptions options;
  options.server = kFleetServer;
  options.occasion = "run";
  EXPECT_TRUE(options.asks_fleet());
  const auto read = read_language_model_settings(settings_of(options));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, options);
}

}  // namespace
}  // namespace regraph::fleet_model_test
