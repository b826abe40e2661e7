// The fleet that evaluates a session's candidates, where there is one.
#pragma once

#include "fleet/fleet_evaluator.h"
#include "fleet/fleet_measurer.h"
#include "fleet/queue/broker.h"
#include "session/opened_problem.h"
#include "session/session_error.h"
#include "session/session_options.h"

#include <memory>
#include <string>

namespace regraph {

class SessionFleet {
 public:
  // Has candidates of the problem evaluated by workers, if `access` says so; `here` checks them.
  // `evaluator` is a kind's name. Error: usage.
  [[nodiscard]] Result<void, SessionError> join(const FleetAccess& access,
                                                const OpenedProblem& opened,
                                                const std::string& evaluator,
                                                const OpenOptions& options, Evaluator& here);

  // Null where candidates are evaluated here.
  [[nodiscard]] Evaluator* evaluator() const;
  // Null where the fleet measures nothing.
  [[nodiscard]] fleet::FleetMeasurer* measurer() const { return measuring_.get(); }
  // For questions to language models; null without a fleet.
  [[nodiscard]] fleet::JobQueue* queue() const { return broker_.get(); }
  // Of the workers that evaluate; empty where it is done here.
  [[nodiscard]] const std::string& lane() const { return lane_; }
  // What workers did and what was done here, in words; empty where all was.
  [[nodiscard]] std::string summary() const;

 private:
  std::shared_ptr<fleet::Broker> broker_;
  std::string lane_;
  std::unique_ptr<fleet::FleetEvaluator> predicting_;  // at most one of these two
  std::unique_ptr<fleet::FleetMeasurer> measuring_;
};

}  // namespace regraph
