// regraph-judge: judges candidates for regraph-worker, which starts it. Requests come on standard
// input, answers go to standard output, one message each (base/frame_stream.h,
// fleet_worker/judge_request.h). It ends when nobody asks it any more.
#include "base/frame_stream.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "fleet_worker/judge.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <optional>
#include <string>
#include <unistd.h>

namespace regraph::cli {
namespace {

int run(int argc, char** argv) {
  const Program program("regraph-judge", argv[0]);
  int threads = 1;
  std::string files;
  CLI::App app{"Judges candidates for regraph-worker, which starts it.", "regraph-judge"};
  app.set_version_flag("--version", std::string("regraph-judge ") + REGRAPH_VERSION);
  app.add_option("--files", files, "the only folder that problems may have data from");
  app.add_option("--threads", threads, "that one evaluation may use")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  // It ends with its worker, which decides when: a signal to all processes of a machine must not
  // look like a candidate that kills.
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  // Whatever else prints must not end up between the answers.
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kInternalError;
  fleet::Judge judge(program.installation(), threads, files);
  while (const std::optional<std::string> message = read_frame(STDIN_FILENO)) {
    const fleet::EvaluationAnswer answer = judge.judge(*message, program.interrupted());
    if (!write_frame(answers, fleet::answer_text(answer))) break;
  }
  return 0;
}

}  // namespace
int judge_main(int argc, char** argv) {
  return guarded("regraph-judge", argc, argv, run);
}

}  // namespace regraph::cli
