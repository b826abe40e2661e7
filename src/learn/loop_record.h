// What the iterations of search and training came to, and whether what was trained is kept.
#pragma once

#include "base/result.h"
#include "learn/learning_curves.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::learn {

// Evaluations at which held-out searches are told of, besides the last.
inline constexpr std::array<int, 2> kLoopShownAt = {10, 25};

// How well searches of held-out kernels did. Families count the same.
struct HeldOutScore {
  std::vector<double> shares;  // of the best known log-speedup, after kLoopShownAt below the budget
  double share_at_end = 0.0;   // after all evaluations
  double mean_share = 0.0;     // over 1, 2, ... evaluations: the area under the curve
  double evaluations_to_95 = 0.0;  // a miss counts 1.5 budgets
  int families = 0;
};
// Of the searches called `label`.
[[nodiscard]] HeldOutScore held_out_score(std::span<const RunDigest> digests,
                                          const std::string& label, int budget);

// Whether searches with something new did better than those with what there was: no less found at
// the end (but for .005), and more on the way. Evaluations to 95 % are told and not asked: a kernel
// that is missed by little would decide.
[[nodiscard]] bool is_better(const HeldOutScore& candidate, const HeldOutScore& before);

struct LoopIteration {
  int number = 0;
  int kernels = 0;  // that were searched
  int tries = 0;    // steps applied, by all iterations so far
  int states = 0;   // whose siblings were compared
  HeldOutScore before;
  HeldOutScore after;
  bool promoted = false;
};

// A line of words.
[[nodiscard]] std::string iteration_text(const LoopIteration& iteration);

// loop.json: "regraph-loop/1". `settings` names all that decides what comes of a loop.
[[nodiscard]] std::string loop_json(const std::string& settings,
                                    std::span<const LoopIteration> iterations);
// The settings of a loop.json. Errors start with `name`: parse.
[[nodiscard]] Result<std::string> loop_settings(std::string_view text, std::string_view name);

}  // namespace regraph::learn
