// What is said in a roundabout way gets the steps of its plain twin.
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/normal_form.h"
#include "rewrite/step_checks.h"
#include "source/printer.h"

#include <gtest/gtest.h>

#include <set>

namespace regraph::test {
namespace {

std::set<std::string> proposals(const KernelCase& kernel) {
  std::set<std::string> result;
  const rewrite::KernelAnalysis shared = kernel.analysis(kernel.original());
  for (const rewrite::StepRewriter* step : rewrite::built_in_steps()) {
    for (const StepParameters& parameters : step->settings()) {
      const StepProposal proposal{std::string(step->id()), parameters, 1};
      if (step->match(shared, parameters)) result.insert(proposal.text());
    }
  }
  return result;
}

TEST(Forms, GetTheStepsOfTheirPlainTwins) {
  const std::string ending = "_plain";
  int pairs = 0;
  for (const SampleKernel& plain : idiom_kernels()) {
    if (!plain.name.ends_with(ending)) continue;
    const std::string name = plain.name.substr(0, plain.name.size() - ending.size());
    const auto kernel = sample(name);
    const auto twin = sample(plain.name);
    ASSERT_TRUE(kernel && twin);
    const std::set<std::string> expected = proposals(*twin);
    EXPECT_GE(expected.size(), 5u) << name;
    const rewrite::KernelAnalysis analysis = kernel->analysis(kernel->original());
    source::Unit unit = kernel->original().unit;
    unit.kernel = analysis.kernel();
    EXPECT_EQ(proposals(*kernel), expected) << name << source::print(unit);
    rewrite::KernelState state = kernel->original();
    state.unit = unit;
    EXPECT_EQ(kernel->verdict(state), "correct") << name;
    ++pairs;
  }
  EXPECT_GE(pairs, 10);
}

// The kernel in the form that steps see, as text.
std::string plain_text(const std::string& body, const std::string& more_manifest = "") {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, float* c, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          body + "}",
      "sizes: {n: 128, m: 16}\n"
      "args:\n  a: {dir: in, shape: [n, m]}\n  b: {dir: inout, shape: [n]}\n"
      "  c: {dir: inout, shape: [n]}\n"
      "launch: {block: 64, grid: \"cdiv(n, bx)\"}\ntests: [{n: 70, m: 5}, {n: 128, m: 16}]\n" +
          more_manifest);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  if (!kernel) return "";
  rewrite::KernelState state = (*kernel)->original();
  const rewrite::KernelAnalysis analysis = (*kernel)->analysis((*kernel)->original());
  state.unit.kernel = analysis.kernel();
  EXPECT_EQ((*kernel)->verdict(state), "correct");
  return source::print(state.unit);
}

bool keeps_element(const std::string& body, const std::string& more_manifest = "") {
  return plain_text(body, more_manifest).find("_value") != std::string::npos;
}

TEST(ElementRegisters, AreForElementsThatNobodyElseSees) {
  EXPECT_TRUE(keeps_element("if (i < n) for (int k = 0; k < m; ++k) b[i] += a[i * m + k];\n"));
  EXPECT_TRUE(keeps_element(
      "if (i < n) { float* at = b + i; for (int k = 0; k < m; ++k) at[0] += a[i * m + k]; }\n"));
  // Buffers may overlap.
  EXPECT_FALSE(keeps_element("if (i < n) for (int k = 0; k < m; ++k) b[i] += a[i * m + k];\n",
                             "assume: {noalias: false}\n"));
  // Another element of the buffer.
  EXPECT_FALSE(keeps_element("if (i == 0) for (int k = 1; k < m; ++k) b[i] += b[k];\n"));
  // A barrier, an atomic, a loop that changes the place.
  EXPECT_FALSE(keeps_element(
      "for (int k = 0; k < m; ++k) { if (i < n) b[i] += a[i * m + k]; __syncthreads(); }\n"));
  EXPECT_FALSE(keeps_element(
      "if (i < n) for (int k = 0; k < m; ++k) { b[i] += 1.0f; atomicAdd(&c[i], 1.0f); }\n"));
  EXPECT_FALSE(keeps_element("if (i == 0) for (int k = 0; k < m; ++k) b[k] += a[k];\n"));
  // Written under a condition only: elsewhere nothing was written before.
  EXPECT_FALSE(keeps_element(
      "if (i < n) for (int k = 0; k < m; ++k) if (a[i * m + k] > 0.0f) b[i] += 1.0f;\n"));
  EXPECT_FALSE(
      keeps_element("if (i < n) for (int k = 0; k < m; ++k) { if (a[i * m + k] > 9.0f) break; b[i] "
                    "+= 1.0f; }\n"));
  // With a store in front it was.
  EXPECT_TRUE(
      keeps_element("if (i < n) { b[i] = 0; for (int k = 0; k < m; ++k) if (a[i * m + k] > 0.0f) "
                    "b[i] += 1.0f; }\n"));
  // The kernel may end in the loop.
  EXPECT_FALSE(
      keeps_element("if (i < n) { b[i] = 0; for (int k = 0; k < m; ++k) { if (a[i * m + k] > 0.0f) "
                    "return; b[i] += "
                    "1.0f; } }\n"));
}

TEST(ElementRegisters, ReachAsFarOutAsTheElementStays) {
  const std::string nested = plain_text(
      "if (i < n) for (int k = 0; k < m; ++k) for (int l = 0; l < 3; ++l) b[i] += a[i * m + k];\n");
  EXPECT_NE(nested.find("float b_value = 0 < m ? b[i] : 0.0f"), std::string::npos) << nested;
  EXPECT_NE(nested.find("if (0 < m) {\n      b[i] = b_value;"), std::string::npos) << nested;
  const std::string two = plain_text(
      "if (i < n) { b[i] = 1; for (int k = 0; k < m; ++k) { b[i] += 2; c[i] -= a[i * m + k]; } "
      "b[i] *= 3; }\n");
  EXPECT_NE(two.find("c_value"), std::string::npos) << two;
  EXPECT_EQ(two.find("b[i] *="), std::string::npos) << two;
}

TEST(InductionVariables, FollowFromTheLoopsCounter) {
  const auto text = [](const std::string& body) {
    return plain_text("if (i < n) { float s = 0; int at = i * m;\n" + body + " b[i] = s; }\n");
  };
  const std::string beside =
      text("int k = 0; for (;;) { if (k >= m) break; s += a[at]; at = at + 1; k = k + 1; }");
  EXPECT_NE(beside.find("s += a[at + k];"), std::string::npos) << beside;
  const std::string behind = text("for (int k = 1; k < m; ++k) { at += 1; s += a[at]; }");
  EXPECT_NE(behind.find("s += a[at + (k - 1 + 1)];"), std::string::npos) << behind;
  const std::string apart = text("for (int k = 0; k < m; k += 2) { s += a[at]; at += 2; }");
  EXPECT_NE(apart.find("s += a[at + k];"), std::string::npos) << apart;
  const std::string backwards = text(
      "long long back = i * m + m - 1; for (int k = 0; k < m; ++k) { s += a[back] + at; back -= "
      "1; }");
  EXPECT_NE(backwards.find("a[back - (long long)k]"), std::string::npos) << backwards;
  // Negative all the same.
  const std::string converted = text(
      "int low = -m; unsigned w = 1; for (unsigned k = 0; k < m; ++k) "
      "{ s += a[at + m + low]; low += w; }");
  EXPECT_NE(converted.find("low + (int)k * (int)w"), std::string::npos) << converted;
  // Not in every iteration, by another distance, asked for or used elsewhere.
  for (const char* body :
       {"for (int k = 0; k < m; ++k) { s += a[at]; if (s > 0) at += 1; }",
        "for (int k = 0; k < m; ++k) { s += a[at]; if (s > 9) break; at += 1; }",
        "for (int k = 0; k < 4; ++k) { s += a[at]; at += k; }",
        "for (int k = 0; k < m; ++k) { s += a[at]; at += 1.0f; }",
        "for (int k = 0; k < m; k += 2) { s += a[at]; at += 1; }",
        "for (int k = 0; k < m; ++k) { s += a[at]; at += 1; } c[i] = at;",
        "for (int k = 0; k < at; ++k) { s += a[at]; at -= 1; }",
        "for (int l = 0; l < 2; ++l) for (int k = 0; k < m / 2; ++k) { s += a[at]; at += 1; }"}) {
    const std::string kept = text(body);
    EXPECT_NE(kept.find("a[at];"), std::string::npos) << kept;
  }
}

TEST(PreviousElements, AreHandedToTheNextIteration) {
  const std::string stored = plain_text(
      "if (i == 0) { b[0] = a[3]; c[0] = 2; for (int k = 1; k < m; ++k) b[k] = b[k - 1] + a[k]; "
      "}\n");
  EXPECT_NE(stored.find("float b_value = a[3];"), std::string::npos) << stored;
  EXPECT_NE(stored.find("b[0] = b_value;"), std::string::npos) << stored;
  EXPECT_NE(stored.find("b_value = b_value + a[k];"), std::string::npos) << stored;
  EXPECT_NE(stored.find("b[k] = b_value;"), std::string::npos) << stored;
  // What is there already is read where the first iteration would.
  const std::string read =
      plain_text("if (i == 0) for (int k = 1; k < m; ++k) b[k] += b[k - 1] * a[k];\n");
  EXPECT_NE(read.find("float b_value = 1 < m ? b[0] : 0.0f;"), std::string::npos) << read;
  EXPECT_NE(read.find("b_value = b[k] + b_value * a[k];"), std::string::npos) << read;
  const std::string around = plain_text(
      "if (i == 0) for (int k = 4; k < 16; k += 2) { float t = b[k - 2]; b[k] = t + 1; c[k] = b[k] "
      "* t; }\n");
  EXPECT_NE(around.find("float b_value = b[2];"), std::string::npos) << around;
  EXPECT_NE(around.find("c[k] = b_value * t;"), std::string::npos) << around;
  // Chosen, with a store in front.
  EXPECT_TRUE(keeps_element(
      "if (i == 0) { b[0] = 1; for (int k = 1; k < m; ++k) b[k] = a[k] > 0.0f ? b[k - "
      "1] : a[k]; }\n"));
}

TEST(PreviousElements, AreThoseThatTheIterationBeforeHasStoredAlone) {
  const auto in_loop = [](const std::string& body) {
    return keeps_element("if (i == 0) for (int k = 1; k < m - 1; ++k) { " + body + " }\n");
  };
  EXPECT_TRUE(in_loop("b[k] = b[k - 1] + a[k];"));
  EXPECT_FALSE(keeps_element("if (i == 0) for (int k = 1; k < m; ++k) b[k] = b[k - 1] + a[k];\n",
                             "assume: {noalias: false}\n"));
  // Others than that, none, or not always.
  EXPECT_FALSE(in_loop("b[k] = b[k - 1] + b[k + 1];"));
  EXPECT_FALSE(in_loop("b[k] = b[0] + a[k];"));
  EXPECT_FALSE(in_loop("if (a[k] > 0.0f) b[k] = b[k - 1] + a[k];"));
  EXPECT_FALSE(in_loop("b[k] = a[k] > 0.0f ? b[k - 1] : a[k];"));
  EXPECT_FALSE(in_loop("b[k] = a[k]; c[k] = b[k - 1];"));
  EXPECT_FALSE(in_loop("b[k] = b[k - 1] + a[k]; if (b[k] > 9.0f) b[k] = 0.0f;"));
  EXPECT_FALSE(in_loop("b[k] = b[k - 1] + a[k]; if (b[k] > 9.0f) break;"));
  // Somebody else may see the element.
  EXPECT_FALSE(in_loop("b[k] = b[k - 1] + a[k]; atomicAdd(&c[0], 1.0f);"));
}

TEST(Webs, AreDeclaredWhereTheyGetTheirValue) {
  const std::string text = plain_text(
      "  float t; int k; int unread = 7;\n  if (i < n) {\n"
      "    for (k = 0; k < m; ++k) { t = a[i * m + k]; c[i] += t * t; }\n"
      "    t = b[i]; k = 3; unread = k; b[i] = t + k;\n  }\n");
  EXPECT_NE(text.find("const float t = a[i * m + k];"), std::string::npos) << text;
  EXPECT_NE(text.find("for (int k = 0; k < m; ++k)"), std::string::npos) << text;
  EXPECT_NE(text.find("const float t_2 = b[i];"), std::string::npos) << text;
  EXPECT_NE(text.find("const int k_2 = 3;"), std::string::npos) << text;
  EXPECT_EQ(text.find("unread"), std::string::npos) << text;
}

TEST(Webs, StayTogetherWhereValuesMeet) {
  // The counter is read after its loop; a value leaves by break, one comes round.
  const std::string text = plain_text(
      "  int k; float last = 0.0f; float previous = 0.0f; float x;\n  if (i < n) {\n"
      "    for (k = 0; k < m; ++k) {\n      last = a[i * m + k];\n"
      "      if (last > 0.5f) break;\n      b[i] += previous;\n      previous = last;\n    }\n"
      "    x = last; if (k > 2) x = 2.0f;\n    c[i] = k + x;\n  }\n");
  EXPECT_NE(text.find("int k;"), std::string::npos) << text;
  EXPECT_EQ(text.find("last_2"), std::string::npos) << text;
  EXPECT_EQ(text.find("previous_2"), std::string::npos) << text;
  EXPECT_NE(text.find("float x = last;"), std::string::npos) << text;
}

TEST(Webs, LeaveAddressesAndArraysAlone) {
  const std::string text = plain_text(
      "  float s, t; float r[2];\n  if (i < n) {\n    sincosf(a[i], &s, &t); b[i] = s + t;\n"
      "    s = c[i]; r[0] = s; c[i] = r[0];\n  }\n");
  EXPECT_NE(text.find("float s;"), std::string::npos) << text;
  EXPECT_EQ(text.find("s_2"), std::string::npos) << text;
}

TEST(CountedLoops, SayInTheirHeaderHowTheyCount) {
  const std::string text = plain_text(
      "  int k = 0; float s = 0.0f; int last = m;\n  if (i < n) {\n"
      "    for (;;) { if (!(k < m)) break; s += a[i * m + k]; k = 1 + k; }\n"
      "    while (last > 0) { s -= a[last - 1]; last = last - 1; }\n    b[i] = s;\n  }\n");
  EXPECT_NE(text.find("; k < m; ++k)"), std::string::npos) << text;
  EXPECT_NE(text.find("; last > 0; --last)"), std::string::npos) << text;
  // What lies in between writes no memory.
  const std::string from_memory = plain_text(
      "  if (i < n) { int k = a[i] > 0.0f ? 1 : 0; int end = a[i + 1] > 0.0f ? 5 : 3;\n"
      "    for (;;) { if (k >= end) break; c[i] += a[k]; k = k + 1; } }\n");
  EXPECT_NE(from_memory.find("for (int k = a[i] > 0.0f ? 1 : 0; k < end; ++k)"), std::string::npos)
      << from_memory;
}

TEST(CountedLoops, CountFromWhatIsReadBeforeThem) {
  const std::string text = plain_text(
      "  if (i >= n) return; int at = i * m; int end = at + m; float s = 0.0f;\n"
      "  for (;;) { if (at >= end) break; s = s + a[at]; at = at + 1; }\n  b[i] = s;\n");
  EXPECT_NE(text.find("const int at = i * m;"), std::string::npos) << text;
  EXPECT_NE(text.find("for (int k = 0; k < m; ++k)"), std::string::npos) << text;
  EXPECT_NE(text.find("const int at_2 = i * m + k;"), std::string::npos) << text;
}

TEST(CountedLoops, AreLeftAndGoOnInOnePlace) {
  const auto is_kept = [](const std::string& loop) {
    return plain_text("  int k = 0; if (i < n) {\n" + loop + "\n  b[i] += k; }\n")
               .find("for (; k") == std::string::npos;
  };
  EXPECT_FALSE(is_kept("while (k < m) { c[i] += a[k]; k += 2; }"));
  EXPECT_TRUE(is_kept("while (k < m) { if (a[k] > 0.9f) break; c[i] += a[k]; k += 2; }"));
  EXPECT_TRUE(is_kept("for (;;) { c[i] += a[k]; if (k >= m - 1) break; k += 1; }"));
  EXPECT_TRUE(is_kept("while (k < m) { int s = k % 2 + 1; c[i] += a[k]; k += s; }"));
  EXPECT_TRUE(is_kept("while (k < m) { k += 2; c[i] += a[k / 2]; }"));
}

TEST(CountedLoops, GuardWhatOtherExitsSkip) {
  const std::string text = plain_text(
      "  if (i < m) { int k = 4 * i; int end = k + 4;\n"
      "    for (;;) { if (k >= end) break; if (k >= n) break; c[k] = a[k]; k = k + 1; } }\n");
  EXPECT_NE(text.find("for (int k_3 = 0; k_3 < 4; ++k_3)"), std::string::npos) << text;
  EXPECT_NE(text.find("if (k_2 < n) {"), std::string::npos) << text;
  // The counter goes down, or what it is compared with changes.
  for (const char* loop :
       {"while (k > 0) { if (k >= n) break; c[k] = a[k]; k = k - 1; }",
        "while (k < m) { if (k >= s) break; s -= 2; c[k] = a[k]; k = k + 1; }"}) {
    const std::string kept =
        plain_text(std::string("  if (i < n) { int k = i; int s = m;\n") + loop + " }\n");
    EXPECT_NE(kept.find("break;"), std::string::npos) << kept;
  }
}

TEST(CountedLoops, EndBeforeTheirLimitIfTheyEndAtIt) {
  const auto has_order = [](const std::string& loop) {
    return plain_text("  if (i < n) {\n" + loop + "\n }\n").find("k < ") != std::string::npos;
  };
  EXPECT_TRUE(has_order("for (int k = 0; k != m; ++k) c[k] = a[k];"));
  EXPECT_TRUE(has_order("float s = 0.0f; for (int k = 0; n != k; ++k) s += a[k]; b[i] = s;"));
  EXPECT_FALSE(has_order("for (unsigned k = 3; k != m; ++k) c[k] = a[k];"));
  EXPECT_FALSE(has_order("for (int k = 0; k != m; k += 2) c[k] = a[k];"));
  EXPECT_FALSE(has_order("for (int k = m; k != 0; ++k) { if (k > m) break; c[k] = a[k]; }"));
  EXPECT_FALSE(
      has_order("int e = m; for (int k = 0; k != e; ++k) { if (e > k + 1) --e; c[k] = a[e]; }"));
}

TEST(ConstantLengths, BeginAtZero) {
  const auto is_counted = [](const std::string& loop, const std::string& guard) {
    const std::string text = plain_text("  int t = i * 4;\n" + loop);
    const bool is_done = text.find("for (int k = 0; k < 4; ++k)") != std::string::npos &&
                         text.find(guard) != std::string::npos;
    EXPECT_TRUE(is_done) << text;
    return is_done;
  };
  EXPECT_TRUE(is_counted("if (t + 4 < n) for (int j = t; j < t + 4; ++j) c[j] = a[j];", "j = t"));
  EXPECT_TRUE(is_counted("for (int j = t; j < min(t + 4, n); ++j) c[j] = a[j];", "if (j < n)"));
  EXPECT_TRUE(is_counted("for (int j = t; j < n && j <= t + 3; ++j) c[j] = a[j];", "if (j < n)"));
  EXPECT_TRUE(
      is_counted("int e = t + 4; if (e > n) e = n;\n"
                 "  for (int j = t; j < e; ++j) { float v = a[j]; c[j] = v; }",
                 "if (j < n)"));
  EXPECT_TRUE(
      is_counted("int e = t + 4 < n ? t + 4 : n; int j = t;\n"
                 "  while (j < e) { c[j] = a[j]; j++; }",
                 "if (j < n)"));
  EXPECT_TRUE(
      is_counted("size_t s = (size_t)t < 8 ? 0 : 4; long long q = (long long)i * 4;\n"
                 "  for (long long j = q; j < q + 4 && j < n; ++j) c[j] = a[j + s * 0];",
                 "if (j < n)"));
  // From zero on, with another limit.
  EXPECT_TRUE(
      is_counted("for (int k = 0; k < min(4, n - t); ++k) c[t + k] = a[t + k];", "if (k < n - t)"));
}

TEST(ConstantLengths, AreThoseThatNothingElseFollows) {
  const auto stays = [](const std::string& loop) {
    return plain_text("  int t = i * 4;\n" + loop).find("k < 4") == std::string::npos;
  };
  EXPECT_TRUE(stays(
      "float s = 0; for (int j = t; j < min(t + 4, n); ++j) s += a[j]; if (i < n) b[i] = s;"));
  EXPECT_TRUE(stays("for (int j = t; j < min(t + m, n); ++j) c[j] = a[j];"));
  EXPECT_TRUE(stays("for (int j = t; j < min(t + 400, n); ++j) if (j < t + 4) c[j] = a[j];"));
  EXPECT_TRUE(
      stays("for (int j = t; j < max(t + 4, n); ++j) if (j < n && j < t + 4) c[j] = a[j];"));
  // The limit changes, or the numbers could wrap around.
  EXPECT_TRUE(
      stays("int e = t + 4; for (int j = t; j < e && j < n; ++j) { c[j] = a[j]; e = e - 1; }"));
  EXPECT_TRUE(stays(
      "unsigned q = i * 4u; if (q + 4 <= n) for (unsigned j = q; j < q + 4; ++j) c[j] = a[j];"));
}

TEST(InductionVariables, AreWrittenByTheCounter) {
  EXPECT_NE(
      plain_text("  if (i < n) { int at = i; float s = 0.0f;\n"
                 "    for (int k = 0; k < m; ++k) { s += a[at]; at += n; }\n    b[i] = s; }\n")
          .find("a[at + k * n]"),
      std::string::npos);
  // After it has moved on, from another first value, and a pointer.
  const std::string text = plain_text(
      "  if (i < n) { int at = i; const float* p = a + i; float s = 0.0f;\n"
      "    for (int k = 2; k < m; ++k) { at = at + 3; s += a[at] * *p; p += n; }\n    b[i] = s; "
      "}\n");
  EXPECT_NE(text.find("a[at + ((k - 2) * 3 + 3)]"), std::string::npos) << text;
  EXPECT_NE(text.find("p[(long long)(k - 2) * (long long)n]"), std::string::npos) << text;
  // Through two loops, the inner of constant length.
  const std::string nest = plain_text(
      "  if (i < n) { int at = 0; float s = 0.0f;\n    for (int k = 0; k < m; ++k) {\n"
      "      for (int l = 0; l < 4; ++l) { s += a[at]; ++at; }\n    }\n    b[i] = s; }\n");
  EXPECT_EQ(nest.find("++at"), std::string::npos) << nest;
  EXPECT_EQ(nest.find("at +="), std::string::npos) << nest;
}

TEST(InductionVariables, PointersThatAreNeededLaterStay) {
  const std::string text = plain_text(
      "  if (i < n) { const float* p = a; float s = 0.0f;\n"
      "    for (int k = 0; k < m; ++k) { s += p[0]; ++p; }\n    b[i] = s + p[-1]; }\n");
  EXPECT_NE(text.find("++p"), std::string::npos) << text;
}

TEST(ForwardedLoads, StayInFrontOfWhatChangesMemory) {
  const auto has_name = [](const std::string& between) {
    auto kernel = KernelCase::make(
        "__global__ void f(const float* a, int* b, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n"
        "    int s = 0;\n    for (int k = 0; k < 4; ++k) {\n      int t = b[4 * i + k];\n" +
            between + "      s += t + o;\n    }\n    b[4 * i] = s;\n  }\n}",
        "sizes: {n: 64}\nargs: {a: {dir: in, shape: [n]}, b: {dir: inout, shape: [4 * n]}}\n"
        "launch: {block: 32, grid: 'cdiv(n, bx)'}\ntests: [{n: 40}]\n");
    EXPECT_TRUE(kernel.ok()) << kernel.error().message;
    if (!kernel.ok()) return false;
    const auto normal = rewrite::normalised((*kernel)->original().unit.kernel);
    EXPECT_TRUE(normal.ok());
    return normal.ok() && source::print(normal->body, 0).find("int t") != std::string::npos;
  };
  EXPECT_FALSE(has_name("      int o = k;\n"));
  EXPECT_TRUE(has_name("      int o = atomicAdd(&b[4 * i + k], 1);\n"));
}

TEST(InductionVariables, StayWhereTheyDoMore) {
  for (const char* body : {"for (int k = 0; k < m; ++k) { s += a[at]; if (s > 1.0f) at += n; }",
                           "for (int k = 0; k < m; ++k) { s += a[at]; at += 2; at += 1; }",
                           "for (int k = 0; k < m; ++k) { s += a[at]; at += k; }",
                           "for (int k = 0; k < m; ++k) { s += a[at]; at += 1; } s += at;",
                           "for (int k = 0; k < m; k += 3) { s += a[at]; at += 1; }"}) {
    const std::string text = plain_text(
        std::string("  if (i < n) { int at = i; float s = 0.0f;\n") + body + "\n    b[i] = s; }\n");
    EXPECT_TRUE(text.find("at +=") != std::string::npos || text.find("++at") != std::string::npos)
        << text;
  }
}

TEST(SelectedValues, KeepWhatRoundsDifferently) {
  // As one expression both sides would be double before they are stored.
  const std::string text =
      plain_text("  if (i < n) { float v; if (a[i] > 0.5f) v = 0.1; else v = i; b[i] = v; }\n");
  EXPECT_NE(text.find("? (float)0.1 : (float)i"), std::string::npos) << text;
}

TEST(DeadGuards, AreThoseThatFollow) {
  const std::string text = plain_text(
      "  if (i < n) {\n    float s = 0.0f;\n"
      "    for (int k = 0; k < m; ++k) {\n      if (k < m && i < n && i >= 0) s += a[i * m + k];\n"
      "      if (k + 1 < m) s += a[i * m + k + 1];\n      if (k >= m) s = 7.0f;\n    }\n"
      "    b[i] = i < n + 1 ? s : 0.0f;\n  }\n");
  EXPECT_EQ(text.find("k < m &&"), std::string::npos) << text;
  EXPECT_NE(text.find("if (k + 1 < m)"), std::string::npos) << text;
  EXPECT_EQ(text.find("7.0f"), std::string::npos) << text;
  EXPECT_EQ(text.find('?'), std::string::npos) << text;
  // Unsigned numbers that wrap: the guard of the first element.
  const std::string wraps =
      plain_text("  if (i < n) { unsigned before = i - 1; if (before < n) b[i] += a[before]; }\n");
  EXPECT_NE(wraps.find("if (before < n)"), std::string::npos) << wraps;
}

}  // namespace
}  // namespace regraph::test
