// grid_reduction: elements that add to one place, added up by blocks first.
#include "rewrite/step_checks.h"

namespace regraph::test::grid_reduction_test {
namespace {

Application add_up(const char* threads = "64", const char* rounds = "2", const char* width = "4") {
  return {"grid_reduction", {{"threads", threads}, {"rounds", rounds}, {"width", width}}};
}

bool says(const rewrite::KernelState& state, const std::string& text) {
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find(text), std::string::npos) << "no '" << text << "' in\n" << code;
  return code.find(text) != std::string::npos;
}

// A kernel that adds to total[0].
Result<std::unique_ptr<KernelCase>> case_of(const std::string& body,
                                            const std::string& type = "float",
                                            const std::string& assume = "reassociate: true") {
  return KernelCase::make(
      "__global__ void f(const " + type + "* x, const " + type + "* y, " + type +
          "* total, int n) {\n" + body + "\n}",
      "sizes: {n: 70000}\nargs:\n  x: {dir: in, shape: [n], init: 'uniform(1,3)'}\n  y: {dir: in, "
      "shape: [n], init: 'uniform(1,3)'}\n"
      "  total: {dir: inout, shape: [2]}\nlaunch: {block: 64, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 2100}, {n: 512}, {n: 1}]\nassume: {noalias: true, align: 16, " +
          assume + "}\n");
}

constexpr const char* kIndex = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

void expect_done(const std::string& body, const Application& step = add_up(),
                 const std::string& type = "float") {
  SCOPED_TRACE(body);
  const auto kernel = case_of(body, type);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {step});
}

void expect_body_refused(const std::string& body, const std::string& reason,
                         const Application& step = add_up(),
                         const std::string& assume = "reassociate: true") {
  SCOPED_TRACE(body);
  const auto kernel = case_of(body, "float", assume);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, step, reason);
}

TEST(GridReduction, AddsUpBeforeTheAtomic) {
  const auto kernel = case_of(std::string(kIndex) + "if (i < n) atomicAdd(total, x[i] * y[i]);");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto vectors = expect_correct(**kernel, {add_up()});
  EXPECT_EQ(vectors.plan.launches[0].grid[0].text(), "max(1, cdiv(n, 512))");
  EXPECT_EQ(vectors.plan.launches[0].block, (Dim3{64, 1, 1}));
  says(vectors, "sum += x_values[place] * y_values[place]");
  says(vectors, "__shfl_xor_sync");
  expect_correct(**kernel, {add_up("32", "4", "1")});
}

TEST(GridReduction, TakesWhatAnElementAsksFor) {
  expect_done(std::string(kIndex) +
              "if (i >= n) return; float v = x[i]; if (v > 0.0f) atomicAdd(&total[1], v + i);");
  expect_done(
      std::string(kIndex) +
          "if (i < n && i % 3 == 0) { float v = 0.0f; for (int k = 0; k < 3; ++k) v += y[i] * "
          "k; atomicAdd(total, v * x[n - 1 - i]); }",
      add_up("64", "2", "1"));
  expect_done(std::string(kIndex) + "if (i < n) atomicAdd(total, x[i] > 2 ? y[i] : 1);", add_up(),
              "int");
}

TEST(GridReduction, TakesTreesAndSumsOfThreads) {
  const std::string tree =
      "for (int s = 32; s > 0; s >>= 1) { if (threadIdx.x < s) p[threadIdx.x] += p[threadIdx.x + "
      "s]; __syncthreads(); }\n";
  const std::string begin = std::string("__shared__ float p[64];\n") + kIndex;
  for (const char* first : {"threadIdx.x == 0", "threadIdx.x < 1", "!threadIdx.x"}) {
    std::string body = begin;
    body.append("p[threadIdx.x] = i < n ? x[i] : 0.0f; __syncthreads();\n").append(tree);
    body.append("if (").append(first).append(") atomicAdd(total, p[0]);");
    expect_done(body);
  }
  expect_done(begin +
              "p[threadIdx.x] = 0.0f; if (i < n) p[threadIdx.x] = x[i]; __syncthreads();\n" + tree +
              "const float sum = p[0]; if (threadIdx.x == 0) atomicAdd(total, sum);");
  // What the block's threads know of each other, and totals that are more than added.
  expect_body_refused(begin + "p[threadIdx.x] = i < n ? x[i] : 0.0f; __syncthreads();\n" + tree +
                          "if (threadIdx.x == 0) atomicAdd(total, p[0] * 2.0f);",
                      "work together already");
  expect_body_refused(begin + "p[threadIdx.x] = i < n ? x[i] : 0.0f; __syncthreads();\n" + tree +
                          "if (i < n) atomicAdd(total, p[0]);",
                      "work together already");
}

TEST(GridReduction, OpensSumsThatBeginWithZero) {
  expect_done(std::string(kIndex) +
                  "int s = 0; if (i < n) { s = x[i]; } if (i < n + 64) atomicAdd(total, s);",
              add_up("32", "2", "1"), "int");
}

// What an atomic adds is converted first, and what a loop sets anew it forgets.
TEST(GridReduction, KeepsTypesAndResets) {
  expect_done(std::string(kIndex) + "if (i < n) atomicAdd(total, x[i] * 0.5f - 1.0f);",
              add_up("32", "2", "1"), "int");
  expect_body_refused(std::string(kIndex) +
                          "float s = 0.0f; for (int k = 0; k < 4; ++k) { s = 0.0f; if (i < n) s += "
                          "x[i] * k; } atomicAdd(total, s);",
                      "more than one guarded block");
  expect_body_refused(
      std::string(kIndex) + "int s = 0; if (i < n) s += x[i] * 1.5f; atomicAdd(total, s);",
      "more than one guarded block");
}

TEST(GridReduction, Refuses) {
  const std::string index = kIndex;
  expect_body_refused(index + "if (i < n) { atomicAdd(total, x[i]); if (i == 0) total[1] = 1.0f; }",
                      "it writes more than the sum");
  expect_body_refused(index + "if (i < n) atomicAdd(total + i % 2, x[i]);",
                      "elements add to places of their own");
  expect_body_refused(index + "if (i < n) { atomicAdd(total, x[i]); atomicAdd(total + 1, y[i]); }",
                      "adds at 2 places");
  expect_body_refused(index + "if (i < n) atomicAdd(total, x[i] + total[1]);", "is used besides");
  expect_body_refused(index +
                          "if (i < n) { float old = atomicAdd(total, x[i]); if (old < 0.0f) "
                          "atomicAdd(total + 1, 1.0f); }",
                      "the result of an atomic is used");
  expect_body_refused(index + "if (i < n) atomicExch(total, 1.0f);", "is no sum");
  expect_body_refused(index + "if (i < n) atomicAdd(total, x[n - 1 - i]);",
                      "nothing is read at the index itself");
  expect_body_refused(index + "if (i < n) atomicAdd(total, x[i]);", "reassociate", add_up(),
                      "reassociate: false");
  expect_body_refused(index + "if (i < n) atomicAdd(total, x[i]);", "blocks would be left",
                      add_up("512", "16"));
  // A sum that does not begin with zero would be added once an element.
  expect_body_refused(index + "float s = 1.0f; if (i < n) s += x[i]; atomicAdd(total, s);",
                      "more than one guarded block");
}

}  // namespace
}  // namespace regraph::test::grid_reduction_test
