#include "dataset/generate/canonical_text.h"

#include <gtest/gtest.h>

namespace regraph::dataset::canonical_text_test {
namespace {

TEST(CanonicalText, NamesAndLayoutDoNotCount) {
  const Hash128 one = canonical_identity("__global__ void f(float* a, int n) { a[n] = 2.0f; }");
  EXPECT_EQ(one, canonical_identity("__global__ void scale(float *data,\n int i) {\n"
                                    "  data[i] = 2.0f;  // there\n}\n"));
  EXPECT_EQ(canonical_identity(""), canonical_identity("  // nothing\n"));
}

TEST(CanonicalText, EverythingElseDoes) {
  const Hash128 one = canonical_identity("void f(float* a, int n) { a[n] = n; }");
  for (const char* other :
       {"void f(float* a, int n) { n[a] = n; }", "void f(float* a, int n) { a[n] = a; }",
        "void f(double* a, int n) { a[n] = n; }", "void f(float* a, int n) { a[n] += n; }",
        "void f(float* a, int n) { a[n] = 1; }", "void f(float* a, int n) {"})
    EXPECT_NE(one, canonical_identity(other)) << other;
  EXPECT_NE(canonical_identity("x = 1.0f;"), canonical_identity("x = 2.0f;"));
}

}  // namespace
}  // namespace regraph::dataset::canonical_text_test
