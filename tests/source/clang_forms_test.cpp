// What is taken apart as it is read, and what is known of what is called.
#include "source/analysis.h"
#include "source/clang_frontend.h"
#include "source/printer.h"
#include "source/view.h"
#include "source/walk.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::clang_forms_test {
namespace {

Unit unit_of(const std::string& source) {
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  auto parsed = parse_kernel(source, "kernel.cu", "", *configuration);
  EXPECT_TRUE(parsed.ok() && parsed->unit) << source;
  return parsed.ok() && parsed->unit ? std::move(*parsed->unit) : Unit();
}

// The printed body of a kernel of two arrays.
std::string body_of_kernel(const std::string& body, const std::string& before = "") {
  const Unit unit = unit_of(
      before + "__global__ void f(float* a, float* b, const int* list, int n) { " + body + " }");
  return print(unit.kernel.body, 0);
}

TEST(ClangForms, StepsInsideExpressionsAreStatements) {
  EXPECT_EQ(body_of_kernel("int k = 0; a[k++] = 1.0f;"), "int k = 0;\na[k] = 1.0f;\n++k;\n");
  EXPECT_EQ(body_of_kernel("int k = n; int j = --k;"), "int k = n;\n--k;\nint j = k;\n");
  EXPECT_EQ(body_of_kernel("float x; a[0] = 2.0f * (x = b[1]);"),
            "float x;\nx = b[1];\na[0] = 2.0f * x;\n");
  EXPECT_EQ(body_of_kernel("float x; if ((x = b[1]) > 0.0f) a[0] = x;"),
            "float x;\nx = b[1];\nif (x > 0.0f) {\n  a[0] = x;\n}\n");
  // Before the branch the step has been made.
  EXPECT_EQ(body_of_kernel("int k = n; if (k-- > 2) a[0] = 1.0f;"),
            "int k = n;\n--k;\nif (k + 1 > 2) {\n  a[0] = 1.0f;\n}\n");
}

TEST(ClangForms, ChainsAssignFromTheRight) {
  EXPECT_EQ(body_of_kernel("a[1] = b[1] = a[0];"), "b[1] = a[0];\na[1] = b[1];\n");
  EXPECT_EQ(body_of_kernel("float x, y; x = y = 2.0f;"),
            "float x;\nfloat y;\ny = 2.0f;\nx = 2.0f;\n");
  // What y makes of the value is what x gets.
  EXPECT_EQ(body_of_kernel("float x; int y; x = y = 2.5f;"),
            "float x;\nint y;\ny = 2.5f;\nx = y;\n");
}

// Where the order would matter, or the step is not always made, the text stays.
TEST(ClangForms, StepsThatCannotBeSeparatedStayOpaque) {
  for (const char* body :
       {"int k = 0; a[k] = b[k++];", "int k = 0; a[k++] = k;",
        "int k = 0; a[0] = n > 2 ? b[k++] : b[0];", "int k = 0; if (n > 2 && k++ < n) a[0] = 1.0f;",
        "char k = 0; if (k++ < n) a[0] = 1.0f;"}) {
    const Unit unit =
        unit_of(std::string("__global__ void f(float* a, float* b, int n) { ") + body + " }");
    EXPECT_TRUE(Analysis(unit.kernel).opaque()) << body << "\n" << print(unit.kernel.body, 0);
  }
}

TEST(ClangForms, LoopHeadersWithSeveralParts) {
  EXPECT_EQ(body_of_kernel("for (int i = 0, j = n; i < j; ++i, --j) a[i] = b[j];"),
            "int i = 0;\nfor (int j = n; i < j; --j) {\n  a[i] = b[j];\n  ++i;\n}\n");
  // Twice in one block.
  const std::string twice = body_of_kernel(
      "for (int i = 0, j = 0; i < n; ++i, j += 2) a[i] = b[j];"
      "for (int i = 0, j = 0; i < n; ++i, j += 2) a[i] = b[j];");
  EXPECT_NE(twice.find("int i_2 = 0;"), std::string::npos) << twice;
  // `continue` would pass over what ends the body, and the last part reads the first.
  for (const char* loop :
       {"for (int i = 0, j = 0; i < n; ++i, ++j) { if (j == 2) continue; a[i] = b[j]; }",
        "for (int i = 0, j = 0; i < n; ++i, j += i) a[i] = b[j];"}) {
    const Unit unit =
        unit_of(std::string("__global__ void f(float* a, float* b, int n) { ") + loop + " }");
    EXPECT_TRUE(Analysis(unit.kernel).opaque()) << loop;
  }
}

TEST(ClangForms, LoopsThatAskAtTheirEnd) {
  EXPECT_EQ(body_of_kernel("do { n /= 2; } while (n > 4);"), "do {\n  n /= 2;\n} while (n > 4);\n");
  EXPECT_EQ(body_of_kernel("while (n--) a[n] = 0.0f;"),
            "while (true) {\n  --n;\n  if (!(n + 1)) {\n    break;\n  }\n  a[n] = 0.0f;\n}\n");
}

// For kernels that would compile to other code: only what is unusual is opaque.
TEST(ClangForms, NothingIsTakenApartOnRequest) {
  auto configuration = default_front_end(test::cuda_root(), "sm_90");
  ASSERT_TRUE(configuration.ok());
  configuration->takes_apart = false;
  const auto body_as_it_stands = [&](const std::string& body) {
    auto parsed = parse_kernel("__global__ void f(float* a, float* b, int n) { " + body + " }",
                               "kernel.cu", "", *configuration);
    EXPECT_TRUE(parsed.ok() && parsed->unit) << body;
    return parsed.ok() && parsed->unit ? std::move(parsed->unit->kernel) : Kernel();
  };
  for (const char* unusual :
       {"int k = 0; a[k++] = 1.0f;", "do { n /= 2; } while (n > 4);", "a[1] = b[1] = a[0];",
        "float& to = a[n]; to = 1.0f;", "while (n--) a[n] = 0.0f;", "a[0] = 1.0f, b[0] = 2.0f;",
        "for (int i = 0, j = n; i < j; ++i) a[i] = b[j];",
        "for (int i = 0; i < n; ++i, ++n) a[i] = 0;", "float y, x = y = 2.0f; a[0] = x;"}) {
    const Kernel kernel =
        body_as_it_stands(std::string("float s = 2.0f; ") + unusual + " b[0] = s;");
    EXPECT_TRUE(Analysis(kernel).opaque()) << print(kernel.body, 0);
    // What stands around it is read.
    EXPECT_TRUE(is<Declaration>(kernel.body.front())) << print(kernel.body, 0);
    EXPECT_TRUE(is<Assignment>(kernel.body.back())) << print(kernel.body, 0);
  }
  EXPECT_FALSE(Analysis(body_as_it_stands("++n; n += 2; a[n] = b[n];")).opaque());
}

TEST(ClangForms, ConstructorsAreCalls) {
  const std::string classes =
      "struct Scale { __device__ Scale(float by, float more) : by_(by + more) {}\n"
      "  __device__ float of(float v) const { return v * by_; } float by_; };\n"
      "struct View { float* p; int n; };\n";
  EXPECT_EQ(body_of_kernel("Scale s(a[0], 2.0f); b[0] = s.by_;", classes),
            "Scale s = Scale(a[0], 2.0f);\nb[0] = s.by_;\n");
  EXPECT_EQ(body_of_kernel("const Scale s{a[0], 2.0f}; b[0] = s.by_;", classes),
            "const Scale s = Scale(a[0], 2.0f);\nb[0] = s.by_;\n");
  EXPECT_EQ(body_of_kernel("View v{a, n}; b[0] = v.p[v.n];", classes),
            "View v = View{a, n};\nb[0] = v.p[v.n];\n");
}

// The text at the place of use is the macro's.
TEST(ClangForms, CallsThatMacrosMake) {
  EXPECT_EQ(body_of_kernel("float4 v = zero; a[0] = v.x;",
                           "#define zero make_float4(0.0f, 0.0f, 0.0f, 0.0f)\n"),
            "float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);\na[0] = v.x;\n");
  EXPECT_EQ(body_of_kernel("a[0] = LARGER(b[0], b[1]);", "#define LARGER(x, y) fmaxf(x, y)\n"),
            "a[0] = fmaxf(b[0], b[1]);\n");
  EXPECT_EQ(body_of_kernel("a[0] = APPLY(sqrtf, b[0]);", "#define APPLY(f, x) f(x)\n"),
            "a[0] = sqrtf(b[0]);\n");
}

TEST(ClangForms, ListsOfValues) {
  EXPECT_EQ(body_of_kernel("float x[3] = {1.0f, 2.0f}; a[0] = x[n];"),
            "float x[3] = {1.0f, 2.0f};\na[0] = x[n];\n");
  EXPECT_EQ(body_of_kernel("float4 v = {a[0], 0.0f, 0.0f, 1.0f}; b[0] = v.x;"),
            "float4 v = float4{a[0], 0.0f, 0.0f, 1.0f};\nb[0] = v.x;\n");
}

TEST(ClangForms, ReferencesAreOtherNames) {
  EXPECT_EQ(body_of_kernel("for (int i = 0; i < n; ++i) { float& r = a[i]; r += b[i]; }"),
            "for (int i = 0; i < n; ++i) {\n  float* const r = &a[i];\n  r[0] += b[i];\n}\n");
  EXPECT_EQ(body_of_kernel("float sums[4]; float& s = sums[n]; s = 1.0f;"),
            "float sums[4];\nsums[n] = 1.0f;\n");
  EXPECT_EQ(body_of_kernel("const auto& v = a[0] * 2.0f; b[0] = v;"),
            "const float v = a[0] * 2.0f;\nb[0] = v;\n");
  // The place is that of the old value.
  EXPECT_EQ(body_of_kernel("int k = n; float& r = a[k]; ++k; r = 1.0f; a[k] = 2.0f;"),
            "int k = n;\nfloat* const r = &a[k];\n++k;\nr[0] = 1.0f;\na[k] = 2.0f;\n");
  const Unit moved = unit_of(
      "__global__ void f(float* a, int n) { float x[4]; int k = n; float& r = x[k]; ++k; r = 1.0f; "
      "a[0] = x[k]; }");
  EXPECT_TRUE(Analysis(moved.kernel).opaque());
}

TEST(ClangForms, PointersToRecords) {
  const Unit unit = unit_of(
      "struct P { float x, y; };\n__global__ void f(P* p, const P* q) { p->x = q[threadIdx.x].y; "
      "(p + 1)->y = 0.0f; }");
  const Analysis analysis(unit.kernel);
  EXPECT_FALSE(analysis.opaque());
  EXPECT_TRUE(analysis.is_written("p"));
  EXPECT_FALSE(analysis.is_written("q"));
  EXPECT_EQ(print(unit.kernel.body, 0), "p[0].x = q[threadIdx.x].y;\n(p + 1)[0].y = 0.0f;\n");
}

TEST(ClangForms, ViewsAreAccessesOfTheArrayBelow) {
  const Unit unit = unit_of(
      "__global__ void f(const float* x, float* y, float* z, int n) { int i = threadIdx.x;\n"
      "  float4 v = *(const float4*)&x[4 * i];\n  ((float4*)y)[i] = v;\n"
      "  reinterpret_cast<float2*>(z + n)[i].x = v.x; }");
  const Analysis analysis(unit.kernel);
  EXPECT_FALSE(analysis.opaque());
  for (const char* name : {"x", "y", "z"})
    EXPECT_TRUE(analysis.is_viewed(name)) << name;
  EXPECT_FALSE(analysis.is_written("x"));
  EXPECT_TRUE(analysis.is_written("y"));
  EXPECT_TRUE(analysis.is_written("z"));
  std::vector<std::string> views;
  walk_expressions(unit.kernel.body, [&](const Expr& expr) {
    if (const auto view = view_of(expr))
      views.push_back(view->array->name + " " + view->vector + " " + print(view->first));
  });
  EXPECT_EQ(views,
            (std::vector<std::string>{"x float4 4 * i", "y float4 i * 4", "z float2 n + i * 2"}));
}

TEST(ClangForms, WhatIsWrittenThroughLocalPointers) {
  const Unit unit = unit_of(
      "__global__ void f(float* x, float* y, int n) { float* p = x + n; float4* q = (float4*)p;\n"
      "  q[0] = make_float4(0, 0, 0, y[0]); }");
  const Analysis analysis(unit.kernel);
  EXPECT_TRUE(analysis.is_written("x"));
  EXPECT_FALSE(analysis.is_written("y"));
}

// By the body, and those of the functions that it calls.
TEST(ClangForms, FunctionsAreKnownByTheirBodies) {
  const std::string functions =
      "__device__ float twice(float v) { return 2.0f * v; } // no threadIdx here\n"
      "__device__ float most(float v) { float s = 0; for (int i = 0; i < 3; ++i) s = fmaxf(s, "
      "twice(v)); return s; }\n"
      "__device__ float load(const float* p) { return p[0]; }\n"
      "__device__ void both(float v, float& low, float* high) { low = v; *high = v; }\n"
      "__device__ float mine(float v) { return v + threadIdx.x; }\n"
      "__device__ float endless(float v) { while (v > 1.0f) v *= v; return v; }\n"
      "__device__ float own(float v) { float h, l; both(v, l, &h); return h + l; }\n";
  const auto effect = [&](const std::string& call) {
    const Unit unit = unit_of(
        functions + "__global__ void f(float* a) { float x = 0, y = 0; a[0] = " + call + "; }");
    CallEffect found = CallEffect::by_name;
    const std::string name = call.substr(0, call.find('('));
    walk_expressions(unit.kernel.body, [&](const Expr& expr) {
      if (const auto* one = as<Call>(expr); one != nullptr && one->function == name)
        found = one->effect;
    });
    return found;
  };
  EXPECT_EQ(effect("twice(x)"), CallEffect::pure);
  EXPECT_EQ(effect("most(x)"), CallEffect::pure);
  EXPECT_EQ(effect("own(x)"), CallEffect::pure);
  EXPECT_EQ(effect("load(a)"), CallEffect::memory);
  EXPECT_EQ(effect("endless(x)"), CallEffect::memory);
  EXPECT_EQ(effect("mine(x)"), CallEffect::anything);
  EXPECT_EQ(effect("lgammaf(x)"), CallEffect::pure);
  EXPECT_EQ(effect("__fmaf_rn(x, y, x)"), CallEffect::pure);
  EXPECT_EQ(effect("__shfl_sync(~0u, x, 0)"), CallEffect::by_name);
  EXPECT_EQ(effect("__ldg(a)"), CallEffect::by_name);
  EXPECT_EQ(effect("atomicAdd(a, x)"), CallEffect::by_name);
  EXPECT_EQ(effect("clock()"), CallEffect::by_name);
}

TEST(ClangForms, WhatIsPassedByReferenceHasNoSingleDefinition) {
  const Unit unit = unit_of(
      "__device__ void next(int& v) { ++v; }\n"
      "__global__ void f(float* a) { int i = 0; next(i); int j = 1; a[i] = j; }");
  const Analysis analysis(unit.kernel);
  EXPECT_FALSE(analysis.is_single_definition("i"));
  EXPECT_TRUE(analysis.is_single_definition("j"));
}

// The printed body with calls opened; empty where nothing could be.
std::string opened_body(const std::string& body, const std::string& before) {
  const Unit unit = unit_of(
      before + "__global__ void f(float* a, float* b, const int* list, int n) { " + body + " }");
  return unit.opened != nullptr ? print(unit.opened_kernel().body, 0) : "";
}

TEST(ClangForms, CallsAreOpened) {
  const std::string sum =
      "__device__ float sum(float v) { __shared__ float s[32]; s[threadIdx.x] = v; "
      "__syncthreads(); return s[0]; }\n";
  EXPECT_EQ(opened_body("float x = b[0]; a[0] = sum(x) + 1.0f;", sum),
            "__shared__ float s[32];\nfloat x = b[0];\ns[threadIdx.x] = x;\n__syncthreads();\n"
            "const float result = s[0];\na[0] = result + 1.0f;\n");
  // What changes on the way is kept as it was; functions share what they keep, not their names.
  EXPECT_EQ(opened_body("float x = b[0]; x = sum(x); x = sum(x); a[0] = x;", sum),
            "__shared__ float s[32];\nfloat x = b[0];\nconst float v = x;\n"
            "s[threadIdx.x] = v;\n__syncthreads();\nconst float result = s[0];\nx = result;\n"
            "const float v_2 = x;\ns[threadIdx.x] = v_2;\n__syncthreads();\n"
            "const float result_2 = s[0];\nx = result_2;\na[0] = x;\n");
  const std::string functor =
      "struct Larger { __device__ float operator()(float u, float v) const { return u > v ? u : v; "
      "} };\ntemplate <typename Op> __device__ void put(float* to, Op op) { to[threadIdx.x] = "
      "op(to[threadIdx.x], 2.0f); }\n";
  EXPECT_EQ(opened_body("put(a, Larger());", functor),
            "const float u = a[threadIdx.x];\na[threadIdx.x] = u > 2.0f ? u : 2.0f;\n");
  EXPECT_EQ(opened_body("a[0] = pick(n);",
                        "__device__ float pick(int i) { if (threadIdx.x > i) return 1.0f; "
                        "return 2.0f; }\n"),
            "float pick_result;\nif (threadIdx.x > n) {\n  pick_result = 1.0f;\n} else {\n"
            "  pick_result = 2.0f;\n}\na[0] = pick_result;\n");
}

TEST(ClangForms, CallsThatOnlyUseMemoryAreOpenedWhereAllCanBe) {
  const std::string row =
      "__device__ float row(const float* x, int n) { float t = 0.0f; for (int i = 0; i < n; ++i) t "
      "+= x[i]; return t; }\n"
      "__device__ float find(const float* x, int n) { for (int i = 0; i < n; ++i) if (x[i] > 0.0f) "
      "return 1.0f; return 0.0f; }\n"
      "__device__ float late(float v) { __syncthreads(); return v; }\n";
  EXPECT_EQ(opened_body("a[0] = row(b, n);", row),
            "float t = 0.0f;\nfor (int i = 0; i < n; ++i) {\n  t += b[i];\n}\n"
            "const float result = t;\na[0] = result;\n");
  // One that leaves a loop stays, and others are opened all the same.
  EXPECT_EQ(opened_body("a[0] = find(b, n);", row), "");
  EXPECT_EQ(opened_body("float v = b[0]; a[0] = late(v) + find(b, n);", row),
            "float v = b[0];\n__syncthreads();\nconst float result = v;\n"
            "a[0] = result + find(b, n);\n");
}

TEST(ClangForms, ReferencesAreIndicesWhereCallsAreOpened) {
  EXPECT_EQ(opened_body("float& r = a[n * 2]; r += b[0];", ""),
            "const int r_index = n * 2;\na[r_index] += b[0];\n");
  EXPECT_EQ(opened_body("const At at{n}; float& r = a[at(n)]; r = b[0] + r;",
                        "struct At { int by; __device__ int operator()(int i) const { return i + "
                        "by; } };\n"),
            "const int at_by = n;\nconst int result = n + at_by;\nconst int r_index = result;\n"
            "a[r_index] = b[0] + a[r_index];\n");
}

// What the IR has no node for is said in other words where that changes nothing else.
TEST(ClangForms, WhatIsOpaqueIsSaidInOtherWords) {
  EXPECT_EQ(opened_body("using real = float; typedef int place; const place i = n; real v = b[i]; "
                        "a[i] = v;",
                        ""),
            "const int i = n;\nfloat v = b[i];\na[i] = v;\n");
  EXPECT_EQ(opened_body("static constexpr float by[2] = {1.0f, 2.0f}; a[n] = by[1];", ""),
            "const float by[2] = {1.0f, 2.0f};\na[n] = by[1];\n");
  EXPECT_EQ(opened_body("switch (n) { case 1: a[0] = 1.0f; break; case 2: case 3: a[1] = 2.0f; "
                        "default: a[2] = 3.0f; }",
                        ""),
            "if (n == 1) {\n  a[0] = 1.0f;\n} else {\n  if (n == 2 || n == 3) {\n    a[1] = 2.0f;\n"
            "    a[2] = 3.0f;\n  } else {\n    a[2] = 3.0f;\n  }\n}\n");
  EXPECT_EQ(opened_body("for (unsigned i = n; i-- > 0;) a[i] = 1.0f;", ""),
            "const unsigned int i_count = n;\n"
            "for (unsigned int i_step = 0; i_step < i_count; ++i_step) {\n"
            "  const unsigned int i = i_count - 1 - i_step;\n  a[i] = 1.0f;\n}\n");
  EXPECT_EQ(opened_body("if (n < 2) goto end; a[0] = 1.0f; end: return;", ""),
            "if (n < 2) {\n  return;\n}\na[0] = 1.0f;\n");
  // A break that leaves from inside, a label inside a block, a counter that the body changes.
  for (const char* body : {"switch (n) { case 1: if (a[0] > 1.0f) break; a[0] = 1.0f; }",
                           "switch (n) { case 1: { case 2: a[0] = 1.0f; } }",
                           "for (unsigned i = n; i-- > 0;) { a[i] = 1.0f; --i; }",
                           "again: a[0] += 1.0f; if (a[0] < n) goto again;"}) {
    EXPECT_EQ(opened_body(body, ""), "") << body;
  }
}

TEST(ClangForms, HalfTypesConvertAsTheirClassesDo) {
  const std::string half = "#include <cuda_fp16.h>\n";
  EXPECT_EQ(body_of_kernel("__half h = b[0]; float x = h; a[0] = x;", half),
            "__half h = (__half)b[0];\nfloat x = (float)h;\na[0] = x;\n");
  EXPECT_EQ(body_of_kernel("__half h{}; h = -h; a[0] = h;", half),
            "__half h = __half{};\nh = -h;\na[0] = (float)h;\n");
}

TEST(ClangForms, FunctionsAreFoundByConstantsAndTables) {
  const std::string functions =
      "using op = float (*)(float);\n__device__ float twice(float v) { return 2.0f * v; }\n"
      "__device__ float half(float v) { return 0.5f * v; }\nconstexpr op F = twice;\n";
  EXPECT_EQ(opened_body("a[0] = F(b[0]);", functions), "a[0] = 2.0f * b[0];\n");
  EXPECT_EQ(opened_body("const op ops[2] = {twice, half}; a[0] = ops[1](b[0]);", functions),
            "a[0] = 0.5f * b[0];\n");
  EXPECT_EQ(opened_body("const op ops[2] = {twice, half}; a[0] = ops[n](b[0]);", functions), "");
}

TEST(ClangForms, AssemblerThatOnlyComputesIsPure) {
  const auto effect_of = [](const std::string& assembler) {
    const Unit unit = unit_of("__device__ float f(float x) { float y; " + assembler +
                              " return y; }\n__global__ void k(float* a) { a[0] = f(a[1]); }");
    CallEffect effect = CallEffect::by_name;
    walk_expressions(unit.kernel.body, [&](const Expr& expr) {
      if (const auto* call = as<Call>(expr)) effect = call->effect;
    });
    return effect;
  };
  EXPECT_EQ(effect_of("asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));"),
            CallEffect::pure);
  EXPECT_EQ(
      effect_of("asm volatile(\"{ .reg .f32 t; mul.f32 t, %1, %1; rcp.approx.f32 %0, t; }\" : "
                "\"=f\"(y) : \"f\"(x));"),
      CallEffect::pure);
  for (const char* other :
       {"asm volatile(\"mov.u32 %0, %%clock;\" : \"=f\"(y));",
        "asm volatile(\"bar.sync 0; mov.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
        "asm volatile(\"mov.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x) : \"memory\");"}) {
    EXPECT_EQ(effect_of(other), CallEffect::anything) << other;
  }
}

TEST(ClangForms, CooperativeGroupsAreIndicesShufflesAndBarriers) {
  const std::string groups =
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
      "namespace cg = cooperative_groups;\n";
  EXPECT_EQ(opened_body("auto block = cg::this_thread_block(); a[block.thread_index().x] = 1.0f; "
                        "block.sync();",
                        groups),
            "a[threadIdx.x] = 1.0f;\n__syncthreads();\n");
  // What is not known keeps the body as it was.
  EXPECT_EQ(opened_body("auto tile = cg::tiled_partition<16>(cg::this_thread_block()); "
                        "a[0] = tile.any(n);",
                        groups),
            "");
  const std::string tile = opened_body(
      "auto warp = cg::tiled_partition<32>(cg::this_thread_block());\n"
      "float s = b[warp.meta_group_rank()]; s = cg::reduce(warp, s, cg::plus<float>());\n"
      "if (warp.thread_rank() == 0) a[0] = s; warp.sync();",
      groups);
  EXPECT_NE(tile.find("total += __shfl_xor_sync(0xffffffffu, total, lanes_apart_1);"),
            std::string::npos)
      << tile;
  EXPECT_NE(tile.find("% 32 == 0) {"), std::string::npos) << tile;
  EXPECT_NE(tile.find("__syncwarp(0xffffffffu);"), std::string::npos) << tile;
}

TEST(ClangForms, BarriersOfWholeBlocksAreBarriers) {
  const std::string header =
      "#include <cuda/barrier>\nusing Barrier = cuda::barrier<cuda::thread_scope_block>;\n";
  const auto with_count = [](const std::string& count) {
    return "__shared__ Barrier turn; __shared__ float s[128];\n"
           "if (threadIdx.x == 0) { init(&turn, " +
           count +
           "); } __syncthreads();\n"
           "s[threadIdx.x] = a[threadIdx.x]; turn.arrive_and_wait(); b[0] = s[127 - threadIdx.x];";
  };
  const std::string whole = opened_body(with_count("blockDim.x"), header);
  EXPECT_NE(whole.find("= a[threadIdx.x];\n__syncthreads();\n"), std::string::npos) << whole;
  EXPECT_EQ(whole.find("turn"), std::string::npos) << whole;
  // Half of the block is another matter.
  EXPECT_EQ(opened_body(with_count("blockDim.x / 2"), header), "");
}

TEST(ClangForms, EveryGroupSumHasItsOwnName) {
  const std::string text = opened_body(
      "auto warp = cg::tiled_partition<32>(cg::this_thread_block()); "
      "float x = cg::reduce(warp, b[0], cg::plus<float>{}); "
      "float y = cg::reduce(warp, b[1], cg::plus<float>{}); a[0] = x + y;",
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
      "namespace cg = cooperative_groups;\n");
  EXPECT_NE(text.find("float total = b[0];"), std::string::npos) << text;
  EXPECT_NE(text.find("float total_2 = b[1];"), std::string::npos) << text;
}

TEST(ClangForms, WhatConstantsDecideIsDecided) {
  const std::string constants =
      "constexpr bool kOn = true, kOff = false;\nconstexpr int kWidth = 4;\n"
      "__device__ float at(const float* p, int i) { return p[i]; }\n";
  EXPECT_EQ(opened_body("if (kOff) a[0] = 1.0f; if constexpr (kOff) a[1] = 1.0f; "
                        "if (kWidth == 4) a[2] = 1.0f; else a[3] = 2.0f;",
                        constants),
            "{\n  a[2] = 1.0f;\n}\n");
  EXPECT_EQ(opened_body("if (kOff && n > 2) a[0] = 1.0f; if (kOn && n > 3) a[1] = at(b, 1); "
                        "if (n > 4 || kOff) a[2] = kOn ? b[0] : at(b, 2);",
                        constants),
            "if (n > 3) {\n  const float at_result = b[1];\n  a[1] = at_result;\n}\n"
            "if (n > 4) {\n  a[2] = b[0];\n}\n");
  // What is asked may do something, and is no constant then.
  EXPECT_NE(opened_body("int k = 0; if (k++ > 0 && kOff) a[0] = 1.0f; a[k] = at(b, k);", constants)
                .find("++k"),
            std::string::npos);
}

TEST(ClangForms, AssertionsAreLeftOutWhereCallsAreOpened) {
  EXPECT_EQ(opened_body("assert(n % 4 == 0); a[0] = b[0];", "#include <cassert>\n"),
            "a[0] = b[0];\n");
}

TEST(ClangForms, PairsOfHalfGoThroughFunctions) {
  const std::string functor =
      "#include <cuda_fp16.h>\n"
      "template <typename T> struct Square { static __device__ T apply(const T& v) { return v * v; "
      "} };\n"
      "template <template <typename> class Op> __device__ half2 both(half2 v) { return "
      "Op<half2>::apply(v); }\n";
  const std::string text = opened_body(
      "half2 v = __float2half2_rn(b[0]); v = Square<half2>::apply(v); v = both<Square>(v); "
      "const half2 w = static_cast<half2>(v); a[0] = __low2float(w);",
      functor);
  EXPECT_EQ(text.find("apply"), std::string::npos) << text;
  EXPECT_EQ(text.find("both"), std::string::npos) << text;
}

// A constant reference to what the function does not change is its value.
TEST(ClangForms, ReferencesOfFunctionsThatOnlyReadAreValues) {
  const std::string text =
      opened_body("float v = b[0]; v = Cube::of(v); a[0] = v;",
                  "struct Cube { static __device__ float of(const float& x) { const float y = x * "
                  "x; return x * y; } };\n");
  EXPECT_NE(text.find("const float x = v;"), std::string::npos) << text;
}

TEST(ClangForms, TemplatesKeepTheArgumentsThatAreSaid) {
  const std::string text = opened_body(
      "using small = signed char; a[0] = kept<small>(b[0]); At at; a[1] = at.of(b[1]);",
      "template <typename T, typename U> __device__ T kept(U v) { float r; asm(\"mov.f32 %0, %1;\" "
      ": \"=f\"(r) : \"f\"(v)); return (T)r; }\n"
      "struct At { __device__ float of(float x) { return kept<int>(x); } };\n");
  EXPECT_NE(text.find("a[0] = kept<signed char>(b[0]);"), std::string::npos) << text;
  EXPECT_NE(text.find("kept<int>("), std::string::npos) << text;
}

TEST(ClangForms, DynamicSharedMemoryOfAFunctionIsTheKernels) {
  const std::string access =
      "template <typename T> struct Shared { __device__ T* pointer() { extern __shared__ float "
      "words[]; return (T*)words; } };\n";
  const std::string text = opened_body(
      "Shared<float> all; float* p = all.pointer(); p[threadIdx.x] = b[n]; __syncthreads(); a[0] = "
      "p[0];",
      access);
  EXPECT_NE(text.find("extern __shared__ float words[];"), std::string::npos) << text;
  const std::string two = opened_body(
      "extern __shared__ float words[]; extern __shared__ int counts[]; words[0] = b[0]; counts[1] "
      "= n; put(a, words[0]);",
      "__device__ void put(float* p, float x) { p[0] = x; }\n");
  EXPECT_NE(two.find("extern __shared__ int counts[];"), std::string::npos) << two;
  // The same memory under two names.
  EXPECT_EQ(opened_body("extern __shared__ float own[]; own[0] = b[0]; Shared<float> all; "
                        "a[0] = all.pointer()[0];",
                        access),
            "");
}

TEST(ClangForms, TheCompilersVersionIsTheToolkits) {
  EXPECT_NE(body_of_kernel("\n#if __CUDACC_VER_MAJOR__ >= 12 && CUDART_VERSION >= 12000\na[0] = "
                           "1.0f;\n#endif\n")
                .find("a[0]"),
            std::string::npos);
}

TEST(ClangForms, CallsThatCannotBeOpenedStay) {
  const std::string put =
      "__device__ float put(float& x) { x = x + threadIdx.x; return x; }\n"
      "__device__ float twice(const float& x, float* y) { y[0] = threadIdx.x; return x; }\n"
      "__device__ float loop(int n) { for (int i = 0; i < n; ++i) if (i > threadIdx.x) return "
      "1.0f; "
      "return 0.0f; }\n";
  // A place that may move, one that is read after a store, before each round, out of a loop.
  for (const char* body :
       {"a[0] = put(a[n]);", "a[0] = twice(a[1], a);",
        "float x = 0.0f; for (int i = 0; i < put(x); ++i) a[i] = x;", "a[0] = loop(n);"}) {
    EXPECT_EQ(opened_body(body, put), "") << body;
  }
  EXPECT_EQ(opened_body("a[0] = b[0];", put), "");
}

// What stays as the user wrote it follows the names that variables get.
TEST(ClangForms, OpaqueCodeHasTheNamesOfItsVariables) {
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  const auto parsed = parse_kernel(
      "union Bits { float f; int i; __device__ int get() const { return i; } };\n"
      "__global__ void f(int* a, float x) {\n"
      "  { Bits v; v.f = x; a[0] = v.get(); }\n"
      "  { Bits v; v.f = 2 * x; a[1] = v.get(); }\n}\n",
      "kernel.cu", "", *configuration);
  ASSERT_TRUE(parsed.ok() && parsed->unit);
  const std::string text = print(parsed->unit->kernel.body, 0);
  EXPECT_NE(text.find("Bits v;"), std::string::npos) << text;
  EXPECT_NE(text.find("a[0] = (v.get())"), std::string::npos) << text;
  EXPECT_NE(text.find("Bits v_2;"), std::string::npos) << text;
  EXPECT_NE(text.find("a[1] = (v_2.get())"), std::string::npos) << text;
}

}  // namespace
}  // namespace regraph::source::clang_forms_test
