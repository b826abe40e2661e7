// Blocks that run ahead, each thread in a memory of its own: what they give is what blocks give
// that run one after the other in one memory.
#include "eval/verify/blocks_ahead.h"

#include "eval/verify/fault_verdict.h"
#include "eval/verify/verifier_test_support.h"

#include <algorithm>

namespace regraph::verify::blocks_ahead_test {
namespace {

const Cancellation kGoesOn;
constexpr std::uint64_t kInstructions = 200'000;  // of one block
constexpr const char* kYaml = R"yaml(
sizes: {n: 4096}
args: {in: {shape: [n]}, out: {dir: inout, shape: [n]}}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 64}]
)yaml";

// One launch after the other over the same arguments: the kernels "k" and "first" of a source.
class Sampled {
 public:
  Sampled(const std::string& source, int launches)
      : problem_(test::problem_of(
            kYaml, {test::pointer("in", true, ScalarType::i32),
                    test::pointer("out", false, ScalarType::i32), test::scalar("n")})),
        inputs_(problem_, problem_.bench.front(), 5) {
    LaunchPlan plan = problem_.launch;
    if (launches == 2) {
      plan.launches.insert(plan.launches.begin(), plan.launches.front());
      plan.launches.front().kernel = "first";
    }
    CompiledPlan compiled;
    for (const Launch& one : plan.launches) {
      compiled.launches.push_back(
          std::make_shared<const CompiledKernel>(test::compiled(source, one.kernel)));
    }
    auto loaded = load_plan(compiled, plan);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    plan_ = *std::move(loaded);
    auto made = BenchRun::create(problem_, plan_, problem_.bench.front(), inputs_, 9, 0);
    EXPECT_TRUE(made.ok()) << made.error().message;
    run_ = *std::move(made);
    for (int i = 0; i + 1 < launches; ++i)
      EXPECT_TRUE(run_->run_logged(static_cast<std::size_t>(i), 0, kGoesOn).ok());
  }

  BenchRun& run() { return *run_; }
  std::size_t last() const { return run_->launches() - 1; }

 private:
  Problem problem_;
  BenchInputs inputs_;
  LoadedPlan plan_;
  std::unique_ptr<BenchRun> run_;
};

std::string text_of(const BlockRecord& record) {
  return std::to_string(record.block) + " " + std::to_string(record.warp_instructions) + " " +
         std::string(ptx::name(record.fault.kind)) + " " + describe_fault(record.fault);
}

// Runs blocks ahead in two goes, takes some, and compares with a memory in which they run in that
// order. Returns how many waited after the first go.
std::size_t compare(const std::string& source, int most, int launches = 1,
                    std::vector<std::uint64_t> order = {7, 0, 1, 63, 2, 3, 4, 40, 41, 5}) {
  Sampled sequential(source, launches);
  Sampled sampled(source, launches);
  ThreadBudget threads;
  threads.limit(most);
  const ThreadBudget::Share calling = threads.enter();
  BlocksAhead ahead(sampled.run(), sampled.last(), kInstructions, threads);
  std::size_t waiting = 0;
  const std::span<const std::uint64_t> all(order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0) {
      ahead.run(all.first(all.size() / 2), ~std::uint64_t{0}, kGoesOn);
      waiting = ahead.waiting();
    } else if (i % 3 == 0) {
      ahead.run(all.subspan(i), ~std::uint64_t{0}, kGoesOn);
    }
    const BlockRecord expected =
        sequential.run().run_block(sequential.last(), order[i], kInstructions, kGoesOn);
    const BlockRecord given = ahead.take(order[i], kGoesOn);
    EXPECT_EQ(text_of(given), text_of(expected));
    EXPECT_EQ(given.paths, expected.paths);
    EXPECT_EQ(given.written, expected.written);
    EXPECT_EQ(given.all_writes_known, expected.all_writes_known);
    EXPECT_TRUE(std::ranges::equal(sampled.run().content(1), sequential.run().content(1)))
        << "after block " << order[i];
  }
  return waiting;
}

std::string kernel(const std::string& body, const std::string& before = "") {
  return before + "\n__global__ void k(const int* in, int* out, int n) {\n" +
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + body + "\n}\n";
}

// All of the first go waits, if there is a thread to spare at all.
void expect_ahead(const std::string& source, int launches = 1) {
  for (const int most : {1, 2, 5}) {
    SCOPED_TRACE(most);
    EXPECT_EQ(compare(source, most, launches), most == 1 ? 0U : 5U) << source;
  }
}
void expect_same(const std::string& source, int launches = 1) {
  for (const int most : {1, 2, 5}) {
    SCOPED_TRACE(most);
    compare(source, most, launches);
  }
}

TEST(BlocksAhead, BlocksThatStandAlone) {
  expect_ahead(kernel("out[i] = 3 * in[i];"));
  expect_ahead(kernel("out[i] += in[i] + 1;"));  // reads what it alone writes
  expect_ahead(kernel("out[63 * 64 - 64 * (i / 64) + i % 64] = in[i];"));
  expect_ahead(kernel("out[i] = in[i] + w[i % 4];", "__device__ int w[4] = {1, 2, 3, 4};"));
}

TEST(BlocksAhead, BlocksThatSeeWhatOthersWrote) {
  expect_same(kernel("out[i] = (i < 64 ? 0 : out[i - 64]) + in[i];"));
  expect_same(kernel("out[i] = out[(i + 64 * 56) % n] - in[i];"));
  expect_same(kernel("out[i] = in[i]; if (i % 64 == 0) out[4095] = out[4095] * 3 + i;"));
  expect_same(kernel("if (threadIdx.x == 0) seen += in[0] + 1; __syncthreads(); out[i] = seen;",
                     "__device__ int seen = 4;"));
  // Through a pointer of which nobody knows where it leads.
  expect_same(
      kernel("__shared__ int tile[64]; tile[threadIdx.x] = in[i]; __syncthreads();"
             "int* p = in[0] < n ? &out[(i + 64) % n] : tile; out[i] = *p + 1;"));
  // The same elements, by each block: the last one counts.
  expect_same(kernel("out[threadIdx.x] = i; out[64 + (i & 3)] = blockIdx.x;"));
}

TEST(BlocksAhead, Faults) {
  expect_same(kernel("if (blockIdx.x == 1) out[i + 100000] = 1; out[i] = in[i];"));
  expect_same(kernel("out[i] = in[i]; if (blockIdx.x == 2) out[n + i] = 1;"));
  expect_same(
      kernel("out[64 + threadIdx.x] = i; if (blockIdx.x == 1) out[n] = 1; out[i] = out[i] + 1;"));
  // It never ends, and what it wrote before is seen.
  expect_same(
      kernel("out[(i + 64) % n] = 5; if (blockIdx.x == 1) for (int j = 0; j < n * 4096; ++j)"
             " out[i] = out[i] * j + in[j & 4095]; out[i] += 1;"));
  expect_same(
      kernel("if (blockIdx.x == 7) { if (threadIdx.x < 40) __syncthreads(); else while (in[i] < n)"
             " i = i ^ 1; } out[i] = in[i];"));
  expect_same(kernel("if (blockIdx.x == 1) __trap(); out[i] = in[i];"));
}

TEST(BlocksAhead, SeeWhatEarlierLaunchesLeft) {
  const std::string first =
      "__device__ int total[3];\n"
      "__global__ void first(const int* in, int* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i % 2 == 0) out[i] = in[i] + 7;\n  if (i == 0) total[1] = in[3] + 2;\n}\n";
  expect_ahead(kernel("out[i] = out[i] * 2 + total[1];", first), 2);
  expect_same(kernel("out[i] = out[(i + 64) % n] * 2 + total[1];", first), 2);
}

// What each block writes, when the second list runs ahead after the first and only those of the
// third are taken, must be what they write in this order alone.
void expect_taken(const std::string& source, const std::vector<std::uint64_t>& first,
                  const std::vector<std::uint64_t>& second,
                  const std::vector<std::uint64_t>& taken) {
  Sampled sequential(source, 1);
  Sampled sampled(source, 1);
  ThreadBudget threads;
  threads.limit(2);
  const ThreadBudget::Share calling = threads.enter();
  BlocksAhead ahead(sampled.run(), 0, kInstructions, threads);
  ahead.run(first, ~std::uint64_t{0}, kGoesOn);
  ahead.run(second, ~std::uint64_t{0}, kGoesOn);
  for (const std::uint64_t one : taken) {
    const BlockRecord expected = sequential.run().run_block(0, one, kInstructions, kGoesOn);
    EXPECT_EQ(text_of(ahead.take(one, kGoesOn)), text_of(expected));
    EXPECT_TRUE(std::ranges::equal(sampled.run().content(1), sequential.run().content(1)))
        << "after block " << one;
  }
}

TEST(BlocksAhead, AreOutOfDateWhenOthersWroteWhatTheyRead) {
  const std::string chain = kernel("out[i] = (i < 64 ? 0 : out[i - 64]) + in[i];");
  expect_taken(chain, {1, 40}, {}, {0, 1, 40});
  expect_taken(chain, {1, 40}, {}, {39, 0, 40, 1});
  const std::string counter = kernel(
      "int before = seen; __syncthreads(); if (threadIdx.x == 0) seen = before + 3;"
      "out[i] = before + in[i];",
      "__device__ int seen = 4;");
  expect_taken(counter, {1, 40}, {}, {0, 1, 40});
}

TEST(BlocksAhead, DoNotSeeBlocksThatNobodyTook) {
  // Which thread, and so which memory, a block gets is a matter of chance.
  for (int i = 0; i < 20; ++i) {
    expect_taken(kernel("out[i] = (i < 64 ? 0 : out[i - 64]) + in[i];"), {0, 30}, {1, 31}, {31, 1});
  }
}

TEST(BlocksAhead, DoNotRunPastAFaultOrALimit) {
  Sampled sampled(kernel("out[i] = in[i]; if (blockIdx.x > 2 && blockIdx.x < 7) __trap();"), 1);
  ThreadBudget threads;
  threads.limit(2);
  const ThreadBudget::Share calling = threads.enter();
  BlocksAhead ahead(sampled.run(), 0, kInstructions, threads);
  const std::vector<std::uint64_t> sound = {0, 1, 2};
  ahead.run(sound, 1, kGoesOn);
  const std::size_t waiting = ahead.waiting();
  EXPECT_GT(waiting, 0U);
  EXPECT_LE(waiting, 2U);  // one a thread
  const std::vector<std::uint64_t> faulty = {3, 4, 5, 6};
  ahead.run(faulty, ~std::uint64_t{0}, kGoesOn);
  EXPECT_EQ(ahead.waiting(), waiting);
  EXPECT_EQ(ahead.take(4, kGoesOn).fault.kind, ptx::FaultKind::trap);
  Cancellation stopped;
  stopped.request();
  EXPECT_EQ(ahead.take(20, stopped).fault.kind, ptx::FaultKind::cancelled);
}

}  // namespace
}  // namespace regraph::verify::blocks_ahead_test
