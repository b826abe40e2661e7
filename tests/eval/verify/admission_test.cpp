#include "eval/verify/admission.h"

#include "base/random.h"
#include "eval/real_compiler.h"

#include <gtest/gtest.h>

namespace regraph::verify::admission_test {
namespace {

std::string ptx_of(const std::string& body, const std::string& before = "") {
  Compiler compiler(test::real_configuration());
  CompileRequest request =
      test::request_for(before + "\n__global__ void k(float* p, int n) {\n" + body + "\n}\n");
  request.want_cubin = false;
  const Cancellation never;
  const auto kernel = compiler.compile(request, never);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  return kernel.ok() ? kernel->ptx : "";
}

std::optional<std::string> find_forbidden(const std::string& candidate,
                                          const std::string& original) {
  return Admission(original, Assumptions()).objection(candidate);
}

TEST(Admission, HonestKernelsAreAdmitted) {
  const std::string original = ptx_of("p[threadIdx.x] = 1;");
  EXPECT_FALSE(find_forbidden(original, original).has_value());
  for (const char* body : {
           "p[threadIdx.x] = sinf(p[threadIdx.x]);",  // brings the compiler's own table
           "__shared__ float free_space[32]; free_space[threadIdx.x] = p[threadIdx.x];"
           "__syncthreads(); p[threadIdx.x] = free_space[31 - threadIdx.x];",
           "atomicAdd(p, 1.0f); __threadfence(); p[1] = __ldg(p + 2);",
       }) {
    const auto found = find_forbidden(ptx_of(body), original);
    EXPECT_FALSE(found.has_value()) << *found;
  }
  const auto table = find_forbidden(
      ptx_of(
          "p[threadIdx.x] = table[n & 3] + other[n & 1];",
          "__constant__ float table[4] = {1, 2, 3, 4};\n__device__ const float other[2] = {5, 6};"),
      original);
  EXPECT_FALSE(table.has_value()) << *table;
}

TEST(Admission, WaysToCheatAreNamed) {
  const std::string original = ptx_of("p[threadIdx.x] = 1;");
  const auto expect = [&](const std::string& ptx, const std::string& word) {
    const auto found = find_forbidden(ptx, original);
    ASSERT_TRUE(found.has_value()) << word;
    EXPECT_NE(found->find(word), std::string::npos) << *found;
    EXPECT_FALSE(find_forbidden(ptx, ptx).has_value());  // what the original does is allowed
  };
  expect(ptx_of("p[0] = clock64();"), "clock64");
  expect(ptx_of("long long t; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t)); p[0] = t;"),
         "globaltimer");
  expect(ptx_of("int s; asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(s)); p[0] = s;"), "smid");
  expect(ptx_of("__nanosleep(100); p[0] = 1;"), "nanosleep");
  expect(ptx_of("printf(\"x\"); p[0] = 1;"), "vprintf");
  expect(ptx_of("float* q = (float*)malloc(4); *q = 1; p[0] = *q; free(q);"), "malloc");
  expect(ptx_of("if (done) return; p[0] = 1; done = 1;", "__device__ int done;"), "done");
  expect(ptx_of("p[0] = ((float*)store)[n]; store[n] = n;", "__device__ int store[1000];"),
         "store");
  expect(ptx_of("asm volatile(\"griddepcontrol.launch_dependents;\"); p[0] = 1;"),
         "griddepcontrol");
  expect(ptx_of("p[0] = left; if (n == 3) left = 0;", "__device__ int left = 40;"), "left");
  expect(ptx_of("if (n > 100) __trap(); p[0] = 1;"), "trap");
  expect(ptx_of("if (n > 100) asm volatile(\"exit;\"); p[0] = 1;"), "exit");
  expect(ptx_of("p[0] = __half2float(__float2half(p[1]));", "#include <cuda_fp16.h>"), "f16");
  expect(ptx_of("float v; asm volatile(\"ld.global.L1::evict_last.f32 %0, [%1];\" : \"=f\"(v) : "
                "\"l\"(p)); p[1] = v;"),
         "evict_last");
}

// A multiprocessor may have a place of its own for the maps of tensors, and nothing else.
TEST(Admission, MultiprocessorsMayTellWhereMapsLie) {
  const std::string original = ptx_of("p[threadIdx.x] = 1;");
  const std::string before = "__device__ __align__(128) unsigned long long maps[512][16];";
  const std::string put =
      "__shared__ __align__(128) unsigned long long made[16]; unsigned s;"
      "asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(s)); made[threadIdx.x % 16] = 0; __syncwarp();"
      "asm volatile(\"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu\""
      "\".sync.aligned [%0], [%1], 128;\" :: \"l\"(maps[s]), "
      "\"r\"((unsigned)__cvta_generic_to_shared(made)) : \"memory\");";
  const auto honest = find_forbidden(ptx_of(put + "p[0] = 1;", before), original);
  EXPECT_FALSE(honest.has_value()) << *honest;
  for (const char* cheat : {"p[0] = s;", "if (s == 3) p[0] = 1;", "p[s] = 1;", "p[0] = p[s];",
                            "p[0] = maps[0][0];", "maps[1][0] = n;"}) {
    EXPECT_TRUE(find_forbidden(ptx_of(put + cheat, before), original).has_value()) << cheat;
  }
}

TEST(Admission, SaysInWhichLineItStands) {
  const std::string original = ptx_of("p[threadIdx.x] = 1;");
  const auto found = find_forbidden(ptx_of("p[1] = 1;\n\n  p[0] = clock64();"), original);
  ASSERT_TRUE(found.has_value());
  // The text begins with an empty line and the head of the kernel.
  EXPECT_NE(found->find("(line 5)"), std::string::npos) << *found;
  const auto state =
      find_forbidden(ptx_of("p[1] = 1;\n  done = n;", "__device__ int done;"), original);
  ASSERT_TRUE(state.has_value());
  EXPECT_NE(state->find("'done'"), std::string::npos) << *state;
  EXPECT_NE(state->find("(line 4)"), std::string::npos) << *state;
}

TEST(Admission, LowerPrecisionNeedsALicence) {
  const std::string original = ptx_of("p[threadIdx.x] = 1;");
  const std::string half =
      ptx_of("p[0] = __half2float(__float2half(p[1]));", "#include <cuda_fp16.h>");
  Assumptions any;
  any.precision = Precision::any;
  EXPECT_TRUE(Admission(original, Assumptions()).objection(half).has_value());
  EXPECT_FALSE(Admission(original, any).objection(half).has_value());
  EXPECT_FALSE(Admission(half, Assumptions()).objection(half).has_value());
}

TEST(Admission, TwoTf32NumbersAreNoHalf) {
  const std::string original = ptx_of("p[threadIdx.x] = 1;");
  const std::string half =
      ptx_of("p[0] = __half2float(__float2half(p[1]));", "#include <cuda_fp16.h>");
  const std::string tf32 =
      ptx_of("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(n) : \"f\"((float)p[0])); p[1] = n;");
  Assumptions split;
  split.precision = Precision::tf32x3;
  EXPECT_TRUE(Admission(original, Assumptions()).objection(tf32).has_value());
  EXPECT_FALSE(Admission(original, split).objection(tf32).has_value());
  EXPECT_TRUE(Admission(original, split).objection(half).has_value());
}

TEST(Admission, TablesAreReadAndStateIsNot) {
  const std::string original = ptx_of("p[threadIdx.x] = 1;");
  const char* table = "__device__ float table[64] = {1, 2, 3};";
  // Read through computed addresses, also by a function of its own.
  for (const char* body :
       {"p[0] = table[n & 63];", "float* t = n > 3 ? table : table + 8; p[0] = t[n & 7];",
        "assert(n > 0); p[0] = table[n & 63];"}) {
    const auto found = find_forbidden(ptx_of(body, table), original);
    EXPECT_FALSE(found.has_value()) << body << ": " << *found;
  }
  for (const char* body :
       {"table[n & 63] = 1; p[0] = table[0];", "atomicAdd(table + (n & 63), 1.0f);",
        "float* t = n > 3 ? table : p; t[n & 7] = 1;",
        "__shared__ float* where; where = table; __syncthreads(); float* volatile w = where; w[0] "
        "= 1;"}) {
    const auto found = find_forbidden(ptx_of(body, table), original);
    ASSERT_TRUE(found.has_value()) << body;
    EXPECT_NE(found->find("'table'"), std::string::npos) << *found;
  }
}

TEST(Admission, SurvivesGarbage) {
  const std::string original = ptx_of("p[threadIdx.x] = sinf(p[0]);", "__device__ int x[3];");
  for (std::uint64_t round = 0; round < 500; ++round) {
    std::string text = original.substr(0, random_bits(round, 1) % original.size());
    for (std::uint64_t edit = 0; edit < round % 9 && !text.empty(); ++edit) {
      text[random_bits(round, edit, 2) % text.size()] =
          static_cast<char>(random_bits(round, edit, 3));
    }
    (void)find_forbidden(text, original);
    (void)find_forbidden(original, text);
  }
}

}  // namespace
}  // namespace regraph::verify::admission_test
