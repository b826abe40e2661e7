// Two kernels to learn from, in folders of their own, and regraph-train.
#pragma once

#include "cli/bad_input.h"
#include "learn/columns_kernel.h"

#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

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
