// Small kernels and models for the tests of policies.
#pragma once

#include "kernel/candidate.h"
#include "policy/policy_model.h"
#include "source/clang_frontend.h"
#include "source/ir.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace regraph::policy::test {

// Each text once: Clang takes a second to read the CUDA headers.
inline source::Unit parse(const std::string& code) {
  static std::map<std::string, source::Unit> known;
  if (const auto found = known.find(code); found != known.end()) return found->second;
  const auto configuration = source::default_front_end(regraph::test::cuda_root(), "sm_90");
  if (!configuration) {
    ADD_FAILURE() << configuration.error().message;
    return {};
  }
  auto parsed = source::parse_kernel(code, "kernel.cu", "", *configuration);
  if (!parsed || !parsed->unit) {
    ADD_FAILURE() << (parsed ? parsed->opaque_reason : parsed.error().message) << "\n" << code;
    return {};
  }
  return known.emplace(code, *std::move(parsed->unit)).first->second;
}

inline Candidate candidate_of(const std::string& code, const Dim3& block) {
  source::Unit unit = parse(code);
  Candidate candidate;
  candidate.source = code;
  candidate.plan.launches.push_back({.kernel = unit.kernel.name, .block = block});
  candidate.form = std::make_shared<source::UnitForm>(std::move(unit));
  return candidate;
}

// Numbers of both signs that are no sums of few powers of two, so that every sum is rounded.
inline float sample(std::size_t number) {
  return (static_cast<float>(number * 37 % 101) - 50.0F) / 97.0F;
}

// A model of two networks that reads numbers of the state and of the edge.
inline PolicyModel small_model() {
  PolicyModel model;
  model.steps = {"loop_unroll", "smem_tile"};
  model.inputs = {"fact.occupancy",       "shape.loops",   "history.depth",  "count.smem_tile",
                  "step.smem_tile",       "step.other",    "setting.factor", "graph.log_prior",
                  "change.shared_arrays", "setting.axis_x"};
  model.metadata = {{"corpus", "none"}, {"note", "two\nlines, \"quotes\" and \xc3\xa9"}};
  std::size_t number = 0;
  for (std::size_t input = 0; input < model.inputs.size(); ++input) {
    model.means.push_back(sample(number++));
    model.scales.push_back(1.0F + std::abs(sample(number++)));
  }
  for (const std::size_t hidden : {5U, 19U}) {
    DenseNetwork& network = model.networks.emplace_back(model.inputs.size(), hidden, kOpinionSize);
    for (auto* weights : {&network.first_weights, &network.first_biases, &network.second_weights,
                          &network.second_biases}) {
      for (float& weight : *weights)
        weight = sample(number++);
    }
  }
  return model;
}

}  // namespace regraph::policy::test
