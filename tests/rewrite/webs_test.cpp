// Scalars are declared where they get a value, one variable for each.
#include "rewrite/form_checks.h"

#include <string>

namespace regraph::test::webs_test {
namespace {

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

}  // namespace
}  // namespace regraph::test::webs_test
