#include "session/candidate_file.h"

#include "session/opened_session.h"

namespace regraph::candidate_file_test {
namespace {

constexpr const char* kTwoKernels = R"(
__global__ void row_sums(const float* in, float* partial, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) sum += in[row * columns + i];
  partial[row] = sum;
}
__global__ void total(const float* partial, float* out, int rows) {
  float sum = 0.0f;
  for (int i = 0; i < rows; ++i) sum += partial[i];
  out[0] = sum;
}
)";

constexpr const char* kTwoLaunches = R"yaml(kernel: row_sums
sizes: {rows: 512, columns: 256}
args:
  in: {dir: in, shape: [rows, columns]}
  out: {dir: out, shape: [1]}
scratch:
  partial: {type: float, shape: [rows]}
launches:
  - {kernel: row_sums, block: 128, grid: "cdiv(rows, bx)"}
  - {kernel: total, block: 1, grid: 1}
tests:
  - {rows: 70, columns: 33}
assume: {reassociate: true}
)yaml";

// A warp a row, four rows a block: other blocks and another grid than the original's.
constexpr const char* kWarpRows = R"(
__global__ void row_sums(const float* in, float* partial, int rows, int columns) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = threadIdx.x % 32; i < columns; i += 32) sum += in[row * columns + i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) partial[row] = sum;
}
__global__ void total(const float* partial, float* out, int rows) {
  float sum = 0.0f;
  for (int i = 0; i < rows; ++i) sum += partial[i];
  out[0] = sum;
}
)";

class CandidateFile : public test::SessionTest {
 protected:
  [[nodiscard]] Verdict verdict_of(const Session& session, const std::string& file) const {
    const auto candidate = read_candidate_file(session, {path(file), {}, {}, {}}, never);
    EXPECT_TRUE(candidate) << candidate.error().message;
    if (!candidate) return Verdict::unsupported;
    return const_cast<Session&>(session).evaluate(*candidate, {.seed = 1}, never).verdict;
  }
};

TEST_F(CandidateFile, SeveralLaunchesAreThoseOfTheManifestBesideIt) {
  write("k.cu", kTwoKernels);
  write("k.regraph.yaml", kTwoLaunches);
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  write("warps.cu", kWarpRows);
  const std::string row_launch = R"yaml({kernel: row_sums, block: 128, grid: "cdiv(rows, 4)")yaml";
  write("warps.regraph.yaml",
        "launches:\n  - " + row_launch + "}\n  - {kernel: total, block: 1, grid: 1}\n");
  EXPECT_EQ(verdict_of(**session, "warps.cu"), Verdict::correct);
  // With the arguments, as a search writes them.
  write("warps.regraph.yaml",
        "launches:\n  - " + row_launch +
            ", args: [in, partial, rows, columns]}\n"
            "  - {kernel: total, block: 1, grid: 1, args: [partial, out, rows]}\n");
  EXPECT_EQ(verdict_of(**session, "warps.cu"), Verdict::correct);
  // Launched as the original is it leaves rows out.
  write("alone.cu", kWarpRows);
  EXPECT_EQ(verdict_of(**session, "alone.cu"), Verdict::wrong_result);
}

TEST_F(CandidateFile, LaunchesThatCannotBeAreRefused) {
  write("k.cu", kTwoKernels);
  write("k.regraph.yaml", kTwoLaunches);
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  write("warps.cu", kWarpRows);
  const auto refusal = [&](const std::string& launches) {
    write("warps.regraph.yaml", "launches:\n" + launches);
    const auto candidate = read_candidate_file(**session, {path("warps.cu"), {}, {}, {}}, never);
    return candidate ? std::string("none") : candidate.error().message;
  };
  EXPECT_NE(refusal("  - {kernel: row_sums, block: 128, grid: \"cdiv(m, 4)\"}\n").find("'m'"),
            std::string::npos);
  const std::string third = refusal("  - {kernel: third, block: 128, grid: 1}\n");
  EXPECT_NE(third.find("third"), std::string::npos) << third;
  // What is passed is seen when the kernel is there.
  for (const char* arguments :
       {"in", "in, other, rows, columns", "in, partial, rows, columns, 1"}) {
    write("warps.regraph.yaml", "launches:\n  - {kernel: row_sums, block: 128, grid: 128, args: [" +
                                    std::string(arguments) +
                                    "]}\n  - {kernel: total, block: 1, grid: 1}\n");
    EXPECT_NE(verdict_of(**session, "warps.cu"), Verdict::correct) << arguments;
  }
}

TEST_F(CandidateFile, OneLaunchDoesNotBecomeSeveral) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  write("two.cu", test::kRowSums);
  write("two.regraph.yaml", "launches:\n  - {kernel: row_sums, block: 128, grid: 32}\n");
  const auto candidate = read_candidate_file(**session, {path("two.cu"), {}, {}, {}}, never);
  ASSERT_FALSE(candidate);
  EXPECT_NE(candidate.error().message.find("several times, the original once"), std::string::npos);
}

}  // namespace
}  // namespace regraph::candidate_file_test
