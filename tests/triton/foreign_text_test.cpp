#include "triton/foreign_text.h"

#include "base/cancellation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace regraph::triton::foreign_text_test {
namespace {

constexpr const char* kPython = "/usr/bin/python3";
const std::string kHeader = R"py(# regraph-triton:
#   kernel: scale
#   signature: {x_ptr: "*fp32", y_ptr: "*fp32", n: i32}
#   constants: {BLOCK: 256}
#   grid: ["cdiv(n, BLOCK)"]
#   divisible: [x_ptr]
#   choices: {BLOCK: [128]}

)py";
const std::string kModule = R"py(import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2.0, mask=at < n)
)py";

class ForeignText : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kPython)) GTEST_SKIP() << "there is no " << kPython;
  }
  [[nodiscard]] Result<KernelText> read(const std::string& source,
                                        const GivenSizes& given = {}) const {
    return read_foreign_text(kPython,
                             std::string(REGRAPH_SOURCE_DIR) + "/python/regraph_triton/cut_out.py",
                             source, original, given, Cancellation{});
  }
  static std::string replaced(std::string where, const std::string& from, const std::string& to) {
    return where.replace(where.find(from), from.size(), to);
  }

  KernelText original = *parse_kernel_text(kHeader + kModule);
};

TEST_F(ForeignText, WhatRunsOnTheHostIsLeftOutAndWhatIsNotSaidIsTheOriginals) {
  const auto text = read("import os\nos.remove('x')\n" + kModule + "\n\nscale[(7,)](1, 2, 3)\n");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->module, original.module);
  EXPECT_EQ(text->constants, original.constants);
  EXPECT_EQ(text->divisible, original.divisible);
  EXPECT_TRUE(text->choices.empty());
}

TEST_F(ForeignText, ItsOwnLaunchGoesBeforeTheOriginals) {
  const std::string host =
      "\n\ndef run(x, y):\n    n = x.numel()\n"
      "    scale[(triton.cdiv(n, 512), 2)](x, y, n, BLOCK=512, num_warps=8)\n";
  const GivenSizes given{{{"n", 4096}}, {}, {}, {}};
  const auto text = read(kModule + host, given);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->constants.at("BLOCK"), "512");
  EXPECT_EQ(text->warps, 8);
  EXPECT_EQ(text->grid[0], "cdiv(n, BLOCK)");
  EXPECT_EQ(text->grid[1], "2");
  const auto unread = read(kModule + replaced(host, "BLOCK=512", "BLOCK=pick(n)"), given);
  ASSERT_TRUE(unread.ok()) << unread.error().message;
  EXPECT_EQ(unread->constants.at("BLOCK"), "256");
  EXPECT_EQ(unread->grid[1], "1");
  const auto commented = read(kHeader + kModule + host, given);
  ASSERT_TRUE(commented.ok()) << commented.error().message;
  EXPECT_EQ(commented->constants.at("BLOCK"), "256");
}

TEST_F(ForeignText, AConstantMayComeAndGo) {
  const std::string more = replaced(kModule, "BLOCK: tl", "ROWS: tl.constexpr, BLOCK: tl");
  const auto grown = read(replaced(kHeader, "{BLOCK: 256}", "{BLOCK: 64, ROWS: 2}") + more);
  ASSERT_TRUE(grown.ok()) << grown.error().message;
  EXPECT_EQ(grown->constants.size(), 2U);
  std::string less = replaced(kModule, ", BLOCK: tl.constexpr", "");
  less = replaced(replaced(less, "* BLOCK", "* 64"), "0, BLOCK", "0, 64");
  const auto shrunk = read(replaced(kHeader, "BLOCK)\"", "64)\"") + less);
  ASSERT_TRUE(shrunk.ok()) << shrunk.error().message;
  EXPECT_TRUE(shrunk->constants.empty());
  EXPECT_NE(read(kHeader + more).error().message.find("a value for 'ROWS'"), std::string::npos);
}

TEST_F(ForeignText, ParametersKeepTheirPlaces) {
  for (const char* parameters : {"y_ptr, x_ptr, n, ", "x_ptr, y_ptr, ", "x_ptr, y_ptr, n, m, ",
                                 "x_ptr, y_ptr, n: tl.constexpr, more, "}) {
    const auto text = read(kHeader + replaced(kModule, "x_ptr, y_ptr, n, ", parameters));
    ASSERT_FALSE(text.ok()) << parameters;
    EXPECT_EQ(text.error().code, ErrorCode::refused);
    EXPECT_NE(text.error().message.find("x_ptr: *fp32, y_ptr: *fp32, n: i32, in this order"),
              std::string::npos)
        << text.error().message;
  }
  EXPECT_FALSE(read(replaced(kHeader, "n: i32}", "n: i64}") + kModule).ok());
}

TEST_F(ForeignText, WhatIsNoKernelIsSaidWithItsLine) {
  EXPECT_NE(read(kHeader + replaced(kModule, "at = ", "at == = ")).error().message.find("line 15"),
            std::string::npos);
  EXPECT_EQ(read(kHeader + "x = 1\n").error().code, ErrorCode::compile);
}

}  // namespace
}  // namespace regraph::triton::foreign_text_test
