// What the model sees of kernels whose shape is known.
#include "eval/model/program_facts.h"

#include "eval/model/access_facts.h"
#include "eval/model/merge_groups.h"
#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::program_facts_test {
namespace {

// Of a kernel `body` whose thread has index i, with arrays of m * n floats.
Facts facts_of(const std::string& body, const std::string& declarations = "") {
  const Problem problem = test::problem_of(
      R"yaml(
sizes: {n: 4096, m: 64}
args: {in: {shape: [m*n]}, out: {dir: out, shape: [m*n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 512, m: 64}]
)yaml",
      {test::input("in"), test::output("out"), test::number("n"), test::number("m")});
  const std::string source =
      declarations +
      "\n__global__ void k(const float* __restrict__ in, float* __restrict__ out, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int t = threadIdx.x;\n" +
      body + "\n}\n";
  const test::SampledKernel kernel(problem, source);
  const ptx::Profile& profile = kernel.sample().profile;
  Facts facts;
  fill_access_facts(profile, merged_shares(kernel.program(), profile), facts);
  fill_program_facts(kernel.program(), profile, facts);
  return facts;
}

TEST(AccessFacts, AWidthHasItsOwnIdeal) {
  const Facts narrow = facts_of("out[i] = in[i];");
  EXPECT_DOUBLE_EQ(narrow.at("global_load_sectors_over_ideal"), 1.0);
  EXPECT_DOUBLE_EQ(narrow.at("global_store_sectors_over_ideal"), 1.0);
  EXPECT_DOUBLE_EQ(narrow.at("global_sectors_over_ideal"), 1.0);
  EXPECT_DOUBLE_EQ(narrow.at("read_only_load_share"), 1.0);
  EXPECT_FALSE(narrow.contains("shared_wavefronts_over_ideal"));
  // A warp of float4 touches 16 sectors, of doubles 8, of halves 2: no fewer would do.
  for (const char* const type : {"float4", "double", "unsigned short"}) {
    const std::string wide = std::string("((") + type + "*)out)[i] = ((const " + type + "*)in)[i];";
    EXPECT_DOUBLE_EQ(facts_of(wide).at("global_sectors_over_ideal"), 1.0) << type;
  }
}

TEST(AccessFacts, FewerLanesAndOneAddressNeedFewerSectors) {
  const Facts few = facts_of("if (t % 32 < 5) out[i] = in[i];");
  EXPECT_DOUBLE_EQ(few.at("global_sectors_over_ideal"), 1.0);
  const Facts uniform = facts_of("out[i] = in[blockIdx.x];");
  EXPECT_DOUBLE_EQ(uniform.at("global_load_sectors_over_ideal"), 1.0);
  EXPECT_DOUBLE_EQ(uniform.at("uniform_load_share"), 1.0);
  EXPECT_DOUBLE_EQ(few.at("uniform_load_share"), 0.0);
}

TEST(AccessFacts, ScatteredAndMisalignedAccessesTouchMore) {
  const Facts rows = facts_of("out[i] = in[i * 64];");
  EXPECT_DOUBLE_EQ(rows.at("global_load_sectors_over_ideal"), 8.0);
  EXPECT_DOUBLE_EQ(rows.at("global_store_sectors_over_ideal"), 1.0);
  EXPECT_DOUBLE_EQ(rows.at("global_sectors_over_ideal"), 36.0 / 8.0);
  EXPECT_DOUBLE_EQ(facts_of("out[i] = in[i + 1];").at("global_load_sectors_over_ideal"), 1.25);
}

TEST(AccessFacts, WideSharedAccessesAreNoConflicts) {
  const std::string tile =
      "__shared__ float4 s[256]; s[t] = ((const float4*)in)[i];"
      "__syncthreads(); ((float4*)out)[i] = s[255 - t];";
  const Facts wide = facts_of(tile);
  EXPECT_DOUBLE_EQ(wide.at("shared_wavefronts_over_ideal"), 1.0);
  EXPECT_DOUBLE_EQ(wide.at("shared_access_bytes_per_thread"), 16.0);
  // Four words that become one access, by all lanes or of one address, are none either.
  const Facts joined = facts_of(
      "__shared__ __align__(16) float s[1024]; for (int j = 0; j < 4; ++j) s[4 * t + j] = in[i];"
      "__syncthreads(); float x = 0; for (int j = 0; j < 4; ++j) x += s[4 * (t / 64) + j];"
      "out[i] = x;");
  EXPECT_DOUBLE_EQ(joined.at("shared_wavefronts_over_ideal"), 1.0);
  const Facts column = facts_of(
      "__shared__ float s[256][33 - 1]; s[t][0] = in[i]; __syncthreads();"
      "out[i] = s[255 - t][0];");
  EXPECT_DOUBLE_EQ(column.at("shared_wavefronts_over_ideal"), 32.0);
  EXPECT_DOUBLE_EQ(column.at("shared_access_bytes_per_thread"), 4.0);
}

TEST(ProgramFacts, StraightCodeCarriesNothing) {
  const Facts facts = facts_of("if (i < n) out[i] = 2.0f * in[i] + 1.0f;");
  EXPECT_DOUBLE_EQ(facts.at("loop_depth"), 0.0);
  EXPECT_FALSE(facts.contains("accumulation_chains"));
  EXPECT_DOUBLE_EQ(facts.at("accumulated_product_share"), 0.0);
  EXPECT_DOUBLE_EQ(facts.at("guard_share"), 0.0);  // an early exit is none
  EXPECT_DOUBLE_EQ(facts.at("approximable_share"), 0.0);
  EXPECT_DOUBLE_EQ(facts.at("repeated_access_share"), 0.0);
}

TEST(ProgramFacts, AContractionCarriesOneSumOfProducts) {
  const Facts facts = facts_of(
      "float sum = 0; for (int k = 0; k < m; ++k) sum += in[k * n + i] * in[k]; out[i] = sum;");
  EXPECT_DOUBLE_EQ(facts.at("loop_depth"), 1.0);
  EXPECT_DOUBLE_EQ(facts.at("accumulation_chains"), 1.0);
  EXPECT_DOUBLE_EQ(facts.at("accumulated_product_share"), 1.0);
  EXPECT_LT(facts.at("guard_share"), 0.01);  // whether iterations are left beside unrolled ones
  EXPECT_DOUBLE_EQ(facts.at("repeated_access_share"), 0.0);
  const Facts of_integers = facts_of(
      "const int* a = (const int*)in; int sum = 0;"
      "for (int k = 0; k < m; ++k) sum += a[k * n + i] * a[k]; ((int*)out)[i] = sum;");
  EXPECT_DOUBLE_EQ(of_integers.at("accumulation_chains"), 1.0);
  EXPECT_DOUBLE_EQ(of_integers.at("accumulated_product_share"), 1.0);
}

TEST(ProgramFacts, IndependentSumsAreChains) {
  const Facts facts = facts_of(
      "float a = 0, b = -1e9f; int c = 0; for (int k = 0; k < m; ++k) { float x = in[k * n + i];"
      "a += x; b = fmaxf(b, x); c += x > 0.0f ? 1 : 0; } out[i] = a + b + c;");
  EXPECT_DOUBLE_EQ(facts.at("accumulation_chains"), 3.0);
  EXPECT_DOUBLE_EQ(facts.at("accumulated_product_share"), 0.0);
}

TEST(ProgramFacts, ALoopThatAccumulatesCountsBesideAHotterOneThatDoesNot) {
  const Facts facts = facts_of(
      "float s = 0; for (int k = 0; k < m; ++k) s += in[k * n + i];"
      "for (int k = 0; k < m; ++k) { float x = in[k * n + i] * s; out[k * n + i] ="
      "expf(x) / (1.0f + expf(-x)); }");
  EXPECT_DOUBLE_EQ(facts.at("accumulation_chains"), 1.0);
  EXPECT_DOUBLE_EQ(facts.at("loop_depth"), 1.0);
}

TEST(ProgramFacts, WhatOrdersItsRoundsIsNoAccumulation) {
  // A polynomial, a walk through a list, and a loop that only counts.
  const char* const bodies[] = {
      "float x = in[i], y = 0; for (int k = 0; k < m; ++k) y = y * x + in[k]; out[i] = y;",
      "const int* a = (const int*)in; int p = i & 7; for (int k = 0; k < m; ++k) p = a[p] & 7;"
      "out[i] = p;",
      "for (int k = 0; k < m; ++k) out[k * n + i] = in[k * n + i] * 2.0f;"};
  for (const char* const body : bodies) {
    const Facts facts = facts_of(body);
    EXPECT_DOUBLE_EQ(facts.at("accumulation_chains"), 0.0) << body;
    EXPECT_DOUBLE_EQ(facts.at("accumulated_product_share"), 0.0) << body;
  }
}

TEST(ProgramFacts, GuardsAreConditionsOnWork) {
  const Facts facts = facts_of(
      "float sum = 0; for (int k = 0; k < m; ++k) if (in[k] > 0.5f) { out[k * n + i] = sum;"
      "sum += in[k * n + i]; } out[i] = sum;");
  EXPECT_GT(facts.at("guard_share"), 0.02);
  EXPECT_LT(facts.at("guard_share"), 0.2);
}

TEST(ProgramFacts, AnElementThatALoopUpdatesIsSeen) {
  const Facts facts =
      facts_of("volatile float* o = out; for (int k = 0; k < m; ++k) o[i] += in[k * n + i];");
  EXPECT_NEAR(facts.at("repeated_access_share"), 2.0 / 3.0, 0.01);
}

TEST(ProgramFacts, FunctionsWithFasterFormsAreSeen) {
  EXPECT_GT(facts_of("out[i] = in[i] / in[i + 1];").at("approximable_share"), 0.0);
  EXPECT_GT(facts_of("out[i] = expf(in[i]);").at("approximable_share"), 0.0);
  // Divisions of integers and doubles have none; what sinf is made of does not show.
  EXPECT_DOUBLE_EQ(facts_of("out[i] = (i / m) % 7;").at("approximable_share"), 0.0);
  EXPECT_FALSE(facts_of("out[i] = sinf(in[i]);").contains("approximable_share"));
}

}  // namespace
}  // namespace regraph::program_facts_test
