// What loops count, how long they are, and what goes along with their counters.
#include "rewrite/form_checks.h"

#include <string>

namespace regraph::test::loop_forms_test {
namespace {

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

}  // namespace
}  // namespace regraph::test::loop_forms_test
