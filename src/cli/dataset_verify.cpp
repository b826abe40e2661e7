// `regraph-dataset verify` and `show`: data sets are looked at.
#include "base/files.h"
#include "base/random.h"
#include "base/unified_diff.h"
#include "cli/dataset_commands.h"
#include "dataset/pair_maker.h"
#include "report/run_report.h"
#include "score/score_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace regraph::cli {

namespace {

// Mixed into seeds: which pairs a sample holds.
constexpr std::uint64_t kSampling = 0x5A3B1E;

// As many as are asked for, drawn by the ids, so that the same seed draws the same.
std::vector<const dataset::PairRecord*> sample_of(const std::vector<dataset::PairRecord>& pairs,
                                                  const DatasetOptions& options) {
  std::vector<std::pair<std::uint64_t, const dataset::PairRecord*>> order;
  order.reserve(pairs.size());
  for (const dataset::PairRecord& pair : pairs)
    order.emplace_back(random_bits(options.seed, kSampling, hash_text(pair.id).low), &pair);
  std::ranges::sort(order);
  if (options.sample > 0) order.resize(std::min<std::size_t>(order.size(), options.sample));
  std::vector<const dataset::PairRecord*> sample;
  sample.reserve(order.size());
  for (const auto& entry : order)
    sample.push_back(entry.second);
  // Pairs of a problem one after the other: it is opened once.
  std::ranges::stable_sort(sample, {}, [](const auto* pair) { return pair->problem; });
  return sample;
}

// Executes pairs, one problem after the other.
class PairVerification {
 public:
  PairVerification(const Program& program, const DatasetOptions& options,
                   const std::vector<score::RegisteredProblem>& problems)
      : program_(program), options_(options) {
    for (const score::RegisteredProblem& problem : problems)
      problems_.emplace(problem.id, &problem);
  }

  // The error's message is why the pair does not hold.
  [[nodiscard]] Result<dataset::PairExecution> execute(const dataset::PairRecord& pair) {
    const auto problem = problems_.find(pair.problem);
    if (problem == problems_.end())
      return fail(ErrorCode::refused, "its problem is not in the set");
    if (open_id_ != pair.problem) {
      open_.reset();
      score::OpeningPlace place{pair.device, options_.evaluator};
      if (!options_.device.empty()) place.device = options_.device;
      auto opened = score::ScoreProblem::open(*problem->second, place, program_.installation(),
                                              program_.interrupted());
      if (!opened) return fail(ErrorCode::refused, opened.error().message);
      open_ = std::move(*opened);
      open_id_ = pair.problem;
    }
    return dataset::execute_pair(pair, open_->session(), options_.seed, program_.interrupted());
  }

 private:
  const Program& program_;
  const DatasetOptions& options_;
  std::map<std::string, const score::RegisteredProblem*> problems_;
  std::string open_id_;
  std::unique_ptr<score::ScoreProblem> open_;
};

std::string evidence_text(const dataset::PairRecord& pair) {
  const auto times = [](double median, double low, double high) {
    return fmt::format("{} [{}, {}]", duration_text(median), duration_text(low),
                       duration_text(high));
  };
  return fmt::format(
      "{} of {} ({}), {}\n"
      "  what        {}\n"
      "  step        {} {} after {}\n"
      "  slow        {} {} on {}\n"
      "  fast        {}\n"
      "  speedup     {:.2f}x [{:.2f}x, {:.2f}x]\n"
      "  verified    {}; {}\n"
      "  tolerance   {}\n"
      "  assumes     {}\n"
      "  launches    {}\n"
      "              {}\n"
      "  origin      {}, ReGraph {}\n\n",
      pair.id, pair.benchmark, pair.source_file, pair.split.empty() ? "undivided" : pair.split,
      pair.description, pair.step.empty() ? "(several)" : pair.step, pair.parameters, pair.history,
      times(pair.seconds_slow, pair.seconds_slow_low, pair.seconds_slow_high), pair.method,
      pair.device, times(pair.seconds_fast, pair.seconds_fast_low, pair.seconds_fast_high),
      pair.speedup, pair.speedup_low, pair.speedup_high, pair.verdict, pair.verification,
      pair.tolerance, pair.assumptions, pair.launch_slow, pair.launch_fast, pair.origin,
      pair.tool_version);
}

}  // namespace

int dataset_verify(const Program& program, const DatasetOptions& options) {
  const auto set = dataset::read_data_set(options.sources.front());
  if (!set) return program.fail(session_error(set.error()));
  const auto sample = sample_of(set->pairs, options);
  PairVerification verification(program, options, set->problems);
  std::size_t failed = 0;
  std::size_t only_correct = 0;
  for (const dataset::PairRecord* pair : sample) {
    const auto executed = verification.execute(*pair);
    if (program.interrupted().requested()) return kInterrupted;
    if (executed) {
      only_correct += executed->timed_alike ? 0 : 1;
      continue;
    }
    ++failed;
    program.say(fmt::format("{} ({}): {}", pair->id, pair->benchmark, executed.error().message));
  }
  if (only_correct > 0) {
    program.say(
        fmt::format("of {} pairs only correctness was looked at: measured times say nothing about "
                    "predicted ones, nor the other way round; --evaluator chooses how to time",
                    only_correct));
  }
  return program.print(
      fmt::format("{}: files as written; {} of {} pairs executed again, {} do not hold\n",
                  options.sources.front(), sample.size(), set->pairs.size(), failed),
      failed == 0 ? 0 : kNotEqual);
}

int dataset_show(const Program& program, const DatasetOptions& options) {
  const auto set = dataset::read_data_set(options.sources.front());
  if (!set) return program.fail(session_error(set.error()));
  std::vector<const dataset::PairRecord*> found;
  for (const dataset::PairRecord& pair : set->pairs) {
    if (pair.id.starts_with(options.id)) found.push_back(&pair);
  }
  if (found.size() != 1) {
    return program.fail(usage(fmt::format("{}: {} pairs have an id that begins with '{}'",
                                          options.sources.front(), found.size(), options.id)));
  }
  const dataset::PairRecord& pair = *found.front();
  return program.print(
      evidence_text(pair) + unified_diff(pair.slow, pair.fast, "slow.cu", "fast.cu"), 0);
}

}  // namespace regraph::cli
