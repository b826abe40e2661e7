// Trees and loops over pairs of a value and a place.
#include "rewrite/step_checks.h"

namespace regraph::test::pair_trees_test {
namespace {

Application laid_out(const char* threads, const char* rows, const char* width = "1") {
  return {"row_kernel", {{"threads", threads}, {"rows", rows}, {"width", width}}};
}

struct Choice {
  std::string start = "-1e30f";
  std::string first_place = "2147483647";
  std::string loop;  // takes v at c for best at place
  std::string tree;  // takes values[t + s] at places[t + s] for values[t] at places[t]
  std::string rounds = "int s = 32; s > 0; s >>= 1";
  std::string guard = "t < s";
  std::string put = "values[t] = best; places[t] = place;";
  std::string type = "float";
};

constexpr const char* kFirst = "if (v > best || (v == best && c < place)) { best = v; place = c; }";
constexpr const char* kCounted = "if (v > best) { best = v; place = c; }";
constexpr const char* kFirstOfTwo =
    "if (values[t + s] > values[t] || (values[t + s] == values[t] && places[t + s] < places[t])) {"
    " values[t] = values[t + s]; places[t] = places[t + s]; }";

// A block a row; few different values, so that most rows hold the best one several times.
std::unique_ptr<KernelCase> best_of(const Choice& choice) {
  auto made = KernelCase::make(
      "__global__ void f(const " + choice.type + "* x, " + choice.type +
          "* value, int* position, int n, int m) {\n"
          "  __shared__ " +
          choice.type +
          " values[64];\n  __shared__ int places[64];\n"
          "  int t = threadIdx.x;\n  " +
          choice.type + " best = " + choice.start + ";\n  int place = " + choice.first_place +
          ";\n  for (int c = t; c < m; c += 64) {\n    " + choice.type +
          " v = x[blockIdx.x * m + c];\n    " + choice.loop + "\n  }\n  " + choice.put +
          "\n  __syncthreads();\n  for (" + choice.rounds + ") {\n    if (" + choice.guard +
          ") {\n      " + choice.tree +
          "\n    }\n    __syncthreads();\n  }\n"
          "  if (t == 0) { value[blockIdx.x] = values[0]; position[blockIdx.x] = places[0]; }\n}",
      "sizes: {n: 64, m: 640}\n"
      "args: {x: {dir: in, shape: [n, m], init: 'int(-3,3)'}, value: {dir: out, shape: [n]},\n"
      "       position: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: n}\n"
      "tests: [{n: 50, m: 133}, {n: 3, m: 640}, {n: 2, m: 1}]\n");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

void expect_laid_out(const Choice& choice) {
  const auto kernel = best_of(choice);
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {laid_out("32", "4")});
  expect_correct(*kernel, {laid_out("128", "1", "4")});
}

TEST(PairTrees, RecordsThatAFunctionCompares) {
  const auto kernel = sample("block_first_maximum");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {laid_out("32", "4")});
  const auto state = expect_correct(*kernel, {laid_out("128", "1", "4")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("__shfl_xor_sync"), std::string::npos) << text;
  EXPECT_EQ(text.find("taken"), std::string::npos) << text;  // places tell equal values apart
}

TEST(PairTrees, ManyWaysToSayTheSame) {
  expect_laid_out({.loop = kFirst, .tree = kFirstOfTwo});
  expect_laid_out({.loop = kCounted, .tree = kFirstOfTwo});
  // All may be equal to what was there before.
  expect_laid_out({.start = "3", .first_place = "-1", .loop = kCounted, .tree = kFirstOfTwo});
  expect_laid_out({.start = "3", .first_place = "7", .loop = kFirst, .tree = kFirstOfTwo});
  // Through temporaries, by choice, from the other side, with a doubling stride.
  expect_laid_out(
      {.loop = "bool takes = best < v || (!(best > v) && place > c);\n"
               "    best = takes ? v : best; place = takes ? c : place;",
       .tree = "float a = values[t], b = values[t + s]; int i = places[t], j = places[t + s];\n"
               "if (a == b) { places[t] = i <= j ? i : j; }\n"
               "else { values[t] = a > b ? a : b; places[t] = a > b ? i : j; }",
       .rounds = "int s = 1; s < 64; s *= 2",
       .guard = "t % (2 * s) == 0"});
  // The last of the smallest, of integers, written in the other order.
  expect_laid_out(
      {.start = "1000",
       .first_place = "-1",
       .loop = "if (v < best) { best = v; place = c; } else if (v == best && c > place) place = c;",
       .tree = "if (values[t + s] <= values[t]) {\n"
               "  if (values[t + s] < values[t] || places[t + s] > places[t])\n"
               "    places[t] = places[t + s];\n  values[t] = values[t + s];\n}",
       .put = "places[t] = place; values[t] = best;",
       .type = "int"});
}

TEST(PairTrees, RefuseWhereTheTreesShapeMatters) {
  const Application step = laid_out("128", "1");
  const char* untold = "of equal values by the smaller or larger place";
  // Equal values: whichever came to stand further left.
  expect_refusal(*best_of({.loop = kCounted,
                           .tree = "if (values[t + s] > values[t]) { values[t] = values[t + s]; "
                                   "places[t] = places[t + s]; }"}),
                 step, untold);
  // The place of one and the value of the other.
  expect_refusal(*best_of({.loop = kFirst,
                           .tree = "if (values[t + s] > values[t]) { values[t] = values[t + s]; } "
                                   "if (places[t + s] < places[t]) places[t] = places[t + s];"}),
                 step, untold);
  // More than choosing.
  expect_refusal(
      *best_of({.loop = kFirst,
                .tree = "if (values[t + s] > values[t]) { values[t] = values[t + s] + 1; "
                        "places[t] = places[t + s]; }"}),
      step, untold);
  // The tree prefers other pairs than the loop.
  std::string last = kFirstOfTwo;
  last.replace(last.find("places[t + s] <"), 15, "places[t + s] >");
  expect_refusal(*best_of({.loop = kFirst, .tree = last}), step, "does not go on as 'best'");
  // Which of equal values a thread keeps is not told by its place.
  expect_refusal(
      *best_of({.loop = "if (v > best) { best = v; place = m - c; }", .tree = kFirstOfTwo}), step,
      "not told by what is kept with it");
  expect_refusal(*best_of({.loop = "if (v >= best) { best = v; place = c; }", .tree = kFirstOfTwo}),
                 step, "not told by what is kept with it");
  expect_refusal(
      *best_of(
          {.loop = kFirst, .tree = kFirstOfTwo, .put = "values[t] = best; places[t] = place + 1;"}),
      step, "not the pair that it has chosen");
  expect_refusal(*best_of({.loop = kFirst, .tree = kFirstOfTwo, .guard = "t < s / 2"}), step,
                 "its guard does not select");
}

// One thread a row, where places come in any order.
TEST(PairTrees, LoopsThatTellEqualValuesApartAreDealtOut) {
  const auto of = [](const std::string& update, const std::string& after = "") {
    auto made = KernelCase::make(
        "__global__ void f(const float* x, const int* names, int* name, int n, int m) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        "  float best = -2.0f;\n  int place = 17;\n  int count = 0;\n"
        "  for (int k = 0; k < m; ++k) {\n    float v = x[i * m + k];\n    int p = names[k];\n   "
        " " +
            update + "\n    " + after + "\n  }\n  name[i] = place + 100 * (int)best + count;\n}",
        "sizes: {n: 64, m: 64}\n"
        "args: {x: {dir: in, shape: [n, m], init: 'int(-3,3)'},\n"
        "       names: {dir: in, shape: [m], init: 'int(0,40)'}, name: {dir: out, shape: [n]}}\n"
        "launch: {block: 64, grid: 'cdiv(n, bx)'}\n"
        "tests: [{n: 70, m: 45}, {n: 5, m: 132}, {n: 1, m: 1}]\n");
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
  };
  const Application step = {"cross_thread_reduction",
                            {{"threads_per_row", "32"}, {"rows_per_block", "2"}}};
  const std::string update = "if (v > best || (v == best && p < place)) { best = v; place = p; }";
  expect_correct(*of(update), {step});
  expect_correct(*of(update), {{"slice_reduction", {{"slices", "8"}}}});
  expect_refusal(*of("bool takes = v > best || (v == best && p < place);\n"
                     "if (takes) { best = v; place = p; }",
                     "count += takes;"),
                 step, "is read before the loop is over");
  expect_refusal(*of("if (v > best || (v == best && p < place)) { best = v; place = place + 1; }"),
                 step, "carries a value");
}

}  // namespace
}  // namespace regraph::test::pair_trees_test
