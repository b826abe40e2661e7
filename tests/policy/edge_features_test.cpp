#include "policy/edge_features.h"

#include "policy/policy_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace regraph::policy::edge_features_test {
namespace {

constexpr const char* kDevice = "h200";
constexpr const char* kPlain = R"(__global__ void f(const float* a, float* b) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  b[x] = a[x];
})";
constexpr const char* kTiled = R"(__global__ void f(const float* a, float* b) {
  __shared__ float tile[256];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[x];
  __syncthreads();
  b[x] = tile[threadIdx.x];
})";

StepProposal proposal_of(std::string step, StepParameters parameters = {}) {
  StepProposal proposal;
  proposal.step = std::move(step);
  proposal.parameters = std::move(parameters);
  return proposal;
}

// Two steps: one with evidence and something learned, one without either.
StepGraph small_graph() {
  StepGraph graph;
  Step tile;
  tile.id = "smem_tile";
  tile.evidence = {{"occupancy", Comparison::greater, 0.5, 3.0}, {"waves", Comparison::less, 1.0}};
  tile.learned.predicted[kDevice] = {.families = 2,
                                     .kernels = 4,
                                     .observations = 9,
                                     .sum_positive = 0.8,
                                     .tries = 9,
                                     .verified = 9};
  tile.learned.predicted["a100"].families = 5;
  Step unroll;
  unroll.id = "loop_unroll";
  EXPECT_TRUE(graph.add_step(tile));
  EXPECT_TRUE(graph.add_step(unroll));
  Transition gain;
  gain.expected_speedup = 2.0;
  EXPECT_TRUE(graph.add_transition("init", "smem_tile", gain));
  gain.expected_speedup = 1.25;
  EXPECT_TRUE(graph.add_transition("init", "loop_unroll", gain));
  return graph;
}

// Rows of a state over that graph, by name.
class Rows {
 public:
  explicit Rows(StateView state, std::vector<std::string> steps = {"smem_tile", "loop_unroll"})
      : layout_(std::move(steps)), state_(std::move(state)) {
    state_.after.resize(state_.proposals.size());
    rows_ = EdgeFeatures(layout_, graph_, kDevice).rows(state_);
  }
  float at(std::size_t row, std::string_view name) const {
    const auto place = layout_.place(name);
    if (!place) ADD_FAILURE() << "no number is called " << name;
    return place ? rows_.at(row).at(*place) : 0.0F;
  }
  const FeatureLayout& layout() const { return layout_; }
  const StepGraph& graph() const { return graph_; }
  const StateView& state() const { return state_; }
  const std::vector<std::vector<float>>& all() const { return rows_; }

 private:
  const FeatureLayout layout_;
  const StepGraph graph_ = small_graph();
  StateView state_;
  std::vector<std::vector<float>> rows_;
};

StateView state_with(std::vector<StepProposal> proposals) {
  StateView state;
  state.proposals = std::move(proposals);
  return state;
}

// Makes the tiled kernel of anything; "loop_unroll" never applies. Counts its calls.
class Tiler final : public Expander {
 public:
  std::vector<StepProposal> propose(const Candidate&, const ExpansionContext&,
                                    const Cancellation&) const override {
    return {};
  }
  Result<Candidate> apply(const Candidate&, const StepProposal& proposal, int,
                          const ExpansionContext&, const Cancellation&) const override {
    ++calls;
    if (proposal.step == "loop_unroll") return Error{ErrorCode::refused, "no loop"};
    return test::candidate_of(kTiled, {.x = 256});
  }
  mutable int calls = 0;
};

TEST(FeatureLayout, NamesAreUniqueAndHaveTheirPlaces) {
  const FeatureLayout layout({"smem_tile", "loop_unroll"});
  const auto& names = layout.names();
  ASSERT_EQ(layout.size(), names.size());
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  for (std::size_t at = 0; at < names.size(); ++at)
    EXPECT_EQ(layout.place(names[at]), at) << names[at];
  EXPECT_FALSE(layout.place("fact.nothing"));
  EXPECT_FALSE(layout.place("step.coalesce_swap"));
}

TEST(FeatureLayout, FactsAreOfTheVocabulary) {
  int facts = 0;
  const FeatureLayout layout({});
  for (const std::string& name : layout.names()) {
    if (!name.starts_with("fact.")) continue;
    ++facts;
    EXPECT_TRUE(is_known_fact(name.substr(5))) << name;
  }
  EXPECT_GT(facts, 30);
}

TEST(FeatureLayout, OthersAreTheLastStepAndThereOnce) {
  for (const auto& steps : std::vector<std::vector<std::string>>{{"a", "b"}, {"other", "a", "b"}}) {
    const FeatureLayout layout(steps);
    EXPECT_EQ(layout.steps(), (std::vector<std::string>{"a", "b", "other"}));
  }
}

TEST(FeatureLayout, SplitsStateFromEdge) {
  const FeatureLayout layout({"smem_tile"});
  const std::set<std::string> of_state = {"fact", "shape", "history", "count", "last"};
  const std::set<std::string> of_edge = {"step", "setting", "graph", "change"};
  for (std::size_t at = 0; at < layout.size(); ++at) {
    const std::string group = layout.names()[at].substr(0, layout.names()[at].find('.'));
    EXPECT_EQ(of_state.contains(group), at < layout.first_of_edge()) << layout.names()[at];
    EXPECT_EQ(of_edge.contains(group), at >= layout.first_of_edge()) << layout.names()[at];
  }
}

TEST(EdgeFeatures, EdgesOfAStateShareItsNumbers) {
  StateView state = state_with({proposal_of("smem_tile"), proposal_of("loop_unroll"),
                                proposal_of("nobody_knows", {{"factor", "4"}})});
  state.facts = {{"occupancy", 0.5}, {"registers_per_thread", 40.0}};
  state.history = {"smem_tile", "nobody_knows"};
  state.shape = KernelShape{};
  const Rows rows(state);
  ASSERT_EQ(rows.all().size(), 3U);
  for (const auto& row : rows.all()) {
    ASSERT_EQ(row.size(), rows.layout().size());
    for (std::size_t at = 0; at < rows.layout().first_of_edge(); ++at) {
      const float value = rows.all().front()[at];
      EXPECT_TRUE(row[at] == value || (std::isnan(row[at]) && std::isnan(value)))
          << rows.layout().names()[at];
    }
  }
  EXPECT_EQ(rows.at(0, "step.smem_tile"), 1.0F);
  EXPECT_EQ(rows.at(0, "step.other"), 0.0F);
  EXPECT_EQ(rows.at(2, "step.smem_tile"), 0.0F);
  EXPECT_EQ(rows.at(2, "step.other"), 1.0F);
}

TEST(EdgeFeatures, FactsThatAreNotKnownAreNoNumbers) {
  StateView state = state_with({proposal_of("smem_tile")});
  state.facts = {{"occupancy", 0.25}, {"registers_per_thread", 40.0}, {"spill_bytes", -1.0}};
  const Rows rows(state);
  EXPECT_EQ(rows.at(0, "fact.occupancy"), 0.25F);
  EXPECT_FLOAT_EQ(rows.at(0, "fact.registers_per_thread"), std::log(41.0F));
  EXPECT_EQ(rows.at(0, "fact.spill_bytes"), 0.0F);
  EXPECT_TRUE(std::isnan(rows.at(0, "fact.waves")));
  EXPECT_TRUE(std::isnan(rows.at(0, "shape.loops")));  // the code cannot be read
}

TEST(EdgeFeatures, TellsHowTheSearchCameThere) {
  StateView state = state_with({proposal_of("smem_tile")});
  state.log_speedup = 0.75;
  EXPECT_EQ(Rows(state).at(0, "last.other"), 0.0F);
  state.history = {"smem_tile", "loop_unroll", "renamed", "smem_tile", "unknown", "other"};
  const Rows rows(state);
  EXPECT_EQ(rows.at(0, "history.depth"), 6.0F);
  EXPECT_EQ(rows.at(0, "history.log_speedup"), 0.75F);
  EXPECT_FLOAT_EQ(rows.at(0, "count.smem_tile"), std::log(3.0F));
  EXPECT_FLOAT_EQ(rows.at(0, "count.loop_unroll"), std::log(2.0F));
  EXPECT_FLOAT_EQ(rows.at(0, "count.other"), std::log(4.0F));
  EXPECT_EQ(rows.at(0, "last.other"), 1.0F);
  EXPECT_EQ(rows.at(0, "last.smem_tile"), 0.0F);
}

TEST(EdgeFeatures, SettingsAreLogarithms) {
  const Rows rows(state_with({
      proposal_of("loop_unroll", {{"factor", "3"}, {"axis", "y"}, {"loop", "0"}}),
      proposal_of("loop_unroll", {{"factor", "full"}, {"axis", "diagonal"}, {"pad", "-2"}}),
      proposal_of("block_size", {{"block", "31x7"}}),
      proposal_of("block_size", {{"block", "255"}}),
      proposal_of("block_size", {{"block", "32xtwo"}, {"width", "4 "}}),
  }));
  EXPECT_EQ(rows.at(0, "setting.factor"), 2.0F);  // log2(1 + 3)
  EXPECT_EQ(rows.at(0, "setting.full"), 0.0F);
  EXPECT_EQ(rows.at(0, "setting.axis_x"), 0.0F);
  EXPECT_EQ(rows.at(0, "setting.axis_y"), 1.0F);
  EXPECT_EQ(rows.at(0, "setting.loop"), 0.0F);
  EXPECT_EQ(rows.at(0, "setting.width"), 0.0F);  // not a setting of it
  EXPECT_EQ(rows.at(1, "setting.factor"), 0.0F);
  EXPECT_EQ(rows.at(1, "setting.full"), 1.0F);
  EXPECT_EQ(rows.at(1, "setting.axis_y"), 0.0F);
  EXPECT_EQ(rows.at(1, "setting.pad"), 0.0F);
  EXPECT_EQ(rows.at(2, "setting.block_x"), 5.0F);
  EXPECT_EQ(rows.at(2, "setting.block_y"), 3.0F);
  EXPECT_FLOAT_EQ(rows.at(2, "setting.block_threads"), std::log2(218.0F));
  EXPECT_EQ(rows.at(3, "setting.block_x"), 8.0F);
  EXPECT_EQ(rows.at(3, "setting.block_y"), 1.0F);
  EXPECT_EQ(rows.at(3, "setting.block_threads"), 8.0F);
  EXPECT_EQ(rows.at(4, "setting.block_x"), 0.0F);
  EXPECT_EQ(rows.at(4, "setting.width"), 0.0F);
}

TEST(EdgeFeatures, SaysWhatTheGraphExpects) {
  StateView state =
      state_with({proposal_of("smem_tile"), proposal_of("loop_unroll"),
                  proposal_of("loop_unroll", {{"factor", "2"}}), proposal_of("nobody_knows")});
  state.facts = {{"occupancy", 0.75}, {"waves", 2.0}};
  const Rows rows(state);
  const GainSource source{kDevice, TimeMethod::predicted};
  const auto priors = rows.graph().priors({}, state.facts, source, state.proposals);
  for (std::size_t row = 0; row < state.proposals.size(); ++row) {
    EXPECT_FLOAT_EQ(rows.at(row, "graph.log_prior"), static_cast<float>(std::log(priors[row])));
    const auto expected =
        rows.graph().expectation(state.proposals[row].step, true, {}, state.facts, source);
    EXPECT_FLOAT_EQ(rows.at(row, "graph.log_gain"), static_cast<float>(expected.log_gain));
    EXPECT_GT(rows.at(row, "graph.log_gain"), 0.0F);
  }
  EXPECT_EQ(rows.at(0, "graph.evidence"), 0.75F);  // conditions of weights 3 and 1, the first holds
  EXPECT_EQ(rows.at(1, "graph.evidence"), 0.5F);
  EXPECT_EQ(rows.at(1, "graph.log_prior"), rows.at(2, "graph.log_prior"));
  EXPECT_FLOAT_EQ(rows.at(0, "graph.families"), std::log(8.0F));  // of both devices
  EXPECT_EQ(rows.at(1, "graph.families"), 0.0F);
  EXPECT_EQ(rows.at(3, "graph.families"), 0.0F);
}

// Else a policy would see its own answers.
TEST(EdgeFeatures, PriorsAreWithoutCorrections) {
  StateView state = state_with({proposal_of("smem_tile"), proposal_of("loop_unroll")});
  const Rows plain(state);
  state.proposals[1].score.correction = 5.0;
  const Rows corrected(state);
  EXPECT_EQ(plain.at(1, "graph.log_prior"), corrected.at(1, "graph.log_prior"));
}

TEST(EdgeFeatures, AChangeIsAfterLessBefore) {
  const FeatureLayout layout({"smem_tile"});
  const StepGraph graph = small_graph();
  const Tiler tiler;
  const auto proposals =
      std::vector{proposal_of("smem_tile"), proposal_of("smem_tile", {{kAppliedBy, "model"}})};
  const StateView view = view_of(test::candidate_of(kPlain, {.x = 256}), {}, proposals, tiler);
  const auto rows = EdgeFeatures(layout, graph, kDevice).rows(view);
  const auto at = [&](std::size_t row, std::string_view name) {
    return rows[row][*layout.place(name)];
  };
  EXPECT_EQ(at(0, "shape.shared_arrays"), 0.0F);
  EXPECT_EQ(at(0, "change.shared_arrays"), 1.0F);
  EXPECT_EQ(at(0, "change.barriers"), 1.0F);
  EXPECT_EQ(at(0, "change.global_loads"), 0.0F);
  EXPECT_EQ(at(0, "shape.block_threads"), 8.0F);
  EXPECT_EQ(at(0, "change.block_threads"), 0.0F);
  for (const std::string_view name : kShapeNames)
    EXPECT_TRUE(std::isnan(at(1, "change." + std::string(name)))) << name;
}

TEST(StateView, AppliesWhatIsTheRewritersAndRepeatable) {
  const Tiler tiler;
  std::vector proposals = {proposal_of("smem_tile"),
                           proposal_of("smem_tile", {{kAppliedBy, "llm"}}),
                           proposal_of("smem_tile"), proposal_of("loop_unroll")};
  proposals[2].variant_limit = 2;
  const Candidate candidate = test::candidate_of(kPlain, {.x = 256});
  const auto applied = [&](const std::vector<bool>& wanted) {
    std::vector<bool> result;
    for (const auto& shape : view_of(candidate, {}, proposals, tiler, wanted).after)
      result.push_back(shape.has_value());
    return result;
  };
  EXPECT_EQ(applied({}), (std::vector{true, false, false, false}));
  EXPECT_EQ(tiler.calls, 2);  // the last refuses
  EXPECT_EQ(applied({false, true, true, true}), (std::vector{false, false, false, false}));
  EXPECT_EQ(tiler.calls, 3);
}

TEST(StateView, TakesItsNumbersFromTheContext) {
  ExpansionContext context;
  context.evaluation.facts = {{"occupancy", 0.5}};
  context.evaluation.time.median_seconds = 2.0;
  context.evaluation.time.method = TimeMethod::measured;
  context.history = {"smem_tile"};
  const Candidate unread;  // no form
  const StateView early = view_of(unread, context, {}, Tiler());
  EXPECT_EQ(early.log_speedup, 0.0);  // the original's time is not known yet
  EXPECT_FALSE(early.shape);
  context.original_seconds = 3.0;
  const StateView view = view_of(unread, context, {}, Tiler());
  EXPECT_DOUBLE_EQ(view.log_speedup, std::log(1.5));
  EXPECT_EQ(view.method, TimeMethod::measured);
  EXPECT_EQ(view.facts, context.evaluation.facts);
  EXPECT_EQ(view.history, context.history);
  EXPECT_TRUE(EdgeFeatures(FeatureLayout({}), small_graph(), kDevice).rows(view).empty());
}

}  // namespace
}  // namespace regraph::policy::edge_features_test
