// regraph-reward-server with its own workers, asked about a kernel.
#include "base/files.h"
#include "base/spawn.h"
#include "score/state_registry.h"
#include "search/journal_rows.h"
#include "session/session.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <httplib.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace regraph::score::reward_server_test {
namespace {

using nlohmann::json;

constexpr double kServerPatience = 120.0;  // seconds; problems are opened under sanitizers, too

constexpr const char* kKernel = R"(
__global__ void scale(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = a[i] * 2.0f + b[i];
  }
}
)";
constexpr const char* kManifestOfKernel = R"yaml(sizes: {n: 1048576}
args:
  a: {dir: in, shape: [n]}
  b: {dir: in, shape: [n]}
  out: {dir: out, shape: [n]}
launch: {block: 256, grid: "cdiv(n, bx)"
}
tests:
  - {n: 1000}
  - {n: 1}
)yaml";

class RewardServer : public ::testing::Test {
 protected:
  RewardServer() : folder_(*TemporaryDirectory::create("regraph-reward-server-")) {}
  ~RewardServer() override {
    if (server) (void)end(SIGKILL);
  }

  // Registers the kernel and one state of it, the kernel itself.
  void write_states() {
    RegisteredProblem problem{"", "scale", "elementwise", kKernel, kManifestOfKernel};
    problem.id = problem_id(problem);
    SessionOptions options;
    options.problem.kernel_file = (folder_.path() / "scale.cu").string();
    options.device = "h200";
    options.evaluator = "model";
    ASSERT_TRUE(write_file(options.problem.kernel_file, kKernel).ok());
    ASSERT_TRUE(write_file(folder_.path() / "scale.regraph.yaml", kManifestOfKernel).ok());
    const auto session = Session::open(
        options, Installation::of_program(REGRAPH_REWARD_SERVER_PROGRAM), Cancellation());
    ASSERT_TRUE(session.ok()) << session.error().message;
    state.problem = problem.id;
    state.source = (*session)->original().source;
    state.plan = journal::plan_text((*session)->original().plan);
    state.step = "loop_unroll";
    state.id = state_id(state);
    ASSERT_TRUE(
        write_file(states() / StateRegistry::kProblemsFile, problem_text(problem) + "\n").ok());
    ASSERT_TRUE(write_file(states() / StateRegistry::kStatesFile, state_text(state) + "\n").ok());
  }
  [[nodiscard]] std::filesystem::path states() const { return folder_.path() / "states"; }
  [[nodiscard]] std::string store() const { return (folder_.path() / "scores.jsonl").string(); }

  // Returns what it prints until it listens or ends.
  std::string start(const std::vector<std::string>& more = {}) {
    SpawnRequest request;
    request.program = REGRAPH_REWARD_SERVER_PROGRAM;
    request.arguments = {states().string(),     "--device", "h200",    "--workers", "1",
                         "--candidate-seconds", "60",       "--store", store()};
    request.arguments.insert(request.arguments.end(), more.begin(), more.end());
    // Of two values the first counts.
    request.environment.push_back("REGRAPH_CACHE_DIR=" + (folder_.path() / "cache").string());
    for (char** variable = environ; *variable != nullptr; ++variable)
      request.environment.emplace_back(*variable);
    auto spawned = spawn_process(request);
    EXPECT_TRUE(spawned.ok());
    server = std::move(*spawned);
    std::string said;
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(kServerPatience);
    while (said.find('\n') == std::string::npos && std::chrono::steady_clock::now() < until) {
      pollfd wanted{server->output.get(), POLLIN, 0};
      ::poll(&wanted, 1, 100);
      char buffer[256];
      const ssize_t count = ::read(server->output.get(), buffer, sizeof(buffer));
      if (count == 0) break;
      if (count > 0) said.append(buffer, static_cast<std::size_t>(count));
    }
    const std::string prefix = "listening on http://127.0.0.1:";
    if (said.starts_with(prefix)) port = std::atoi(said.c_str() + prefix.size());
    return said;
  }
  // Sends a signal and returns the exit code, or minus the signal that ended it.
  int end(int signal) {
    ::kill(server->id, signal);
    int status = 0;
    ::waitpid(server->id, &status, 0);
    server.reset();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] json post(const std::vector<std::string>& completions) const {
    json items = json::array();
    for (const std::string& completion : completions) {
      items.push_back(
          {{"id", std::to_string(items.size())}, {"state", state.id}, {"completion", completion}});
    }
    httplib::Client client("127.0.0.1", port);
    client.set_read_timeout(static_cast<time_t>(kServerPatience));
    const auto response =
        client.Post("/v1/score", json{{"items", items}}.dump(), "application/json");
    if (!response) return httplib::to_string(response.error());
    return json::parse(response->body)["results"];
  }
  // The state's kernel with a part of it changed, as an answer.
  [[nodiscard]] std::string answer(const std::string& from, const std::string& to) const {
    std::string source = state.source;
    const std::size_t at = source.find(from);
    EXPECT_NE(at, std::string::npos) << source;
    if (at != std::string::npos) source.replace(at, from.size(), to);
    return "```cuda\n" + source + "\n```\n";
  }

  RegisteredState state;
  std::optional<SpawnedProcess> server;
  int port = 0;

 private:
  TemporaryDirectory folder_;
};

TEST_F(RewardServer, JudgesAnswersAndRemembersThem) {
  write_states();
  ASSERT_TRUE(start().starts_with("listening on http://127.0.0.1:"));
  const std::vector<std::string> completions = {
      answer("out[i] =", "out[i] ="), answer("out[i] =", "out[i] = 1.0f +"),
      answer("out[i] =", "out[i] = undeclared +"), "I would rather not.",
      answer("out[i] =", "if (n > 0) out[i] =")};
  const json results = post(completions);
  ASSERT_EQ(results.size(), 5U) << results;
  const std::vector<std::string> expected = {"unchanged", "wrong", "not_compiled", "unreadable"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(results[i]["outcome"], expected[i]) << results[i];
  EXPECT_EQ(results[0]["reward"], -0.6);
  EXPECT_EQ(results[1]["reward"], -0.5);
  EXPECT_EQ(results[3]["reward"], -1.0);
  EXPECT_EQ(results[4]["verdict"], "correct") << results[4];
  EXPECT_GT(results[4]["seconds"].get<double>(), 0.0);
  EXPECT_GE(results[4]["reward"].get<double>(), -0.3);
  EXPECT_EQ(end(SIGTERM), 130);

  // Another server knows all that from the file.
  ASSERT_TRUE(start().starts_with("listening on"));
  json again = post(completions);
  ASSERT_EQ(again.size(), 5U) << again;
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i]["cached"], true);
    again[i]["cached"] = false;
    EXPECT_EQ(again[i], results[i]);
  }
  EXPECT_EQ(end(SIGTERM), 130);
}

TEST_F(RewardServer, SaysWhatItCannotUse) {
  EXPECT_EQ(start(), "");  // no states
  EXPECT_EQ(end(0), 2);
  write_states();
  EXPECT_EQ(start({"--device", "abacus"}), "");
  EXPECT_NE(end(0), 0);
  EXPECT_EQ(start({"--workers", "0"}), "");
  EXPECT_EQ(end(0), 2);
}

}  // namespace
}  // namespace regraph::score::reward_server_test
