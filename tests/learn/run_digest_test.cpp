#include "learn/run_digest.h"

#include "fuzz/mutate.h"
#include "learn/examples.h"
#include "learn/sibling_groups.h"
#include "search/driver.h"
#include "search/landscape.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string_view>

namespace regraph::learn::run_digest_test {
namespace {

using landscape::World;

// Knows what it was asked to apply, and refuses it.
class Refuser final : public Expander {
 public:
  std::vector<StepProposal> propose(const Candidate&, const ExpansionContext&,
                                    const Cancellation&) const override {
    return {};
  }
  Result<Candidate> apply(const Candidate&, const StepProposal& proposal, int,
                          const ExpansionContext&, const Cancellation&) const override {
    asked.push_back(proposal.step);
    return fail(ErrorCode::refused, "no");
  }
  mutable std::vector<std::string> asked;
};

StateRecord record(std::uint32_t id, std::optional<std::uint32_t> parent, const char* step,
                   double seconds) {
  StateRecord state;
  state.id = id;
  state.parent = parent;
  state.step.step = step;
  state.candidate = std::make_shared<Candidate>(World::candidate(id));
  state.evaluation.verdict = Verdict::correct;
  state.evaluation.time = {seconds, seconds, seconds, 1, TimeMethod::predicted};
  state.evaluation.facts = {{"occupancy", 0.5}};
  return state;
}

AttemptRecord attempt(std::uint32_t parent, std::optional<std::uint32_t> child,
                      const StepProposal& step, double log_gain) {
  AttemptRecord result;
  result.parent = parent;
  result.child = child;
  result.step = step;
  result.verified = child.has_value();
  result.log_gain = log_gain;
  return result;
}

// The original, "swap" below it and "tile" below that; an alias of "swap", and one that is wrong.
SearchOutcome small_outcome() {
  SearchOutcome outcome;
  outcome.states = {record(0, std::nullopt, "", 8e-3), record(1, 0, "swap", 4e-3),
                    record(2, 1, "tile", 1e-3), record(3, 0, "loop", 4e-3),
                    record(4, 0, "odd", 1e-3)};
  outcome.states[3].same_as = 1;
  outcome.states[4].evaluation.verdict = Verdict::wrong_result;
  const StepProposal tile{"tile", {{"axis", "x"}, {"factor", "4"}}, 1};
  const StepProposal wide{"tile", {{"axis", "x"}, {"factor", "8"}}, 1};
  outcome.states[0].proposals = {{"swap", {}, 1}, tile, wide, {"odd", {}, 1}};
  outcome.states[1].proposals = {tile, wide};
  outcome.attempts = {attempt(0, 1, {"swap", {}, 1}, std::log(2.0)),
                      attempt(0, 4, {"odd", {}, 1}, 0.0), attempt(1, 2, tile, std::log(4.0)),
                      attempt(0, 0, wide, 0.0), attempt(0, 1, {"never proposed", {}, 1}, 0.1)};
  outcome.attempts[1].verified = false;
  outcome.attempts[1].reason = "wrong_result";
  outcome.attempts[3].variant = 1;
  outcome.attempts[3].repeats = true;
  outcome.evaluations = 7;
  outcome.log_speedup = std::log(8.0);
  outcome.path = {{1, {"swap", {}, 1}, 0, 0.0}, {2, tile, 0, 0.0}};
  return outcome;
}

RunDigest small_digest() {
  const Refuser rewriter;
  return digest_of({small_outcome(), rewriter, "scale", "h200", "1.2.3"}, {"hash", "map", "mcgs"},
                   {0.25, 0.5, 2.0});
}

TEST(RunDigest, KnowsWhetherItsKernelWasMadeFromAnother) {
  const Refuser rewriter;
  const DigestSource source{small_outcome(), rewriter, "scale", "h200", "1.2.3"};
  EXPECT_TRUE(digest_of(source, {"hash", "map", "mcgs", true}, {}).derived);
}

void expect_equal(const RunDigest& one, const RunDigest& other) {
  EXPECT_EQ(one.kernel, other.kernel);
  EXPECT_EQ(one.kernel_hash, other.kernel_hash);
  EXPECT_EQ(one.family, other.family);
  EXPECT_EQ(one.label, other.label);
  EXPECT_EQ(one.device, other.device);
  EXPECT_EQ(one.method, other.method);
  EXPECT_EQ(one.derived, other.derived);
  EXPECT_EQ(one.program, other.program);
  EXPECT_EQ(one.settings, other.settings);
  EXPECT_EQ(one.evaluations, other.evaluations);
  EXPECT_EQ(one.curve, other.curve);
  EXPECT_EQ(one.best_log_speedup, other.best_log_speedup);
  EXPECT_EQ(one.best_path, other.best_path);
  EXPECT_EQ(one.run(), other.run());
  ASSERT_EQ(one.states.size(), other.states.size());
  for (std::size_t at = 0; at < one.states.size(); ++at) {
    const DigestState& a = one.states[at];
    const DigestState& b = other.states[at];
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.identity, b.identity);
    EXPECT_EQ(a.view.method, b.view.method);
    EXPECT_EQ(a.view.facts, b.view.facts);
    EXPECT_EQ(a.view.history, b.view.history);
    EXPECT_EQ(a.view.log_speedup, b.view.log_speedup);
    EXPECT_EQ(a.view.proposals, b.view.proposals);
    EXPECT_EQ(a.view.shape.has_value(), b.view.shape.has_value());
    ASSERT_EQ(a.view.after.size(), b.view.after.size());
    for (std::size_t after = 0; after < a.view.after.size(); ++after) {
      ASSERT_EQ(a.view.after[after].has_value(), b.view.after[after].has_value());
      if (a.view.after[after]) {
        EXPECT_EQ(a.view.after[after]->values, b.view.after[after]->values);
      }
    }
    ASSERT_EQ(a.edges.size(), b.edges.size());
    for (std::size_t edge = 0; edge < a.edges.size(); ++edge) {
      EXPECT_EQ(a.edges[edge].proposal, b.edges[edge].proposal);
      EXPECT_EQ(a.edges[edge].variant, b.edges[edge].variant);
      EXPECT_EQ(a.edges[edge].child, b.edges[edge].child);
      EXPECT_EQ(a.edges[edge].verified, b.edges[edge].verified);
      EXPECT_EQ(a.edges[edge].log_gain, b.edges[edge].log_gain);
      EXPECT_EQ(a.edges[edge].repeats, b.edges[edge].repeats);
      EXPECT_EQ(a.edges[edge].reason, b.edges[edge].reason);
    }
  }
}

TEST(RunDigest, KeepsWhatASearchJudged) {
  const RunDigest digest = small_digest();
  EXPECT_EQ(digest.kernel, "scale");
  EXPECT_EQ(digest.kernel_hash, "hash");
  EXPECT_EQ(digest.family, "map");
  EXPECT_EQ(digest.label, "mcgs");
  EXPECT_EQ(digest.method, TimeMethod::predicted);
  EXPECT_EQ(digest.evaluations, 7);
  EXPECT_EQ(digest.best_path, (std::vector<std::string>{"swap", "tile(axis=x, factor=4)"}));
  ASSERT_EQ(digest.states.size(), 3U);  // neither the alias nor what is wrong
  EXPECT_EQ(digest.states[2].id, 2U);
  EXPECT_EQ(digest.states[2].identity, World::candidate(2).identity.hex());
  EXPECT_EQ(digest.states[2].view.history, (std::vector<std::string>{"swap", "tile"}));
  EXPECT_NEAR(digest.states[2].view.log_speedup, std::log(8.0), 1e-12);
  EXPECT_EQ(digest.states[0].view.facts.at("occupancy"), 0.5);
}

TEST(RunDigest, KnowsAShortestWayToTheFastestState) {
  RunDigest digest = small_digest();
  const std::string tile = digest.states[1].view.proposals[0].text();
  EXPECT_EQ(digest.path_to_fastest(), (std::vector<std::string>{"swap", tile}));
  // Whatever was confirmed in the end.
  digest.best_path.clear();
  digest.best_log_speedup = 0.0;
  EXPECT_EQ(digest.path_to_fastest().size(), 2U);
  // A step at the original that leads there directly.
  DigestEdge direct;
  direct.proposal = 1;
  direct.child = 2;
  direct.verified = true;
  digest.states[0].edges.push_back(direct);
  EXPECT_EQ(digest.path_to_fastest(), std::vector<std::string>{tile});
}

TEST(RunDigest, KnowsNoWayToTheOriginalOrOverEdgesThatFailed) {
  RunDigest digest = small_digest();
  digest.states[0].view.log_speedup = 9.0;
  EXPECT_TRUE(digest.path_to_fastest().empty());
  digest = small_digest();
  for (DigestEdge& edge : digest.states[0].edges)
    edge.verified = false;
  EXPECT_TRUE(digest.path_to_fastest().empty());
  EXPECT_TRUE(RunDigest().path_to_fastest().empty());
}

TEST(RunDigest, KeepsTheTriedEdgesOfAState) {
  const RunDigest digest = small_digest();
  const DigestState& original = digest.states[0];
  ASSERT_EQ(original.edges.size(), 3U);  // a step that was not proposed has no place
  EXPECT_EQ(original.edges[0].proposal, 0U);
  EXPECT_EQ(original.edges[0].child, 1U);
  EXPECT_TRUE(original.edges[0].verified);
  EXPECT_EQ(original.edges[1].proposal, 3U);
  EXPECT_FALSE(original.edges[1].verified);
  EXPECT_EQ(original.edges[1].child, std::nullopt);  // a state that is not kept
  EXPECT_EQ(original.edges[1].reason, "wrong_result");
  EXPECT_EQ(original.edges[2].proposal, 2U);  // parameters tell settings of a step apart
  EXPECT_EQ(original.edges[2].variant, 1);
  EXPECT_TRUE(original.edges[2].repeats);
  ASSERT_EQ(digest.states[1].edges.size(), 1U);
  EXPECT_EQ(digest.states[1].edges[0].proposal, 0U);
}

TEST(RunDigest, LooksOnlyAtWhatTriedStepsMake) {
  const Refuser rewriter;
  const SearchOutcome outcome = small_outcome();
  static_cast<void>(digest_of({outcome, rewriter, "scale", "h200", "1"}, {}, {}));
  EXPECT_EQ(rewriter.asked, (std::vector<std::string>{"swap", "tile", "odd", "tile"}));
}

TEST(RunDigest, RunsThatFoundTheSameAreTheSame) {
  const RunDigest digest = small_digest();
  RunDigest other = digest;
  other.label = "another";
  other.curve.clear();
  other.settings = "others";
  EXPECT_EQ(other.run(), digest.run());
  other.states[0].edges[0].log_gain += 0.1;
  EXPECT_NE(other.run(), digest.run());
  other = digest;
  other.program = "1.2.4";
  EXPECT_NE(other.run(), digest.run());
}

TEST(RunDigest, SurvivesItsText) {
  RunDigest digest = small_digest();
  EXPECT_FALSE(digest.derived);
  digest.derived = true;
  EXPECT_TRUE(digest.settings.empty());
  digest.settings = R"({"searcher":"mcgs"})";
  digest.family = "a \"quoted\" \\ name\n";
  digest.method = TimeMethod::measured;
  for (DigestState& state : digest.states)
    state.view.method = digest.method;
  digest.states[0].view.shape.emplace();
  digest.states[0].view.shape->values[3] = 2.5F;
  digest.states[0].view.after[0].emplace();
  digest.states[0].view.after[0]->values[1] = -1.75F;
  digest.states[0].edges[0].log_gain = 1.0 / 3.0;
  const std::string text = digest_text(digest);
  const auto again = read_digest(text, "d.json");
  ASSERT_TRUE(again) << again.error().message;
  expect_equal(*again, digest);
  EXPECT_EQ(again->states[0].view.shape->values, digest.states[0].view.shape->values);
  EXPECT_EQ(digest_text(*again), text);
}

// Facts may hold what JSON has no number for; such a digest must not be lost.
TEST(RunDigest, LeavesOutFactsThatAreNoNumbers) {
  RunDigest digest = small_digest();
  digest.states[0].view.facts["waves"] = std::numeric_limits<double>::quiet_NaN();
  digest.states[1].view.facts["waves"] = std::numeric_limits<double>::infinity();
  const auto again = read_digest(digest_text(digest), "d.json");
  ASSERT_TRUE(again) << again.error().message;
  expect_equal(*again, small_digest());
}

TEST(RunDigest, OfASearchSurvivesItsText) {
  const World world(3, {});
  const landscape::WorldExpander expander(world);
  landscape::WorldEvaluator evaluator(world);
  const StepGraph graph = world.graph();
  SearchConfig config;
  config.budget.evaluations = 60;
  const auto outcome =
      run_search(World::candidate(0), expander, evaluator, graph, config, nullptr, Cancellation{});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const RunDigest digest =
      digest_of({*outcome, expander, "world", "h200", "1"}, {"hash", "map", "mcgs"}, {});
  EXPECT_GT(digest.states.size(), 20U);
  std::size_t edges = 0;
  for (const DigestState& state : digest.states) {
    for (const DigestEdge& edge : state.edges) {
      ++edges;
      EXPECT_EQ(edge.verified, edge.child.has_value());
    }
  }
  EXPECT_EQ(edges, outcome->attempts.size());
  const auto again = read_digest(digest_text(digest), "d.json");
  ASSERT_TRUE(again) << again.error().message;
  expect_equal(*again, digest);
}

TEST(RunDigest, RefusesWhatIsNoDigest) {
  const std::string text = digest_text(small_digest());
  const auto message = [](const std::string& changed) {
    const auto digest = read_digest(changed, "d.json");
    return digest ? std::string("accepted") : digest.error().message;
  };
  EXPECT_EQ(message(""), "d.json: not a digest of a search: it is not JSON");
  EXPECT_EQ(message("[]"), "d.json: not a digest of a search: it is not JSON");
  EXPECT_EQ(message(text.substr(0, text.size() / 2)),
            "d.json: not a digest of a search: it is not JSON");
  using Json = nlohmann::ordered_json;
  const Json good = Json::parse(text);
  for (const auto& [key, value] : good.items()) {
    Json missing = good;
    missing.erase(key);
    EXPECT_TRUE(message(missing.dump()).starts_with("d.json: not a digest of a search: ")) << key;
    Json other = good;
    other[key] = Json::array({Json::array()});
    EXPECT_NE(message(other.dump()), "accepted") << key;
  }
  const auto with = [&](const char* place, const Json& value) {
    Json changed = good;
    changed[Json::json_pointer(place)] = value;
    return message(changed.dump());
  };
  EXPECT_EQ(with("/states/0/id", 0), "accepted");
  EXPECT_NE(with("/method", "guessed"), "accepted");
  EXPECT_NE(with("/format", "regraph-digest/2"), "accepted");
  EXPECT_EQ(with("/settings", "any text"), "accepted");
  EXPECT_NE(with("/settings", 7), "accepted");
  EXPECT_NE(with("/states/0/edges/0/proposal", 4), "accepted");
  EXPECT_NE(with("/states/0/edges/0/log_gain", "much"), "accepted");
  EXPECT_NE(with("/states/0/edges/0/after", Json::array({1, 2})), "accepted");
  EXPECT_NE(with("/states/0/shape", Json::array({1, 2})), "accepted");
  EXPECT_NE(with("/states/0/proposals/0", Json::array({"swap"})), "accepted");
  EXPECT_NE(with("/states/0/facts/occupancy", "high"), "accepted");
}

TEST(RunDigest, AnyBytesAreSafe) {
  std::mt19937_64 random(19);
  const std::string good = digest_text(small_digest());
  const std::string_view words[] = {"\"child\":0,", "1e300", "-1",    "null", "[", "}",
                                    "4294967295",   "true",  "1e-310"};
  const policy::FeatureLayout layout({"swap", "tile"});
  const StepGraph graph = examples::small_graph();
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = good;
    if (round % 2 == 0) {
      fuzz::damage(text, random, words);
    } else {  // one digit for another leaves JSON what it is
      for (char& one : text) {
        if (one >= '0' && one <= '9' && random() % 16 == 0)
          one = static_cast<char>('0' + random() % 10);
      }
    }
    const auto digest = read_digest(text, "d.json");
    if (!digest) {
      EXPECT_TRUE(digest.error().message.starts_with("d.json: ")) << digest.error().message;
      continue;
    }
    ++accepted;
    const auto again = read_digest(digest_text(*digest), "d.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->run(), digest->run());
    ObservationTable table;
    table.add(*digest);
    EXPECT_TRUE(ObservationTable::parse(table.text(), "t") || digest->family.empty() ||
                digest->kernel_hash.empty());
    static_cast<void>(sibling_groups({&*digest, 1}, layout, graph));
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace regraph::learn::run_digest_test
