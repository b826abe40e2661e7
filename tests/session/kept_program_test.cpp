// Programs captured while they run, and their kernels searched on what they were launched with.
#include "session/kept_program.h"

#include "base/files.h"
#include "kernel/manifest.h"
#include "report/run_report.h"
#include "session/opened_problem.h"
#include "session/opened_session.h"
#include "session/search_evidence.h"

#include <algorithm>
#include <filesystem>

namespace regraph::kept_program_test {
namespace {

class KeptProgramTest : public test::SessionTest {
 protected:
  void SetUp() override {
    if (std::string(REGRAPH_NVCC).empty()) GTEST_SKIP() << "there is no nvcc";
  }
  // Builds the source and captures it with those arguments.
  KeptProgram keep(const std::string& source,
                   std::vector<std::vector<std::string>> commands = {{}}) {
    write("main.cu", source);
    KeepRequest request;
    request.build = path("main.cu");
    request.commands = std::move(commands);
    request.keep.folder = path("kept");
    request.wall_seconds = 60.0;
    auto kept = keep_program(request, installation, never);
    EXPECT_TRUE(kept) << kept.error().message;
    return kept ? std::move(*kept) : KeptProgram{};
  }
  [[nodiscard]] Result<std::unique_ptr<Session>, SessionError> open_folder(
      const std::string& name) const {
    SessionOptions options = this->options();
    options.problem.kernel_file = path("kept/" + name);
    return Session::open(options, installation, never);
  }
  Result<SearchResult> search(Session& session, int evaluations) {
    SearchConfig config = session.configuration();
    config.budget.evaluations = evaluations;
    config.jobs = 2;
    const auto expander = session.expander({}, config);
    EXPECT_TRUE(expander) << expander.error().message;
    return session.search({config, **expander});
  }
};

std::vector<std::string> names_of(const KeptProgram& kept) {
  std::vector<std::string> names;
  for (const auto& folder : kept.folders)
    names.push_back(folder.path.filename().string());
  std::ranges::sort(names);
  return names;
}

constexpr const char* kRowSumsMain = R"cuda(
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void row_sums(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) sum += in[row * columns + i];
  out[row] = sum;
}
int main(int argc, char** argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 2048, columns = 640;
  std::vector<float> x(rows * columns), y(rows);
  for (int i = 0; i < rows * columns; ++i) x[i] = i % 13 * 0.25f;
  float *in, *out;
  cudaMalloc(&in, x.size() * 4);
  cudaMalloc(&out, y.size() * 4);
  cudaMemcpy(in, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
  row_sums<<<(rows + 127) / 128, 128>>>(in, out, rows, columns);
  cudaMemcpy(y.data(), out, y.size() * 4, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float one : y) sum += one;
  printf("%g\n", sum);
}
)cuda";

TEST_F(KeptProgramTest, TheProgramDecidesOverTheWinner) {
  const KeptProgram kept = keep(kRowSumsMain);
  ASSERT_EQ(names_of(kept), std::vector<std::string>{"row_sums"});
  const auto session = open_folder("row_sums");
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->problem().sizes, (Symbols{{"columns", 640}, {"rows", 2048}}));
  const auto found = search(**session, 4);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->outcome.verdict, SpeedVerdict::fast);
  ASSERT_TRUE(found->evidence->program.has_value());
  EXPECT_TRUE(found->evidence->program->ran) << found->evidence->program->trouble;
  EXPECT_TRUE(found->evidence->program->same) << found->evidence->program->trouble;
  EXPECT_EQ(found->evidence->program->replaced, 1u);
}

// The folder's source is not the program's, so that all tests pass and the program objects.
TEST_F(KeptProgramTest, AnAnswerTheProgramDoesNotBearIsWithdrawn) {
  keep(kRowSumsMain);
  const std::string sum = "out[row] = sum;";
  const auto folder = std::filesystem::path(path("kept/row_sums"));
  const auto source = read_file(folder / "kernel.cu", 1 << 20);
  ASSERT_TRUE(source);
  std::string changed = *source;
  changed.replace(changed.find(sum), sum.size(), "out[row] = 2.0f * sum;");
  ASSERT_TRUE(write_file(folder / "kernel.cu", changed));
  const auto session = open_folder("row_sums");
  ASSERT_TRUE(session) << session.error().message;
  const auto found = search(**session, 4);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->outcome.improved());
  ASSERT_TRUE(found->evidence->program.has_value());
  EXPECT_FALSE(found->evidence->program->same);
  EXPECT_NE(found->evidence->program->trouble.find("line 1 differs"), std::string::npos)
      << found->evidence->program->trouble;
}

TEST_F(KeptProgramTest, ASecondRunGivesSizes) {
  keep(kRowSumsMain, {{"2000"}, {"100"}});
  const auto session = open_folder("row_sums");
  ASSERT_TRUE(session) << session.error().message;
  // What does not differ is no size.
  EXPECT_EQ((*session)->problem().sizes, (Symbols{{"rows", 2000}}));
  EXPECT_EQ((*session)->problem().captured.size(), 2u);
  EXPECT_EQ(std::ranges::count((*session)->problem().tests, Symbols{{"rows", 100}}), 1);
}

// A kernel called in place, a structure of pointers, two template instances, three dependent
// kernels, managed memory, and a size that is read from a file.
constexpr const char* kManyThings = R"cuda(
#include <cstdio>
#include <vector>
struct Table { const float* values; int* counts; int n; };
__global__ void in_place(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 0.5f;
}
__global__ void count(Table table) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < table.n) table.counts[i] = table.values[i] > 1.0f ? 1 : 0;
}
template <typename T, int K>
__global__ void power(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T value = 1;
  for (int k = 0; k < K; ++k) value *= x[i];
  y[i] = value;
}
int main(int, char** argv) {
  int n = 0;
  FILE* file = fopen(argv[1], "r");
  if (!file || fscanf(file, "%d", &n) != 1) return 1;
  float *managed, *other;
  Table table;
  cudaMallocManaged(&managed, n * 4);
  for (int i = 0; i < n; ++i) managed[i] = i * 0.01f;
  cudaMalloc(&other, n * 4);
  cudaMalloc(&table.counts, n * 4);
  in_place<<<(n + 127) / 128, 128>>>(managed, managed, n);
  power<float, 2><<<(n + 127) / 128, 128>>>(managed, other, n);
  power<float, 3><<<(n + 127) / 128, 128>>>(managed, other, n);
  table.values = other;
  table.n = n;
  count<<<(n + 127) / 128, 128>>>(table);
  std::vector<int> counts(n);
  cudaMemcpy(counts.data(), table.counts, n * 4, cudaMemcpyDeviceToHost);
  int sum = 0;
  for (int one : counts) sum += one;
  printf("%d\n", sum);
}
)cuda";

TEST_F(KeptProgramTest, KnowsWhatNoSourceSays) {
  write("size.txt", "3000");
  const KeptProgram kept = keep(kManyThings, {{path("size.txt")}});
  EXPECT_EQ(names_of(kept),
            (std::vector<std::string>{"count", "in_place", "power-float-2", "power-float-3"}));
  const auto in_place = open_folder("in_place");
  ASSERT_TRUE(in_place) << in_place.error().message;
  EXPECT_FALSE((*in_place)->problem().assume.noalias);
  EXPECT_EQ((*in_place)->problem().arguments[1].overlaps, "in");
  EXPECT_EQ((*in_place)->problem().sizes, (Symbols{{"n", 3000}}));
  for (const char* folder : {"count", "power-float-2", "power-float-3"}) {
    const auto session = open_folder(folder);
    ASSERT_TRUE(session) << folder << ": " << session.error().message;
    EXPECT_TRUE((*session)->opened().rewritable) << (*session)->opened().opaque_reason;
    EXPECT_GE((*session)->problem().captured.size(), 1u);
  }
}

// Three kernels that need each other's results.
constexpr const char* kSoftmaxMain = R"cuda(
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void row_max(const float* x, float* top, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = x[row * columns];
  for (int i = 1; i < columns; ++i) m = fmaxf(m, x[row * columns + i]);
  top[row] = m;
}
__global__ void row_sum(const float* data, const float* peak, float* sum, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float s = 0.0f;
  for (int i = 0; i < columns; ++i) s += expf(data[row * columns + i] - peak[row]);
  sum[row] = s;
}
__global__ void divide(const float* x, const float* top, const float* sum, float* y, int n,
                       int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = expf(x[i] - top[i / columns]) / sum[i / columns];
}
int main(int argc, char** argv) {
  int rows = atoi(argv[1]), columns = argc > 2 ? atoi(argv[2]) : 600, n = rows * columns;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i * 37 % 101 * 0.02f;
  float *dx, *dy, *top, *sum;
  cudaMalloc(&dx, n * 4);
  cudaMalloc(&dy, n * 4);
  cudaMalloc(&top, rows * 4);
  cudaMalloc(&sum, rows * 4);
  cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
  for (int k = 0; k < 3; ++k) {
    row_max<<<(rows + 127) / 128, 128>>>(dx, top, rows, columns);
    row_sum<<<(rows + 127) / 128, 128>>>(dx, top, sum, rows, columns);
    divide<<<(n + 255) / 256, 256>>>(dx, top, sum, dy, n, columns);
  }
  cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost);
  double all = 0;
  for (float one : y) all += one;
  printf("%.3f\n", all);
}
)cuda";

TEST_F(KeptProgramTest, KernelsInARowAreJudgedTogether) {
  write("main.cu", kSoftmaxMain);
  KeepRequest request;
  request.build = path("main.cu");
  request.commands = {{"2048", "300"}, {"70", "45"}};
  request.keep.folder = path("kept");
  request.keep.sequence = {"row_max", "row_sum", "divide"};
  request.keep.kernel = "row_sum";
  request.wall_seconds = 60.0;
  const auto kept = keep_program(request, installation, never);
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_EQ(names_of(*kept), std::vector<std::string>{"row_max+row_sum+divide"});
  const auto session = open_folder("row_max+row_sum+divide");
  ASSERT_TRUE(session) << session.error().message;
  const Problem& problem = (*session)->problem();
  EXPECT_EQ(problem.signature.name, "row_sum");
  ASSERT_EQ(problem.launch.launches.size(), 3U);
  EXPECT_EQ(problem.launch.launches[1].arguments,
            (std::vector<std::string>{"x", "top", "sum", "rows", "columns"}));
  EXPECT_EQ(problem.sizes, (Symbols{{"columns", 300}, {"rows", 2048}}));
  EXPECT_EQ(problem.captured.size(), 2U);
  const auto found = search(**session, 8);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->outcome.verdict, SpeedVerdict::fast);
  ASSERT_TRUE(found->evidence->program.has_value());
  EXPECT_TRUE(found->evidence->program->ran) << found->evidence->program->trouble;
  EXPECT_TRUE(found->evidence->program->same) << found->evidence->program->trouble;
  EXPECT_GE(found->evidence->program->replaced, 1U);

  request.keep.sequence = {"row_sum", "row_max"};
  const auto never_so = keep_program(request, installation, never);
  ASSERT_FALSE(never_so);
  EXPECT_EQ(never_so.error().cause, FailureCause::unusable_kernel);
  EXPECT_NE(never_so.error().message.find("'divide' is launched after 'row_sum'"),
            std::string::npos)
      << never_so.error().message;
}

TEST_F(KeptProgramTest, ForeignFoldersAreRefused) {
  std::filesystem::create_directories(path("kept/empty"));
  auto empty = open_folder("empty");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().cause, FailureCause::usage);
  EXPECT_NE(empty.error().message.find("capture.json"), std::string::npos);
  keep(kRowSumsMain, {{"300"}});
  const std::filesystem::path folder = path("kept/row_sums");
  for (const auto& file : std::filesystem::directory_iterator(folder / "data"))
    ASSERT_TRUE(write_file(file.path(), "something else"));
  auto damaged = open_folder("row_sums");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().cause, FailureCause::usage);
  EXPECT_NE(damaged.error().message.find("capture the program once more"), std::string::npos)
      << damaged.error().message;
}

// What the program works on is nobody else's: a number that stands in its data alone is in nothing
// that a search says or writes.
TEST_F(KeptProgramTest, TellsNothingOfTheData) {
  std::string secret = kRowSumsMain;
  const std::string values = "i % 13 * 0.25f";
  secret.replace(secret.find(values), values.size(), "31337.25f");
  keep(secret, {{"300"}});
  const auto session = open_folder("row_sums");
  ASSERT_TRUE(session) << session.error().message;
  std::string wrong = (*session)->original().source;
  wrong.replace(wrong.find("i < columns"), 11, "i < columns - 1");
  const auto candidate = (*session)->read_candidate(wrong, never);
  ASSERT_TRUE(candidate) << candidate.error().message;
  const Evaluation evaluation = (*session)->evaluate(*candidate, {.seed = 1}, never);
  EXPECT_EQ(evaluation.verdict, Verdict::wrong_result);
  EXPECT_EQ(evaluation.message.find("31337"), std::string::npos) << evaluation.message;
  const Problem& problem = (*session)->problem();
  EXPECT_EQ(write_manifest(problem, problem.launch).find("31337"), std::string::npos);
}

TEST_F(KeptProgramTest, SaysWhyNothingWasKept) {
  write("main.cu", "int main() { return 3; }");
  KeepRequest request;
  request.build = path("main.cu");
  request.commands = {{}};
  request.keep.folder = path("kept");
  const auto none = keep_program(request, installation, never);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().cause, FailureCause::unusable_kernel);
  write("main.cu", "int main() { return 3 }");
  const auto broken = keep_program(request, installation, never);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().cause, FailureCause::usage);
  EXPECT_NE(broken.error().message.find("error"), std::string::npos) << broken.error().message;
  EXPECT_FALSE(std::filesystem::exists(path("kept")));
}

constexpr const char* kLibraryMain = R"cuda(
#include <cublas_v2.h>
__global__ void shift(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}
int main() {
  const int n = 4096;
  float *a, *b, two = 2.0f;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemset(a, 0, n * sizeof(float));
  shift<<<n / 256, 256>>>(a, b, n);
  cublasHandle_t blas = nullptr;
  cublasCreate(&blas);
  cublasSscal(blas, n, &two, b, 1);
  shift<<<n / 256, 256>>>(b, a, n);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
)cuda";

// The library brings a runtime of its own, which finds no GPU.
TEST_F(KeptProgramTest, LibrariesThatComputeNothingAreNamed) {
  if (!std::filesystem::exists(std::string(REGRAPH_CUDA_INCLUDE_DIRECTORY) + "/cublas_v2.h"))
    GTEST_SKIP() << "there is no cuBLAS";
  write("main.cu", kLibraryMain);
  KeepRequest request;
  request.make = std::string(REGRAPH_NVCC) + " -arch=sm_90 -o '" + path("main") + "' '" +
                 path("main.cu") + "' -lcublas";
  request.commands = {{path("main")}};
  request.source = path("main.cu");
  request.keep.folder = path("kept");
  request.wall_seconds = 60.0;
  const auto kept = keep_program(request, installation, never);
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_EQ(kept->folders.size(), 1U);
  ASSERT_EQ(kept->notes.size(), 1U);
  EXPECT_NE(kept->notes.front().find("libcublas.so"), std::string::npos) << kept->notes.front();
  EXPECT_EQ(kept->folders.front().kernel.left_out, kept->notes);
}

}  // namespace
}  // namespace regraph::kept_program_test
