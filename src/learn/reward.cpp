#include "learn/reward.h"

#include <algorithm>
#include <cmath>

namespace regraph::learn {
namespace {

constexpr std::array<const char*, kAnswerOutcomeCount> kAnswerOutcomes = {
    "unreadable", "suspicious",        "not_compiled", "not_launched", "unchanged",
    "wrong",      "same_machine_code", "correct",      "no_verdict"};

constexpr std::array<const char*, kRewardKindCount> kRewardKinds = {
    "regraph",         "log_speedup", "regrapht",   "kernel_compare", "toronto_frontend",
    "toronto_mid_end", "triton_gym",  "cuda_agent", "triton_rl_plan", "triton_rl_code"};

// Less than this of a logarithm is noise.
constexpr double kNoise = 0.01;
constexpr double kMargin = 0.05;          // of cuda_agent
constexpr double kTritonRlClip = 2.0;     // of triton_rl_plan
constexpr double kMilliseconds = 1000.0;  // in a second

// Times that a formula may use.
struct RewardTimes {
  double answer = 0.0;
  double parent = 0.0;
  double original = 0.0;
};

bool usable(double seconds) {
  return std::isfinite(seconds) && seconds > 0.0;
}

// Of two usable times; neither overflows nor underflows, as their quotient may.
double log_speedup_of(double before, double after) {
  return std::log(before) - std::log(after);
}

std::optional<double> finite(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

double regraph_reward_of_speedup(double log_speedup) {
  constexpr double kBase = 0.2;
  constexpr double kSlope = 0.8;
  constexpr double kWorst = -0.25;
  const double counted = std::abs(log_speedup) < kNoise ? 0.0 : log_speedup;
  // 0.2 + 0.8 * -0.25 is 0 but for rounding, and less than 0 would be less than a correct answer's.
  return std::max(0.0, kBase + kSlope * std::clamp(counted / std::log(4.0), kWorst, 1.0));
}

std::optional<double> regraph_reward(const RewardFacts& facts) {
  switch (facts.outcome) {
    case AnswerOutcome::unreadable:
    case AnswerOutcome::suspicious:
      return -1.0;
    case AnswerOutcome::not_compiled:
      return -0.8;
    case AnswerOutcome::not_launched:
      return -0.7;
    case AnswerOutcome::unchanged:
      return -0.6;
    case AnswerOutcome::wrong:
      return -0.5;
    case AnswerOutcome::same_machine_code:
      return facts.step_is_no_op ? 0.0 : -0.3;
    case AnswerOutcome::correct:
      if (!usable(facts.seconds) || !usable(facts.parent_seconds)) return std::nullopt;
      return regraph_reward_of_speedup(log_speedup_of(facts.parent_seconds, facts.seconds));
    case AnswerOutcome::no_verdict:
      break;
  }
  return std::nullopt;
}

// What the formulas of others say of an answer that fails. A guardrail that fired is to them what
// an unreadable answer is: none of them pays a cheat that was caught.
std::optional<double> failure_reward(RewardKind kind, AnswerOutcome outcome) {
  const bool compiles = outcome == AnswerOutcome::not_launched || outcome == AnswerOutcome::wrong;
  switch (kind) {
    case RewardKind::log_speedup:
    case RewardKind::regrapht:
    case RewardKind::cuda_agent:
      return -1.0;
    case RewardKind::kernel_compare:
      return compiles ? 0.4 : 0.0;
    case RewardKind::toronto_frontend:
    case RewardKind::toronto_mid_end:
      return -10.0;
    case RewardKind::triton_gym:
      return compiles ? -5.0 : -10.0;
    case RewardKind::triton_rl_plan:
    case RewardKind::triton_rl_code:
      return 0.0;
    case RewardKind::regraph:
      break;
  }
  return std::nullopt;
}

// What they say of a correct one.
std::optional<double> success_reward(RewardKind kind, const RewardTimes& times) {
  const double against_original = times.original / times.answer;
  switch (kind) {
    case RewardKind::log_speedup:
      return log_speedup_of(times.parent, times.answer);
    case RewardKind::regrapht:
      // ReGraphT, arXiv 2510.19873, reward of the search: R = speedup - 1 where speedup < 1, else
      // speedup, against the code the search began with; -1 where a test fails.
      return finite(against_original < 1.0 ? against_original - 1.0 : against_original);
    case RewardKind::kernel_compare:
      // KernelCompare (Gulati, Stanford): 0.4 compile + 0.4 correct + 0.2 faster than PyTorch; what
      // the problem began with stands for PyTorch here.
      return 0.4 + 0.4 + (times.answer < times.original ? 0.2 : 0.0);
    case RewardKind::toronto_frontend:
      // Li, Li, Chen (Toronto, December 2025): R_frontend = -10 on any failure, else +1.
      return 1.0;
    case RewardKind::toronto_mid_end:
      // The same: R_midend = -10 on any failure, else 1 + t_torch / t_triton.
      return finite(1.0 + against_original);
    case RewardKind::triton_gym:
      // A sketch named after TritonGym in the UTD notes: -10 where it does not compile, -5 where it
      // is wrong, else max(0, 10 / latency). The unit, which sets the scale, is not in it.
      return finite(std::max(0.0, 10.0 / (times.answer * kMilliseconds)));
    case RewardKind::cuda_agent: {
      // CUDA Agent, arXiv 2602.24286: -1 fails, 2 more than 5 % faster than eager execution, 3 than
      // the compiler's code, too, 1 otherwise. The original stands for the weak baseline, the
      // parent for the strong one.
      const auto beats = [&](double baseline) {
        return (baseline - times.answer) / baseline > kMargin;
      };
      if (!beats(times.original)) return 1.0;
      return beats(times.parent) ? 3.0 : 2.0;
    }
    case RewardKind::triton_rl_plan:
      // TritonRL, arXiv 2510.17891: valid * speedup for tokens of the plan; its re-implementations
      // clip at 2.
      return std::min(against_original, kTritonRlClip);
    case RewardKind::triton_rl_code:
      return 1.0;  // the same: valid * correct for tokens of the code
    case RewardKind::regraph:
      break;
  }
  return std::nullopt;
}

bool against_the_original(RewardKind kind) {
  return kind == RewardKind::regrapht || kind == RewardKind::kernel_compare ||
         kind == RewardKind::toronto_mid_end || kind == RewardKind::cuda_agent ||
         kind == RewardKind::triton_rl_plan;
}

}  // namespace

const char* name(AnswerOutcome outcome) {
  return kAnswerOutcomes[static_cast<std::size_t>(outcome)];
}

std::optional<AnswerOutcome> read_answer_outcome(std::string_view text) {
  for (int i = 0; i < kAnswerOutcomeCount; ++i) {
    if (text == name(static_cast<AnswerOutcome>(i))) return static_cast<AnswerOutcome>(i);
  }
  return std::nullopt;
}

bool is_correct(AnswerOutcome outcome) {
  return outcome == AnswerOutcome::correct || outcome == AnswerOutcome::same_machine_code;
}

const char* name(RewardKind kind) {
  return kRewardKinds[static_cast<std::size_t>(kind)];
}

std::optional<RewardKind> read_reward_kind(std::string_view text) {
  for (int i = 0; i < kRewardKindCount; ++i) {
    if (text == name(static_cast<RewardKind>(i))) return static_cast<RewardKind>(i);
  }
  return std::nullopt;
}

std::array<const char*, kRewardKindCount> reward_names() {
  return kRewardKinds;
}

std::optional<double> reward(RewardKind kind, const RewardFacts& facts) {
  if (facts.outcome == AnswerOutcome::no_verdict) return std::nullopt;
  if (kind == RewardKind::regraph) return regraph_reward(facts);
  // The others know no copies: the parent's text is a correct answer that takes the parent's time.
  const bool copied = facts.outcome == AnswerOutcome::unchanged;
  if (!copied && !is_correct(facts.outcome)) return failure_reward(kind, facts.outcome);
  const RewardTimes times = {copied ? facts.parent_seconds : facts.seconds, facts.parent_seconds,
                             facts.original_seconds};
  if (!usable(times.answer) || !usable(times.parent)) return std::nullopt;
  if (against_the_original(kind) && !usable(times.original)) return std::nullopt;
  return success_reward(kind, times);
}

}  // namespace regraph::learn
