#include "eval/compile/same_code.h"

#include <gtest/gtest.h>

namespace regraph::same_code_test {
namespace {

std::string asserting(const std::string& line, const std::string& value = "1") {
  return ".entry k() {\n mov.u32 %r1, " + value +
         ";\n { // callseq 0, 0\n .param .b32 param2;\n st.param.b32 \t[param2+0], " + line +
         ";\n call.uni\n __assertfail,\n (\n param0,\n param1,\n param2\n );\n }\n ret;\n}\n";
}

TEST(SameCode, LinesOfAssertionsDoNotCount) {
  EXPECT_TRUE(same_code(asserting("4"), asserting("17")));
  EXPECT_FALSE(same_code(asserting("4", "1"), asserting("4", "2")));
  // Another function's arguments do.
  std::string other = asserting("4");
  other.replace(other.find("__assertfail"), 12, "vprintf");
  std::string another = asserting("5");
  another.replace(another.find("__assertfail"), 12, "vprintf");
  EXPECT_FALSE(same_code(other, another));
}

TEST(SameCode, CommentsAndLocationsDoNotCount) {
  EXPECT_TRUE(same_code("a;  // x\n\n.loc 1 2 3\nb;\n.section .debug\nc", "a;\nb;\n"));
  EXPECT_FALSE(same_code("a;\n", "b;\n"));
}

}  // namespace
}  // namespace regraph::same_code_test
