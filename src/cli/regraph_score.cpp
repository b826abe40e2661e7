// regraph-score: whether kernels compute what an original does, and how much faster they are.
#include "cli/problem_flags.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "cli/score_lines.h"
#include "report/comparison_text.h"
#include "report/predicted_text.h"
#include "search/final_selection.h"
#include "session/candidate_file.h"
#include "session/compared_candidate.h"
#include "session/opened_problem.h"
#include "session/session.h"
#include "session/session_policy.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace regraph::cli {
namespace {

struct ScoreOptions {
  SessionOptions session;
  std::vector<std::string> candidates;
  std::string candidate_block;
  bool json = false;
  bool lines = false;
  bool once = false;
  bool quiet = false;

  [[nodiscard]] ComparisonDepth depth() const {
    return once ? ComparisonDepth::once : ComparisonDepth::whole;
  }
};

constexpr const char* kScoreFooter = R"(Examples:
  regraph-score kernel.cu mine.cu --device h200
  regraph-score kernel.cu a.cu b.cu --device sm_90 --json
  echo '{"name": "a", "source": "...", "launch": {"block": 256}}' | regraph-score kernel.cu --lines --device h200

A candidate keeps the kernel's name and parameters. It is launched as the manifest beside it (CANDIDATE.regraph.yaml)
or in its first comment says, as --candidate-block says, or as the original is.

Exit codes: 0 all are equal and at least one is faster, 3 all are equal and none is faster, 8 one is not equal
or could not be judged, 1 internal error, 2 usage, 4 the original is unusable, 5 no device, 130 interrupted.)";

// What a list of comparisons comes to.
int exit_code_of(const std::vector<ComparedKernel>& all) {
  if (!std::ranges::all_of(all, &ComparedKernel::equal)) return kNotEqual;
  const bool faster = std::ranges::any_of(all, [](const ComparedKernel& one) {
    return !one.same_code && one.verdict == SpeedVerdict::fast;
  });
  return faster ? kImproved : kNoImprovement;
}

// Candidates of the command line.
int score_files(const Program& program, const ScoreOptions& options, Session& session,
                const Evaluation& original) {
  std::string text;
  if (!options.json) {
    const OpenedProblem& opened = session.opened();
    const std::string how =
        opened.device.gpu ? "times are measured" : predicted_text(session.device());
    text =
        fmt::format("{} on {} ({})\n\n{}", session.problem().signature.name, session.device().name,
                    how, original_text(options.session.problem.kernel_file, original));
  }
  std::vector<ComparedKernel> all;
  for (const std::string& file : options.candidates) {
    const ProblemOptions& problem = options.session.problem;
    const CandidateFileOptions wanted{file, problem.include_directories, problem.defines,
                                      options.candidate_block};
    auto candidate = read_candidate_file(session, wanted, program.interrupted());
    if (!candidate && candidate.error().cause != FailureCause::unusable_kernel)
      return program.fail(candidate.error());
    all.push_back(
        compared(session, file, std::move(candidate), options.depth(), program.interrupted()));
    if (program.interrupted().requested())
      return program.fail({FailureCause::interrupted, "interrupted"});
    text += options.json ? comparison_json(all.back(), original) + '\n'
                         : '\n' + comparison_text(all.back());
  }
  return program.print(text, exit_code_of(all));
}

int score(const Program& program, const ScoreOptions& options) {
  auto session = Session::open(options.session, program.installation(), program.interrupted());
  if (!session) return program.fail(session.error());
  if (!options.quiet) {
    for (const std::string& note : (*session)->opened().problem.notes)
      say("note: " + note + "\n");
    for (const std::string& warning : (*session)->opened().warnings)
      say("warning: " + warning + "\n");
  }
  const EvaluationBudget budget = first_look((*session)->configuration());
  const Evaluation original =
      (*session)->evaluate((*session)->original(), budget, program.interrupted());
  if (program.interrupted().requested())
    return program.fail({FailureCause::interrupted, "interrupted"});
  if (!original.correct()) {
    return program.fail(
        {FailureCause::unusable_kernel,
         fmt::format("{}: {}", options.session.problem.kernel_file, original.message)});
  }
  return options.lines ? score_lines(program, **session, original, options.depth())
                       : score_files(program, options, **session, original);
}

int run(int argc, char** argv) {
  const Program program("regraph-score", argv[0]);
  ScoreOptions options;
  CLI::App app{"Says whether kernels compute what an original does, and how much faster they are.",
               "regraph-score"};
  app.footer(kScoreFooter);
  app.set_version_flag("--version", std::string("regraph-score ") + REGRAPH_VERSION);
  app.add_option("ORIGINAL.cu", options.session.problem.kernel_file, "the kernel that is right")
      ->required();
  app.add_option("CANDIDATE.cu", options.candidates, "kernels to judge");
  add_problem_options(app, options.session.problem);
  add_device_options(app, options.session);
  app.add_option("--candidate-block", options.candidate_block,
                 "block of the candidates' launch, e.g. 32x8");
  app.add_option("--evaluation-time", options.session.open.evaluation_seconds,
                 "seconds one evaluation may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.session.open.seed, "seed of the inputs")->capture_default_str();
  app.add_flag("--json", options.json, "a line of JSON for each candidate");
  app.add_flag(
      "--lines", options.lines,
      "candidates are lines of JSON on standard input, {\"name\", \"source\", \"launch\"}; "
      "a line of JSON for each is written as soon as it is judged");
  app.add_flag("--once", options.once,
               "candidates are verified and timed once, as a search first looks at them: seconds "
               "instead of a minute where times are measured, and a claim that nothing confirms");
  app.add_flag("-q,--quiet", options.quiet, "no notes");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (options.lines != options.candidates.empty())
    return program.fail(usage("name candidates, or give them with --lines; try --help"));
  options.session.policy = kNoPolicy;
  return score(program, options);
}

}  // namespace
int score_main(int argc, char** argv) {
  return guarded("regraph-score", argc, argv, run);
}

}  // namespace regraph::cli
