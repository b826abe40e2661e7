#include "learn/sibling_ranking.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

namespace regraph::learn {

namespace {

constexpr double kPays = 0.05;
constexpr double kAsGood = 0.02;

}  // namespace

void RankingScore::add(const RankingScore& other) {
  const double total = families + other.families;
  if (total == 0.0) return;
  const auto put_together = [&](double& mean, double others) {
    mean = (mean * families + others * other.families) / total;
  };
  put_together(top_one, other.top_one);
  put_together(top_three, other.top_three);
  put_together(mean_rank, other.mean_rank);
  groups += other.groups;
  families += other.families;
}

RankingScore rank_siblings(std::span<const SiblingGroup> groups,
                           const policy::FeatureLayout& layout, const policy::PolicyReader* model,
                           RankedBy by) {
  struct Sums {
    double one = 0.0;
    double three = 0.0;
    double rank = 0.0;
    int groups = 0;
  };
  std::map<std::string, Sums> families;
  const std::size_t prior_place = *layout.place("graph.log_prior");
  for (const SiblingGroup& group : groups) {
    std::vector<double> values;
    std::vector<std::vector<float>> rows;
    for (const SiblingEdge& edge : group.edges) {
      const double gain = edge.verified ? edge.log_gain : -1.0;
      values.push_back(by == RankedBy::best_below ? edge.best_below : gain);
      rows.push_back(edge.row);
    }
    const double best = *std::ranges::max_element(values);
    if (best < kPays) continue;
    const auto opinions =
        model != nullptr ? model->opinions(rows) : std::vector<policy::EdgeOpinion>(rows.size());
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t at) {
      return rows[at][prior_place] + opinions[at].correction;
    });
    std::size_t rank = 0;
    while (values[order[rank]] < best - kAsGood)
      ++rank;
    Sums& sums = families[group.family];
    sums.one += rank == 0 ? 1.0 : 0.0;
    sums.three += rank < 3 ? 1.0 : 0.0;
    sums.rank += static_cast<double>(rank + 1);
    ++sums.groups;
  }
  RankingScore score;
  for (const auto& [family, sums] : families) {
    score.top_one += sums.one / sums.groups;
    score.top_three += sums.three / sums.groups;
    score.mean_rank += sums.rank / sums.groups;
    score.groups += sums.groups;
    ++score.families;
  }
  if (score.families > 0) {
    for (double* mean : {&score.top_one, &score.top_three, &score.mean_rank})
      *mean /= score.families;
  }
  return score;
}

}  // namespace regraph::learn
