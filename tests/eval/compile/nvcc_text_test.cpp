#include "eval/compile/nvcc_text.h"

#include "base/random.h"

#include <gtest/gtest.h>

namespace regraph::compile_internal::nvcc_text_test {
namespace {

constexpr const char* kMarkerLine =
    ".global .align 8 .u64 _ZN35_INTERNAL_7ad5e569_9_kernel_cu__Z1kPf39_GLOBAL__N__7ad5e569_9_"
    "kernel_cu__Z1kPf20regraph_kernel_entryE = _Z1kPf;\n";
constexpr const char* kDeclaration =
    ".visible .entry _Z1kPf\n(\n\t.param .u64 _Z1kPf_param_0\n)\n;\n";
constexpr const char* kRest =
    ".visible .entry _Z1kPf(\n\t.param .u64 _Z1kPf_param_0\n)\n{\n\tret;\n}\n"
    ".global .b8 _ZN39_GLOBAL__N__7ad5e569_9_kernel_cu__Z1kPf4tableE[4];\n"
    "\t.file 1 \"/tmp/x/kernel.cu\"\n";

std::string ptx() {
  return std::string(".version 9.0\n") + kDeclaration + kMarkerLine + kRest;
}

TEST(NvccText, TheMarkerGoesAndNamesTheKernel) {
  const auto marked = read_marked_ptx(ptx(), "/tmp/x");
  ASSERT_TRUE(marked.has_value());
  EXPECT_EQ(marked->entry, "_Z1kPf");
  EXPECT_EQ(
      marked->ptx,
      ".version 9.0\n\n.visible .entry _Z1kPf(\n\t.param .u64 _Z1kPf_param_0\n)\n{\n\tret;\n}\n"
      ".global .b8 _ZN39_GLOBAL__N__00000000_0_000000_00__000004tableE[4];\n"
      "\t.file 1 \"/kernel.cu\"\n");
}

TEST(NvccText, TheSourceKeepsItsText) {
  const std::string marked = with_entry_marker("int a; // end", "f<3>");
  EXPECT_EQ(marked.substr(0, 14), "int a; // end\n");
  EXPECT_NE(marked.find("&f<3>;"), std::string::npos);
  EXPECT_NE(with_entry_marker("", "").find("nullptr"), std::string::npos);
}

TEST(NvccText, WhatTheSourceMeddledWithIsRefused) {
  const std::string good = ptx();
  EXPECT_FALSE(read_marked_ptx("", "/tmp/x").has_value());
  EXPECT_FALSE(read_marked_ptx(kRest, "/tmp/x").has_value());
  EXPECT_FALSE(read_marked_ptx(good + "// regraph_kernel_entry\n", "/tmp/x").has_value());
  EXPECT_FALSE(read_marked_ptx(good + "// .entry _Z1kPf (\n", "/tmp/x").has_value());
  EXPECT_FALSE(read_marked_ptx(good + "00000000_0_000000_00__00000", "/tmp/x").has_value());
}

TEST(NvccText, SurvivesGarbage) {
  const std::string original = ptx();
  for (std::uint64_t round = 0; round < 20000; ++round) {
    std::string text = original;
    if (round % 4 == 0) text.resize(random_bits(round, 9) % (text.size() + 1));
    for (std::uint64_t edit = 0; edit < 1 + round % 12 && !text.empty(); ++edit) {
      text[random_bits(round, edit, 1) % text.size()] =
          static_cast<char>(random_bits(round, edit, 2));
    }
    (void)read_marked_ptx(text, "/tmp/x");
  }
}

}  // namespace
}  // namespace regraph::compile_internal::nvcc_text_test
