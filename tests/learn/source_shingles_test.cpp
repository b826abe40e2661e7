#include "learn/source_shingles.h"

#include "fuzz/mutate.h"
#include "learn/checked_corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

namespace regraph::learn::source_shingles_test {
namespace {

double alike(std::string_view one, std::string_view other) {
  return similarity(source_shingles(one), source_shingles(other));
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

TEST(SourceShingles, NamesLayoutConstantsAndQualifiersDoNotCount) {
  EXPECT_GT(source_shingles(examples::kScaling).size(), 20U);
  EXPECT_EQ(source_shingles(examples::kScaling), source_shingles(examples::kScalingRenamed));
}

TEST(SourceShingles, MacrosWithoutArgumentsAreReplaced) {
  const std::string plain = examples::kScaling;
  std::string with_macros = replaced(plain, "2.0f", "FACTOR");
  with_macros = replaced(with_macros, "blockIdx.x * blockDim.x + threadIdx.x", "PLACE");
  const std::string defined =
      "#define OF(a) a.x\n#define FACTOR 2.0f\n#define PLACE blockIdx.x * blockDim.x \\\n"
      "  + threadIdx.x\n#pragma once\n";
  const std::string unused = "#define OF(a) a.x\n";
  EXPECT_EQ(alike(defined + with_macros, unused + plain), 1.0);
}

TEST(SourceShingles, WhatAKernelDoesCounts) {
  const std::string plain = examples::kScaling;
  for (const auto& [part, by] :
       {std::pair("threadIdx.x", "threadIdx.y"), std::pair("2.0f *", "2.0f +"),
        std::pair("in[i]", "fabsf(in[i])"), std::pair("2.0f", "2"),
        std::pair("int i", "unsigned i"), std::pair("in[i]", "out[i]")}) {
    const double similarity = alike(plain, replaced(plain, part, by));
    EXPECT_LT(similarity, 1.0) << by;
    EXPECT_GT(similarity, 0.4) << by;
  }
  // Functions of the device library are told apart, those of the file are not.
  const std::string one = replaced(plain, "in[i]", "expf(in[i])");
  EXPECT_LT(alike(one, replaced(plain, "in[i]", "logf(in[i])")), 1.0);
  const auto own = [&](const std::string& name) {
    return "__device__ float " + name + "(float a) { return a * a; }\n" +
           replaced(plain, "in[i]", name + "(in[i])");
  };
  EXPECT_EQ(alike(own("square"), own("two")), 1.0);
}

TEST(SourceShingles, OnlyCodeOfTheDeviceCounts) {
  const std::string plain = examples::kRowSums;
  const std::string host =
      "#include <cstdio>\nint main() { float* data; cudaMalloc(&data, 1024); "
      "sums<<<32, 32>>>(data, data, 1, 1); return 0; }\n";
  EXPECT_EQ(alike(plain, plain + host), 1.0);
  EXPECT_EQ(alike(plain + host, examples::kTransposition + host),
            alike(plain, examples::kTransposition));
  // Where a macro with arguments or a functor holds the work, it is compared.
  const auto functor = [](const std::string& sign) {
    return "struct operation { __device__ float operator()(float a, float b) const { return a " +
           sign + " b; } };\n";
  };
  const auto macro = [](const std::string& sign) {
    return "#define COMBINE(a, b) ((a) " + sign + " (b))\n";
  };
  EXPECT_LT(alike(functor("+") + plain, functor("*") + plain), 1.0);
  EXPECT_LT(alike(macro("+") + plain, macro("*") + plain), 1.0);
  // Without a function that is known for the device's, everything is.
  EXPECT_GT(source_shingles("KERNEL(scale) { out[i] = in[i] * factor; }").size(), 5U);
}

// More than the same text has to be found: somebody added a variable or a parameter, in front of
// all others where it moves them most.
TEST(SourceShingles, OneNameMoreHidesNoCopyOfTheShippedKernels) {
  const auto shipped = examples::shipped_corpus();
  ASSERT_GT(shipped.kernels.size(), 100U);
  for (const CheckedKernel& checked : shipped.kernels) {
    const std::string& source = checked.source;
    const std::size_t body = source.find('{', source.find("__global__"));
    const std::size_t parameters = source.rfind('(', source.rfind(')', body)) + 1;
    std::string with_variable = source;
    with_variable.insert(body + 1, "int added = gridDim.x;");
    std::string with_both = with_variable;
    with_both.insert(parameters, "const int* __restrict__ more, ");
    EXPECT_GT(alike(source, with_variable), 0.8) << checked.kernel.name;
    EXPECT_GT(alike(source, with_both), kAlike) << checked.kernel.name;
  }
}

TEST(SourceShingles, SimilarityIsTheShareOfCommonOnes) {
  EXPECT_EQ(similarity({}, {}), 0.0);
  EXPECT_EQ(similarity({1, 2}, {}), 0.0);
  EXPECT_EQ(similarity({1, 2}, {1, 2}), 1.0);
  EXPECT_EQ(similarity({1, 2, 3, 4}, {2, 3, 4, 5}), 0.6);
  EXPECT_EQ(similarity({1, 2}, {3}), 0.0);
}

TEST(SourceShingles, AnyTextIsSafe) {
  EXPECT_TRUE(source_shingles("").empty());
  EXPECT_TRUE(source_shingles("a b c d").empty());
  // Macros that grow without end.
  std::string bomb =
      "#define A B B B B B B B B B B B B B B B B B B B B B B B B\n"
      "#define B A A A A A A A A A A A A A A A A A A A A A A A A\n";
  EXPECT_FALSE(source_shingles(bomb + "__global__ void f() { A }\n").empty());
  std::string many_names = "__global__ void f() {";
  for (int name = 0; name < 20000; ++name)
    many_names += "n" + std::to_string(name) + ";";
  EXPECT_FALSE(source_shingles(many_names + "}").empty());
  std::mt19937_64 random(7);
  const std::string_view words[] = {"#define f(", "\\\n", "/*", "\"", "{", "}", ")", "<<<", "R\"("};
  for (int round = 0; round < 2000; ++round) {
    std::string text = "#define N 4\n" + std::string(examples::kTransposition);
    fuzz::damage(text, random, words);
    const Shingles shingles = source_shingles(text);
    EXPECT_TRUE(std::ranges::is_sorted(shingles));
    EXPECT_EQ(std::ranges::adjacent_find(shingles), shingles.end());
  }
}

}  // namespace
}  // namespace regraph::learn::source_shingles_test
