// Triton kernels through the programs. Skipped, visibly, where there is no Triton (tools/setup
// --triton).
#include "cli/language_model_case.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph::triton_test {
namespace {

using nlohmann::json;
using test::ProgramRun;

constexpr const char* kTotal = R"py(
import torch
import triton
import triton.language as tl

LEAST = tl.constexpr(0.0)


@triton.jit
def positive(x):
    return tl.maximum(x, LEAST)


@triton.jit
def total(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.atomic_add(sum_ptr, tl.sum(positive(x), axis=0))


def run(x):
    result = torch.zeros(1)
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
    total[grid](x, result, x.numel(), BLOCK=64)
)py";
constexpr const char* kManifest = R"yaml(
sizes: {n: 1048576}
args:
  x_ptr: {shape: [n]}
  sum_ptr: {dir: inout, shape: [1], init: zeros}
)yaml";

class Triton : public test::LanguageModelCase {
 protected:
  void SetUp() override {
    if (const char* named = std::getenv("REGRAPH_TRITON_PYTHON")) {
      python = named;
    } else {
      python = std::string(REGRAPH_SOURCE_DIR) + "/.triton/bin/python";
    }
    if (!std::filesystem::exists(python))
      GTEST_SKIP() << "there is no Triton: tools/setup --triton installs it";
    set_environment("REGRAPH_TRITON_PYTHON=" + python);
    file("total.regraph.yaml", kManifest);
  }
  std::string python;
};

TEST_F(Triton, AKernelIsSearchedAndItsAnswerIsAnInput) {
  const std::string kernel = file("total.py", kTotal);
  const ProgramRun done =
      run({kernel, "--device", "h200", "--evaluations", "8", "--output", "out", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const json result = done.json();
  EXPECT_GT(result.at("speedup").get<double>(), 2.0);
  EXPECT_EQ(result.at("best").at("path"), "out/best.py");
  EXPECT_NE(result.at("verification").get<std::string>().find("no multiples of 16"),
            std::string::npos);
  const std::string best = content("out/best.py");
  EXPECT_TRUE(best.starts_with("# regraph-triton:\n")) << best;
  EXPECT_NE(best.find("def positive"), std::string::npos);
  EXPECT_EQ(best.find("torch"), std::string::npos);
  const ProgramRun again =
      run({"out/best.py", "--device", "h200", "--dry-run", "--output", "again"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
  const ProgramRun resumed = run({"--resume", "out", "--json"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(resumed.json().at("speedup"), result.at("speedup"));
}

TEST_F(Triton, WhatALauncherWouldKnowIsPrinted) {
  const std::string kernel = file("total.py", kTotal);
  const ProgramRun done = run({kernel, "--init", "--device", "h200"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("# # regraph-triton:"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("constants: {BLOCK: 64}"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("cdiv(n, 64)"), std::string::npos) << done.output;
}

// As papers print one: nothing beside it says what is launched.
constexpr const char* kPrinted = R"py(
import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, s_ptr, y_ptr, x_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr):
    """Multiplies every row by a number of its own."""
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    s = tl.load(s_ptr + row)
    x = tl.load(x_ptr + row * x_stride + at, mask=at < n_cols)
    tl.store(y_ptr + row * n_cols + at, x * s, mask=at < n_cols)


@triton.jit
def other(x_ptr):
    tl.store(x_ptr, 0.0)


def scaled(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """x: a matrix; s: a number for each row."""
    assert x.dim() == 2 and x.shape[0] == s.numel(), "one number a row"
    x = x.contiguous()
    n_rows, n_cols = x.shape
    y = torch.empty_like(x)
    BLOCK_SIZE = min(1024, triton.next_power_of_2(n_cols))
    grid = lambda meta: (n_rows, (n_cols + meta["BLOCK_SIZE"] - 1) // meta["BLOCK_SIZE"])
    scale_rows[grid](x, s, y, x.stride(0), n_rows, n_cols, BLOCK_SIZE=BLOCK_SIZE)
    other[(1,)](y)
    return y


class ModelNew(torch.nn.Module):
    def forward(self, x, s):
        return scaled(x, s)
)py";

TEST_F(Triton, AModuleAsPapersPrintItIsUnderstoodBare) {
  const std::string kernel = file("printed.py", kPrinted);
  const ProgramRun done = run(
      {kernel, "--kernel", "scale_rows", "--device", "h200", "--size", "n_cols=2048", "--init"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_EQ(done.output.find("FILL IN"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("constants: {BLOCK_SIZE: 1024}"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("grid: [n_rows, \"cdiv(n_cols, BLOCK_SIZE)\", \"1\"]"),
            std::string::npos)
      << done.output;
  EXPECT_NE(done.output.find("s_ptr: {dir: in, shape: [n_rows]"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("x_stride: n_cols"), std::string::npos) << done.output;
  const ProgramRun tried =
      run({kernel, "--kernel", "scale_rows", "--device", "h200", "--dry-run", "--output", "out"});
  ASSERT_EQ(tried.exit_code, 0) << tried.error;
  EXPECT_NE(tried.output.find("name=BLOCK_SIZE"), std::string::npos) << tried.output;
}

TEST_F(Triton, ACommentNeedNotSayWhatTheCommandLineAndTheFileDo) {
  const std::string comment = "# regraph-triton:\n#   num_warps: 8\n";
  const std::string kernel = file("printed.py", comment + kPrinted);
  const ProgramRun done = run({kernel, "--kernel", "scale_rows", "--device", "h200", "--init"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("kernel: scale_rows"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("num_warps: 8"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("cdiv(n_cols, BLOCK_SIZE)"), std::string::npos) << done.output;
  const ProgramRun open = run({kernel, "--device", "h200", "--init"});
  EXPECT_NE(open.error.find("choose one with --kernel"), std::string::npos) << open.error;
}

TEST_F(Triton, WhatCannotBeUsedIsOneMessage) {
  const auto complaint = [&](const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {file("total.py", text), "--device", "h200"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun done = run(arguments);
    EXPECT_TRUE(done.exit_code == 4 || done.exit_code == 2) << done.exit_code << done.error;
    EXPECT_EQ(done.error.find("Traceback"), std::string::npos) << done.error;
    return done.error;
  };
  std::string text = kTotal;
  EXPECT_NE(complaint("x = 1\n").find("no function under @triton.jit"), std::string::npos);
  EXPECT_NE(complaint("def f(:\n").find("line 1"), std::string::npos);
  EXPECT_NE(complaint(text, {"--kernel", "other"}).find("there is no kernel 'other'"),
            std::string::npos);
  text.replace(text.find("BLOCK=64"), 8, "BLOCK=pick(x)");
  EXPECT_NE(complaint(text).find("a value for 'BLOCK' (line 24: 'pick(x)' cannot be read)"),
            std::string::npos);
  text = kTotal;
  text.replace(text.find("tl.sum(positive(x), axis=0)"), 27, "tl.sum(positive(z), axis=0)");
  EXPECT_NE(complaint(text).find("z is not defined"), std::string::npos);
  text = kTotal;
  text.replace(text.find("tl.maximum(x, LEAST)"), 20, "open('/etc/passwd')");
  EXPECT_NE(complaint(text).find("'open' runs on the host"), std::string::npos);
}

// Answers in tests/llm/answers/total: one right and fast, one wrong twice, one that does not
// compile before it is mended, one that changes the signature and then wants the host's files.
TEST_F(Triton, ALanguageModelsRightAnswerWinsAndItsWrongOnesAreRefused) {
  const std::string kernel = file("total.py", kTotal);
  const ProgramRun done =
      run(search(kernel, serve(), {"--evaluations", "6", "--output", "out"}), 300.0);
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const json result = done.json();
  EXPECT_EQ(result.at("best").at("steps").at(0).at("step"), "coarsen");
  EXPECT_EQ(result.at("best").at("steps").at(0).at("parameters").at("by"), "model");
  EXPECT_GT(result.at("speedup").get<double>(), 1.5);
  const json& use = result.at("language_model");
  EXPECT_GT(use.at("verdicts").at("correct"), 0) << use;
  EXPECT_GT(use.at("verdicts").at("wrong_result"), 0) << use;
  EXPECT_GT(use.at("verdicts").at("compile_error"), 0) << use;
  EXPECT_GT(use.at("repaired"), 0) << use;
  EXPECT_GT(use.at("rejected").at("signature"), 0) << use;
  EXPECT_FALSE(std::filesystem::exists("/tmp/it-was-run"));
  const std::string best = content("out/best.py");
  EXPECT_NE(best.find("constants: {BLOCK: 64, TILES: 4}"), std::string::npos) << best;
  EXPECT_NE(best.find("divisible: [n, sum_ptr, x_ptr]"), std::string::npos) << best;
  const ProgramRun again =
      run({"out/best.py", "--device", "h200", "--dry-run", "--output", "again"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
}

TEST_F(Triton, AModelDoesWhatTheBuiltInStepsDoNotAndSaysWhichOfThemPay) {
  const std::string kernel = file("total.py", kTotal);
  const std::string url = serve();
  // A built-in step goes on from what the model wrote.
  const ProgramRun both = run(search(kernel, url,
                                     {"--evaluations", "4", "--output", "a", "--steps",
                                      "coarsen(by=model); tile(name=BLOCK, value=128)"},
                                     "both"),
                              300.0);
  ASSERT_EQ(both.exit_code, 0) << both.error;
  EXPECT_EQ(both.json().at("best").at("steps").size(), 2U) << both.output;
  EXPECT_NE(content("a/best.py").find("{BLOCK: 128, TILES: 4}"), std::string::npos);
  const ProgramRun advised =
      run(search(kernel, url, {"--evaluations", "6", "--output", "b"}, "advised"), 300.0);
  ASSERT_EQ(advised.exit_code, 0) << advised.error;
  EXPECT_GT(advised.json().at("language_model").at("answered"), 0);
  EXPECT_EQ(advised.json().at("language_model").at("candidates"), 0);
}

}  // namespace
}  // namespace regraph::triton_test
