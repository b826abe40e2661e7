// search.
#include "agent/tool_groups.h"
#include "report/run_report.h"
#include "session/recorded_run.h"
#include "session/search_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace regraph::agent {

namespace {

constexpr std::int64_t kUsualEvaluations = 30;
constexpr int kMostRunsOfProblem = 10'000;
// Of the seconds of a call, for looking; the rest is for confirming what was found.
constexpr double kShareForLooking = 0.7;
// What a finished run's exit code would have been (regraph-search).
constexpr int kFoundFaster = 0;
constexpr int kFoundNone = 3;

// A folder for the run that is not there yet, by its name in the workspace.
Result<std::string> new_run(const Workspace& workspace, const std::string& id) {
  for (int number = 1; number < kMostRunsOfProblem; ++number) {
    std::string name = fmt::format("runs/{}-{}", id, number);
    if (!workspace.has(name)) return name;
  }
  return fail(ErrorCode::resource, "the workspace holds too many runs of this problem");
}

ToolJson steps_json(const SearchOutcome& outcome) {
  ToolJson steps = ToolJson::array();
  for (const PathStep& step : outcome.path) {
    steps.push_back({{"step", step.step.step},
                     {"parameters", step.step.parameters},
                     {"gain", std::exp(step.log_gain)}});
  }
  return steps;
}

ToolResult search_result(const RunReport& report, const Session& session, const std::string& run) {
  const SearchOutcome& outcome = report.outcome;
  const bool stopped = outcome.stopped == StopReason::cancelled;
  const Candidate& best = outcome.best;
  ToolJson json{
      {"improved", outcome.improved()},
      {"speedup",
       {{"ratio", report.speedup()}, {"interval", {report.speedup_low(), report.speedup_high()}}}},
      {"time", time_json(outcome.best_evaluation.time)},
      {"original_time", time_json(outcome.baseline_evaluation.time)},
      {"steps", steps_json(outcome)},
      {"evaluations", outcome.evaluations},
      {"failures", outcome.failures},
      {"stopped", name(outcome.stopped)},
      {"verification", report.verification},
      {"run", run},
      {"launch", launch_json(best.plan, session)},
      {"source", best.source}};
  std::string text;
  if (stopped) text += "stopped before its end, for want of time (--call-seconds)\n";
  text += result_text(report);
  text += fmt::format("\nlaunch: {}\n", json["launch"].dump());
  text += code_block(best.source);
  return {std::move(text), std::move(json), false};
}

SearchConfig config_of(const ToolContext& context, const Session& session) {
  SearchConfig config = session.configuration();
  const std::int64_t most = context.options.most_evaluations;
  const std::int64_t asked =
      integer_argument(context, "evaluations", std::min(kUsualEvaluations, most));
  config.budget.evaluations = static_cast<int>(std::clamp<std::int64_t>(asked, 1, most));
  config.budget.wall_seconds = kShareForLooking * context.options.call_seconds;
  config.seed = static_cast<std::uint64_t>(std::max<std::int64_t>(
      integer_argument(context, "seed", static_cast<std::int64_t>(config.seed)), 0));
  const std::string& lane = session.fleet_lane();
  const int places = lane.empty() ? 0 : context.options.fleet.places(lane);
  choose_jobs(context.options.jobs, places, config);
  return config;
}

// Tells the client how far the search is, at most once a second.
class ProgressTeller final : public SearchObserver {
 public:
  explicit ProgressTeller(const ProgressReport& report) : report_(report) {}

  void on_evaluated(const SearchEvent& event) override {
    if (!report_ || !is_due()) return;
    report_({kShareForLooking * event.budget_fraction,
             fmt::format("{} candidates evaluated, best {:.2f}x", event.evaluations,
                         std::exp(event.best_log_speedup))});
  }
  void on_final_selection(int finalists) override {
    if (report_)
      report_(
          {kShareForLooking, fmt::format("confirming {} finalists with fresh inputs", finalists)});
  }

 private:
  bool is_due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::seconds(1)) return false;
    told_ = now;
    return true;
  }

  const ProgressReport& report_;
  std::chrono::steady_clock::time_point told_;
};

}  // namespace

ToolResult search_tool(const ToolContext& context) {
  auto found = context.shelf.find(text_argument(context, "problem"), context.cancellation);
  if (!found) return failed_call(found.error().message);
  AgentProblem& problem = **found;
  Session& session = problem.session();
  const std::int64_t asked = integer_argument(context, "evaluations", 1);
  if (asked < 1 || asked > context.options.most_evaluations) {
    return failed_call(fmt::format("'evaluations' must be from 1 to {} (--most-evaluations)",
                                   context.options.most_evaluations));
  }
  const SearchConfig config = config_of(context, session);
  const auto name = new_run(context.workspace, problem.id());
  if (!name) return failed_call(name.error().message);
  const auto folder = context.workspace.make_folder(*name);
  if (!folder) return failed_call(folder.error().message);
  auto run = RecordedRun::begin(session, config, true, folder->string());
  if (!run) return failed_call(run.error().message);
  ProgressTeller teller(context.report);
  auto result = (*run)->search(
      session, {config, problem.expander(), &teller, nullptr, true, &context.cancellation});
  if (!result) return failed_call("the search failed: " + result.error().message);
  const RunReport report = session.report(*result, config, folder->string());
  const int exit_code = result->outcome.improved() ? kFoundFaster : kFoundNone;
  const auto kept = (*run)->finish(
      report, {exit_code, folder->string(), result_text(report), result_json(report)});
  ToolResult answer = search_result(report, session, *name);
  if (!kept) answer.text += "note: the run's files could not be written: " + kept.error().message;
  return answer;
}

}  // namespace regraph::agent
