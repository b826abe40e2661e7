#include "policy/policy_model.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace regraph::policy {

namespace {

bool all_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

// Whether each is a line of its own in a file, and none is there twice.
bool are_names(const std::vector<std::string>& names) {
  const auto is_line = [](const std::string& name) {
    return !name.empty() && name.find('\n') == std::string::npos;
  };
  return std::ranges::all_of(names, is_line) &&
         std::set(names.begin(), names.end()).size() == names.size();
}

}  // namespace

std::string PolicyModel::inconsistency() const {
  if (inputs.empty() || networks.empty()) return "it has no inputs or no networks";
  if (networks.size() > kMostNetworks) return "it has too many networks";
  if (!are_names(inputs)) return "an input is named twice, or its name is not one line of text";
  if (!are_names(steps)) return "a step is named twice, or its name is not one line of text";
  if (means.size() != inputs.size() || scales.size() != inputs.size())
    return "it does not have one mean and one scale for each input";
  if (!all_finite(means) || !all_finite(scales)) return "a mean or scale is not a finite number";
  for (const float share : {trust.at_original, trust.below}) {
    if (!(share >= 0.0F && share <= 1.0F)) return "a trust is not between 0 and 1";
  }
  for (const DenseNetwork& network : networks) {
    if (network.inputs != inputs.size()) return "a network takes another number of inputs";
    if (network.outputs != kOpinionSize || network.hidden == 0)
      return "a network has another number of outputs";
    if (network.first_weights.size() != network.inputs * network.hidden ||
        network.first_biases.size() != network.hidden ||
        network.second_weights.size() != network.hidden * network.outputs ||
        network.second_biases.size() != network.outputs)
      return "a network's layers do not fit each other";
    if (!all_finite(network.first_weights) || !all_finite(network.first_biases) ||
        !all_finite(network.second_weights) || !all_finite(network.second_biases))
      return "a weight is not a finite number";
  }
  return {};
}

PolicyReader::PolicyReader(PolicyModel model, FeatureLayout layout)
    : model_(std::move(model)), layout_(std::move(layout)) {}

Result<PolicyReader> PolicyReader::make(PolicyModel model) {
  if (const std::string wrong = model.inconsistency(); !wrong.empty())
    return fail(ErrorCode::parse, wrong);
  FeatureLayout layout(model.steps);
  PolicyReader reader(std::move(model), std::move(layout));
  reader.depth_place_ = *reader.layout_.place("history.depth");
  bool edges = false;
  for (const std::string& input : reader.model_.inputs) {
    const auto place = reader.layout_.place(input);
    if (!place) {
      return fail(ErrorCode::unsupported, "it knows the input '" + input +
                                              "', which this version does not; use the version "
                                              "that made it, or train a new one");
    }
    edges = edges || *place >= reader.layout_.first_of_edge();
    if (!edges) ++reader.shared_;
    reader.places_.push_back(*place);
  }
  return reader;
}

std::vector<EdgeOpinion> PolicyReader::opinions(const std::vector<std::vector<float>>& rows) const {
  std::vector<EdgeOpinion> result(rows.size());
  if (rows.empty()) return result;
  // [rows][inputs], what is not known at its mean
  std::vector<std::vector<float>> values;
  for (const std::vector<float>& row : rows) {
    std::vector<float>& ready = values.emplace_back(places_.size());
    for (std::size_t input = 0; input < places_.size(); ++input) {
      ready[input] = standardised(row[places_[input]], model_.means[input], model_.scales[input]);
    }
  }
  for (const DenseNetwork& network : model_.networks) {
    std::vector<float> state = network.first_biases;
    network.accumulate(0, std::span(values.front()).first(shared_), state);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      std::vector<float> sums = state;
      network.accumulate(shared_, std::span(values[row]).subspan(shared_), sums);
      float outputs[kOpinionSize];
      network.finish(sums, outputs);
      result[row].correction += outputs[0];
      result[row].log_gain += outputs[1];
      result[row].best_below += outputs[2];
    }
  }
  const auto count = static_cast<float>(model_.networks.size());
  const bool at_original = rows.front()[depth_place_] == 0.0F;
  const float trust = at_original ? model_.trust.at_original : model_.trust.below;
  for (EdgeOpinion& opinion : result) {
    // Finite weights may still add up to none.
    if (!std::isfinite(opinion.correction) || !std::isfinite(opinion.log_gain) ||
        !std::isfinite(opinion.best_below)) {
      opinion = {};
      continue;
    }
    opinion.correction =
        std::clamp(trust * opinion.correction / count, -kLargestCorrection, kLargestCorrection);
    opinion.log_gain /= count;
    opinion.best_below /= count;
  }
  return result;
}

}  // namespace regraph::policy
