#include "llm/prompt/answer_parser.h"

#include "llm/prompt/sample.h"
#include "source/relevant_part.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace regraph::llm::answer_parser_test {
namespace {

class AnswerParserTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<ParsedAnswer> parse(std::string text,
                                           FinishReason finish = FinishReason::stop) const {
    ChatChoice choice;
    choice.text = std::move(text);
    choice.finish = finish;
    return AnswerParser().parse(choice, problem, base);
  }
  // The reason why not.
  [[nodiscard]] std::string reason(std::string text) const {
    const auto answer = parse(std::move(text));
    if (answer) return answer->declined ? "declined: " + *answer->declined : "accepted";
    EXPECT_EQ(answer.error().code, ErrorCode::parse);
    return answer.error().message;
  }
  [[nodiscard]] static std::string edit(const std::string& search, const std::string& replace) {
    return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
  }
  [[nodiscard]] static std::string block(const std::string& language, const std::string& text) {
    return "```" + language + "\n" + text + "```\n";
  }
  // The swapped kernel with something put in front.
  [[nodiscard]] std::string with(const std::string& front) const {
    return reason(block("cuda", front + "\n" + sample::kSwapped));
  }
  void expect_swapped(const Result<ParsedAnswer>& answer) const {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->source, sample::kSwapped);
    ASSERT_TRUE(answer->launch);
    EXPECT_EQ(*answer->launch, *read_launch_change(sample::kSwappedLaunch));
  }

  Problem problem = sample::problem();
  Candidate base = sample::candidate(problem);
};

TEST_F(AnswerParserTest, ReadsCodeAndLaunchInBlocks) {
  for (const char* code : {"cuda", "cpp", "c++", "cu", "CUDA", ""}) {
    for (const char* launch : {"json", "yaml", ""}) {
      expect_swapped(parse("I swapped the axes.\n" + block(code, sample::kSwapped) + "Launch:\n" +
                           block(launch, sample::kSwappedLaunch + "\n")));
    }
  }
}

TEST_F(AnswerParserTest, ReadsOneObject) {
  const nlohmann::json object = {{"code", sample::kSwapped},
                                 {"launch", nlohmann::json::parse(sample::kSwappedLaunch)},
                                 {"notes", "axes swapped"}};
  expect_swapped(parse(object.dump()));
  expect_swapped(parse("Here it is.\n" + block("json", object.dump(2) + "\n")));
  EXPECT_EQ(parse(object.dump())->notes, "axes swapped");
  nlohmann::json fenced = object;
  fenced["code"] = block("cuda", sample::kSwapped);
  expect_swapped(parse(fenced.dump()));
  nlohmann::json null = object;
  null["launch"] = nullptr;
  ASSERT_TRUE(parse(null.dump()));
  EXPECT_FALSE(parse(null.dump())->launch);
}

TEST_F(AnswerParserTest, ReadsALaunchInAComment) {
  const auto answer =
      parse(block("cuda", "// launch: " + sample::kSwappedLaunch + "\n" + sample::kSwapped));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->source, "\n" + sample::kSwapped);
  EXPECT_EQ(*answer->launch, *read_launch_change(sample::kSwappedLaunch));
}

TEST_F(AnswerParserTest, AMissingLaunchStaysAsItIs) {
  const auto answer = parse("Done.\n" + block("cuda", sample::kSwapped));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->launch);
  EXPECT_EQ(answer->notes, "Done.\n");
}

TEST_F(AnswerParserTest, ALaunchAloneLeavesTheCodeAsItIs) {
  const auto answer = parse("Fewer threads.\n" + block("json", sample::kSwappedLaunch + "\n"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->source, base.source);
  ASSERT_TRUE(answer->launch);
  EXPECT_EQ(*answer->launch, *read_launch_change(sample::kSwappedLaunch));
  // Code that was not fenced is not left as it was.
  EXPECT_NE(reason(sample::kSwapped + block("json", sample::kSwappedLaunch + "\n")).find("fence"),
            std::string::npos);
}

TEST_F(AnswerParserTest, SkipsReasoning) {
  const std::string answer =
      block("cuda", sample::kSwapped) + block("json", sample::kSwappedLaunch + "\n");
  expect_swapped(parse("<think>\nFirst ```cuda\nnot this\n</think>\n" + answer));
  expect_swapped(parse("not this either</think>\n" + answer));
}

TEST_F(AnswerParserTest, OfSeveralBlocksTheOneWithTheKernelCounts) {
  const std::string launch = block("json", sample::kSwappedLaunch + "\n");
  const std::string helper = block("cuda", "__device__ int helper();\n");
  expect_swapped(parse(helper + block("cuda", sample::kSwapped) + launch));
  // The same block twice is one.
  expect_swapped(parse(block("cuda", sample::kSwapped) + block("cpp", sample::kSwapped) + launch));
  expect_swapped(parse(block("bash", "nvcc x.cu\n") + block("cuda", sample::kSwapped) + launch));
}

TEST_F(AnswerParserTest, ParameterNamesConstAndRestrictMayChange) {
  std::string code = sample::kSwapped;
  const std::string list = "const float* A, const float* B";
  code.replace(code.find(list), list.size(),
               "const float* __restrict__ A, const float* const __restrict__ B");
  EXPECT_EQ(reason(block("cuda", code)), "accepted");
}

TEST_F(AnswerParserTest, LineEndingsAndIndentedFencesAreRead) {
  std::string text = "   ```cuda\n" + sample::kSwapped + "   ```\n";
  EXPECT_EQ(reason(text), "accepted");
  std::string crlf;
  for (const char c : text)
    crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto answer = parse(crlf);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->source, sample::kSwapped);
}

// ---- one reason each --------------------------------------------------------------------------

TEST_F(AnswerParserTest, RejectsAnswersWithoutCode) {
  EXPECT_EQ(reason(""), "the answer is empty");
  const std::string forms =
      "; give the whole device code in a ```cuda block, or search-and-replace blocks (<<<<<<< "
      "SEARCH, lines as they stand in the code, =======, new lines, >>>>>>> REPLACE)";
  EXPECT_EQ(reason("You could tile it."), "the answer holds no code" + forms);
  EXPECT_EQ(reason(block("cuda", "\n  \n")), "the answer holds no code: its block is empty");
  EXPECT_EQ(reason(sample::kSwapped), "the code is not fenced" + forms);
  EXPECT_EQ(reason(block("diff", "+ int x;\n")), "the answer is a diff" + forms);
  EXPECT_EQ(reason(sample::kSwappedLaunch),
            "the answer holds no code: its object has no key 'code'");
}

TEST_F(AnswerParserTest, RejectsRefusals) {
  EXPECT_EQ(reason("I'm sorry, but I can't help with that."),
            "the model refused: I'm sorry, but I can't help with that.");
}

TEST_F(AnswerParserTest, RejectsWhatWasCutOff) {
  EXPECT_NE(reason("```cuda\n" + sample::kSwapped).find("was cut off"), std::string::npos);
  const auto cut = parse(block("cuda", sample::kSwapped), FinishReason::length);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("cut off at the limit of tokens"), std::string::npos);
  EXPECT_NE(reason("{\"code\": \"__global__ vo").find("not valid JSON"), std::string::npos);
  const std::string half = sample::kSwapped.substr(0, sample::kSwapped.size() / 2);
  EXPECT_NE(reason(block("cuda", half + "\n")).find("never closed"), std::string::npos);
}

TEST_F(AnswerParserTest, RejectsSeveralKernels) {
  std::string other = sample::kSwapped;
  other.replace(other.find("0.0f"), 4, "1.0f");
  EXPECT_EQ(reason(block("cuda", sample::kSwapped) + block("cuda", other)),
            "2 different blocks of code, 2 of them with __global__ sgemm; give one block with all "
            "of the device code");
  EXPECT_NE(reason(block("cuda", "int a;\n") + block("cuda", "int b;\n")).find("0 of them"),
            std::string::npos);
}

TEST_F(AnswerParserTest, RejectsHostCode) {
  EXPECT_NE(with("int main() { return 0; }").find("host code: 'main'"), std::string::npos);
  EXPECT_NE(with("void run() { sgemm<<<1, 1>>>(); }").find("<<< >>>"), std::string::npos);
  EXPECT_NE(with("void run() { cudaMalloc(0, 4); }").find("'cudaMalloc'"), std::string::npos);
  EXPECT_NE(with("thrust::plus<float> p;").find("'thrust'"), std::string::npos);
}

TEST_F(AnswerParserTest, RejectsMissingKernelsAndOtherSignatures) {
  EXPECT_EQ(reason(block("cuda", "__global__ void gemm(float* a) {}\n")),
            "the __global__ function 'sgemm' is missing; keep its name and give the whole device "
            "code");
  EXPECT_NE(reason(block("cuda", "__global__ void sgemm(int M);\n")).find("is missing"),
            std::string::npos);
  std::string code = sample::kSwapped;
  code.replace(code.find("float* C"), 8, "double* C");
  EXPECT_EQ(reason(block("cuda", code)),
            "the parameters of sgemm were changed to (int, int, int, float, float *, float *, "
            "float, double *); they must stay (int, int, int, float, float *, float *, float, "
            "float *)");
  code = sample::kSwapped;
  code.replace(code.find("int M, "), 7, "");
  EXPECT_NE(reason(block("cuda", code)).find("parameters of sgemm were changed"),
            std::string::npos);
}

TEST_F(AnswerParserTest, OtherKernelsOfThePlanMustStay) {
  base.source += "__global__ void scale(float* x) { x[0] = 1; }\n";
  base.plan.launches.push_back(base.plan.launches[0]);
  base.plan.launches[1].kernel = "scale";
  EXPECT_NE(reason(block("cuda", sample::kSwapped)).find("'scale' is missing"), std::string::npos);
  EXPECT_EQ(with("__global__ void scale(float* x) { x[0] = 1; }"), "accepted");
}

TEST_F(AnswerParserTest, RejectsAssemblyHeadersAndTricks) {
  EXPECT_NE(with("__device__ void f() { asm volatile(\"trap;\"); }").find("inline assembly"),
            std::string::npos);
  EXPECT_NE(with("#include <fstream>").find("#include of 'fstream'"), std::string::npos);
  EXPECT_NE(with("#include_next <cstdint>").find("#include_next"), std::string::npos);
  EXPECT_NE(with("#if __has_include(\"x\")\n#endif").find("__has_include"), std::string::npos);
  EXPECT_NE(with("#embed \"/etc/passwd\"").find("#embed"), std::string::npos);
  EXPECT_NE(with("#line 1 \"x\"").find("#line"), std::string::npos);
  EXPECT_NE(with("#pragma GCC x").find("#pragma"), std::string::npos);
  EXPECT_NE(with("%:include <fstream>").find("digraph"), std::string::npos);
  EXPECT_NE(with("\?\?=include <fstream>").find("trigraph"), std::string::npos);
  EXPECT_NE(with("#inclu\\\nde <fstream>").find("backslash"), std::string::npos);
  EXPECT_EQ(with("#include <cuda_fp16.h>\n#include <mma.h>"), "accepted");
}

TEST_F(AnswerParserTest, RejectsWhatIsTooLongOrNoText) {
  EXPECT_NE(with("// " + std::string(200 << 10, 'x')).find("the code is too long"),
            std::string::npos);
  EXPECT_NE(with(std::string(600 << 10, ' ')).find("the answer is too long"), std::string::npos);
  EXPECT_EQ(with(std::string(1, '\0')), "the answer holds a NUL byte");
  EXPECT_NE(with("// \xff").find("not UTF-8"), std::string::npos);
  const nlohmann::json object = {{"code", std::string("int x;\0", 7)}};
  EXPECT_NE(reason(object.dump()).find("NUL"), std::string::npos);
}

TEST_F(AnswerParserTest, RejectsUnbalancedBrackets) {
  EXPECT_NE(with("void f() { g(; }").find("closes '('"), std::string::npos);
}

TEST_F(AnswerParserTest, RejectsWrongLaunches) {
  const auto launch = [&](const std::string& text) {
    return reason(block("cuda", sample::kSwapped) + block("json", text + "\n"));
  };
  EXPECT_NE(launch(R"x({"block": 32, "grid": "ceil(N)"})x").find("the launch plan cannot be read"),
            std::string::npos);
  EXPECT_NE(launch(R"({"block": [32, 64], "grid": 1})").find("limit of 1024"), std::string::npos);
  EXPECT_NE(launch(R"x({"block": 32, "grid": "cdiv(n, bx)"})x").find("unknown symbol 'n'"),
            std::string::npos);
  EXPECT_NE(launch(R"({"block": 32, "grid": 1, "stream": 1})").find("unknown key 'stream'"),
            std::string::npos);
  EXPECT_EQ(reason(block("cuda", sample::kSwapped) +
                   block("json", R"({"block": 32, "grid": 1})"
                                 "\n") +
                   block("json", R"({"block": 64, "grid": 1})"
                                 "\n")),
            "the answer holds two different launch plans; give one");
}

// ---- edits ------------------------------------------------------------------------------------

TEST_F(AnswerParserTest, MakesEditsToTheCodeThatWasShown) {
  const std::string edits = edit(
      "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int col = blockIdx.y * blockDim.y + threadIdx.y;\n",
      "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n");
  const std::string launch = block("json", sample::kSwappedLaunch + "\n");
  expect_swapped(parse("Swapped.\n" + block("cuda", edits) + launch));
  expect_swapped(parse(edits + launch));
  const nlohmann::json object = {{"code", edits},
                                 {"launch", nlohmann::json::parse(sample::kSwappedLaunch)}};
  expect_swapped(parse(object.dump()));
  // Nobody was shown where the lines came from.
  base.source.insert(base.source.find("  int col"), "#line 7 \"sgemm.cu\"\n");
  expect_swapped(parse(edits + launch));
}

TEST_F(AnswerParserTest, EditsMayBeMadeToAPartOfTheCode) {
  const std::string answer = edit("    float sum = 0.0f;\n", "    float sum = 0;\n");
  base.source = "__global__ void other() {\n    float sum = 0.0f;\n}\n" + sample::kSource;
  EXPECT_NE(reason(answer).find("found 2 times"), std::string::npos);
  ChatChoice choice;
  choice.text = answer;
  const auto parsed = AnswerParser().parse(choice, problem, base, sample::kSource);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->source.find("other"), std::string::npos);
  EXPECT_NE(parsed->source.find("float sum = 0;"), std::string::npos);
  // What was left out may be put back.
  const source::RelevantPart part =
      source::relevant_part(base.source, std::vector<std::string>{"sgemm"});
  EXPECT_EQ(part.shown, sample::kSource);
  EXPECT_EQ(source::put_back(part, parsed->source),
            parsed->source + "\n__global__ void other() {\n    float sum = 0.0f;\n}\n");
  // The part as it was is no change, nor is all of it.
  for (const std::string& same : {sample::kSource, base.source}) {
    choice.text = block("cuda", same);
    const auto unchanged = AnswerParser().parse(choice, problem, base, sample::kSource);
    ASSERT_TRUE(unchanged) << unchanged.error().message;
    EXPECT_EQ(unchanged->declined, "the answer changes nothing");
  }
}

TEST_F(AnswerParserTest, EditedCodeIsCheckedAsAllCodeIs) {
  const std::string line = "    float sum = 0.0f;\n";
  EXPECT_NE(reason(edit(line, "    asm(\"trap;\");\n")).find("inline assembly"), std::string::npos);
  EXPECT_NE(reason(edit(line, "    sgemm<<<1, 1>>>();\n")).find("<<< >>>"), std::string::npos);
  EXPECT_NE(reason(edit(line, "    float sum = 0.0f; }\n")).find("closes nothing"),
            std::string::npos);
  EXPECT_NE(reason(edit(sample::kSource, "int x;\n")).find("'sgemm' is missing"),
            std::string::npos);
  EXPECT_EQ(reason(edit(sample::kSource, "")), "the edits delete all of the code");
  EXPECT_NE(reason(edit("float sum;\n", "")).find("was found 0 times"), std::string::npos);
  EXPECT_EQ(reason(edit(line, "    float sum = 0.0f;  // zero\n")),
            "declined: the answer changes nothing");
}

// ---- declines ---------------------------------------------------------------------------------

TEST_F(AnswerParserTest, ReadsDeclines) {
  const auto answer = parse("Every element is read once.\n\nDECLINE: there is no reuse");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->declined, "there is no reuse");
  EXPECT_EQ(answer->source, "");
  EXPECT_FALSE(answer->launch);
  EXPECT_EQ(reason(R"({"declined": "no reuse"})"), "declined: no reuse");
  EXPECT_EQ(reason("DECLINE:"), "declined: no reason given");
  EXPECT_EQ(reason("<think>DECLINE: x</think>DECLINE: y"), "declined: y");
  EXPECT_EQ(reason(block("cuda", "") + "DECLINE: y"), "declined: y");
  // What is cut off may have gone on.
  EXPECT_FALSE(parse("DECLINE: the", FinishReason::length));
}

TEST_F(AnswerParserTest, CodeThatChangesSomethingCountsMoreThanADecline) {
  const std::string decline = "DECLINE: no reuse\n\n";
  const std::string launch = block("json", sample::kSwappedLaunch + "\n");
  expect_swapped(parse(decline + block("cuda", sample::kSwapped) + launch));
  EXPECT_EQ(reason(decline + block("cuda", sample::kSource)), "declined: no reuse");
  EXPECT_EQ(reason(decline + edit("    float sum = 0.0f;\n", "    float sum = 0;\n")), "accepted");
  // Such code must be right.
  EXPECT_NE(reason(decline + block("cuda", "int x;\n")).find("is missing"), std::string::npos);
}

TEST_F(AnswerParserTest, WhatChangesNothingDeclines) {
  EXPECT_EQ(reason(block("cuda", "/* faster */" + sample::kSource)),
            "declined: the answer changes nothing");
  EXPECT_EQ(reason(block("cuda", sample::kSource) +
                   block("json", R"x({"block": [32, 8], "grid": ["cdiv(M, bx)", "cdiv(N, by)"]})x"
                                 "\n")),
            "declined: the answer changes nothing");
  // Another launch alone is a change.
  EXPECT_EQ(reason(block("cuda", sample::kSource) +
                   block("json", R"x({"block": [64, 4], "grid": ["cdiv(M, bx)", "cdiv(N, by)"]})x"
                                 "\n")),
            "accepted");
}

TEST_F(AnswerParserTest, TakesLinearTimeOnHostileAnswers) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string_view unit : {"```\n",
                                      "{",
                                      "[",
                                      "(",
                                      "<think>",
                                      "</think>",
                                      "R\"",
                                      "/*",
                                      "#if 1\n",
                                      "__global__ f(",
                                      "__global__ sgemm() {}",
                                      "asm(",
                                      "// launch: {",
                                      "\"code\"",
                                      "\\\n",
                                      "#define A \\\n",
                                      "#define A B\n",
                                      "DECLINE:\n",
                                      "\n",
                                      "<<<<<<< SEARCH\n",
                                      "<<<<<<< SEARCH\n}\n=======\n>>>>>>> REPLACE\n"}) {
    std::string text;
    while (text.size() < 120 << 10)
      text += unit;
    (void)reason(text);
    (void)reason(block("cuda", text + "\n"));
    (void)reason(block("cuda", "#define A \\\n" + text + "\n") + block("json", text + "\n"));
    (void)reason(nlohmann::json({{"code", text}}).dump());
    (void)reason(block("cuda", text + "\n") + block("cuda", text + text + "\n"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace regraph::llm::answer_parser_test
