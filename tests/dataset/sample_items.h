// A problem with states, answers and pairs, made up but whole.
#pragma once

#include "dataset/collected.h"

#include <string>

namespace regraph::dataset::sample {

inline score::RegisteredProblem problem(const std::string& family, const std::string& name) {
  score::RegisteredProblem problem;
  problem.kernel = family + '/' + name;
  problem.family = family;
  problem.source = "__global__ void " + name + "(float* x) { x[threadIdx.x] = 1.0f; }\n";
  problem.manifest = "args: {x: {dir: out, shape: [32]}}\n";
  problem.id = score::problem_id(problem);
  return problem;
}

inline PairRecord pair(const score::RegisteredProblem& problem, const std::string& step) {
  PairRecord pair;
  pair.benchmark = problem.kernel;
  pair.source_file = "k.cu";
  pair.description = step;
  pair.slow = problem.source;
  pair.fast = problem.source + "// " + step + "\n__device__ int " + step + "_marker;\n";
  pair.problem = problem.id;
  pair.kernel = "k";
  pair.family = problem.family;
  pair.step = step;
  pair.parameters = R"({"factor":"4"})";
  pair.history = "[]";
  pair.launch_slow = pair.launch_fast = "[]";
  pair.manifest = problem.manifest;
  pair.assumptions = "[]";
  pair.device = "h200";
  pair.method = "predicted";
  pair.seconds_slow = 2e-6;
  pair.seconds_slow_low = 1.9e-6;
  pair.seconds_slow_high = 2.1e-6;
  pair.seconds_fast = 1e-6;
  pair.seconds_fast_low = 0.9e-6;
  pair.seconds_fast_high = 1.1e-6;
  pair.speedup = 2.0;
  pair.speedup_low = 1.9 / 1.1;
  pair.speedup_high = 2.1 / 0.9;
  pair.verdict = "correct";
  pair.verification = "twice";
  pair.tolerance = "exact";
  pair.origin = "run";
  pair.tool_version = "0";
  pair.fingerprint = pair_fingerprint(pair);
  pair.id = pair_id(pair);
  return pair;
}

inline StateItem state(const score::RegisteredProblem& problem, const std::string& step) {
  score::RegisteredState registered;
  registered.problem = problem.id;
  registered.source = problem.source;
  registered.plan = "[]";
  registered.step = step;
  registered.id = score::state_id(registered);
  return {score::state_text(registered),
          registered.id,
          problem.kernel,
          problem.family,
          step,
          stage_of(step),
          3,
          "rewrite",
          step + " please"};
}

// An answer of so many seconds, the parent's being two; 0: it is wrong.
inline AnswerItem answer(const StateItem& state, double seconds, const std::string& text) {
  AnswerItem answer;
  answer.state = state.id;
  answer.kernel = state.kernel;
  answer.family = state.family;
  answer.step = state.step;
  answer.completion = text;
  answer.outcome = seconds > 0.0 ? "correct" : "wrong";
  answer.method = "measured";
  answer.seconds = seconds;
  answer.seconds_low = 0.95 * seconds;
  answer.seconds_high = 1.05 * seconds;
  answer.parent_seconds = 2.0;
  answer.parent_seconds_low = 1.9;
  answer.parent_seconds_high = 2.1;
  answer.origin = "run";
  return answer;
}

}  // namespace regraph::dataset::sample
