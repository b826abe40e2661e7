// How long searches take by number of workers, with and without work ahead, when evaluations take
// time: over synthetic worlds, with an evaluator that sleeps, so that the processors of this
// machine do not matter.
//
//   bin/work_ahead [--shortest 0.03] [--longest 0.4] [--evaluations 60] [--worlds 4] [--steps 12] [--jobs 16]
//
// Seconds an evaluation takes are drawn between the two, most of them short. Evaluations of the ten
// examples take 0.3 to 4 s; the defaults are a tenth of that.
#include "base/random.h"
#include "search/driver.h"
#include "search/landscape.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace regraph {
namespace {

using landscape::Shape;
using landscape::World;
using landscape::WorldEvaluator;
using landscape::WorldExpander;

struct Settings {
  double shortest = 0.03;
  double longest = 0.4;
  int evaluations = 60;
  int worlds = 4;
  int steps = 12;
  int jobs = 0;  // 0: several
};

class Sleeper final : public Evaluator {
 public:
  Sleeper(const World& world, const Settings& settings) : inner_(world), settings_(settings) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation& cancellation) override {
    const double draw = to_unit_interval(random_bits(World::set_of(candidate), budget.seed));
    const double seconds =
        settings_.shortest + (settings_.longest - settings_.shortest) * draw * draw * draw;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end && !cancellation.requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return inner_.evaluate(candidate, budget, cancellation);
  }
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::evaluation; }

 private:
  WorldEvaluator inner_;
  const Settings& settings_;
};

struct Total {
  double seconds = 0.0;
  double busy_seconds = 0.0;
  int made = 0;
  int used = 0;
  int failures = 0;
};

Total searches(const Settings& settings, int jobs, bool ahead) {
  Total total;
  for (int index = 0; index < settings.worlds; ++index) {
    Shape shape;
    shape.steps = settings.steps;
    const World world(100 + static_cast<std::uint64_t>(index), shape);
    const WorldExpander expander(world);
    Sleeper evaluator(world, settings);
    SearchConfig config;
    config.budget.evaluations = settings.evaluations;
    config.jobs = jobs;
    config.work_ahead = ahead;
    const auto outcome = run_search(World::candidate(0), expander, evaluator, world.graph(), config,
                                    nullptr, Cancellation{});
    if (!outcome) {
      ++total.failures;
      continue;
    }
    total.seconds += outcome->sitting_seconds;
    total.busy_seconds += outcome->busy_seconds;
    total.made += outcome->work_ahead.evaluations;
    total.used += outcome->work_ahead.evaluations_used;
  }
  return total;
}

int run(const Settings& settings) {
  int failures = 0;
  fmt::print("jobs  ahead  seconds  processors busy  made ahead  used\n");
  for (const int jobs : {1, 2, 4, 8, 16, 64}) {
    for (const bool ahead : {false, true}) {
      if (jobs == 1 && ahead) continue;
      if (settings.jobs > 0 && jobs != settings.jobs) continue;
      const Total total = searches(settings, jobs, ahead);
      fmt::print("{:4}  {:5}  {:7.2f}  {:15.2f}  {:10}  {:4}\n", jobs, ahead ? "yes" : "no",
                 total.seconds / settings.worlds, total.busy_seconds / total.seconds, total.made,
                 total.used);
      std::fflush(stdout);
      failures += total.failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace regraph

int main(int argc, char** argv) {
  regraph::Settings settings;
  for (int index = 1; index + 1 < argc; index += 2) {
    const std::string_view option = argv[index];
    const double value = std::strtod(argv[index + 1], nullptr);
    if (option == "--shortest") settings.shortest = value;
    if (option == "--longest") settings.longest = value;
    if (option == "--evaluations") settings.evaluations = static_cast<int>(value);
    if (option == "--worlds") settings.worlds = static_cast<int>(value);
    if (option == "--jobs") settings.jobs = static_cast<int>(value);
    if (option == "--steps") settings.steps = static_cast<int>(value);
  }
  return regraph::run(settings);
}
