// Elements of arrays that loops keep in registers, and hand from one iteration to the next.
#include "rewrite/form_checks.h"

#include <string>

namespace regraph::test::element_forms_test {
namespace {

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

}  // namespace
}  // namespace regraph::test::element_forms_test
