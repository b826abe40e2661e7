// Synthetic optimization problems with a known best answer: a real Expander and Evaluator over a
// world in which a candidate's source text is the set of steps applied to it.
#pragma once

#include "base/random.h"
#include "eval/evaluator.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace regraph::landscape {

// What makes one world differ from another.
struct Shape {
  int steps = 12;
  double failure_share = 0.15;  // of (state, step) pairs that give wrong results
  double prerequisite_share = 0.4;
  double prior_noise = 0.2;  // of the published gains, in log-speedup
};

class World {
 public:
  World(std::uint64_t seed, Shape shape) : seed_(seed), shape_(shape) {}

  [[nodiscard]] int steps() const { return shape_.steps; }
  [[nodiscard]] static std::string step_id(int step) { return "step_" + std::to_string(step); }

  // log-speedup of having applied the steps in `set`: main effects, pair effects, and saturation.
  [[nodiscard]] double log_speedup(std::uint32_t set) const {
    double sum = 0.0;
    for (int a = 0; a < shape_.steps; ++a) {
      if (((set >> a) & 1U) == 0) continue;
      sum += main_effect(a);
      for (int b = 0; b < a; ++b) {
        if (((set >> b) & 1U) != 0) sum += pair_effect(a, b);
      }
    }
    constexpr double kCeiling = 2.5;
    return sum > 0.0 ? kCeiling * std::tanh(sum / kCeiling) : sum;
  }
  [[nodiscard]] double main_effect(int step) const {
    return -0.15 + 0.75 * std::pow(draw(1, step), 2.0);
  }
  // A fifth of the pairs help each other, a fifth hinder: greedy choices can be wrong.
  [[nodiscard]] double pair_effect(int a, int b) const {
    const double kind = draw(2, a, b);
    const double size = 0.5 * draw(3, a, b);
    return kind < 0.2 ? size : kind < 0.4 ? -size : 0.0;
  }
  // A step that must have been applied before, or -1.
  [[nodiscard]] int prerequisite(int step) const {
    if (step == 0 || draw(4, step) >= shape_.prerequisite_share) return -1;
    return static_cast<int>(draw(5, step) * step);
  }
  [[nodiscard]] bool applicable(std::uint32_t set, int step) const {
    const int before = prerequisite(step);
    return ((set >> step) & 1U) == 0 && (before < 0 || ((set >> before) & 1U) != 0);
  }
  [[nodiscard]] bool correct(std::uint32_t set) const {
    return set == 0 || draw(6, set) >= shape_.failure_share;
  }
  [[nodiscard]] double draw(std::uint64_t purpose, std::uint64_t a, std::uint64_t b = 0) const {
    return to_unit_interval(random_bits(seed_, purpose, a, b));
  }

  // The best log-speedup reachable through correct states only, by exhaustive enumeration.
  [[nodiscard]] double optimum() const {
    std::vector<bool> seen(std::size_t{1} << shape_.steps);
    std::vector<std::uint32_t> waiting = {0};
    seen[0] = true;
    double best = 0.0;
    while (!waiting.empty()) {
      const std::uint32_t set = waiting.back();
      waiting.pop_back();
      best = std::max(best, log_speedup(set));
      for (int step = 0; step < shape_.steps; ++step) {
        const std::uint32_t next = set | (1U << step);
        if (!applicable(set, step) || !correct(next) || seen[next]) continue;
        seen[next] = true;
        waiting.push_back(next);
      }
    }
    return best;
  }

  // Published gains that are the main effects with noise on them.
  [[nodiscard]] StepGraph graph() const {
    StepGraph graph;
    for (int step = 0; step < shape_.steps; ++step) {
      Step vertex;
      vertex.id = vertex.name = step_id(step);
      static_cast<void>(graph.add_step(vertex));
      const double noise = shape_.prior_noise * (2.0 * draw(7, step) - 1.0);
      Transition transition;
      transition.expected_speedup = std::exp(main_effect(step) + noise);
      static_cast<void>(graph.add_transition(StepGraph::kInit, vertex.id, transition));
    }
    return graph;
  }

  static Candidate candidate(std::uint32_t set) {
    Candidate candidate;
    candidate.source = std::to_string(set);
    candidate.identity = hash_text(candidate.source);
    return candidate;
  }
  static std::uint32_t set_of(const Candidate& candidate) {
    return static_cast<std::uint32_t>(std::stoul(candidate.source));
  }

 private:
  std::uint64_t seed_;
  Shape shape_;
};

// A pause drawn from `shuffle` and `key`, so that results arrive in another order for each
// `shuffle`.
inline void pause(std::uint64_t shuffle, std::uint64_t key, const Cancellation& cancellation) {
  if (shuffle == 0) return;
  auto rest = std::chrono::microseconds(random_bits(shuffle, key) % 400);
  if (!cancellation.requested()) std::this_thread::sleep_for(rest);
}

class WorldExpander final : public Expander {
 public:
  explicit WorldExpander(const World& world, std::uint64_t shuffle = 0)
      : world_(world), shuffle_(shuffle) {}

  std::vector<StepProposal> propose(const Candidate& candidate, const ExpansionContext&,
                                    const Cancellation&) const override {
    std::vector<StepProposal> result;
    for (int step = 0; step < world_.steps(); ++step) {
      if (world_.applicable(World::set_of(candidate), step)) {
        result.push_back({World::step_id(step), {}, 1});
      }
    }
    return result;
  }
  Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal, int,
                          const ExpansionContext&,
                          const Cancellation& cancellation) const override {
    const std::uint32_t set = World::set_of(candidate);
    const int step = std::stoi(proposal.step.substr(proposal.step.find('_') + 1));
    pause(shuffle_, set * 64 + static_cast<std::uint32_t>(step), cancellation);
    return World::candidate(set | (1U << step));
  }

 private:
  const World& world_;
  std::uint64_t shuffle_;
};

class WorldEvaluator final : public Evaluator {
 public:
  explicit WorldEvaluator(const World& world, std::uint64_t shuffle = 0)
      : world_(world), shuffle_(shuffle) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget&,
                      const Cancellation& cancellation) override {
    const std::uint32_t set = World::set_of(candidate);
    pause(shuffle_, ~std::uint64_t{set}, cancellation);
    Evaluation evaluation;
    evaluation.verdict = world_.correct(set) ? Verdict::correct : Verdict::wrong_result;
    evaluation.message = evaluation.correct() ? "" : "out[0] differs";
    constexpr double kOriginalSeconds = 1e-3;
    const double seconds = kOriginalSeconds * std::exp(-world_.log_speedup(set));
    evaluation.time = {seconds, seconds * 0.999, seconds * 1.001, 1, TimeMethod::predicted};
    evaluation.machine_code = candidate.identity;
    return evaluation;
  }
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::evaluation; }

 private:
  const World& world_;
  std::uint64_t shuffle_;
};

}  // namespace regraph::landscape
