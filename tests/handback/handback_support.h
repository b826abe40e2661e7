// A file of a user's, the kernel that is searched in it, and a winner.
#pragma once

#include "handback/hand_back.h"
#include "kernel/manifest.h"
#include "source/extract.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

// Sums of rows; every test has a program around it.
inline const char* const kSumsHead =
    "__global__ void sums(const float* in, float* out, int rows, int columns)";
inline const std::string kSums = std::string(kSumsHead) +
                                 " {\n"
                                 "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "  if (row >= rows) return;\n"
                                 "  float sum = 0.0f;  // of the row\n"
                                 "  for (int i = 0; i < columns; ++i) sum += in[row * columns + "
                                 "i];\n"
                                 "  out[row] = sum;\n"
                                 "}\n";
inline const char* const kFastSums =
    "__global__ void sums(\n"
    "    const float* __restrict__ in,\n"
    "    float* __restrict__ out,\n"
    "    int rows,\n"
    "    int columns) {\n"
    "  fast();\n"
    "}";

// "out[i] becomes ..." of a whole file.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << "\n" << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The search of `sums` in a file, with block 128 and the grid cdiv(rows, bx), and its winner.
class SearchedSums {
 public:
  explicit SearchedSums(const std::string& file, const std::string& kernel = "sums",
                        const std::string& launch = "{block: 128, grid: \"cdiv(rows, bx)\"}") {
    const auto code = source::extract_device_code(file, {"main.cu", {kernel}, {}});
    EXPECT_TRUE(code.ok()) << code.error().message;
    if (!code.ok()) return;
    const auto manifest = parse_manifest(
        "sizes: {rows: 4096, columns: 300}\n"
        "args: {in: {shape: [rows, columns]}, out: {dir: out, shape: [rows]}}\n"
        "launch: " +
            launch + "\ntests: [{rows: 70, columns: 33}]\n",
        "sums.regraph.yaml");
    EXPECT_TRUE(manifest.ok()) << manifest.error().message;
    const KernelSignature signature = {"sums",
                                       {{"in", ScalarType::f32, true, true, 1},
                                        {"out", ScalarType::f32, true, false, 1},
                                        {"rows", ScalarType::i32, false, false, 1},
                                        {"columns", ScalarType::i32, false, false, 1}}};
    auto made =
        make_problem(*manifest, signature, "main.cu", source::without_line_directives(code->text));
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (!made.ok()) return;
    problem = *std::move(made);
    winner.plan = problem.launch;
    winner.source = problem.source;
  }

  // The kernel, from `from` to the end of its body, becomes `to` in the winner.
  void win(const std::string& to = kFastSums) {
    const std::size_t begin = winner.source.find("__global__ void sums(const");
    ASSERT_NE(begin, std::string::npos) << winner.source;
    const std::size_t end = winner.source.find("\n}", begin) + 2;
    winner.source.replace(begin, end - begin, to);
  }
  // Eight rows a block of 256 threads.
  void win_with_launch() {
    win();
    set_launch({256, 1, 1}, "cdiv(rows, 8)");
  }
  void set_launch(const Dim3& block, const std::string& grid) {
    winner.plan.launches.front().block = block;
    winner.plan.launches.front().grid[0] = *IntegerExpression::parse(grid);
  }

  [[nodiscard]] Result<handback::HandedBack> into(std::vector<handback::UserFile> files) const {
    return handback::hand_back({problem, winner, std::move(files), {"Faster."}, false});
  }
  [[nodiscard]] Result<handback::HandedBack> into(const std::string& file) const {
    return into(std::vector<handback::UserFile>{{"main.cu", file}});
  }

  Problem problem;
  Candidate winner;
};

// The texts as they are to be, of a hand-back that must work.
inline std::string text_of(const Result<handback::HandedBack>& handed, std::size_t file = 0) {
  EXPECT_TRUE(handed.ok()) << handed.error().message;
  return handed.ok() ? handed->texts[file] : "";
}
inline std::string why_not(const Result<handback::HandedBack>& handed) {
  EXPECT_FALSE(handed.ok());
  return handed.ok() ? "" : handed.error().message;
}

}  // namespace regraph::test
