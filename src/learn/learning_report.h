// How much learning helps, in words, as JSON and as a picture.
#pragma once

#include "learn/learning_curves.h"
#include "learn/sibling_ranking.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regraph::learn {

struct LearningReport {
  std::string title;
  int budget = 60;
  std::vector<int> at;                         // evaluations at which shares are told
  std::vector<std::string> labels;             // ways of searching, in the order they are told
  std::map<std::string, FamilyCurves> curves;  // by label
  std::map<std::string, std::vector<double>> mean_shares;  // by label, after 1, 2, ... evaluations
  std::vector<std::pair<std::string, std::string>> comparisons;  // of labels, first against second
  // Ranking of steps and settings at the original and below, by prior and kind.
  std::vector<std::pair<std::string, RankingScore>> rankings;
  std::vector<std::string> notes;
};

[[nodiscard]] std::string report_text(const LearningReport& report);
// "regraph-learning/1"
[[nodiscard]] std::string report_json(const LearningReport& report);
// Share of the best known log-speedup against evaluations, a line a label.
[[nodiscard]] std::string report_picture(const LearningReport& report);

}  // namespace regraph::learn
