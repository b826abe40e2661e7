// Small arrays of indices as values, and integers that change along a straight line.
#include "rewrite/forms/table_values.h"

#include "rewrite/forms/single_assignment.h"
#include "rewrite/step_checks.h"

namespace regraph::test::table_values_test {
namespace {

// The printed body of a kernel with the statements, which make `to` of `i`.
template <typename Form>
std::string body_of(const std::string& statements, const Form& form) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, const int* m, int n, int w, int h) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  int to = 0;\n  " +
          statements + "\n  b[i] = a[to];\n}",
      "sizes: {n: 60, w: 5, h: 3}\nargs:\n  a: {dir: in, shape: [n + 64]}\n"
      "  b: {dir: out, shape: [n]}\n  m: {dir: in, shape: [n + 4], init: 'int(0,3)'}\n"
      "launch: {block: 32, grid: 'cdiv(n, bx)'}\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel.ok()) return "";
  source::Kernel changed = (*kernel)->original().unit.kernel;
  changed.body = form(changed);
  return source::print(changed.body, 0);
}

std::string tabled(const std::string& statements) {
  return body_of(statements,
                 [](const source::Kernel& kernel) { return rewrite::with_table_values(kernel); });
}

std::string straight(const std::string& statements) {
  return body_of(statements, [](const source::Kernel& kernel) {
    return rewrite::with_single_assignments(kernel);
  });
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TableValues, ElementsAreVariables) {
  const std::string down = tabled(
      "const int size[2] = {h, w}; int rest = i;\n"
      "for (int k = 1; k >= 0; --k) { const int at = rest % size[k]; to += at; rest /= size[k]; }");
  EXPECT_TRUE(holds(down, "const int size_0 = h;\nconst int size_1 = w;")) << down;
  EXPECT_TRUE(holds(down, "const int at_2 = rest % size_1;")) << down;
  EXPECT_TRUE(holds(down, "rest /= size_0;")) << down;
  EXPECT_FALSE(holds(down, "for (")) << down;
  // What is set by an earlier loop, and tables of two dimensions.
  const std::string places = tabled(
      "const int size[2][2] = {{h, 2}, {w, 3}}; int at[2]; int rest = i;\n"
      "for (int k = 0; k < 2; ++k) { at[k] = rest % size[k][0]; rest /= size[k][0]; }\n"
      "for (int k = 0; k < 2; ++k) to += at[k] * size[k][1];");
  EXPECT_TRUE(holds(places, "int at_0;\nint at_1;")) << places;
  EXPECT_TRUE(holds(places, "at_1 = rest % size_1_0;")) << places;
  EXPECT_TRUE(holds(places, "to += at_1 * 3;")) << places;
  // Numbers of a table may be asked of another one.
  const std::string order = tabled(
      "const int size[3] = {h, w, n}; const int order[3] = {2, 0, 1};\n"
      "for (int k = 0; k < 3; ++k) to += i % size[order[k]];");
  EXPECT_TRUE(holds(order, "to += i % size_2;\nto += i % size_0;\nto += i % size_1;")) << order;
}

// An element of `size` is not called like one of `size_2`.
TEST(TableValues, OfNamesThatBeginAlikeStayApart) {
  const std::string text = tabled(
      "int size[2] = {h, w}, size_2[2] = {w + 1, h + 1}; for (int k = 0; k < 2; ++k) to += size[k] "
      "* "
      "3 + size_2[k];");
  EXPECT_TRUE(holds(text, "size_2_0 = w + 1;")) << text;
  EXPECT_TRUE(holds(text, "size_3_0 = h;")) << text;
}

TEST(TableValues, OthersStay) {
  for (const char* statements : {
           "int size[2] = {h, w}; for (int k = 0; k < w; ++k) to += size[k & 1];",
           "int size[2] = {h, w}; for (int k = 0; k < 2; ++k) to += size[k] * m[i + k];",
           "int size[2] = {h, w}; for (int k = 0; k < 2; ++k) { if (i) break; to += size[k]; }",
           "int size[2] = {h, w}; for (int k = 0; k < 3; ++k) to += size[k];",
           "int size[2] = {h, w}; int* p = size; for (int k = 0; k < 2; ++k) to += size[k] + *p;",
           "int size[2] = {h, w}; for (unsigned k = 0; k < 2; k += w) to += size[k];",
           "int size[2] = {h, w}; to = size[i & 1];",
       }) {
    EXPECT_TRUE(holds(tabled(statements), "int size[2] = {h, w};")) << tabled(statements);
  }
}

TEST(SingleAssignment, AreNamedOneByOne) {
  const std::string parts =
      straight("int rest = i; to += rest % w; rest /= w; to += rest % h * 7; rest /= h;");
  EXPECT_TRUE(holds(parts, "const int to_2 = to + rest % w;")) << parts;
  EXPECT_TRUE(holds(parts, "const int rest_2 = rest / w;")) << parts;
  EXPECT_TRUE(holds(parts, "const int to_3 = to_2 + rest_2 % h * 7;")) << parts;
  EXPECT_TRUE(holds(parts, "b[i] = a[to_3];")) << parts;
  EXPECT_FALSE(holds(parts, "rest_3")) << parts;  // that nobody reads
}

TEST(SingleAssignment, OthersStay) {
  for (const char* statements : {"if (i > 3) to += w;", "for (int k = 0; k < w; ++k) to += h;",
                                 "to += m[i];", "to = w;", "int* p = &to; to += *p;"}) {
    EXPECT_FALSE(holds(straight(statements), "to_2")) << straight(statements);
  }
}

}  // namespace
}  // namespace regraph::test::table_values_test
