#include "llm/prompt/answer_parser.h"
#include "llm/prompt/sample.h"
#include "triton/kernel_text.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::llm::triton_answer_test {
namespace {

const std::string kModule = R"py(import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(y_ptr + at * stride, x * 2.0, mask=at < n)
)py";
const std::string kHeader = R"py(# regraph-triton:
#   kernel: scale
#   signature: {x_ptr: "*fp32", y_ptr: "*fp32", n: i32, stride: i32}
#   constants: {BLOCK: 256}
#   grid: ["cdiv(n, BLOCK)", 1, 1]
#   num_warps: 4
#   num_stages: 3
#   divisible: [x_ptr]
#   arguments: {stride: "2 * n"}
#   choices: {BLOCK: [128, 512]}
)py";

class TritonAnswer : public testing::Test {
 protected:
  TritonAnswer() {
    text = *triton::parse_kernel_text(kHeader + "\n" + kModule);
    base.source = text.text();
    base.plan = *text.launch(0);
    problem.signature = text.signature();
  }
  [[nodiscard]] Result<ParsedAnswer> parse(const std::string& answer) const {
    return AnswerParser().parse({answer, "", "", FinishReason::stop}, problem, base, base.source);
  }
  [[nodiscard]] triton::KernelText read(const std::string& answer) const {
    const auto parsed = parse(answer);
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    if (!parsed || parsed->declined) return {};
    EXPECT_FALSE(parsed->launch);
    return *triton::parse_kernel_text(parsed->source);
  }
  [[nodiscard]] std::string complaint(const std::string& answer) const {
    const auto parsed = parse(answer);
    EXPECT_FALSE(parsed.ok()) << answer;
    return parsed.ok() ? "" : parsed.error().message;
  }
  static std::string block(const std::string& code) { return "```python\n" + code + "```\n"; }
  static std::string replaced(std::string where, const std::string& from, const std::string& to) {
    return where.replace(where.find(from), from.size(), to);
  }

  triton::KernelText text;
  Candidate base;
  Problem problem;
};

TEST_F(TritonAnswer, TheWholeIsRead) {
  const std::string module = replaced(kModule, "* 2.0", "+ x");
  const auto changed =
      read("Doubled.\n" + block(replaced(kHeader, "warps: 4", "warps: 8") + "\n" + module));
  EXPECT_EQ(changed.warps, 8);
  EXPECT_EQ(changed.module, module);
  EXPECT_EQ(changed.divisible, text.divisible);
  EXPECT_EQ(changed.choices, text.choices);
}

TEST_F(TritonAnswer, WhatACommentLeavesOutStaysAsItWas) {
  const std::string module = replaced(kModule, "BLOCK: tl", "ROWS: tl.constexpr, BLOCK: tl");
  // It may stand behind the imports, and other comments below it are none of its lines.
  const auto changed =
      read(block("import triton\n\n# regraph-triton:\n#   constants: {ROWS: 2}\n"
                 "#   grid: [\"cdiv(n, BLOCK * ROWS)\"]\n# Two rows: a program.\n" +
                 module));
  EXPECT_EQ(changed.constants.at("BLOCK"), "256");
  EXPECT_EQ(changed.constants.at("ROWS"), "2");
  EXPECT_EQ(changed.grid[0], "cdiv(n, BLOCK * ROWS)");
  EXPECT_EQ(changed.arguments, text.arguments);
  EXPECT_TRUE(changed.module.starts_with("import triton\n\n# Two rows: a program.\n"))
      << changed.module;
  EXPECT_EQ(read(block(module)).constants, text.constants);
  const std::string fixed =
      replaced(replaced(kModule, ", BLOCK: tl.constexpr", ""), " * BLOCK", " * 64");
  EXPECT_TRUE(read(block("# regraph-triton:\n#   grid: [\"cdiv(n, 64)\"]\n" +
                         replaced(fixed, "0, BLOCK", "0, 64")))
                  .constants.empty());
}

TEST_F(TritonAnswer, TheCommentAloneKeepsTheModule) {
  const auto changed = read(block("# regraph-triton:\n#   num_warps: 1\n"));
  EXPECT_EQ(changed.warps, 1);
  EXPECT_EQ(changed.stages, 3);
  EXPECT_EQ(changed.module, text.module);
}

TEST_F(TritonAnswer, EditsMayChangeCommentAndModule) {
  const auto changed = read(
      "<<<<<<< SEARCH\n#   constants: {BLOCK: 256}\n=======\n#   constants: {BLOCK: 1024}\n"
      ">>>>>>> REPLACE\n<<<<<<< SEARCH\n    tl.store(y_ptr + at * stride, x * 2.0, mask=at < n)\n"
      "=======\n    tl.store(y_ptr + at * stride, x + x, mask=at < n)\n>>>>>>> REPLACE\n");
  EXPECT_EQ(changed.constants.at("BLOCK"), "1024");
  EXPECT_NE(changed.module.find("x + x"), std::string::npos);
}

TEST_F(TritonAnswer, SaysNo) {
  EXPECT_EQ(parse("DECLINE: nothing to reuse")->declined, "nothing to reuse");
  EXPECT_EQ(parse(block(base.source))->declined, "the answer changes nothing");
  EXPECT_EQ(parse(block("# regraph-triton:\n#   divisible: [n]\n#   contract: false\n"))->declined,
            "the answer changes nothing");
}

TEST_F(TritonAnswer, WhatIsTheUsersMustStay) {
  const std::string changes =
      "', which must stay as it was:\n# regraph-triton:\n#   kernel: scale\n";
  for (const char* line :
       {"kernel: other", "signature: {x_ptr: \"*fp16\", y_ptr: \"*fp32\", n: i32, stride: i32}",
        "arguments: {stride: n}"}) {
    const std::string key(line, std::string_view(line).find(':'));
    const std::string said = complaint(block("# regraph-triton:\n#   " + std::string(line) + "\n"));
    EXPECT_NE(said.find(key + changes), std::string::npos) << said;
  }
}

TEST_F(TritonAnswer, WhatCannotBeMeantIsSaid) {
  EXPECT_NE(complaint(kModule).find("not fenced; give the whole module"), std::string::npos);
  EXPECT_NE(complaint("```cuda\n__global__ void scale() {}\n```\n").find("holds no code"),
            std::string::npos);
  EXPECT_NE(complaint(block(replaced(kModule, "def scale", "def other"))).find("'scale'"),
            std::string::npos);
  EXPECT_NE(complaint(block(kModule) + "```json\n{\"num_warps\": 8}\n```\n").find("in the comment"),
            std::string::npos);
  EXPECT_NE(complaint(block(kModule) + block(replaced(kModule, "2.0", "3.0"))).find("2 different"),
            std::string::npos);
  // A launch in a block of its own would be lost.
  EXPECT_NE(complaint(block(replaced(kModule, "2.0", "3.0")) +
                      block("# regraph-triton:\n#   num_warps: 8\n"))
                .find("2 different"),
            std::string::npos);
  EXPECT_NE(complaint(block("# regraph-triton:\n#   num_warps: 3\n")).find("power of two"),
            std::string::npos);
  EXPECT_NE(
      complaint(block("# regraph-triton:\n#   num_blocks: 2\n")).find("'num_blocks' is not known"),
      std::string::npos);
  EXPECT_NE(complaint(block("# regraph-triton:\n#   grid: [\"n //\"]\n")).find("'grid'"),
            std::string::npos);
  EXPECT_NE(complaint(block("x = 1\x01\n" + kModule)).find("control character 0x01"),
            std::string::npos);
  const std::string said = complaint(block(kModule + "# " + std::string(1 << 18, 'x') + "\n"));
  EXPECT_NE(said.find("too long"), std::string::npos) << said.substr(0, 200);
}

TEST_F(TritonAnswer, HostileCommentsAreNoMoreThanWrong) {
  const auto comment = [&](const std::string& lines) {
    return complaint(block("# regraph-triton:\n" + lines + "\n" + kModule));
  };
  EXPECT_NE(comment("#   grid: " + std::string(4000, '[')).find("regraph-triton"),
            std::string::npos);
  EXPECT_NE(comment("#   grid: [" + std::string(9000, '1') + "]").find("too long"),
            std::string::npos);
  EXPECT_FALSE(comment("#   constants: &a {BLOCK: *a}").empty());
  EXPECT_FALSE(comment("#   grid: [\"" + std::string(4000, '(') + "n\"]").empty());
  // What is quoted cannot become a line of the comment.
  const std::string module = replaced(kModule, "BLOCK: tl", "MODE: tl.constexpr, BLOCK: tl");
  const std::string quoted_line = R"("a\n#   kernel: b")";
  const auto quoted =
      read(block("# regraph-triton:\n#   constants: {MODE: " + quoted_line + "}\n" + module));
  EXPECT_EQ(quoted.constants.at("MODE"), quoted_line);
  EXPECT_EQ(quoted.kernel, "scale");
}

TEST_F(TritonAnswer, AnObjectIsReadAsWell) {
  EXPECT_NE(complaint(R"({"code": "def scale(", "launch": {"block": 64, "grid": 1}})")
                .find("in the comment"),
            std::string::npos);
  EXPECT_EQ(read(R"({"code": "# regraph-triton:\n#   num_stages: 2\n", "notes": "less"})").stages,
            2);
}

}  // namespace
}  // namespace regraph::llm::triton_answer_test
