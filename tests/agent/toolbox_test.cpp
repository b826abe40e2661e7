// The tools on a small kernel, judged by the model.
#include "agent/toolbox.h"

#include "agent/tool_list.h"
#include "base/files.h"
#include "llm/prompt/json_schema.h"
#include "session/opened_session.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace regraph::agent::toolbox_test {
namespace {

class ToolboxTest : public test::SessionTest {
 protected:
  void SetUp() override {
    workspace = std::make_unique<Workspace>(*Workspace::open(path("workspace"), {}));
    start(Interface::regraph);
  }
  void start(Interface interface) {
    ToolboxOptions options;
    options.installation = installation;
    options.interface = interface;
    options.device = "h200";
    options.evaluator = "model";
    options.most_evaluations = 6;
    options.jobs = 2;
    toolbox = std::make_unique<Toolbox>(options, *workspace);
  }
  ToolResult call(const std::string& tool, const Json& arguments) {
    return toolbox->call({1, tool, arguments}, never);
  }
  // Of a call that can be done.
  Json data(const std::string& tool, const Json& arguments) {
    ToolResult result = call(tool, arguments);
    EXPECT_FALSE(result.is_error) << result.text;
    EXPECT_FALSE(result.text.empty());
    return result.structured;
  }
  std::string open_row_sums() {
    const Json opened =
        data("open_problem", {{"source", test::kRowSums}, {"manifest", test::kRowSumsManifest}});
    return opened.value("problem", "");
  }

  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<Toolbox> toolbox;
};

// A row by a warp.
constexpr const char* kByWarps = R"(
__global__ void row_sums(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = threadIdx.x % 32; i < columns; i += 32) sum += in[row * columns + i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) out[row] = sum;
}
)";

Json warp_launch() {
  return {{"block", {128}}, {"grid", {"cdiv(rows, 4)"}}, {"smem", "0"}};
}

TEST(ToolList, HasSchemasThatCanBeRead) {
  for (const Interface interface : {Interface::regraph, Interface::triton_gym}) {
    EXPECT_FALSE(instructions_of(interface).empty());
    for (const Tool& tool : tools_of(interface)) {
      const auto schema = llm::JsonSchema::parse(tool.schema);
      ASSERT_TRUE(schema.ok()) << tool.name << ": " << schema.error().message;
      EXPECT_FALSE(tool.description.empty());
    }
  }
}

TEST_F(ToolboxTest, GoesTheWholeWay) {
  const std::string problem = open_row_sums();
  ASSERT_EQ(problem.size(), 16);
  const Json mine{{"problem", problem}, {"source", kByWarps}, {"launch", warp_launch()}};
  EXPECT_EQ(data("compile", mine)["compiles"], true);
  EXPECT_EQ(data("verify", mine)["equal"], true);
  const Json profile = data("profile", mine);
  EXPECT_GT(profile["time"]["seconds"], 0.0);
  EXPECT_TRUE(profile["facts"].contains("occupancy"));
  const Json score = data("score", mine);
  EXPECT_EQ(score["faster"], true) << score;
  EXPECT_TRUE(workspace->has("collected.txt"));
  EXPECT_NE(workspace->read("collected.txt")->find("\"origin\":\"agent\""), std::string::npos);
  const Json found = data("search", {{"problem", problem}, {"evaluations", 4}});
  EXPECT_EQ(found["evaluations"], 4);
  EXPECT_TRUE(workspace->has(found["run"].get<std::string>() + "/run.db"));
}

TEST_F(ToolboxTest, SaysWhatIsWrongWithACandidate) {
  const std::string problem = open_row_sums();
  std::string wrong = kByWarps;
  wrong.replace(wrong.find("d = 16"), 6, "d = 8");
  const Json verified =
      data("verify", {{"problem", problem}, {"source", wrong}, {"launch", warp_launch()}});
  EXPECT_EQ(verified["equal"], false);
  EXPECT_EQ(verified["verdict"], "wrong_result");
  EXPECT_FALSE(verified["message"].get<std::string>().empty());
  EXPECT_EQ(data("compile", {{"problem", problem}, {"source", "nonsense"}})["compiles"], false);
  const Json launch =
      data("verify", {{"problem", problem}, {"source", kByWarps}, {"launch", {{"block", {4096}}}}});
  EXPECT_EQ(launch["verdict"], "not_judged");
}

TEST_F(ToolboxTest, AppliesSteps) {
  const std::string problem = open_row_sums();
  const Json proposed = data("propose_steps", {{"problem", problem}});
  ASSERT_FALSE(proposed["steps"].empty());
  double total = 0.0;
  for (const Json& step : proposed["steps"])
    total += step["prior"].get<double>();
  EXPECT_NEAR(total, 1.0, 1e-6);
  const Json& first = proposed["steps"][0];
  const Json applied =
      data("apply_step",
           {{"problem", problem}, {"step", first["step"]}, {"parameters", first["parameters"]}});
  ASSERT_EQ(applied["applied"], true) << applied;
  EXPECT_EQ(data("verify", {{"problem", problem},
                            {"source", applied["source"]},
                            {"launch", applied["launch"]}})["equal"],
            true);
  const Json refused =
      data("apply_step",
           {{"problem", problem}, {"step", "vector_load"}, {"parameters", {{"width", "1000"}}}});
  EXPECT_EQ(refused["applied"], false);
  EXPECT_FALSE(refused["reason"].get<std::string>().empty());
}

TEST_F(ToolboxTest, KnowsProblemsOfEarlierSessions) {
  const std::string problem = open_row_sums();
  start(Interface::regraph);
  EXPECT_EQ(data("verify", {{"problem", problem}})["equal"], true);
  // What was changed behind its back is not that problem.
  start(Interface::regraph);
  ASSERT_TRUE(workspace->write("problems/" + problem + "/kernel.cu", kByWarps).ok());
  EXPECT_TRUE(call("verify", {{"problem", problem}}).is_error);
  for (const std::string other : {"", "x", "0123456789abcdef", "../../../problem"})
    EXPECT_TRUE(call("verify", {{"problem", other}}).is_error);
}

TEST_F(ToolboxTest, AsksForWhatIsMissing) {
  const Json opened = data("open_problem", {{"source", R"(
__global__ void gather(const float* in, const int* at, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[at[i] - 20];
}
)"}});
  EXPECT_EQ(opened["complete"], false);
  EXPECT_FALSE(opened["missing"].empty());
  EXPECT_NE(opened["manifest"].get<std::string>().find("args"), std::string::npos);
}

TEST_F(ToolboxTest, ReadsFilesOfTheWorkspaceOnly) {
  ASSERT_TRUE(workspace->write("sums.cu", test::kRowSums).ok());
  ASSERT_TRUE(workspace->write("sums.regraph.yaml", test::kRowSumsManifest).ok());
  write("outside.cu", test::kRowSums);
  EXPECT_EQ(data("open_problem", {{"file", "sums.cu"}})["kernel"], "row_sums");
  EXPECT_TRUE(call("open_problem", {{"file", "../outside.cu"}}).is_error);
  EXPECT_TRUE(call("open_problem", {{"file", path("outside.cu")}}).is_error);
  std::string manifest = test::kRowSumsManifest;
  manifest.replace(manifest.find("shape: [rows, columns]"), 22,
                   "shape: [rows, columns], init: {file: /etc/passwd}");
  const ToolResult refused =
      call("open_problem", {{"source", test::kRowSums}, {"manifest", manifest}});
  EXPECT_TRUE(refused.is_error);
  EXPECT_NE(refused.text.find("files"), std::string::npos) << refused.text;
}

TEST_F(ToolboxTest, KeepsItsLimits) {
  const std::string problem = open_row_sums();
  EXPECT_TRUE(call("search", {{"problem", problem}, {"evaluations", 7}}).is_error);
  EXPECT_TRUE(call("search", {{"problem", problem}, {"evaluations", 0}}).is_error);
  const ToolResult large =
      call("verify", {{"problem", problem}, {"source", std::string(300 << 10, ' ')}});
  EXPECT_TRUE(large.is_error);
  EXPECT_NE(large.text.find("--most-source-bytes"), std::string::npos);
  EXPECT_TRUE(call("no_such_tool", Json::object()).is_error);
}

TEST_F(ToolboxTest, CanBeStopped) {
  const std::string problem = open_row_sums();
  Cancellation stop;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request();
  });
  const ToolResult result =
      toolbox->call({1, "search", {{"problem", problem}, {"evaluations", 6}}}, stop);
  later.join();
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(result.text, "cancelled");
}

TEST_F(ToolboxTest, GivesRewardsAsAnotherSystemDoes) {
  start(Interface::triton_gym);
  const std::string problem = open_row_sums();
  std::string wrong = kByWarps;
  wrong.replace(wrong.find("d = 16"), 6, "d = 8");
  const auto reward = [&](const char* tool, const std::string& source) {
    return data(tool, {{"problem", problem}, {"source", source}, {"launch", warp_launch()}})
        .value("reward", 1e9);
  };
  EXPECT_EQ(reward("compile", "nonsense"), -10.0);
  EXPECT_EQ(reward("verify", "nonsense"), -10.0);
  EXPECT_EQ(reward("profile", "nonsense"), -10.0);
  EXPECT_EQ(reward("compile", wrong), 0.0);
  EXPECT_EQ(reward("verify", wrong), -5.0);
  EXPECT_EQ(reward("profile", wrong), -5.0);
  EXPECT_EQ(reward("verify", kByWarps), 0.0);
  EXPECT_GT(reward("profile", kByWarps), 0.0);
  EXPECT_TRUE(call("search", {{"problem", problem}}).is_error);
}

}  // namespace
}  // namespace regraph::agent::toolbox_test
