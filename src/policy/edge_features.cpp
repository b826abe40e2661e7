#include "policy/edge_features.h"

#include "source/ir.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace regraph::policy {

namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

struct PolicyFact {
  std::string_view name;
  bool count = false;  // seen as ln(1 + value)
};

// What the timing model tells of every kernel; hardware counters fill the same names.
constexpr PolicyFact kPolicyFacts[] = {
    {"global_load_sectors_per_request", true},
    {"global_store_sectors_per_request", true},
    {"global_load_bytes_per_thread", true},
    {"shared_wavefronts_per_request", true},
    {"shared_conflict_share"},
    {"l1_hit_rate"},
    {"l2_hit_rate"},
    {"dram_bytes_over_compulsory", true},
    {"dram_utilization"},
    {"atomic_utilization"},
    {"l2_utilization"},
    {"lsu_utilization"},
    {"fma_utilization"},
    {"alu_utilization"},
    {"fp64_utilization"},
    {"special_function_utilization"},
    {"issue_utilization"},
    {"latency_share"},
    {"occupancy"},
    {"limited_by_registers"},
    {"limited_by_shared_memory"},
    {"limited_by_blocks"},
    {"limited_by_warps"},
    {"registers_per_thread", true},
    {"spill_bytes", true},
    {"shared_bytes_per_block", true},
    {"waves", true},
    {"thread_efficiency"},
    {"barriers_per_warp", true},
    {"arithmetic_intensity", true},
    {"roofline_fraction"},
    {"fp32_share"},
    {"integer_share"},
    {"memory_share"},
    {"branch_share"},
    {"special_function_share"},
    {"shuffle_share"},
    {"atomic_share"},
    {"flops_per_global_load", true},
};

// Settings of the steps that are numbers; "axis" becomes one number an axis, a block three.
constexpr std::string_view kSettings[] = {
    "factor", "depth",           "loop",           "rounds", "min_blocks",   "width",
    "pad",    "threads_per_row", "rows_per_block", "copies", "accumulators", "stages",
};

std::optional<double> number_of(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

float log2_of(double value) {
  return static_cast<float>(std::log2(1.0 + std::max(value, 0.0)));
}

// Extents of a block as a setting gives them: "256" or "32x8".
std::optional<std::pair<double, double>> extents_of(std::string_view text) {
  const std::size_t times = text.find('x');
  const auto x = number_of(text.substr(0, times));
  const auto y =
      times == std::string_view::npos ? std::optional(1.0) : number_of(text.substr(times + 1));
  if (!x || !y) return std::nullopt;
  return std::pair(*x, *y);
}

std::optional<KernelShape> shape_of_candidate(const Candidate& candidate) {
  const auto* form = dynamic_cast<const source::UnitForm*>(candidate.form.get());
  if (form == nullptr) return std::nullopt;
  const source::Kernel& kernel = form->unit().kernel;
  const Launch* launch = candidate.plan.launch_of(kernel.name);
  if (launch == nullptr) return std::nullopt;
  return shape_of(kernel, launch->block);
}

}  // namespace

FeatureLayout::FeatureLayout(std::vector<std::string> steps) : steps_(std::move(steps)) {
  std::erase(steps_, kOtherStep);
  steps_.emplace_back(kOtherStep);
  for (std::size_t at = 0; at < steps_.size(); ++at)
    step_places_.emplace(steps_[at], at);
  const auto group = [&](std::string_view prefix, const auto& names) {
    for (const auto& name : names)
      add(std::string(prefix) + std::string(name));
  };
  for (const PolicyFact& fact : kPolicyFacts)
    add("fact." + std::string(fact.name));
  group("shape.", kShapeNames);
  add("history.depth");
  add("history.log_speedup");
  group("count.", steps_);
  group("last.", steps_);
  first_of_edge_ = names_.size();
  group("step.", steps_);
  group("setting.", kSettings);
  for (const char* name :
       {"full", "axis_x", "axis_y", "axis_z", "block_x", "block_y", "block_threads"})
    add(std::string("setting.") + name);
  for (const char* name : {"log_prior", "evidence", "log_gain", "families"})
    add(std::string("graph.") + name);
  group("change.", kShapeNames);
}

void FeatureLayout::add(std::string name) {
  places_.emplace(name, names_.size());
  names_.push_back(std::move(name));
}

std::optional<std::size_t> FeatureLayout::place(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t FeatureLayout::step(std::string_view id) const {
  const auto found = step_places_.find(id);
  return found == step_places_.end() ? steps_.size() - 1 : found->second;
}

void EdgeFeatures::set_state(const StateView& state, std::vector<float>& row) const {
  std::size_t at = 0;
  for (const PolicyFact& fact : kPolicyFacts) {
    const auto known = state.facts.find(fact.name);
    float& value = row[at++];
    value = kUnknown;
    if (known == state.facts.end()) continue;
    value =
        static_cast<float>(fact.count ? std::log1p(std::max(known->second, 0.0)) : known->second);
  }
  for (std::size_t one = 0; one < kShapeSize; ++one)
    row[at++] = state.shape ? state.shape->values[one] : kUnknown;
  row[at++] = static_cast<float>(state.history.size());
  row[at++] = static_cast<float>(state.log_speedup);
  const std::size_t steps = layout_.steps().size();
  std::vector<int> counts(steps, 0);
  for (const std::string& step : state.history)
    ++counts[layout_.step(step)];
  for (const int count : counts)
    row[at++] = std::log1p(static_cast<float>(count));
  for (std::size_t one = 0; one < steps; ++one)
    row[at + one] = 0.0F;
  if (!state.history.empty()) row[at + layout_.step(state.history.back())] = 1.0F;
}

void EdgeFeatures::set_edge(const StepProposal& proposal, const StepGraph::Expectation& expectation,
                            double log_prior, std::vector<float>& row) const {
  std::size_t at = layout_.first_of_edge();
  const std::size_t steps = layout_.steps().size();
  for (std::size_t one = 0; one < steps; ++one)
    row[at + one] = 0.0F;
  row[at + layout_.step(proposal.step)] = 1.0F;
  at += steps;
  const auto setting = [&](std::string_view name) -> const std::string* {
    const auto found = proposal.parameters.find(std::string(name));
    return found == proposal.parameters.end() ? nullptr : &found->second;
  };
  for (const std::string_view name : kSettings) {
    const std::string* text = setting(name);
    const auto value = text != nullptr ? number_of(*text) : std::nullopt;
    row[at++] = value ? log2_of(*value) : 0.0F;
  }
  const std::string* factor = setting("factor");
  row[at++] = factor != nullptr && *factor == "full" ? 1.0F : 0.0F;
  const std::string* axis = setting("axis");
  for (const char* name : {"x", "y", "z"})
    row[at++] = axis != nullptr && *axis == name ? 1.0F : 0.0F;
  const std::string* block = setting("block");
  const auto extents = block != nullptr ? extents_of(*block) : std::nullopt;
  row[at++] = extents ? log2_of(extents->first) : 0.0F;
  row[at++] = extents ? log2_of(extents->second) : 0.0F;
  row[at++] = extents ? log2_of(extents->first * extents->second) : 0.0F;
  row[at++] = static_cast<float>(log_prior);
  row[at++] = static_cast<float>(expectation.evidence);
  row[at++] = static_cast<float>(expectation.log_gain);
  const Step* known = graph_.find(proposal.step);
  double families = 0.0;
  if (known != nullptr) {
    for (const auto& [device, statistics] : known->learned.predicted)
      families += static_cast<double>(statistics.families);
  }
  row[at++] = static_cast<float>(std::log1p(families));
}

StateView view_of(const Candidate& candidate, const ExpansionContext& context,
                  const std::vector<StepProposal>& proposals, const Expander& rewriter,
                  const std::vector<bool>& wanted) {
  StateView view;
  view.facts = context.evaluation.facts;
  view.method = context.evaluation.time.method;
  view.history = context.history;
  const double seconds = context.evaluation.time.median_seconds;
  if (context.original_seconds > 0.0 && seconds > 0.0)
    view.log_speedup = std::log(context.original_seconds / seconds);
  view.shape = shape_of_candidate(candidate);
  view.proposals = proposals;
  for (std::size_t index = 0; index < proposals.size(); ++index) {
    std::optional<KernelShape>& shape = view.after.emplace_back();
    const StepProposal& proposal = proposals[index];
    const bool unwanted = !wanted.empty() && !wanted[index];
    if (unwanted || proposal.parameters.contains(kAppliedBy) || !rewriter.repeatable(proposal))
      continue;
    const auto after = rewriter.apply(candidate, proposal, 0, {}, Cancellation{});
    if (after) shape = shape_of_candidate(*after);
  }
  return view;
}

std::vector<std::vector<float>> EdgeFeatures::rows(const StateView& state) const {
  std::vector<float> shared(layout_.size(), 0.0F);
  set_state(state, shared);
  const GainSource source{device_, state.method};
  std::vector<StepProposal> plain = state.proposals;
  for (StepProposal& proposal : plain)
    proposal.score.correction = 0.0;
  const std::vector<double> priors = graph_.priors(state.history, state.facts, source, plain);
  std::map<std::string_view, StepGraph::Expectation> expectations;
  std::vector<std::vector<float>> result;
  for (std::size_t index = 0; index < state.proposals.size(); ++index) {
    const StepProposal& proposal = state.proposals[index];
    auto known = expectations.find(proposal.step);
    if (known == expectations.end()) {
      const bool by_rewriter = !proposal.parameters.contains(kAppliedBy);
      known = expectations
                  .emplace(proposal.step, graph_.expectation(proposal.step, by_rewriter,
                                                             state.history, state.facts, source))
                  .first;
    }
    std::vector<float> row = shared;
    set_edge(proposal, known->second, std::log(priors[index]), row);
    const std::optional<KernelShape>& after = state.after[index];
    const std::size_t first = row.size() - kShapeSize;
    for (std::size_t one = 0; one < kShapeSize; ++one) {
      row[first + one] =
          state.shape && after ? after->values[one] - state.shape->values[one] : kUnknown;
    }
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace regraph::policy
