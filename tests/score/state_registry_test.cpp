#include "score/state_registry.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <set>

namespace regraph::score::state_registry_test {
namespace {

RegisteredProblem problem() {
  RegisteredProblem problem{"", "adding/columns", "adding", "__global__ void k() {}\n",
                            "sizes: {}\n"};
  problem.id = problem_id(problem);
  return problem;
}

RegisteredState state() {
  RegisteredState state;
  state.problem = problem().id;
  state.source = "__global__ void k() {}\n";
  state.plan = "[]";
  state.assumptions = {"buffers do not overlap"};
  state.step = "loop_unroll";
  state.parameters = {{"factor", "4"}};
  state.history = {"restrict_ldg"};
  state.id = state_id(state);
  return state;
}

class StateRegistryTest : public ::testing::Test {
 protected:
  void write(const std::string& problems, const std::string& states) const {
    ASSERT_TRUE(write_file(folder.path() / StateRegistry::kProblemsFile, problems).ok());
    ASSERT_TRUE(write_file(folder.path() / StateRegistry::kStatesFile, states).ok());
  }
  [[nodiscard]] std::string complaint() const {
    const auto loaded = StateRegistry::load(folder.path());
    return loaded ? "" : loaded.error().message;
  }

  const TemporaryDirectory folder = *TemporaryDirectory::create("regraph-registry-");
};

TEST_F(StateRegistryTest, FindsWhatWasWritten) {
  write(problem_text(problem()) + '\n', state_text(state()) + '\n');
  const auto registry = StateRegistry::load(folder.path());
  ASSERT_TRUE(registry.ok()) << registry.error().message;
  const RegisteredState* found = registry->state(state().id);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(state_text(*found), state_text(state()));
  ASSERT_NE(registry->problem(found->problem), nullptr);
  EXPECT_EQ(registry->problem(found->problem)->manifest, problem().manifest);
  EXPECT_EQ(registry->state("another"), nullptr);
}

TEST_F(StateRegistryTest, EveryFieldDecidesTheId) {
  std::set<std::string> ids = {state().id};
  const auto changed = [&](auto change) {
    RegisteredState other = state();
    change(other);
    EXPECT_TRUE(ids.insert(state_id(other)).second);
  };
  changed([](RegisteredState& other) { other.task = Task::choose; });
  changed([](RegisteredState& other) { other.source += " "; });
  changed([](RegisteredState& other) { other.parameters["factor"] = "8"; });
  changed([](RegisteredState& other) { other.parameters.clear(); });
  changed([](RegisteredState& other) { other.assumptions.clear(); });
  changed([](RegisteredState& other) { other.history.emplace_back("loop_unroll"); });
}

TEST_F(StateRegistryTest, SaysWhereItIsDamaged) {
  write(problem_text(problem()) + '\n', "{}\n");
  EXPECT_NE(complaint().find("states.jsonl:1: 'id' is missing"), std::string::npos) << complaint();
  RegisteredState other = state();
  other.source += "// changed by hand\n";
  write(problem_text(problem()) + '\n', state_text(state()) + '\n' + state_text(other) + '\n');
  EXPECT_NE(complaint().find("states.jsonl:2: the id is not its content's"), std::string::npos);
  write("", state_text(state()) + '\n');
  EXPECT_NE(complaint().find("is not in problems.jsonl"), std::string::npos);
  write(problem_text(problem()), "");
  EXPECT_NE(complaint().find("problems.jsonl:1: the line is cut off"), std::string::npos);
}

TEST_F(StateRegistryTest, HostileLinesAreRefused) {
  const std::string deep = "{\"id\":" + std::string(100'000, '[');
  for (const std::string& line : {std::string("null"), std::string("[]"), std::string("\xff\xfe"),
                                  deep, std::string(R"({"id":1})"), std::string(1, '\0')}) {
    EXPECT_FALSE(read_state(line).ok());
    EXPECT_FALSE(read_problem(line).ok());
  }
}

}  // namespace
}  // namespace regraph::score::state_registry_test
