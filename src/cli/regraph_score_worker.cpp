// regraph-score-worker: judges answers to registered states for regraph-reward-server. Items come
// on standard input, scores go to standard output, one message each (base/frame_stream.h,
// score/score_item.h). It ends when nobody asks it any more.
#include "base/frame_stream.h"
#include "cli/fleet_flags.h"
#include "cli/problem_flags.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "score/scorer.h"
#include "score/server/score_worker.h"
#include "session/session_options.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace regraph::cli {
namespace {

score::Score score_of_message(score::Scorer& scorer, const std::string& message,
                              const Cancellation& interrupted) {
  const Result<score::ScoreItem> item = score::read_item(message);
  if (!item) return score::no_verdict({}, item.error().message);
  return scorer.score(*item, interrupted);
}

int run(int argc, char** argv) {
  const Program program("regraph-score-worker", argv[0]);
  score::ScorerOptions options;
  CLI::App app{"Judges answers for regraph-reward-server, which starts it.",
               "regraph-score-worker"};
  app.set_version_flag("--version", std::string("regraph-score-worker ") + REGRAPH_VERSION);
  app.add_option("--states", options.states, "folder of the registered states")->required();
  SessionOptions session;
  FleetFlags flags;
  session.evaluator = options.evaluator;
  add_device_options(app, session);
  app.add_option("--candidate-seconds", options.candidate_seconds, "that an answer may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_fleet_options(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  options.device = session.device;
  options.evaluator = session.evaluator;
  const auto fleet = fleet_of(program, flags, false);
  if (!fleet) return program.fail(fleet.error());
  options.fleet = fleet->access;
  // Whatever else prints must not end up between the answers.
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kInternalError;

  auto scorer = score::Scorer::open(options, program.installation(), program.interrupted());
  if (!scorer.ok()) return program.fail(scorer.error());
  while (const std::optional<std::string> message = read_frame(STDIN_FILENO)) {
    const score::Score score = score_of_message(**scorer, *message, program.interrupted());
    if (!write_frame(answers, score::score_text(score))) break;
    if (program.interrupted().requested()) return kInterrupted;
  }
  return 0;
}

}  // namespace
int score_worker_main(int argc, char** argv) {
  return guarded("regraph-score-worker", argc, argv, run);
}

}  // namespace regraph::cli
