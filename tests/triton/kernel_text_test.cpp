#include "triton/kernel_text.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::triton::kernel_text_test {
namespace {

constexpr const char* kText = R"py(# regraph-triton:
#   kernel: scale
#   signature: {x_ptr: "*fp16", y_ptr: "*fp32", n: i32, stride: i32, factor: fp32}
#   constants: {BLOCK: 256, FAST: true, MODE: "row", EPS: 0.5}
#   grid: ["cdiv(n, BLOCK)", 2]
#   num_warps: 8
#   divisible: [y_ptr, x_ptr]
#   arguments: {stride: "2 * n"}
#   choices: {BLOCK: [128, 512], num_warps: [4]}

import triton
)py";

TEST(KernelText, IsReadAndWrittenBack) {
  const auto text = parse_kernel_text(kText);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->kernel, "scale");
  ASSERT_EQ(text->parameters.size(), 5U);
  EXPECT_EQ(text->parameters[0], (TypedParameter{"x_ptr", ScalarType::f16, true}));
  EXPECT_EQ(text->parameters[4], (TypedParameter{"factor", ScalarType::f32, false}));
  EXPECT_EQ(text->constants.at("BLOCK"), "256");
  EXPECT_EQ(text->constants.at("FAST"), "true");
  EXPECT_EQ(text->constants.at("MODE"), "\"row\"");
  EXPECT_EQ(text->constants.at("EPS"), "0.5");
  EXPECT_EQ(text->warps, 8);
  EXPECT_EQ(text->stages, kDefaultStages);
  EXPECT_EQ(text->divisible, (std::vector<std::string>{"x_ptr", "y_ptr"}));
  EXPECT_EQ(text->choices.at("BLOCK"), (std::vector<std::string>{"128", "512"}));
  EXPECT_EQ(text->module, "import triton\n");
  const auto again = parse_kernel_text(text->text());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *text);
  EXPECT_EQ(again->text(), text->text());
}

TEST(KernelText, ACommentMayLeaveTheKernelOpen) {
  const std::string text =
      "# regraph-triton:\n#   constants: {BLOCK: 64, bias: null}\n#   grid: [n]\n\nx = 1\n";
  const auto strict = parse_kernel_text(text);
  ASSERT_FALSE(strict.ok());
  EXPECT_NE(strict.error().message.find("'kernel' must name a function"), std::string::npos);
  const auto open = parse_kernel_text(text, KernelText());
  ASSERT_TRUE(open.ok()) << open.error().message;
  EXPECT_EQ(open->kernel, "");
  EXPECT_EQ(open->constants.at("bias"), "null");
  EXPECT_EQ(header_keys(text), (std::set<std::string>{"constants", "grid"}));
  EXPECT_TRUE(header_keys("import triton\n").empty());
}

TEST(KernelText, TellsItsLaunch) {
  const auto text = parse_kernel_text(kText);
  ASSERT_TRUE(text.ok());
  const auto plan = text->launch(1024);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const Launch& launch = plan->launches.front();
  EXPECT_EQ(launch.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(launch.grid[0].text(), "cdiv(n, 256)");
  EXPECT_EQ(launch.grid[1].text(), "2");
  EXPECT_EQ(launch.dynamic_shared_bytes.text(), "1024");
  EXPECT_EQ(launch.arguments, (std::vector<std::string>{"x_ptr", "y_ptr", "n", "2 * n", "factor"}));
}

TEST(KernelText, WhatACommentLeavesOutIsAsInAnother) {
  const auto base = parse_kernel_text(kText);
  ASSERT_TRUE(base.ok());
  const auto text = parse_kernel_text(
      "# regraph-triton:\n#   constants: {BLOCK: 64, ROWS: 2}\n#   grid: [7]\n\nx = 1\n", *base);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->kernel, "scale");
  EXPECT_EQ(text->parameters, base->parameters);
  EXPECT_EQ(text->constants.at("BLOCK"), "64");
  EXPECT_EQ(text->constants.at("ROWS"), "2");
  EXPECT_EQ(text->constants.at("MODE"), "\"row\"");
  EXPECT_EQ(text->grid, (std::array<std::string, 3>{"7", "1", "1"}));
  EXPECT_EQ(text->warps, 8);
  EXPECT_EQ(text->module, "x = 1\n");
}

TEST(KernelText, BlocksOfAProgramFollowEachOther) {
  const auto text = parse_kernel_text(
      "# regraph-triton:\n#   kernel: f\n#   signature: {n: i32}\n#   grid: [\"cdiv(n, 64)\", n]\n"
      "#   num_ctas: 4\n\nx = 1\n");
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto again = parse_kernel_text(text->text());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *text);
  const auto plan = text->launch(0);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->launches[0].grid[0].evaluate({{"n", 100}}).value(), 8);
  EXPECT_EQ(plan->launches[0].grid[1].evaluate({{"n", 100}}).value(), 100);
  EXPECT_NE(text->job("sm_90").find("\"num_ctas\":4"), std::string::npos);
  KernelText one = *text;
  one.ctas = 1;
  EXPECT_EQ(one.text().find("num_ctas"), std::string::npos);
}

TEST(KernelText, SaysWhatIsWrongWithItsComment) {
  const auto complaint = [](const std::string& lines) {
    const auto text = parse_kernel_text("# regraph-triton:\n" + lines + "\n\nimport triton\n");
    return text.ok() ? std::string("none") : text.error().message;
  };
  EXPECT_NE(complaint("#   kernel: f\n#   warps: 4").find("'warps' is not known"),
            std::string::npos);
  EXPECT_NE(complaint("#   kernel: f\n#   num_warps: 3").find("power of two from 1 to 32"),
            std::string::npos);
  EXPECT_NE(complaint("#   kernel: f\n#   num_ctas: 3").find("power of two from 1 to 8"),
            std::string::npos);
  EXPECT_NE(complaint("#   kernel: f\n#   num_stages: 99").find("from 1 to 16"), std::string::npos);
  EXPECT_NE(complaint("#   kernel: f\n#   signature: {x: float4}").find("'float4'"),
            std::string::npos);
  EXPECT_NE(complaint("#   kernel: f\n#   divisible: [x]").find("'signature' does not"),
            std::string::npos);
  EXPECT_NE(complaint("#   kernel: f\n#   arguments: {x: n}").find("no integer"),
            std::string::npos);
  EXPECT_NE(complaint("#   kernel: \"f()\"").find("must name a function"), std::string::npos);
  EXPECT_NE(complaint("#   kernel: [").find("regraph-triton"), std::string::npos);
  EXPECT_FALSE(parse_kernel_text("import triton\n").ok());
}

TEST(KernelText, AnyCutOfATextIsReadOrRefused) {
  const std::string whole = kText;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto text = parse_kernel_text(whole.substr(0, length));
    if (text.ok()) {
      EXPECT_TRUE(parse_kernel_text(text->text()).ok()) << length;
    }
  }
}

TEST(KernelText, SharedBytesStandInTheFirstLineOfThePtx) {
  EXPECT_EQ(shared_bytes_of("// triton shared=4096 warps=4 name=f\n.version 8.4\n"), 4096);
  EXPECT_EQ(shared_bytes_of(".version 8.4\n"), 0);
  EXPECT_EQ(shared_bytes_of(""), 0);
}

}  // namespace
}  // namespace regraph::triton::kernel_text_test
