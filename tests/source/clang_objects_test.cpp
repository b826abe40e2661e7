// Objects of the user's records, as a variable for each field.
#include "source/clang_frontend.h"
#include "source/printer.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::clang_objects_test {
namespace {

// The printed body of a kernel with objects taken apart; empty where they could not be.
std::string body_without_objects(const std::string& before, const std::string& body) {
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  const std::string source =
      before + "__global__ void f(float* a, const float* b, int n) { " + body + " }";
  auto parsed = parse_kernel(source, "kernel.cu", "", *configuration);
  EXPECT_TRUE(parsed.ok() && parsed->unit) << source;
  if (!parsed.ok() || !parsed->unit || parsed->unit->opened == nullptr) return "";
  return print(parsed->unit->opened_kernel().body, 0);
}

constexpr const char* kPair =
    "struct Pair { float value; int position; };\n"
    "__device__ Pair better(const Pair& u, const Pair& v) { return u.value < v.value ? v : u; }\n";

TEST(ClangObjects, VariablesAreAVariableForEachField) {
  EXPECT_EQ(
      body_without_objects(kPair, "Pair p{b[0], 3}; p.value += 1.0f; a[p.position] = p.value;"),
      "float p_value = b[0];\nint p_position = 3;\np_value += 1.0f;\n"
      "a[p_position] = p_value;\n");
  EXPECT_EQ(body_without_objects(kPair, "Pair p; Pair q = {b[1], n}; p = q; a[0] = p.value;"),
            "float p_value;\nint p_position;\nconst float q_value = b[1];\n"
            "const int q_position = n;\np_value = q_value;\np_position = q_position;\n"
            "a[0] = p_value;\n");
}

TEST(ClangObjects, FunctionsTakeAndReturnThem) {
  EXPECT_EQ(body_without_objects(kPair,
                                 "Pair p{b[0], 0}; for (int i = 1; i < n; ++i) "
                                 "p = better(p, Pair{b[i], i}); a[0] = p.value;"),
            "float p_value = b[0];\nint p_position = 0;\nfor (int i = 1; i < n; ++i) {\n"
            "  const float v_value = b[i];\n  const int v_position = i;\n"
            "  const float result_value = p_value < v_value ? v_value : p_value;\n"
            "  const int result_position = p_value < v_value ? v_position : p_position;\n"
            "  p_value = result_value;\n  p_position = result_position;\n}\na[0] = p_value;\n");
}

TEST(ClangObjects, ArraysOfThemAreAnArrayForEachField) {
  EXPECT_EQ(body_without_objects(kPair,
                                 "__shared__ Pair all[64]; all[threadIdx.x] = Pair{b[n], n}; "
                                 "__syncthreads(); a[0] = all[n].value;"),
            "__shared__ float all_value[64];\n__shared__ int all_position[64];\n"
            "all_value[threadIdx.x] = b[n];\nall_position[threadIdx.x] = n;\n__syncthreads();\n"
            "a[0] = all_value[n];\n");
}

TEST(ClangObjects, MethodsChangeThem) {
  const std::string running =
      "struct Running { float sum = 0.0f; int count = 0;\n"
      "  __device__ void add(float x) { sum += x; ++count; }\n"
      "  __device__ float mean() const { return sum / count; } };\n";
  EXPECT_EQ(body_without_objects(running,
                                 "Running r; for (int i = 0; i < n; ++i) r.add(b[i]); "
                                 "a[0] = r.mean();"),
            "float r_sum = 0.0f;\nint r_count = 0;\nfor (int i = 0; i < n; ++i) {\n"
            "  const float x = b[i];\n  r_sum += x;\n  ++r_count;\n}\n"
            "const float mean_result = r_sum / r_count;\na[0] = mean_result;\n");
}

TEST(ClangObjects, ConstructorsBasesAndParts) {
  const std::string view =
      "struct Range { int low, high; __device__ Range(int l, int h) : low(l), high(h) {} };\n"
      "template <typename T> struct Base { const T* data_; };\n"
      "class View : public Base<float> { public:\n"
      "  __device__ View(const float* data, int n) : range_(0, n) { data_ = data; }\n"
      "  __device__ float at(int i) const { return i < range_.high ? data_[i] : 0.0f; }\n"
      " private: Range range_; };\n";
  EXPECT_EQ(body_without_objects(view, "const View v(b, n); a[threadIdx.x] = v.at(threadIdx.x);"),
            "const float* object_data;\nint object_range_low = 0;\nint object_range_high = n;\n"
            "object_data = b;\nconst float* const v_data = object_data;\n"
            "const int v_range_low = object_range_low;\nconst int v_range_high = "
            "object_range_high;\nconst int i = threadIdx.x;\n"
            "const float at_result = i < v_range_high ? v_data[i] : 0.0f;\n"
            "a[threadIdx.x] = at_result;\n");
}

TEST(ClangObjects, WhatIsReadIsReadBeforeItIsSet) {
  EXPECT_EQ(body_without_objects("struct Two { float x, y; };\n",
                                 "Two t{b[0], b[1]}; t = Two{t.y, t.x}; a[0] = t.x;"),
            "float t_x = b[0];\nfloat t_y = b[1];\nconst float value_x = t_y;\n"
            "const float value_y = t_x;\nt_x = value_x;\nt_y = value_y;\na[0] = t_x;\n");
}

TEST(ClangObjects, ReferencesAreOtherNames) {
  EXPECT_EQ(
      body_without_objects(std::string(kPair) + "__device__ void raise(Pair& p, const Pair& by) { "
                                                "p.value += by.value; p.value += by.value; }\n",
                           "Pair p{b[0], 1}; Pair& q = p; raise(q, p); a[0] = p.value;"),
      "float p_value = b[0];\nint p_position = 1;\np_value += p_value;\n"
      "p_value += p_value;\na[0] = p_value;\n");
}

TEST(ClangObjects, LambdasAreWhatTheyDo) {
  EXPECT_EQ(
      body_without_objects("",
                           "float s = 0.0f; int m = 2 * n; auto add = [&](int i) { s += b[i]; "
                           "}; auto twice = [m](float v) { return v * m; };\n"
                           "for (int i = 0; i < n; ++i) add(i);\na[0] = twice(s);"),
      "float s = 0.0f;\nint m = 2 * n;\nfor (int i = 0; i < n; ++i) {\n  s += b[i];\n}\n"
      "const float result = s * m;\na[0] = result;\n");
  EXPECT_EQ(
      body_without_objects("template <typename F> __device__ void each(const float* x, int n, F f) "
                           "{ for (int i = 0; i < n; ++i) f(x[i]); }\n",
                           "float s = 0.0f; each(b, n, [&](float v) { s += v; }); a[0] = s;"),
      "float s = 0.0f;\nfor (int i = 0; i < n; ++i) {\n  const float v = b[i];\n  s += v;\n}\n"
      "a[0] = s;\n");
  // What it captured is not what the variable is when it is called.
  EXPECT_EQ(
      body_without_objects("", "int m = n; auto f = [m]() { return m + 1; }; m = 3; a[0] = f();"),
      "");
}

TEST(ClangObjects, FunctionsTakeVectors) {
  const std::string difference =
      "struct Flat { float x, y; };\n"
      "__device__ Flat operator-(const float2& u, const float2& v) {"
      " return {u.x - v.x, u.y - v.y}; }\n";
  EXPECT_EQ(body_without_objects(difference,
                                 "const float2* p = (const float2*)b; const float2 mine = p[n]; "
                                 "for (int i = 0; i < n; ++i) { Flat d = p[i] - mine; "
                                 "a[i] = d.x * d.y; }"),
            "const float2* p = (const float2 *)b;\nconst float2 mine = p[n];\n"
            "for (int i = 0; i < n; ++i) {\n  const float2 u = p[i];\n"
            "  const float result_x = u.x - mine.x;\n  const float result_y = u.y - mine.y;\n"
            "  const float d_x = result_x;\n  const float d_y = result_y;\n"
            "  a[i] = d_x * d_y;\n}\n");
  // What is behind the reference changes before it is read.
  const std::string late =
      "struct Flat { float x, y; };\n"
      "__device__ Flat late(const float2& u, float* where) { where[0] = 1.0f; return {u.x, u.y}; "
      "}\n";
  EXPECT_EQ(body_without_objects(
                late, "const float2* p = (const float2*)a; Flat d = late(p[0], a); a[1] = d.x;"),
            "");
}

TEST(ClangObjects, ArraysInThemAreArrays) {
  const std::string axes =
      "template <int N> struct Axes { size_t extent[N]; int more[2][2]; };\n"
      "__device__ size_t last(const Axes<3>& axes) { return axes.extent[2]; }\n"
      "__device__ size_t next(Axes<3> axes) { axes.extent[0] += 1; return axes.extent[0]; }\n";
  EXPECT_EQ(body_without_objects(axes,
                                 "const size_t m = n; const Axes<3> x{{m, 2, m}, {{n, 1}}}; "
                                 "a[last(x)] = x.more[0][1];"),
            "const size_t m = n;\nconst size_t x_extent[3] = {m, 2, m};\n"
            "const int x_more[2][2] = {{n, 1}};\nconst unsigned long last_result = x_extent[2];\n"
            "a[last_result] = x_more[0][1];\n");
  // One that is passed by value is another.
  EXPECT_EQ(body_without_objects(axes,
                                 "const size_t m = n; Axes<3> x{{m}}; x.more[1][0] = 2; "
                                 "a[next(x)] = x.more[1][0];"),
            "const size_t m = n;\nsize_t x_extent[3] = {m};\nint x_more[2][2] = {};\n"
            "x_more[1][0] = 2;\n"
            "unsigned long axes_extent[3] = {x_extent[0], x_extent[1], x_extent[2]};\n"
            "int axes_more[2][2] = {{x_more[0][0], x_more[0][1]}, {x_more[1][0], x_more[1][1]}};\n"
            "++axes_extent[0];\nconst unsigned long result = axes_extent[0];\n"
            "a[result] = x_more[1][0];\n");
  EXPECT_EQ(body_without_objects("struct S { float x[2]; };\n",
                                 "S s; s.x[n] = 1.0f; S t{}; t = s; a[0] = t.x[0];"),
            "float s_x[2];\ns_x[n] = 1.0f;\nfloat t_x[2] = {};\nt_x[0] = s_x[0];\n"
            "t_x[1] = s_x[1];\na[0] = t_x[0];\n");
}

// Packs of numbers, as kernels load and store them.
TEST(ClangObjects, PacksAreArraysOfTheirElements) {
  const std::string pack =
      "struct alignas(8) Pack { float v[2];\n"
      "  __device__ float& operator[](int i) { return v[i]; }\n"
      "  __device__ const float& operator[](int i) const { return v[i]; } };\n"
      "__device__ Pack load(const float* p) { Pack x; x[0] = p[0]; x[1] = p[1]; return x; }\n";
  EXPECT_EQ(body_without_objects(pack, "Pack out = load(a + n); out[1] *= 2.0f; a[0] = out[1];"),
            "const float* const p = a + n;\nfloat x_v[2];\nx_v[0] = p[0];\nx_v[1] = p[1];\n"
            "float result_v[2] = {x_v[0], x_v[1]};\nfloat out_v[2] = {result_v[0], result_v[1]};\n"
            "out_v[1] *= 2.0f;\na[0] = out_v[1];\n");
}

TEST(ClangObjects, CallsThatMayNotBeEvaluatedAreTakenWhereTheyStand) {
  EXPECT_EQ(body_without_objects(
                "struct View { const float* data; int n; __device__ int at(int i) const { return i "
                "* n; } __device__ float operator()(int i) const { const bool inside = i < n; "
                "return inside ? data[at(i)] : 0.0f; } };\n",
                "const View v{b, n}; a[n] = v(n);"),
            "const float* const v_data = b;\nconst int v_n = n;\nconst bool inside = n < v_n;\n"
            "const float result = inside ? v_data[n * v_n] : 0.0f;\na[n] = result;\n");
}

constexpr const char* kPages =
    "struct Pages { float* data; int size; __device__ float& at(int page, int i) const { "
    "const int first = page * size; return data[first + i]; } };\n";

TEST(ClangObjects, MethodsReturnPlacesOfMemory) {
  EXPECT_EQ(
      body_without_objects(kPages, "const Pages pages{a, n}; pages.at(2, threadIdx.x) = b[0];"),
      "float* const pages_data = a;\nconst int pages_size = n;\n"
      "const int i = threadIdx.x;\nconst int first = 2 * pages_size;\n"
      "pages_data[first + i] = b[0];\n");
  // Passed on by reference, made in the call; a row below zero is padding.
  EXPECT_EQ(body_without_objects(
                std::string(kPages) +
                    "template <typename T> __device__ void put(const T* from, const Pages& to, "
                    "int row) { if (row < 0) return; to.at(row, 1) = from[row]; }\n",
                "put<float>(b, Pages{a, n}, blockIdx.x);"),
            "float* const to_data = a;\nconst int to_size = n;\nconst int row = blockIdx.x;\n"
            "if (row < 0) {\n} else {\n  const int first = row * to_size;\n"
            "  to_data[first + 1] = b[row];\n}\n");
  // What leads there is read once, and what changes is read before.
  EXPECT_EQ(body_without_objects("struct Next { float* data; int i; __device__ float& get() { ++i; "
                                 "return data[i]; } };\n",
                                 "Next next{a, 0}; next.get() = b[0];"),
            "");
  EXPECT_EQ(body_without_objects(
                "struct Table { float* data; const int* places; __device__ float& at(int i) const "
                "{ const int last = i + 1; return data[places[last]]; } };\n",
                "const Table table{a, (const int*)b}; table.at(n) = 1.0f;"),
            "float* const table_data = a;\nconst int* const table_places = (const int *)b;\n"
            "const int last = n + 1;\nconst int index = table_places[last];\n"
            "table_data[index] = 1.0f;\n");
}

TEST(ClangObjects, CallsWithStatementsThatMayNotBeEvaluatedAreBranches) {
  const std::string load =
      "__device__ float load(const float* x, int i, int n) { if (n % 4 == 0) return x[4 * i]; "
      "float sum = 0.0f; for (int k = 0; k < 4; ++k) sum += x[i + threadIdx.x * k]; "
      "return sum; }\n";
  EXPECT_EQ(body_without_objects(load, "a[0] = n > 3 ? load(b, 1, n) : 0.0f;"),
            "float chosen;\nif (n > 3) {\n  float load_result;\n"
            "  if (n % 4 == 0) {\n    load_result = b[4 * 1];\n  } else {\n"
            "    float sum = 0.0f;\n    for (int k = 0; k < 4; ++k) {\n"
            "      sum += b[1 + threadIdx.x * k];\n    }\n    load_result = sum;\n  }\n"
            "  chosen = load_result;\n} else {\n  chosen = 0.0f;\n}\na[0] = chosen;\n");
  EXPECT_EQ(
      body_without_objects("__device__ float last(const float* x, int n) { const int at = n - "
                           "threadIdx.x; return x[at]; }\n",
                           "if (n > 3 && last(b, n) > 0.0f) a[0] = 1.0f;"),
      "bool holds = n > 3;\nif (holds) {\n  const int at = n - threadIdx.x;\n"
      "  const float result = b[at];\n  holds = result > 0.0f;\n}\n"
      "if (holds) {\n  a[0] = 1.0f;\n}\n");
  // Before each iteration there is no place for it.
  EXPECT_EQ(body_without_objects(
                load, "for (int i = 0; n > 3 && load(b, i, n) > 0.0f; ++i) a[i] = 1.0f;"),
            "");
}

TEST(ClangObjects, EnumeratorsThatTemplatesAreGivenKeepTheirNames) {
  EXPECT_EQ(body_without_objects(
                "enum Kind { kLow, kHigh };\n__device__ float pick(float x, Kind kind) { "
                "return kind == kLow ? x : -x; }\n"
                "template <Kind kKind> __device__ void put(float* to, float x) { "
                "to[threadIdx.x] = pick(x, kKind); }\n",
                "put<kHigh>(a, b[0]);"),
            "const float x = b[0];\na[threadIdx.x] = kHigh == 0 ? x : -x;\n");
}

// The call that could not be taken, and why, for those who ask what the kernel does.
TEST(ClangObjects, WhatStaysSaysWhy) {
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  for (const auto& [function, reason] :
       {std::pair("__device__ float g(int n) { for (int i = 0; i < n; ++i) if (i > threadIdx.x) "
                  "return 1.0f; return 0.0f; }\n",
                  "line 2: 'g(n)', which returns from within a loop or a block"),
        std::pair("__device__ float g(int n) { return n > 1 ? g(n - threadIdx.x) : 1.0f; }\n",
                  "which calls itself")}) {
    const auto parsed =
        parse_kernel(std::string(function) + "__global__ void f(float* a, int n) { a[0] = g(n); }",
                     "kernel.cu", "", *configuration);
    ASSERT_TRUE(parsed.ok() && parsed->unit);
    EXPECT_NE(parsed->unit->not_opened.find(reason), std::string::npos) << parsed->unit->not_opened;
  }
}

TEST(ClangObjects, OthersStay) {
  for (const auto& [before, body] :
       {std::pair("struct P { float x, y; };\n__device__ float bump(float& v) { v += "
                  "threadIdx.x; return v; }\n",
                  "float v = b[0]; P p{v, bump(v)}; a[0] = p.x;"),
        std::pair("struct S { float x[4]; };\n",
                  "S s{{b[0]}}, t{{b[1]}}; S u = n > 3 ? s : t; a[0] = u.x[0];"),
        std::pair("struct S { const float (&x)[4]; };\n",
                  "float x[4] = {b[0]}; S s{x}; a[0] = s.x[0];"),
        std::pair("union U { float x; int i; };\n", "U u; u.x = b[0]; a[0] = u.i;"),
        std::pair("struct S { float x; };\n__device__ void g(S* s) { s->x = threadIdx.x; }\n",
                  "S s; g(&s); a[0] = s.x;"),
        std::pair("struct S { float x; };\n__device__ float& g(S& s, float& y) { "
                  "if (threadIdx.x > 3) return y; return s.x; }\n",
                  "S s{1.0f}; float y = 2.0f; g(s, y) = 3.0f; a[0] = s.x;")}) {
    EXPECT_EQ(body_without_objects(before, body), "") << body;
  }
}

}  // namespace
}  // namespace regraph::source::clang_objects_test
