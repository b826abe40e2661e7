// What the program says beside its result: where results cannot go, what was left out of the
// source, why steps are not proposed.
#include "cli/bad_input.h"

#include <algorithm>

namespace regraph::test::messages_test {
namespace {

class Messages : public BadInput {
 protected:
  // Runs the program with the folder `locked` read-only, also for root; nothing where the system
  // has no mount namespaces.
  std::optional<ProgramRun> run_beside_locked(const std::string& arguments) const {
    ChildRequest request;
    request.program = "/usr/bin/unshare";
    request.arguments = {"--mount", "--map-root-user", "/bin/sh", "-c",
                         "mkdir -p locked && mount --bind locked locked && "
                         "mount -o remount,ro,bind locked || exit 77\n'" +
                             std::string(REGRAPH_SEARCH_PROGRAM) + "' " + arguments};
    request.environment = environment();
    request.working_directory = path("");
    request.wall_seconds = 120.0;
    const Cancellation never;
    const auto done = run_child(request, never);
    if (!done.ok() || done->exit_code == 77) return std::nullopt;
    return ProgramRun{done->exit_code, done->output, done->error, done->wall_seconds};
  }
};

TEST_F(Messages, APlaceThatCannotBeWrittenToIsRefusedBeforeAnyWork) {
  // The source is no CUDA at all: whoever looks at it first complains of that.
  file("scale.cu", "this is no kernel");
  for (const char* place : {"/proc/nowhere", "scale.cu/below"}) {
    expect(kUsage, {std::string("--output ") + place, "name a folder that can be written to"},
           {"scale.cu", "--device", "h200", "--output", place});
  }
  for (const char* place : {"locked", "locked/deep/er"}) {
    const auto done = run_beside_locked(std::string("scale.cu --device h200 --output ") + place);
    if (!done) GTEST_SKIP() << "no mount namespaces here";
    EXPECT_EQ(done->exit_code, kUsage) << done->error;
    EXPECT_TRUE(done->complains_of(std::string("--output ") + place)) << done->error;
  }
}

TEST_F(Messages, AMissingPageDoesNotTakeTheAnswerAway) {
  const ProgramRun done =
      run({kernel(kScale), "--device", "h200", "--evaluations", "2", "--output", "out", "-q"});
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 3) << done.error;
  EXPECT_EQ(done.error, "");
  std::filesystem::remove(path("out/report.html"));
  std::filesystem::create_directory(path("out/report.html"));
  const ProgramRun refused = run({"--report", "out"});
  EXPECT_EQ(refused.exit_code, kUsage) << refused.error;
  EXPECT_TRUE(refused.complains_of("--report out")) << refused.error;
  std::filesystem::remove(path("out/report.html"));
  std::filesystem::rename(path("out"), path("locked"));
  const auto locked = run_beside_locked("--report locked");
  if (!locked) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(locked->exit_code, kUsage) << locked->error;
  EXPECT_TRUE(locked->complains_of("--report locked")) << locked->error;
  EXPECT_FALSE(locked->complains_of("--resume")) << locked->error;
}

TEST_F(Messages, APageIsWrittenWithNothingBesideTheRun) {
  ASSERT_EQ(run({kernel(kScale), "--device", "h200", "--evaluations", "1", "--output", "out"})
                .error.find("internal error"),
            std::string::npos);
  ASSERT_EQ(run({"--report", "out"}).exit_code, 0);
  for (const char* beside : {"out/run.db-shm", "out/run.db-wal"})
    EXPECT_FALSE(std::filesystem::exists(path(beside))) << beside;
}

TEST_F(Messages, SizesThatNothingDependsOnAreRefusedWithTheNearestNames) {
  // Without a manifest, where sizes are inferred.
  file("scale.cu", kScale);
  expect(kUsage, {"--size Q=...", "'Q'", "is n meant?"},
         {"scale.cu", "--device", "h200", "--size", "Q=5"});
  expect(kUsage, {"--size m=...", "is n meant?"},
         {"scale.cu", "--device", "h200", "--size", "n=64,m=3"});
  expect(kUsage, {"NAME=NUMBER"}, {"scale.cu", "--device", "h200", "--size", "n=64,"});
  const std::string cu = kernel(kScale);
  expect(kUsage, {"no size 'N2'", "is n meant?"}, {cu, "--device", "h200", "--size", "N2=5"});

  file("two.cu", R"cuda(__global__ void two(const float* in, float* out, int rows, int columns) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows && j < columns) out[i * columns + j] = in[i * columns + j];
}
)cuda");
  for (const std::vector<std::string>& sizes :
       {std::vector<std::string>{"--size", "rows=100,columns=200"},
        {"--size", "rows=100", "--size", "columns=200"}}) {
    std::vector<std::string> arguments = {"two.cu", "--device", "h200", "--init"};
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    const ProgramRun done = run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.error;
    EXPECT_NE(done.output.find("rows: 100"), std::string::npos) << done.output;
    EXPECT_NE(done.output.find("columns: 200"), std::string::npos) << done.output;
  }
}

TEST_F(Messages, LongSilenceIsBroken) {
  const std::string endless = kernel(
      "__global__ void scale(const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  volatile float x = in[0];\n"
      "  while (x > -1e30f) x = x + 1;\n  if (i < n) out[i] = x;\n}\n");
  const std::vector<std::string> arguments = {endless, "--device", "h200", "--evaluation-time",
                                              "13"};
  const ProgramRun done = run(arguments);
  EXPECT_EQ(done.exit_code, kUnusableKernel) << done.error;
  EXPECT_TRUE(done.complains_of("still checking the original on its test sizes")) << done.error;
  std::vector<std::string> quiet = arguments;
  quiet.emplace_back("--quiet");
  EXPECT_FALSE(run(quiet).complains_of("still")) << "--quiet";
}

TEST_F(Messages, WhatWasLeftOutIsSaidWhenTheRestDoesNotCompile) {
  file("scale.regraph.yaml", kManifest);
  file("scale.cu", std::string("#include <vector>\n#include <helper_cuda.h>\n") +
                       "static int host_only(std::vector<int>& v) { return v[0]; }\n" +
                       "__device__ float twice(float x) { return UNKNOWN * x; }\n" +
                       "__global__ void scale(const float* in, float* out, int n) {\n"
                       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "  if (i < n) out[i] = twice(in[i]);\n}\n");
  const ProgramRun done = run({"scale.cu", "--device", "h200"});
  EXPECT_EQ(done.exit_code, kUnusableKernel) << done.error;
  const std::size_t note = done.error.find("note: scale.cu: 1 declaration");
  const std::size_t include = done.error.find("<helper_cuda.h>");
  const std::size_t failure = done.error.find("does not compile");
  EXPECT_LT(note, failure) << done.error;
  EXPECT_LT(include, failure) << done.error;
  EXPECT_NE(failure, std::string::npos) << done.error;
  const ProgramRun quiet = run({"scale.cu", "--device", "h200", "--quiet"});
  EXPECT_FALSE(quiet.complains_of("note:")) << quiet.error;
}

TEST_F(Messages, VerboseSaysOfEveryStepWhyItIsNotProposed) {
  const std::string cu = kernel(kScale);
  const ProgramRun dry = run({cu, "--device", "h200", "--dry-run", "-v"});
  ASSERT_EQ(dry.exit_code, 0) << dry.error;
  const ProgramRun search = run({cu, "--device", "h200", "--evaluations", "1", "-v"});
  for (const std::string* text : {&dry.output, &search.error}) {
    const std::size_t begin = text->find("not proposed");
    ASSERT_NE(begin, std::string::npos) << *text;
    for (const char* step : {"smem_tile", "coalesce_swap", "atomic_privatize", "reduce_shuffle"})
      EXPECT_NE(text->find(step, begin), std::string::npos) << step << " in\n" << *text;
  }
  EXPECT_EQ(run({cu, "--device", "h200", "--dry-run"}).output.find("not proposed"),
            std::string::npos);
}

// What is suggested is done as it stands there.
TEST_F(Messages, SuggestedCommandsAndLinesWork) {
  file("two.cu", std::string("#ifndef W\n#error W\n#endif\n") + kIndirect +
                     "__global__ void other(float* a) { a[threadIdx.x] = W; }\n");
  const ProgramRun refused = run({"two.cu", "--device", "h200", "--kernel", "scale", "-D", "W=2"});
  EXPECT_EQ(refused.exit_code, kUsage) << refused.error;
  const std::string command =
      "regraph-search two.cu --kernel scale -D W=2 --init > two.regraph.yaml";
  ASSERT_TRUE(refused.complains_of(command)) << refused.error;
  ChildRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", "regraph-search() { '" + std::string(REGRAPH_SEARCH_PROGRAM) +
                                 "' \"$@\"; }; " + command};
  // A function's name in sh has no hyphen.
  std::string& script = request.arguments.back();
  for (std::size_t at = 0; (at = script.find("regraph-search", at)) != std::string::npos; ++at) {
    if (at == 0 || script[at - 1] != '/') script.replace(at, 14, "regraph_search");
  }
  request.environment = environment();
  request.working_directory = path("");
  request.wall_seconds = 60.0;
  const Cancellation never;
  const auto done = run_child(request, never);
  ASSERT_TRUE(done.ok() && done->exit_code == 0) << (done.ok() ? done->error : "");
  EXPECT_NE(content("two.regraph.yaml").find("# FILL IN args.in.shape"), std::string::npos);

  // The lines for the manifest, put together.
  file("indirect.cu", kIndirect);
  EXPECT_TRUE(run({"indirect.cu", "--device", "h200"})
                  .complains_of("add args: {in: {shape: [n]}} with the extents of the buffer, and "
                                "sizes: {n: 1024} with their values"));
  file("indirect.regraph.yaml",
       "args: {in: {shape: [n]}, at: {init: {integers: [0, 1]}}}\nsizes: {n: 1024}\n");
  const ProgramRun accepted = run({"indirect.cu", "--device", "h200", "--dry-run"});
  EXPECT_FALSE(accepted.complains_of("add args")) << accepted.error;
  EXPECT_FALSE(accepted.complains_of("add sizes")) << accepted.error;
}

}  // namespace
}  // namespace regraph::test::messages_test
