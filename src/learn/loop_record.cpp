#include "learn/loop_record.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numeric>
#include <vector>

namespace regraph::learn {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLoopFormat = "regraph-loop/1";
// Less than this many log-speedups lost at the end is none.
constexpr double kTolerance = 0.005;

Json score_json(const HeldOutScore& score) {
  Json shares = Json::object();
  for (std::size_t at = 0; at < score.shares.size(); ++at)
    shares[std::to_string(kLoopShownAt[at])] = score.shares[at];
  return {{"share", std::move(shares)},
          {"share_at_end", score.share_at_end},
          {"mean_share", score.mean_share},
          {"evaluations_to_95_percent", score.evaluations_to_95},
          {"families", score.families}};
}

std::string score_text(const HeldOutScore& score) {
  std::string text;
  for (std::size_t at = 0; at < score.shares.size(); ++at)
    text += fmt::format("{:.3f} at {}, ", score.shares[at], kLoopShownAt[at]);
  return text + fmt::format("{:.3f} at the end, {:.3f} on average, {:.1f} evaluations to 95 %",
                            score.share_at_end, score.mean_share, score.evaluations_to_95);
}

}  // namespace

HeldOutScore held_out_score(std::span<const RunDigest> digests, const std::string& label,
                            int budget) {
  std::vector<int> at;
  for (int evaluations = 1; evaluations <= budget; ++evaluations)
    at.push_back(evaluations);
  const FamilyCurves curves = curves_of(digests, label, best_known(digests), at, budget);
  HeldOutScore score;
  score.families = static_cast<int>(curves.share.size());
  std::vector<double> means(at.size());
  for (const auto& [family, shares] : curves.share) {
    for (std::size_t place = 0; place < means.size(); ++place)
      means[place] += shares[place] / score.families;
  }
  for (const int evaluations : kLoopShownAt) {
    if (evaluations < budget)
      score.shares.push_back(means[static_cast<std::size_t>(evaluations) - 1]);
  }
  score.share_at_end = means.back();
  score.mean_share = std::accumulate(means.begin(), means.end(), 0.0) / budget;
  for (const auto& [family, evaluations] : curves.evaluations_to_95)
    score.evaluations_to_95 += evaluations / score.families;
  return score;
}

bool is_better(const HeldOutScore& candidate, const HeldOutScore& before) {
  return candidate.share_at_end >= before.share_at_end - kTolerance &&
         candidate.mean_share > before.mean_share;
}

std::string iteration_text(const LoopIteration& iteration) {
  return fmt::format(
      "iteration {}: {} kernels searched, {} tries, {} states; held out ({} "
      "families): {}; before: {}; {}",
      iteration.number, iteration.kernels, iteration.tries, iteration.states,
      iteration.after.families, score_text(iteration.after), score_text(iteration.before),
      iteration.promoted ? "promoted" : "not better, what there was is kept");
}

std::string loop_json(const std::string& settings, std::span<const LoopIteration> iterations) {
  Json json = {{"format", kLoopFormat}, {"settings", settings}, {"iterations", Json::array()}};
  for (const LoopIteration& iteration : iterations) {
    json["iterations"].push_back({{"number", iteration.number},
                                  {"kernels", iteration.kernels},
                                  {"tries", iteration.tries},
                                  {"states", iteration.states},
                                  {"before", score_json(iteration.before)},
                                  {"after", score_json(iteration.after)},
                                  {"promoted", iteration.promoted}});
  }
  return json.dump(2) + "\n";
}

Result<std::string> loop_settings(std::string_view text, std::string_view name) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_object() && json.value("format", "") == kLoopFormat) {
    const auto settings = json.find("settings");
    if (settings != json.end() && settings->is_string()) return settings->get<std::string>();
  }
  return fail(ErrorCode::parse, std::string(name) + ": not the record of a loop (format " +
                                    kLoopFormat + "); move it away or take another folder");
}

}  // namespace regraph::learn
