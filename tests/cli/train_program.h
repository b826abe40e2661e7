// Two kernels to learn from, in folders of their own, and regraph-train.
#pragma once

#include "cli/bad_input.h"

#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

// Neighbours in x walk down columns: coalesce_swap pays.
inline constexpr const char* kColumns =
    R"cuda(__global__ void add(const float* a, const float* b, float* c, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns)
    c[row * columns + column] = a[row * columns + column] + b[row * columns + column];
}
)cuda";
inline constexpr const char* kColumnsManifest = R"yaml(sizes: {rows: 2048, columns: 1024}
args:
  a: {shape: [rows, columns]}
  b: {shape: [rows, columns]}
  c: {dir: out, shape: [rows, columns]}
launch: {block: [16, 16], grid: ["cdiv(rows, bx)", "cdiv(columns, by)"]}
tests: [{rows: 33, columns: 20}]
)yaml";

class Train : public SearchProgram {
 protected:
  void SetUp() override {
    file("kernels/scaling/plain.cu", kScale);
    file("kernels/scaling/plain.regraph.yaml", kManifest);
    file("kernels/adding/columns.cu", kColumns);
    file("kernels/adding/columns.regraph.yaml", kColumnsManifest);
  }
  ProgramRun train(std::vector<std::string> arguments) const {
    return run_program(REGRAPH_TRAIN_PROGRAM, std::move(arguments));
  }
  // Of the kernels, with few evaluations.
  ProgramRun train_graph(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"graph",  "kernels",       "--output", "own.yaml",
                                          "--work", "work",          "--jobs",   "2",
                                          "-q",     "--evaluations", "6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return train(arguments);
  }
};

}  // namespace regraph::test
