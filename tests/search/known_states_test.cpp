#include "search/known_states.h"

#include <gtest/gtest.h>

namespace regraph {
namespace {

Evaluation evaluation(TimeMethod method, double seconds, double predicted_seconds = 0.0) {
  Evaluation result;
  result.verdict = Verdict::correct;
  result.time = {seconds, seconds, seconds, 1, method};
  if (predicted_seconds > 0.0) result.facts["predicted_seconds"] = predicted_seconds;
  return result;
}

StepProposal unroll() {
  StepProposal proposal;
  proposal.step = "loop_unroll";
  return proposal;
}

// A chain of states, each made from the one before.
class Chain {
 public:
  Chain() : states_(graph_, config_) { states_.add_original(Candidate{}); }

  void judge(Evaluation evaluation) {
    (void)states_.judge(last_, std::move(evaluation), {unroll()});
  }
  void extend() {
    Ticket ticket;
    ticket.kind = TicketKind::measure;
    ticket.parent = last_;
    ticket.node = ++last_;
    states_.add(ticket, std::make_shared<const Candidate>());
  }
  [[nodiscard]] double correction() const { return states_.measured_over_predicted(last_); }

 private:
  const StepGraph graph_;
  const SearchConfig config_;
  KnownStates states_;
  std::uint32_t last_ = 0;
};

TEST(KnownStates, ThePredictionsErrorIsThatOfTheNearestMeasuredAncestor) {
  Chain chain;
  chain.judge(evaluation(TimeMethod::measured, 6.0, 4.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 1.5);
  chain.extend();
  chain.judge(evaluation(TimeMethod::predicted, 9.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 1.5) << "left at its prediction: its parent's counts";
  chain.extend();
  chain.judge(evaluation(TimeMethod::measured, 1.0, 2.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 0.5);
  chain.extend();
  chain.judge(evaluation(TimeMethod::measured, 1.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 0.5) << "the model had no time for it";
}

TEST(KnownStates, WithoutMeasurementsThereIsNoError) {
  Chain chain;
  chain.judge(evaluation(TimeMethod::predicted, 6.0));
  EXPECT_EQ(chain.correction(), 0.0);
}

}  // namespace
}  // namespace regraph
