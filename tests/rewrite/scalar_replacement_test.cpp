// Rows of elements in registers.
#include "rewrite/step_checks.h"

namespace regraph::test::scalar_replacement_test {
namespace {

// A thread with rows of four elements; what stands in the kernel is the test's.
struct Rows {
  std::string body;
  std::string before = {};  // in front of the kernel
  std::string assume = "{noalias: true}";
  std::string more = {};  // lines of the manifest
};

std::unique_ptr<KernelCase> kernel_of(const Rows& rows) {
  auto made = KernelCase::make(
      rows.before +
          "__global__ void f(const float* a, const float* b, float* out, int n, int m) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n" +
          rows.body + "\n  }\n}",
      "sizes: {n: 640, m: 64}\nargs: {a: {dir: in, shape: [n, 4]}, b: {dir: in, shape: [m, 4]}, "
      "out: {dir: inout, shape: [n, 4]}}\nlaunch: {block: 32, grid: 'cdiv(n, bx)'}\nassume: " +
          rows.assume + "\n" + rows.more + "tests: [{n: 37, m: 9}, {n: 64, m: 2}, {n: 1, m: 1}]\n");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

Application keep(const char* rows = "all") {
  return {"scalar_replacement", {{"rows", rows}}};
}

std::string kept(const Rows& rows, const char* which = "all") {
  const auto kernel = kernel_of(rows);
  return kernel != nullptr ? source::print(expect_correct(*kernel, {keep(which)}).unit) : "";
}

void expect_memory(const Rows& rows, const std::string& reason, const char* which = "all") {
  const auto kernel = kernel_of(rows);
  ASSERT_NE(kernel, nullptr);
  expect_refusal(*kernel, keep(which), reason);
}

constexpr const char* kSum =
    "for (int t = 0; t < m; ++t) for (int d = 0; d < 4; ++d) out[i * 4 + d] += b[t * 4 + d];";

TEST(ScalarReplacement, KeepsRowsThatAreRead) {
  const std::string code =
      kept({"float s = 0.0f;\n for (int t = 0; t < m; ++t)\n"
            "  for (int d = 0; d < 4; ++d) s += a[i * 4 + d] * b[t * 4 + d];\n out[i * 4] = s;"});
  expect_text(code, "float a_row[4];");
  expect_text(code, "if (0 < m) {");
  expect_text(code, "a_row[element] = a[i * 4 + element];");
  expect_text(code, "s += a_row[d] * b[t * 4 + d];");
  expect_no_text(code, "b_row");
}

TEST(ScalarReplacement, LoadsAndStoresRowsThatAreUpdated) {
  const std::string code = kept({kSum});
  expect_text(code, "out_row[element] = out[i * 4 + element];");
  expect_text(code, "out_row[d] += b[t * 4 + d];");
  expect_text(code, "out[i * 4 + element] = out_row[element];");
  // Nothing is loaded or stored where the loop does not run.
  EXPECT_NE(code.find("if (0 < m)"), code.rfind("if (0 < m)")) << code;
}

TEST(ScalarReplacement, LoadsNothingThatIsReplacedAtOnce) {
  const std::string code =
      kept({"for (int d = 0; d < 4; ++d) out[i * 4 + d] = 0.0f;\n" + std::string(kSum) +
            "\nfor (int d = 0; d < 4; ++d) out[i * 4 + d] /= 2.0f;"});
  expect_no_text(code, "= out[i * 4");
  expect_no_text(code, "if (0 < m)");
  expect_text(code, "out_row[d] /= 2.0f;");
}

TEST(ScalarReplacement, TakesAttention) {
  for (const char* name : {"attention_rows", "attention_pointers"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    const std::string code = source::print(expect_correct(*kernel, {keep()}).unit);
    expect_text(code, "float query_row[8];");
    expect_text(code, "float out_row[8];");
    const std::string read = source::print(expect_correct(*kernel, {keep("read")}).unit);
    expect_text(read, "query_row");
    expect_no_text(read, "out_row");
    const std::string updated = source::print(expect_correct(*kernel, {keep("updated")}).unit);
    expect_no_text(updated, "query_row");
    expect_text(updated, "out_row");
  }
}

TEST(ScalarReplacement, KeepsRowsBetweenPasses) {
  const auto kernel = sample("unit_vectors");
  ASSERT_NE(kernel, nullptr);
  const std::string code = source::print(expect_correct(*kernel, {keep()}).unit);
  expect_text(code, "float x_row[12];");
  expect_text(code, "x_row[d] -= mean;");
}

TEST(ScalarReplacement, KeepsElementsThatStandAlone) {
  const auto kernel = sample("gathered_rows");
  ASSERT_NE(kernel, nullptr);
  const std::string code = source::print(expect_correct(*kernel, {keep()}).unit);
  expect_text(code, "double out_row[5];");
  expect_text(code, "out_row[0] -= out_row[4];");
}

TEST(ScalarReplacement, PutsIndicesOfNestedLoopsTogether) {
  const std::string code =
      kept({"float s = 0.0f;\n for (int t = 0; t < m; ++t)\n"
            "  for (int r = 0; r < 2; ++r) for (int c = 0; c < 2; ++c)\n"
            "    s += a[i * 4 + r * 2 + c] * b[t * 4 + c * 2 + r];\n out[i * 4] = s;"});
  expect_text(code, "a_row[r * 2 + c]");
}

TEST(ScalarReplacement, LoadsUnderTheConditionsOfTheUses) {
  const std::string code = kept(
      {"float s = 0.0f;\n for (int t = 0; t < m; ++t) {\n"
       "  if (i % 2 == 0) { for (int d = 0; d < 4; ++d) s += a[i * 4 + d] * b[t * 4 + d]; }\n }\n"
       "out[i * 4] = s;"});
  expect_text(code, "i % 2 == 0");
  expect_text(code, "a_row[d]");
}

TEST(ScalarReplacement, RefusesWhatMayNotBeTouched) {
  // Elements past those that are read certainly could lie outside of the buffer.
  expect_memory({"float s = 0.0f;\n for (int t = 0; t < m; ++t)\n"
                 "  for (int d = 0; d < 4; ++d) if (b[t * 4 + d] > 0.5f) s += a[i * 4 + d];\n"
                 "out[i * 4] = s;"},
                "'a': some of its elements may not be read");
  expect_memory({"for (int t = 0; t < m; ++t) for (int d = 0; d < 4; ++d)\n"
                 "  if (b[t * 4 + d] > 0.5f) out[i * 4 + d] += 1.0f;"},
                "'out': some of its elements may not be stored");
  expect_memory({"for (int t = 0; t < m; ++t) {\n if (b[t * 4] > 0.5f) break;\n"
                 "  for (int d = 0; d < 4; ++d) out[i * 4 + d] += 1.0f;\n}"},
                "may not be stored");
  expect_memory({"float s = 0.0f;\n for (int t = 0; t < m; ++t)\n"
                 "  for (int d = 0; d < 2; ++d) s += a[i * 4 + 2 * d] * b[t * 4 + d];\n"
                 "out[i * 4] = s;"},
                "do not follow each other");
}

TEST(ScalarReplacement, RefusesWhatOthersMaySee) {
  expect_memory({.body = kSum, .assume = "{noalias: false}"}, "noalias");
  expect_memory({"for (int t = 0; t < m; ++t) {\n"
                 "  for (int d = 0; d < 4; ++d) out[i * 4 + d] += b[t * 4 + d];\n"
                 "  __threadfence();\n}"},
                "'out': other threads may see it in between");
  expect_memory({"for (int t = 0; t < m; ++t)\n"
                 "  for (int d = 0; d < 4; ++d) atomicAdd(&out[i * 4 + d], b[t * 4 + d]);"},
                "no loop of constant length");
  expect_memory({.body = kSum, .more = "check: {benign_races: [out]}\n"},
                "no loop of constant length");
}

TEST(ScalarReplacement, RefusesOtherPlacesOfTheArray) {
  auto made = KernelCase::make(
      "__global__ void f(const float* b, float* out, int n, int m, int k) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n"
      "    for (int t = 0; t < m; ++t) {\n"
      "      for (int d = 0; d < 4; ++d) out[i * 4 + d] += b[t];\n"
      "      for (int d = 0; d < 4; ++d) out[i * 4 + d + k * n] += b[t];\n    }\n  }\n}",
      "sizes: {n: 64, m: 8}\nargs: {b: {dir: in, shape: [m]}, out: {dir: inout, shape: [n, 8]}, k: "
      "4}\nlaunch: {block: 32, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(made.ok()) << made.error().message;
  expect_refusal(**made, keep(), "no loop of constant length");
}

TEST(ScalarReplacement, RefusesMoreThanRegistersHold) {
  auto made = KernelCase::make(
      "__global__ void f(const double* a, const float* c, float* out, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n"
      "    for (int t = 0; t < m; ++t)\n"
      "      for (int d = 0; d < 48; ++d) out[i * 48 + d] += a[i * 48 + d] * c[t];\n  }\n}",
      "sizes: {n: 64, m: 8}\nargs: {a: {dir: in, shape: [n, 48]}, c: {dir: in, shape: [m]}, out: "
      "{dir: inout, shape: [n, 48]}}\nlaunch: {block: 32, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(made.ok()) << made.error().message;
  expect_refusal(**made, keep(), "would need 144 registers, of which 128");
  expect_correct(**made, {keep("read")});
  expect_correct(**made, {keep("updated")});
}

TEST(ScalarReplacement, RefusesLoopsThatCannotBeWrittenOut) {
  expect_memory({"for (int d = 0; d < 4; ++d)\n"
                 "  for (int t = 0; t < m; ++t) { out[i * 4 + d] += b[t * 4] * a[i * 4 + (t & 1)]; "
                 "if (t > 5) out[i * 4 + d] -= 1.0f; out[i * 4 + 3 - d] += 1.0f; }"},
                "goes around too much to be written out");
}

TEST(ScalarReplacement, SaysWhichRowsThereAre) {
  expect_memory({kSum}, "no row is read only", "read");
  expect_memory({kSum}, "all rows are updated, which 'all' keeps as well", "updated");
  expect_memory({"out[i * 4] = a[i * 4];"}, "no loop of constant length");
}

TEST(ScalarReplacement, IsFollowedByOtherSteps) {
  const auto kernel = sample("attention_rows");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {keep(), {"smem_tile", {{"loop", "1"}, {"depth", "8"}}}});
  expect_correct(*kernel, {keep(), {"block_size", {{"block", "64"}}}, {"restrict_ldg", {}}});
  expect_correct(*kernel, {keep(), {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}});
  expect_refusal(*kernel, expect_correct(*kernel, {keep()}), keep(), "no loop of constant length");
}

}  // namespace
}  // namespace regraph::test::scalar_replacement_test
