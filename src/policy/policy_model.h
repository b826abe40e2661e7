// The policy: several small networks whose outputs are averaged, and what they need to know of
// their inputs. Plain data; policy_file.h reads and writes it.
#pragma once

#include "base/result.h"
#include "policy/dense_network.h"
#include "policy/edge_features.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace regraph::policy {

// What a model says of an edge.
struct EdgeOpinion {
  float correction = 0.0F;  // added to the logit of the graph's prior; trust is in it
  float log_gain = 0.0F;    // of this step alone
  float best_below = 0.0F;  // log-gain of the best state to be found behind the edge
};
inline constexpr std::size_t kOpinionSize = 3;

inline constexpr std::size_t kMostNetworks = 64;

// How far corrections are believed, 0 to 1, at the original and at later states
// (learn/correction_trust.h).
struct CorrectionTrust {
  float at_original = 1.0F;
  float below = 1.0F;
};

struct PolicyModel {
  std::vector<std::string> steps;   // vocabulary of the inputs' names
  std::vector<std::string> inputs;  // names, in the networks' order
  std::vector<float> means;         // by input, subtracted
  std::vector<float> scales;        // by input, then multiplied
  std::vector<DenseNetwork> networks;
  CorrectionTrust trust;
  std::map<std::string, std::string> metadata;  // who made it of what, see docs/learning.md

  // Whether all parts fit each other and all numbers are finite; else what is wrong.
  [[nodiscard]] std::string inconsistency() const;
};

// A correction is never beyond this.
inline constexpr float kLargestCorrection = 20.0F;

// What a network is given for a number: so many deviations from the mean, no more than four, so
// that what was never seen in training is not extrapolated far; 0 for one that is not known.
[[nodiscard]] inline float standardised(float value, float mean, float scale) {
  constexpr float kFarthest = 4.0F;
  const float result = (value - mean) * scale;
  if (!(result >= -kFarthest)) return result < 0.0F ? -kFarthest : 0.0F;
  return result < kFarthest ? result : kFarthest;
}

// Puts the rows of a layout before a model. Thread-safe.
class PolicyReader {
 public:
  // Error: unsupported, the model has an input that this program does not know.
  [[nodiscard]] static Result<PolicyReader> make(PolicyModel model);

  [[nodiscard]] const FeatureLayout& layout() const { return layout_; }
  [[nodiscard]] const PolicyModel& model() const { return model_; }
  // An opinion for each row, which are of one state: what they share is worked out once. Finite;
  // of an edge for which the weights give no number the model says nothing, 0.
  [[nodiscard]] std::vector<EdgeOpinion> opinions(
      const std::vector<std::vector<float>>& rows) const;

 private:
  PolicyReader(PolicyModel model, FeatureLayout layout);

  PolicyModel model_;
  FeatureLayout layout_;
  std::vector<std::size_t> places_;  // by input of the model: in a row of the layout
  std::size_t depth_place_ = 0;      // of history.depth
  std::size_t shared_ = 0;           // inputs before this are the state's
};

}  // namespace regraph::policy
