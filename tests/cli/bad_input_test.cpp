// What the program says to input it cannot use: a clear message on standard error, nothing on
// standard output, and the documented exit code.
#include "cli/bad_input.h"

namespace regraph::test::bad_input_test {
namespace {

// --- The command line ---

TEST_F(BadInput, HelpAndVersionAreNoErrors) {
  const ProgramRun help = run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.error, "");
  for (const char* part :
       {"--device", "--evaluations", "--evaluation-time", "--json", "Exit codes", "Examples"}) {
    EXPECT_NE(help.output.find(part), std::string::npos) << part;
  }
  const ProgramRun version = run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_NE(version.output.find("regraph-search"), std::string::npos);
}

TEST_F(BadInput, FlagsAreCheckedBeforeAnythingIsRead) {
  const std::string cu = kernel(kScale);
  expect(kUsage, {"--frobnicate", "--help"}, {cu, "--device", "h200", "--frobnicate"});
  expect(kUsage, {"KERNEL.cu"}, {"--device", "h200"});
  expect(kUsage, {"--evaluations", "0"}, {cu, "--device", "h200", "--evaluations", "0"});
  expect(kUsage, {"--evaluations"}, {cu, "--device", "h200", "--evaluations", "many"});
  expect(kUsage, {"--time", "above 0"}, {cu, "--device", "h200", "--time", "-1"});
  expect(kUsage, {"--time", "above 0"}, {cu, "--device", "h200", "--time", "inf"});
  expect(kUsage, {"--search", "mcgs"}, {cu, "--device", "h200", "--search", "magic"});
  expect(kUsage, {"--jobs"}, {cu, "--device", "h200", "--jobs", "0"});
  expect(kUsage, {"--quiet", "--verbose"}, {cu, "--device", "h200", "-q", "-v"});
}

TEST_F(BadInput, TheDeviceMustBeNamedAndKnown) {
  const std::string cu = kernel(kScale);
  expect(kNoDevice, {"--device", "h200"}, {cu});
  expect(kUsage, {"unknown device 'gtx480'", "h200", "sm_90"}, {cu, "--device", "gtx480"});
}

TEST_F(BadInput, SizesAndBlocksAreReadStrictly) {
  const std::string cu = kernel(kScale);
  expect(kUsage, {"--size n", "NAME=NUMBER"}, {cu, "--device", "h200", "--size", "n"});
  expect(kUsage, {"--size n=", "NAME=NUMBER"}, {cu, "--device", "h200", "--size", "n="});
  expect(kUsage, {"--size n=12x", "NAME=NUMBER"}, {cu, "--device", "h200", "--size", "n=12x"});
  expect(kUsage, {"--size n=-4", "NAME=NUMBER"}, {cu, "--device", "h200", "--size", "n=-4"});
  expect(kUsage, {"no size 'm'"}, {cu, "--device", "h200", "--size", "m=4"});
  expect(kUsage, {"--block 32x", "32x8"}, {cu, "--device", "h200", "--block", "32x"});
  expect(kUsage, {"--block 0"}, {cu, "--device", "h200", "--block", "0"});
  expect(kUsage, {"--block 1x1x1x1"}, {cu, "--device", "h200", "--block", "1x1x1x1"});
  expect(kUsage, {"2048"}, {cu, "--device", "h200", "--block", "2048"});
}

// --- Files ---

TEST_F(BadInput, FilesMustBeThereAndReadable) {
  expect(kUsage, {"nothing.cu"}, {"nothing.cu", "--device", "h200"});
  std::filesystem::create_directory(path("folder.cu"));
  expect(kUsage, {"folder.cu"}, {"folder.cu", "--device", "h200"});
  const std::string cu = kernel(kScale);
  expect(kUsage, {"missing.yaml"}, {cu, "--device", "h200", "--manifest", "missing.yaml"});
  expect(kUsage, {"missing-graph.yaml"}, {cu, "--device", "h200", "--graph", "missing-graph.yaml"});
  file("huge.cu", std::string(2 << 20, '/'));
  expect(kUsage, {"huge.cu"}, {"huge.cu", "--device", "h200"});
}

TEST_F(BadInput, AGraphFileIsBlamedByLine) {
  const std::string cu = kernel(kScale);
  file("graph.yaml", "steps:\n  - id: [\n");
  expect(kUsage, {"graph.yaml:"}, {cu, "--device", "h200", "--graph", "graph.yaml"});
  file("graph.yaml", "steps: {}\nnonsense: 1\n");
  expect(kUsage, {"graph.yaml:"}, {cu, "--device", "h200", "--graph", "graph.yaml"});
}

TEST_F(BadInput, AManifestIsBlamedByLine) {
  expect_for(kUsage, {"scale.regraph.yaml:3", "YAML"}, kScale, "sizes: {n: 10}\nargs: {in: [\n");
  expect_for(kUsage, {"scale.regraph.yaml:2", "colour"}, kScale, "sizes: {n: 10}\ncolour: red\n");
  expect_for(kUsage, {"scale.regraph.yaml:1", "n"}, kScale, "sizes: {n: lots}\n");
  expect_for(kUsage, {"scale.regraph.yaml", "width"}, kScale,
             "sizes: {n: 100}\nargs: {in: {shape: [width]}, out: {dir: out, shape: [n]}}\n"
             "launch: {block: 128, grid: \"cdiv(n, bx)\"}\n");
  expect_for(kUsage, {"scale.regraph.yaml", "cols"}, kScale,
             "sizes: {n: 100}\nargs: {in: {shape: [n]}, out: {dir: out, shape: [n]}}\n"
             "launch: {block: 128, grid: \"cdiv(cols, bx)\"}\n");
  expect_for(kUsage, {"scale.regraph.yaml", "weights"}, kScale,
             "sizes: {n: 100}\nargs: {weights: {shape: [n]}}\n"
             "launch: {block: 128, grid: \"cdiv(n, bx)\"}\n");
  // No shape, no launch, and nothing in the source that tells.
  expect_for(kUsage, {"'in'", "shape", "line 3"}, kIndirect, "sizes: {n: 100}\n");
  expect_for(kUsage, {"launch", "blockIdx.x"},
             "__global__ void scale(const float* in, float* out) {\n"
             "  out[blockIdx.x] = in[blockIdx.x];\n}\n",
             "args: {in: {shape: [100]}, out: {dir: out, shape: [100]}}\n");
}

TEST_F(BadInput, WithoutAManifestItsNameIsTold) {
  file("bare.cu", kIndirect);
  expect(kUsage, {"'in'", "shape", "bare.regraph.yaml"}, {"bare.cu", "--device", "h200"});
}

TEST_F(BadInput, AnOutputDirectoryWithFilesIsNotTouched) {
  const std::string cu = kernel(kScale);
  file("out/precious", "x");
  expect(kUsage, {"--output out", "not empty"}, {cu, "--device", "h200", "--output", "out"});
  EXPECT_EQ(content("out/precious"), "x");
  file("plain", "x");
  expect(kUsage, {"--output plain", "file"}, {cu, "--device", "h200", "--output", "plain"});
}

TEST_F(BadInput, SizesBeyondAnyMemoryAreRefused) {
  const std::string manifest(kManifest);
  std::string base = manifest.substr(0, manifest.find("tests:"));
  base.replace(base.find("cdiv(n, bx)"), 11, "2");
  // Thirty-two terabytes for the verification.
  expect_for(kUsage, {"{n: 4000000000000}", "GiB", "'tests'"},
             "__global__ void scale(const float* in, float* out, long long n) {\n"
             "  out[threadIdx.x] = in[threadIdx.x];\n"
             "}\n",
             base + "tests: [{n: 4000000000000}]\n");
  // And for the benchmark.
  expect_for(kUnusableKernel, {"benchmark size", "'in'", "more than any device holds"},
             "__global__ void scale(const float* in, float* out, long long n) {\n"
             "  out[threadIdx.x] = in[threadIdx.x];\n"
             "}\n",
             base + "tests: [{n: 300}]\nbench: [{n: 4611686018427387904}]\n");
}

// --- Kernels ---

TEST_F(BadInput, ASyntaxErrorIsShownAtTheUsersFileAndLine) {
  const ProgramRun done = expect_for(kUnusableKernel, {"scale.cu", "does not compile for sm_90"},
                                     "__global__ void scale(float* out) {\n  out[0] = ;\n}\n");
  EXPECT_TRUE(done.complains_of("scale.cu(2)") || done.complains_of("scale.cu:2")) << done.error;
  EXPECT_FALSE(done.complains_of("kernel.cu")) << done.error;
  EXPECT_FALSE(done.complains_of("/tmp/regraph")) << done.error;
}

TEST_F(BadInput, AFileMustHaveOneKernelOrItsNameMustBeGiven) {
  expect_for(kUnusableKernel, {"scale.cu", "no __global__ function"},
             "__device__ float twice(float x) { return 2.0f * x; }\n");
  const std::string two =
      std::string(kScale) + "__global__ void other(float* out) { out[0] = 1.0f; }\n";
  expect_for(kUnusableKernel, {"several kernels", "scale", "other", "kernel:"}, two);
  expect_for(kUnusableKernel, {"no kernel 'third'", "scale", "other"}, two,
             std::string("kernel: third\n") + kManifest);
  expect_for(kUnusableKernel, {"scale", "template"},
             "template <typename T> __global__ void scale(const T* in, T* out, int n) {}\n");
}

TEST_F(BadInput, AnOriginalThatReadsOutOfBoundsIsNamedWithItsLine) {
  expect_for(kUnusableKernel, {"scale.cu", "'in'", "past the end", "line 3"},
             "__global__ void scale(const float* in, float* out, int n) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  out[i < n ? i : 0] = 2.0f * in[i];\n"
             "}\n");
}

TEST_F(BadInput, AnOriginalWithADivergentBarrierIsRefused) {
  const ProgramRun done = expect_for(kUnusableKernel, {"scale.cu", "barrier"},
                                     "__global__ void scale(const float* in, float* out, int n) {\n"
                                     "  __shared__ float s[128];\n"
                                     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "  s[threadIdx.x] = i < n ? in[i] : 0.0f;\n"
                                     "  if (threadIdx.x < 64) __syncthreads();\n"
                                     "  if (i < n) out[i] = s[127 - threadIdx.x];\n"
                                     "}\n");
  EXPECT_LT(done.wall_seconds, 60.0);
}

TEST_F(BadInput, AnEndlessOriginalIsGivenUp) {
  const std::string cu = kernel(
      "__global__ void scale(const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  volatile int stop = n;\n"
      "  while (stop != 0) stop = n + (i & 1);\n"
      "  if (i < n) out[i] = in[i];\n"
      "}\n");
  expect(kUnusableKernel, {"scale.cu", "does not end within 2 seconds", "--evaluation-time"},
         {cu, "--device", "h200", "--evaluation-time", "2"});
}

TEST_F(BadInput, AnOriginalThatWritesNothingIsRefused) {
  expect_for(kUnusableKernel, {"scale.cu", "'out'"},
             "__global__ void scale(const float* in, float* out, int n) {\n"
             "  if (n < 0) out[0] = in[0];\n"
             "}\n");
}

TEST_F(BadInput, ABenchSizeThatCannotRunIsRefused) {
  // Correct at the test size, out of bounds at the one to be fast on.
  expect_for(kUnusableKernel, {"benchmark size", "'in'"},
             "__global__ void scale(const float* in, float* out, int n) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (i < n) out[i] = in[n > 1000 ? i + n : i];\n"
             "}\n");
}

TEST_F(BadInput, ImpossibleGridsAreNamed) {
  const std::string manifest(kManifest);
  const auto with_grid = [&](const std::string& grid) {
    std::string text = manifest;
    return text.replace(text.find("cdiv(n, bx)"), 11, grid);
  };
  expect_for(kUsage, {"grid", "0"}, kScale, with_grid("n - 100000"));
  expect_for(kUsage, {"grid"}, kScale, with_grid("n * n * n"));
  expect_for(kUsage, {"grid", "overflow"}, kScale, with_grid("n * n * n * n * n"));
}

// --- Originals that go wrong when they run ---

TEST_F(BadInput, AnOriginalThatRacesIsNamedWithBothLines) {
  expect_for(kUnusableKernel, {"data race", "at line 4", "at line 5"},
             "__global__ void scale(const float* in, float* out, int n) {\n"
             "  __shared__ float s[128];\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  s[threadIdx.x] = i < n ? in[i] : 0.0f;\n"
             "  if (i < n) out[i] = s[127 - threadIdx.x];\n"
             "}\n");
}

TEST_F(BadInput, AnOriginalThatTrapsIsRefused) {
  expect_for(kUnusableKernel, {"trap"},
             "__global__ void scale(const float* in, float* out, int n) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (i < n) out[i] = in[i];\n  if (i == 5) __trap();\n}\n");
}

TEST_F(BadInput, AnAssertionThatFailsIsQuoted) {
  expect_for(kUnusableKernel, {"in[i] > 100"},
             "__global__ void scale(const float* in, float* out, int n) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (i < n) { assert(in[i] > 100); out[i] = in[i]; }\n}\n");
}

TEST_F(BadInput, InlinePtxThatTheInterpreterLacksIsNamed) {
  expect_for(kUnusableKernel, {"cannot be interpreted", "barrier.cluster.arrive"},
             "__global__ void scale(const float* in, float* out, int n) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (i < n) out[i] = in[i];\n"
             "  asm volatile(\"barrier.cluster.arrive;\");\n}\n");
}

// --- Sources that attack the machine ---

TEST_F(BadInput, NotCudaAtAll) {
  expect_for(kUnusableKernel, {"no __global__ function"},
             "\x7f"
             "ELF\x02\x01\x01 not text {{{ ((");
  expect_for(kUnusableKernel, {"no __global__ function"}, "");
}

// --- The evaluator ---

TEST_F(BadInput, EvaluatorsThatCannotBeUsed) {
  expect(kUsage, {"--evaluator"}, {kernel(kScale), "--evaluator", "guess"});
  // A prediction needs to know for what.
  expect(kNoDevice, {"--evaluator model uses no GPU", "--device"},
         {kernel(kScale), "--evaluator", "model"});
  // Where there is a GPU it is used; an H200 and a B200 are never the same machine.
  for (const char* evaluator : {"gpu", "gpu-only"}) {
    const ProgramRun h200 =
        run({kernel(kScale), "--device", "h200", "--evaluator", evaluator, "--dry-run"});
    const ProgramRun b200 =
        run({kernel(kScale), "--device", "b200", "--evaluator", evaluator, "--dry-run"});
    const ProgramRun& without = h200.exit_code == 0 ? b200 : h200;
    EXPECT_EQ(without.exit_code, kNoDevice) << without.error;
    EXPECT_TRUE(without.complains_of(std::string("--evaluator ") + evaluator)) << without.error;
  }
}

// --- T1 files ---

TEST_F(BadInput, AT1FileIsBlamedByLine) {
  file("scale.cu", kScale);
  file("t1.json",
       "{\n\"KernelSpecification\": {\n\"Language\": \"CUDA\",\n\"KernelName\": \"scale\"\n}}");
  expect(kUsage, {"t1.json:2: KernelFile is missing"}, {"t1.json", "--device", "h200"});
  file("t1.json", "{\n\"KernelSpecification\": {\n");
  expect(kUsage, {"t1.json:", "not a valid T1 file"}, {"t1.json", "--device", "h200"});
  file("t1.json", "{}");
  expect(kUsage, {"KernelSpecification is missing"}, {"t1.json", "--device", "h200"});
}

TEST_F(BadInput, AT1FileIsAnInput) {
  file("scale.cu", kScale);
  file("t1.json", R"({"KernelSpecification": {"Language": "CUDA", "KernelName": "scale",
    "KernelFile": "scale.cu", "GlobalSize": {"X": 4096}, "GlobalSizeType": "OpenCL",
    "LocalSize": {"X": 128}, "Arguments": [
      {"Type": "float", "Size": 4096, "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 1},
      {"Type": "float", "Size": 4096, "AccessType": "WriteOnly"},
      {"Type": "int32", "MemoryType": "Scalar", "FillValue": 4096}]}})");
  const ProgramRun done = run({"t1.json", "--init"});
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("in: {dir: in, shape: [n], init: \"uniform(0,1)\"}"),
            std::string::npos)
      << done.output;
  EXPECT_NE(done.output.find("cdiv(n, bx)"), std::string::npos) << done.output;
}

}  // namespace
}  // namespace regraph::test::bad_input_test
