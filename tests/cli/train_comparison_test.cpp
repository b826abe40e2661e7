// regraph-train where it compares: priors on families left out, searches as asked for, in turn.
#include "cli/train_program.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::test::train_comparison_test {
namespace {

TEST_F(Train, FamiliesLeftOutAreCompared) {
  const auto evaluate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "eval",       "kernels",   "--work",        "work",   "--jobs",     "2",
        "--folds",    "2",         "--evaluations", "5",      "--searcher", "mcgs",
        "--prior",    "published", "--prior",       "graph",  "--epochs",   "2",
        "--networks", "1",         "--output",      "report", "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return train(arguments);
  };
  const ProgramRun done = evaluate({});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("mcgs-graph against mcgs-published"), std::string::npos)
      << done.output;
  EXPECT_EQ(content("report/learning.txt"), done.output);
  EXPECT_NE(content("report/learning.svg").find("</svg>"), std::string::npos);
  const auto json = nlohmann::json::parse(content("report/learning.json"));
  EXPECT_EQ(json.at("schema"), "regraph-learning/1");

  // Searches that are kept and were asked for in the same way are not done again, others are.
  const std::filesystem::path evaluations = path("work/adding/columns/evaluations.db");
  ASSERT_TRUE(std::filesystem::remove(evaluations));
  const ProgramRun same = evaluate({});
  EXPECT_EQ(same.output, done.output);
  EXPECT_FALSE(std::filesystem::exists(evaluations));
  EXPECT_EQ(evaluate({"--seed", "2"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(evaluations));

  // The same again from what is kept, without a search; a kernel without one of them is left out.
  const auto report = [&] {
    return train({"report", "kernels", "--work", "work", "--evaluations", "5", "--label",
                  "mcgs-published", "--label", "mcgs-graph"});
  };
  const ProgramRun kept = report();
  ASSERT_EQ(kept.exit_code, 0) << kept.error;
  EXPECT_NE(kept.output.find("mcgs-graph against mcgs-published"), std::string::npos);
  EXPECT_EQ(kept.output.find("is left out"), std::string::npos) << kept.output;
  std::filesystem::remove(path("work/adding/columns/mcgs-graph.json"));
  const ProgramRun less = report();
  EXPECT_NE(less.output.find("is left out: there is no search of it called mcgs-graph"),
            std::string::npos)
      << less.output;
}

TEST_F(Train, SearchesAreMadeAsAskedFor) {
  const auto search = [&](const std::string& label, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "search",        "kernels", "--work",  "work",      "--jobs",  "2",  "-q",
        "--evaluations", "8",       "--graph", "published", "--label", label};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(train(arguments).exit_code, 0);
    return nlohmann::json::parse(content("work/adding/columns/" + label + ".json"));
  };
  const auto usual = search("usual", {});
  EXPECT_EQ(usual.at("label"), "usual");
  const auto config = nlohmann::json::parse(usual.at("settings").get<std::string>()).at("config");
  const auto same = search("same", {"--exploration", config.at("exploration_first").dump(),
                                    "--greedy-every", config.at("greedy_every").dump()});
  EXPECT_EQ(same.at("states"), usual.at("states"));
  EXPECT_EQ(same.at("settings"), usual.at("settings"));
  EXPECT_NE(search("greedy", {"--exploration", "0", "--greedy-every", "1"}).at("states"),
            usual.at("states"));
}

TEST_F(Train, SearchesAndLearnsInTurn) {
  const auto loop = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "loop",    "kernels",  "--work",  "work",       "--jobs", "2",        "--evaluations",
        "3",       "--output", "learned", "--networks", "1",      "--epochs", "1",
        "--folds", "2",        "--start", "flat",       "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return train(arguments);
  };
  const ProgramRun once = loop({"--iterations", "1"});
  ASSERT_EQ(once.exit_code, 0) << once.error;
  EXPECT_TRUE(once.complains_of("iteration 1: 1 kernels searched")) << once.error;
  const std::string graph = content("learned/iteration-1.yaml");
  // Steps are those that are known; nobody told what they bring.
  EXPECT_NE(graph.find("coalesce_swap"), std::string::npos);
  EXPECT_EQ(graph.find("candidate: true"), std::string::npos);
  EXPECT_EQ(graph.find("weight: 2"), std::string::npos);

  // Goes on where it was, and what was done is not done again.
  const ProgramRun twice = loop({"--iterations", "2"});
  ASSERT_EQ(twice.exit_code, 0) << twice.error;
  EXPECT_TRUE(twice.complains_of("iteration 2: 1 kernels searched")) << twice.error;
  EXPECT_EQ(content("learned/iteration-1.yaml"), graph);
  const auto record = nlohmann::json::parse(content("learned/loop.json"));
  ASSERT_EQ(record.at("iterations").size(), 2U);
  const bool better = record["iterations"][0]["promoted"].get<bool>() ||
                      record["iterations"][1]["promoted"].get<bool>();
  EXPECT_EQ(twice.output.find("nothing that was learned") == std::string::npos, better)
      << twice.output;

  const ProgramRun other = loop({"--iterations", "2", "--hidden", "7"});
  EXPECT_EQ(other.exit_code, kUsage);
  EXPECT_TRUE(other.complains_of("this folder holds a loop with other settings")) << other.error;
  file("learned/loop.json", "{}");
  EXPECT_EQ(loop({}).exit_code, kUsage);
  file("kernels/corpus.yaml", "kin: [[adding, scaling]]\n");
  const ProgramRun kin = train({"loop", "kernels", "--work", "work", "--output", "other"});
  EXPECT_EQ(kin.exit_code, kUsage);
  EXPECT_TRUE(kin.complains_of("at least two families")) << kin.error;
}

}  // namespace
}  // namespace regraph::test::train_comparison_test
