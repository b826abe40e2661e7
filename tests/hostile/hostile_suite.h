// The table of hostile and honest kernels (hostile.yaml), as problems and candidates.
#pragma once

#include "base/result.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "kernel/problem.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::test {

struct SuiteCandidate {
  std::string name;  // "scale/hostile/nothing_written"
  bool hostile = false;
  Candidate candidate;
  // Verdicts that are right: of an evaluator without a GPU, of one with, of the GPU's guards alone
  // (empty: not asked).
  std::vector<Verdict> model;
  std::vector<Verdict> gpu;
  std::vector<Verdict> alone;
  std::string says;  // must be in the message
};

struct SuiteProblem {
  std::string name;
  Problem problem;  // its source is the original's
  std::vector<SuiteCandidate> candidates;
};

// Where the table is: in the source tree this was built from, else in "hostile" beside the folder
// of the running program, where it was carried with it.
[[nodiscard]] std::filesystem::path suite_directory();

// The names of all problems, in the order of the table; empty when it cannot be read.
[[nodiscard]] std::vector<std::string> suite_problems();

// One problem with all its candidates. Errors: what is wrong with the table or its files.
[[nodiscard]] Result<SuiteProblem> load_suite_problem(const std::string& name);

// How the table went, over all problems of a program.
class SuiteTally {
 public:
  // Counts a candidate, prints a line for it, and returns why its evaluation is not what the table
  // asks for; empty when it is.
  [[nodiscard]] std::string count(const SuiteCandidate& candidate,
                                  const std::vector<Verdict>& right, Verdict verdict,
                                  const std::string& message);
  // "caught 98 of 98 hostile, passed 72 of 72 honest", and the names of those that went wrong.
  [[nodiscard]] std::string text() const;

 private:
  int hostile_ = 0;
  int caught_ = 0;
  int honest_ = 0;
  int passed_ = 0;
  std::string wrong_;
};

}  // namespace regraph::test
