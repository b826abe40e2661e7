// regraph-run: kernels on given data, files that do not fit, faults.
#include "cli/search_program.h"
#include "kernel/npy_header.h"

#include <gtest/gtest.h>

#include <cstring>

namespace regraph::test::run_test {
namespace {

constexpr const char* kKernel =
    R"(__global__ void difference(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] - 2.0f * b[i];
}
)";

constexpr const char* kManifest = R"yaml(sizes: {n: 4096}
args:
  a: {dir: in, shape: [n]}
  b: {dir: in, shape: [n], init: ones}
  c: {dir: out, shape: [n]}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 5}]
)yaml";

class Run : public SearchProgram {
 protected:
  void SetUp() override {
    file("k.cu", kKernel);
    file("k.regraph.yaml", kManifest);
    std::filesystem::create_directories(path("data"));
  }
  static std::string npy(const std::vector<float>& values) {
    std::string text = npy_header_text(ScalarType::f32, {static_cast<std::int64_t>(values.size())});
    const std::size_t head = text.size();
    text.resize(head + values.size() * sizeof(float));
    std::memcpy(text.data() + head, values.data(), values.size() * sizeof(float));
    return text;
  }
  [[nodiscard]] std::vector<float> output(const std::string& name) const {
    const auto content = read_file(path(name), 1 << 20);
    EXPECT_TRUE(content.ok()) << name;
    if (!content) return {};
    const auto header = parse_npy_header(*content);
    EXPECT_TRUE(header.ok());
    if (!header) return {};
    EXPECT_EQ(header->type, "<f4");
    EXPECT_EQ(header->data_begin % 64, 0U);
    std::vector<float> values(static_cast<std::size_t>(header->elements));
    EXPECT_EQ(content->size(), header->data_begin + values.size() * sizeof(float));
    std::memcpy(values.data(), content->data() + header->data_begin, values.size() * sizeof(float));
    return values;
  }
};

TEST_F(Run, LeavesWhatTheKernelMakesOfTheFiles) {
  file("data/a.npy", npy({1, 2, 3}));
  file("data/b.npy", npy({10, 20, 30}));
  const ProgramRun run = run_program(REGRAPH_RUN_PROGRAM, {"k.cu", "data", "--size", "n=3"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, "data/c.out.npy\n");
  EXPECT_EQ(output("data/c.out.npy"), (std::vector<float>{-19, -38, -57}));
}

TEST_F(Run, DrawsInputsWithoutAFileFromTheManifest) {
  file("data/a.npy", npy({1, 2, 3, 4}));
  const ProgramRun run = run_program(REGRAPH_RUN_PROGRAM, {"k.cu", "data", "--size", "n=4"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(output("data/c.out.npy"), (std::vector<float>{-1, 0, 1, 2}));
}

TEST_F(Run, AFileThatDoesNotFitIsUsage) {
  file("data/a.npy", npy({1, 2, 3}));
  const ProgramRun run = run_program(REGRAPH_RUN_PROGRAM, {"k.cu", "data", "--size", "n=4"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(run.complains_of("it holds 3 elements")) << run.error;
  EXPECT_FALSE(std::filesystem::exists(path("data/c.out.npy")));
}

TEST_F(Run, AFaultIsTheKernels) {
  file("k.cu", std::string(kKernel) + "\n// out of bounds at large sizes only\n");
  std::string kernel = kKernel;
  kernel.replace(kernel.find("a[i] -"), 4, "a[i + (n > 100)]");
  file("k.cu", kernel);
  const ProgramRun run = run_program(REGRAPH_RUN_PROGRAM, {"k.cu", "data", "--size", "n=200"});
  EXPECT_EQ(run.exit_code, 4) << run.output;
  EXPECT_TRUE(run.complains_of("past the end of 'a'")) << run.error;
}

}  // namespace
}  // namespace regraph::test::run_test
