#include "session/session_fleet.h"

#include "fleet/chat_job.h"
#include "fleet/lanes.h"
#include "session/fleet_problem.h"

#include <fmt/format.h>

#include <utility>

namespace regraph {

Result<void, SessionError> SessionFleet::join(const FleetAccess& access,
                                              const OpenedProblem& opened,
                                              const std::string& evaluator,
                                              const OpenOptions& options, Evaluator& here) {
  broker_ = access.broker;
  if (!broker_ || access.version.empty()) return {};
  auto problem = fleet_problem(opened, evaluator, options);
  if (!problem) return usage("the problem cannot be handed on: " + problem.error().message);
  if (const auto& gpu = opened.device.fleet_gpu) {
    lane_ = fleet::measurement_lane(access.version, gpu->name);
    measuring_ = std::make_unique<fleet::FleetMeasurer>(
        *broker_, *broker_, here,
        fleet::FleetMeasurerOptions{.lane = lane_,
                                    .problem = *std::move(problem),
                                    .occasion = fleet::new_occasion(),
                                    .report = access.report});
    return {};
  }
  lane_ = fleet::prediction_lane(access.version);
  predicting_ = std::make_unique<fleet::FleetEvaluator>(
      *broker_, here,
      fleet::FleetEvaluatorOptions{.lane = lane_,
                                   .problem = *std::move(problem),
                                   .original = opened.original,
                                   .report = access.report});
  return {};
}

Evaluator* SessionFleet::evaluator() const {
  if (measuring_) return measuring_.get();
  return predicting_.get();
}

std::string SessionFleet::summary() const {
  if (lane_.empty()) return "";
  const fleet::FleetCounts counts =
      measuring_ ? measuring_->statistics() : predicting_->statistics();
  return fmt::format(
      "fleet: {} evaluations by workers, {} here; {} of the workers' were done here, "
      "too, and {} of these came out otherwise",
      counts.remote, counts.local, counts.checked, counts.differing);
}

}  // namespace regraph
