// What a manifest says of values, through the whole program: scalars that follow sizes, sparse
// matrices, contents from files.
#include "cli/running_program.h"

#include <algorithm>
#include <cstring>

namespace regraph::values_test {
namespace {

using nlohmann::json;
using test::ProgramRun;

constexpr const char* kSparse = R"cuda(
__global__ void spmv(const int* offsets, const int* columns, const float* values, const float* x,
                     float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] += sum;
}
)cuda";
constexpr const char* kSparseManifest = R"yaml(
sizes: {rows: 4096, cols: 2048, nnz: 65536}
args:
  offsets: {shape: [rows + 1], init: csr_offsets(nnz)}
  columns: {shape: [nnz], init: csr_columns(cols)}
  values: {shape: [nnz]}
  x: {shape: [cols]}
  y: {shape: [rows], init: zeros}
launch: {block: 128, grid: ["cdiv(rows, bx)"]}
tests: [{rows: 37, cols: 53, nnz: 300}, {rows: 130, cols: 7, nnz: 900}, {rows: 1, cols: 1, nnz: 1}]
)yaml";

constexpr const char* kFold = R"cuda(
__global__ void fold(const float* x, float* y, int half) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) y[i] += x[i] + x[i + half];
}
)cuda";
constexpr const char* kFoldManifest = R"yaml(
sizes: {M: 65536}
args:
  half: M / 2
  y: {init: zeros}
launch: {block: 256, grid: ["cdiv(M / 2, bx)"]}
tests: [{M: 1000}, {M: 2}]
)yaml";

constexpr const char* kCentre = R"cuda(
__global__ void centre(const float* x, float* y, int n) {
  __shared__ float sum;
  const int i = threadIdx.x;
  const float* row = x + blockIdx.x * n;
  if (i == 0) {
    float total = 0.0f;
    for (int k = 0; k < n; ++k) total += row[k];
    sum = total;
  }
  __syncthreads();
  y[blockIdx.x * n + i] = row[i] - sum / n;
}
)cuda";
constexpr const char* kCentreManifest = R"yaml(
sizes: {rows: 512, n: 256}
args:
  x: {shape: [rows, n]}
  y: {dir: out, shape: [rows, n]}
launch: {block: [n], grid: rows}
tests: [{rows: 3, n: 64}, {rows: 5, n: 96}, {rows: 2, n: 7}]
)yaml";

class Values : public test::RunningProgram {
 protected:
  // The floats 0, 1, 2, ... as bytes.
  static std::string floats(std::size_t count) {
    std::string bytes(count * sizeof(float), '\0');
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(i % 100);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
    return bytes;
  }

  static std::string npy(const std::string& shape, const std::string& data) {
    std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n";
    std::string text("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(dictionary.size());
    text += '\0';
    return text + dictionary + data;
  }
};

TEST_F(Values, ASparseMatrixIsSearched) {
  const std::string kernel = file("spmv.cu", kSparse);
  const std::string manifest = file("sparse.yaml", kSparseManifest);
  const ProgramRun done = run({kernel, "--manifest", manifest, "--device", "h200", "--evaluations",
                               "5", "--output", "out", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_GE(done.json().at("verdicts").at("correct").get<int>(), 2) << done.output;
  // What the user alone said is listed with what the winner relies on.
  const auto assumed = done.json().at("best").at("assumptions").get<std::vector<std::string>>();
  EXPECT_EQ(std::ranges::count(assumed, "'y' holds zeros before every launch"), 1) << done.output;
  const std::string written = content("out/manifest.yaml");
  EXPECT_NE(written.find("csr_offsets(nnz)"), std::string::npos) << written;
  EXPECT_NE(written.find("csr_columns(cols)"), std::string::npos) << written;
}

TEST_F(Values, AScalarFollowsTheSizes) {
  const std::string kernel = file("fold.cu", kFold);
  file("fold.regraph.yaml", kFoldManifest);
  const ProgramRun done =
      run({kernel, "--device", "h200", "--evaluations", "5", "--output", "out", "--json"});
  // Little can be made of it: 3 says that nothing was faster.
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 3) << done.error;
  EXPECT_GE(done.json().at("verdicts").at("correct").get<int>(), 2) << done.output;
  const std::string written = content("out/manifest.yaml");
  EXPECT_NE(written.find("half: \"M / 2\""), std::string::npos) << written;
  EXPECT_NE(written.find("init: zeros"), std::string::npos) << written;
  // Lengths in terms of it were inferred, and what is printed is read back.
  const ProgramRun init = run({kernel, "--init"});
  ASSERT_EQ(init.exit_code, 0) << init.error;
  file("again.yaml", init.output);
  const ProgramRun again = run({kernel, "--manifest", "again.yaml", "--init"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(again.output.substr(again.output.find("kernel:")),
            init.output.substr(init.output.find("kernel:")));
  // A value that does not fit.
  const ProgramRun large = run({kernel, "--size", "M=6000000000", "--init"});
  EXPECT_EQ(large.exit_code, 2) << large.output;
  EXPECT_TRUE(large.complains_of("M / 2 is 3000000000 at {M: 6000000000}")) << large.error;
}

TEST_F(Values, LengthsThatAreSeenAreInTermsOfTheSizesOfAValue) {
  const std::string kernel =
      file("walk.cu",
           "__global__ void walk(const float* x, float* y, int half) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= half) return;\n"
           "  const float* p = x + i;\n  float s = __ldg(p);\n  p += half;\n"
           "  y[i] = s + __ldg(p);\n}\n");
  file("walk.regraph.yaml",
       "sizes: {M: 65536}\nargs: {half: M / 2}\n"
       "launch: {block: 256, grid: [\"cdiv(M / 2, bx)\"]}\ntests: [{M: 1000}, {M: 2}]\n");
  const ProgramRun init = run({kernel, "--init"});
  ASSERT_EQ(init.exit_code, 0) << init.error;
  EXPECT_NE(init.output.find("x: {dir: in, shape: [M]"), std::string::npos) << init.output;
  EXPECT_NE(init.output.find("y: {dir: out, shape: [\"M / 2\"]"), std::string::npos) << init.output;
}

TEST_F(Values, AFileIsReadWhereverTheRunGoesOn) {
  const std::string kernel = file("fold.cu", kFold);
  std::string manifest = kFoldManifest;
  manifest.replace(manifest.find("  y: {init: zeros}"), 18,
                   "  x: {init: data/x.npy}\n  y: {init: ones}");
  file("fold.regraph.yaml", manifest);
  file("data/x.npy", npy("(65536,)", floats(65536)));
  const ProgramRun done =
      run({kernel, "--device", "h200", "--evaluations", "3", "--output", "out", "--json"});
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 3) << done.error;
  const std::string written = content("out/manifest.yaml");
  EXPECT_NE(written.find(path("data/x.npy").string()), std::string::npos) << written;
  // What was written is an input of its own, in another folder, and the run goes on.
  const ProgramRun again =
      run({"out/best.cu", "--device", "h200", "--dry-run", "--output", "again"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
  const ProgramRun more = run({"--resume", "out", "--json"});
  EXPECT_EQ(more.exit_code, done.exit_code) << more.error;
  // Shorter than the buffer.
  file("data/x.npy", npy("(65535,)", floats(65535)));
  const ProgramRun other = run({kernel, "--device", "h200", "--dry-run", "--output", "other"});
  EXPECT_EQ(other.exit_code, 2) << other.output;
  EXPECT_TRUE(other.complains_of("data/x.npy: it holds 65535 elements")) << other.error;
}

TEST_F(Values, ABlockFollowsTheSizes) {
  const std::string kernel = file("centre.cu", kCentre);
  file("centre.regraph.yaml", kCentreManifest);
  const ProgramRun done =
      run({kernel, "--device", "h200", "--evaluations", "5", "--output", "out", "--json"});
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 3) << done.error;
  EXPECT_NE(content("out/manifest.yaml").find("block: [n, 1, 1]"), std::string::npos);
  const ProgramRun more = run({"--resume", "out", "--json"});
  EXPECT_EQ(more.exit_code, done.exit_code) << more.error;
  const ProgramRun large = run({kernel, "--size", "n=2048", "--init"});
  EXPECT_EQ(large.exit_code, 2) << large.output;
  EXPECT_TRUE(large.complains_of("a block of 2048 (n) x 1 x 1 threads at")) << large.error;
  // A fixed one is too long at the tests.
  const ProgramRun fixed =
      run({kernel, "--block", "256", "--device", "h200", "--dry-run", "--output", "fixed"});
  EXPECT_EQ(fixed.exit_code, 4) << fixed.error;
}

}  // namespace
}  // namespace regraph::values_test
