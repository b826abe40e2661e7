// What an answer to "apply this step to this kernel" is worth to a trainer: pure functions of what
// became of it. The formulas of others are here to compare with; `regraph` is the default.
//
//   regraph, s = parent's time over the answer's:
//     unreadable, suspicious                          -1
//     does not compile / cannot be launched           -0.8 / -0.7
//     unchanged (the tokens and launch of the parent) -0.6
//     wrong in any way                                -0.5
//     correct, machine code and launch the parent's   -0.3; 0 where the rewriter's own application
//                                                     of the step is such a no-op, too
//     correct                                         0.2 + 0.8 clip(ln s / ln 4, -0.25, 1), with
//                                                     |ln s| < 0.01 counted as 0
//     the service failed                              none
//
// A correct slower answer (0 at least) is worth more than any failure, and a copy less than any
// honest try, else a policy drifts to safe copies ("lazy optimization", arXiv 2602.05885).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace regraph::learn {

// What became of an answer, from the worst on.
enum class AnswerOutcome : std::uint8_t {
  unreadable,         // no code, cut off, or it holds what answers may not
  suspicious,         // a guardrail fired: it cheats
  not_compiled,       // the CUDA compiler rejects it
  not_launched,       // it cannot be launched
  unchanged,          // tokens and launch are the parent's
  wrong,              // another result, a race, out of bounds, a timeout, a crash, not verifiable
  same_machine_code,  // correct; what runs is what ran before
  correct,
  no_verdict,  // nothing is known: the service failed, not the answer
};
inline constexpr int kAnswerOutcomeCount = static_cast<int>(AnswerOutcome::no_verdict) + 1;
// Returns the lower-case name, e.g. "not_compiled".
[[nodiscard]] const char* name(AnswerOutcome outcome);
[[nodiscard]] std::optional<AnswerOutcome> read_answer_outcome(std::string_view name);
// correct and same_machine_code.
[[nodiscard]] bool is_correct(AnswerOutcome outcome);

struct RewardFacts {
  AnswerOutcome outcome = AnswerOutcome::no_verdict;
  // Medians; valid and positive where the answer is correct.
  double seconds = 0.0;           // of the answer
  double parent_seconds = 0.0;    // of the kernel that the step was applied to
  double original_seconds = 0.0;  // of the kernel that the problem began with
  // The rewriter's application of the same step with the same parameters has the parent's machine
  // code: then a no-op is what was asked for.
  bool step_is_no_op = false;
};

enum class RewardKind : std::uint8_t {
  regraph,           // above
  log_speedup,       // ln(parent / answer); failures -1
  regrapht,          // arXiv 2510.19873, against the original: s, s - 1 where slower, failures -1
  kernel_compare,    // 0.4 compiles + 0.4 correct + 0.2 faster than the original
  toronto_frontend,  // +1 correct, -10 otherwise
  toronto_mid_end,   // 1 + s against the original; -10 otherwise
  triton_gym,        // -10 does not compile, -5 wrong, max(0, 10 / milliseconds) else
  cuda_agent,        // -1 fails, 1 correct, 5 % faster than the original 2, than the parent too 3
  triton_rl_plan,    // hierarchical: valid * clipped speedup, for the tokens of the plan
  triton_rl_code,    // hierarchical: valid * correct, for the tokens of the code
};
inline constexpr int kRewardKindCount = static_cast<int>(RewardKind::triton_rl_code) + 1;
[[nodiscard]] const char* name(RewardKind kind);
[[nodiscard]] std::optional<RewardKind> read_reward_kind(std::string_view name);
[[nodiscard]] std::array<const char*, kRewardKindCount> reward_names();

// The reward, a finite number; nothing where the outcome is no_verdict, or correct without usable
// times. `regraph` needs no time of a same_machine_code. To the formulas of others, which know no
// copies, `unchanged` is a correct answer that takes the parent's time, and `suspicious` is
// unreadable.
[[nodiscard]] std::optional<double> reward(RewardKind kind, const RewardFacts& facts);

}  // namespace regraph::learn
