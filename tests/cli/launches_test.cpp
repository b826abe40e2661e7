// Several dependent launches in one file, through the whole program.
#include "cli/running_program.h"

#include <csignal>

namespace regraph::launches_test {
namespace {

using nlohmann::json;
using test::ProgramRun;

constexpr const char* kReduction = R"cuda(
__global__ void block_sums(const float* x, float* partial, int n) {
  __shared__ float sums[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

__global__ void final_sum(const float* values, float* y, int count) {
  __shared__ float sums[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += values[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}
)cuda";
constexpr const char* kManifest = R"yaml(
sizes: {n: 4194304}
args: {y: {dir: out, shape: [1]}}
scratch: {partial: {type: float, shape: ["cdiv(n, 256)"]}}
launches:
  - {kernel: block_sums, block: 256, grid: ["cdiv(n, 256)"]}
  - {kernel: final_sum, block: 256, grid: 1, args: [partial, y, "cdiv(n, 256)"]}
)yaml";

class Launches : public test::RunningProgram {
 protected:
  static json answer(json result) {
    for (const char* key : {"source", "search_seconds", "workers"})
      result.erase(key);
    for (const char* written : {"best", "likely"}) {
      if (!result.contains(written) || result[written].is_null()) continue;
      result[written].erase("path");
      result[written].erase("manifest");
    }
    return result;
  }
};

TEST_F(Launches, OneOfTwoKernelsIsMadeFaster) {
  const ProgramRun done = run(
      {example("rmsnorm"), "--device", "h200", "--evaluations", "14", "--output", "out", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const json result = done.json();
  EXPECT_EQ(result.at("kernel"), "row_factors");
  const std::string manifest = content("out/best.regraph.yaml");
  EXPECT_NE(manifest.find("scale_rows, block: [256, 1, 1]"), std::string::npos) << manifest;
  EXPECT_NE(manifest.find("factor: {type: float"), std::string::npos) << manifest;
  // What was written is an input of its own, of the same two launches.
  const ProgramRun again =
      run({"out/best.cu", "--device", "h200", "--dry-run", "--output", "again"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
}

TEST_F(Launches, IntegersPassedToTheLaterKernelMayDependOnSizes) {
  const std::string kernel = file("sum.cu", kReduction);
  file("sum.regraph.yaml", kManifest);
  const ProgramRun manifest = run({kernel, "--init"});
  ASSERT_EQ(manifest.exit_code, 0) << manifest.error;
  EXPECT_NE(manifest.output.find("args: [partial, y, \"cdiv(n, 256)\"]"), std::string::npos)
      << manifest.output;
  EXPECT_NE(manifest.output.find("x: {dir: in, shape: [n]"), std::string::npos) << manifest.output;
  const ProgramRun done = run({kernel, "--kernel", "final_sum", "--device", "h200", "--evaluations",
                               "4", "--output", "out", "--json"});
  EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 3) << done.error;
  EXPECT_EQ(done.json().at("kernel"), "final_sum");
}

TEST_F(Launches, AnInterruptedRunGoesOn) {
  const std::string kernel = file("sum.cu", kReduction);
  file("sum.regraph.yaml", kManifest);
  const std::vector<std::string> settings = {"--device", "h200", "--evaluations", "8", "--json"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    return arguments;
  };
  const ProgramRun whole = run(with({kernel, "--output", "whole"}));
  ASSERT_TRUE(whole.exit_code == 0 || whole.exit_code == 3) << whole.error;

  const pid_t child = start(with({kernel, "--output", "out", "--verbose"}));
  EXPECT_TRUE(wait_until_error_holds("]    3 ")) << content("error");
  kill(child, SIGKILL);
  wait_for_end(child);
  std::filesystem::remove(path(kernel));
  const ProgramRun resumed = run({"--resume", "out", "--json"});
  ASSERT_EQ(resumed.exit_code, whole.exit_code) << resumed.error;
  // Whether there is a patch depends on the file, which is gone.
  auto answers = std::pair(answer(resumed.json()), answer(whole.json()));
  answers.first.erase("patch");
  answers.second.erase("patch");
  EXPECT_EQ(answers.first, answers.second);
}

TEST_F(Launches, ASecondKernelThatReadsTooFarIsNoReference) {
  const std::string kernel = file("sum.cu", kReduction);
  std::string manifest = kManifest;
  const std::string count = "y, \"cdiv(n, 256)\"";
  manifest.replace(manifest.find(count), count.size(), "y, \"cdiv(n, 256) + 1\"");
  file("sum.regraph.yaml", manifest);
  const ProgramRun done = run({kernel, "--device", "h200", "--output", "out"});
  EXPECT_EQ(done.exit_code, 4) << done.error;
  EXPECT_TRUE(done.complains_of("in kernel 'final_sum'")) << done.error;
}

TEST_F(Launches, KernelsMayStandInNamespaces) {
  const std::string kernel = file("two.cu", R"cuda(
namespace ops {
__global__ void first(const float* x, float* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = 2.0f * x[i];
}
namespace {
__global__ void second(const float* t, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = t[i] + 1.0f;
}
}
}
)cuda");
  file("two.regraph.yaml", R"yaml(
kernel: ops::second
sizes: {n: 65536}
args: {x: {shape: [n]}, y: {shape: [n], dir: out}}
scratch: {t: {shape: [n]}}
launches:
  - {kernel: "ops::first", block: 128, grid: ["cdiv(n, bx)"], args: [x, t, n]}
  - {kernel: "ops::second", block: 128, grid: ["cdiv(n, bx)"], args: [t, y, n]}
)yaml");
  const ProgramRun done = run({kernel, "--device", "h200", "--dry-run"});
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("ops::second on h200"), std::string::npos) << done.output;
}

TEST_F(Launches, AKernelThatIsLaunchedTwiceIsJudgedButNotChanged) {
  const std::string kernel = file("scale.cu", R"cuda(
__global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
)cuda");
  file("scale.regraph.yaml", R"yaml(
sizes: {n: 65536}
args: {x: {shape: [n]}, y: {shape: [n], dir: out}}
scratch: {between: {shape: [n]}}
launches:
  - {kernel: scale, block: 128, grid: ["cdiv(n, bx)"], args: [x, between, n]}
  - {kernel: scale, block: 128, grid: ["cdiv(n, bx)"], args: [between, y, n]}
)yaml");
  const ProgramRun done = run({kernel, "--device", "h200", "--dry-run", "--block", "64"});
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE((done.output + done.error).find("launched 2 times"), std::string::npos)
      << done.output << done.error;
}

TEST_F(Launches, MistakesInTheListAreNamed) {
  const std::string kernel = file("sum.cu", kReduction);
  const auto expect = [&](const std::string& from, const std::string& to, int exit_code,
                          const std::string& message) {
    std::string manifest = kManifest;
    const std::size_t at = manifest.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    file("sum.regraph.yaml", manifest.replace(at, from.size(), to));
    const ProgramRun done = run({kernel, "--device", "h200", "--output", "out"});
    EXPECT_EQ(done.exit_code, exit_code) << done.error;
    EXPECT_TRUE(done.complains_of(message)) << done.error;
  };
  expect("kernel: final_sum", "kernel: last_sum", 4, "last_sum");
  expect("[partial, y, ", "[partial, ", 2, "has 3 parameters");
  expect("[partial, y, \"cdiv(n, 256)\"]", "[partial, y, m]", 2, "'m' has no value");
  expect("partial: {type", "part: {type", 2, "'part'");
}

}  // namespace
}  // namespace regraph::launches_test
