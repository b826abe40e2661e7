// Pairs, states and answers of a finished run, read back from its directory.
#pragma once

#include "base/cancellation.h"
#include "dataset/collected.h"
#include "score/state_registry.h"
#include "session/installation.h"
#include "session/session_error.h"

#include <filesystem>
#include <string>

namespace regraph::dataset {

struct RunSource {
  std::filesystem::path directory;
  std::string name;               // "FAMILY/NAME"
  std::string family;             // empty: the kernel's name
  std::filesystem::path prompts;  // empty: the shipped ones
  // Single steps, and as many kernels that several steps lead to: those of the largest gains.
  int most_pairs = 40;
  bool family_by_folder = false;  // the family is the folder that the kernel lay in
  // What its answers answer: apply (the kernel) or choose (the step's name and values; only of
  // steps that the rewriter applied).
  score::Task task = score::Task::apply;
};

// Searches again from the run's records, and executes each pair again. Errors: usage (no run,
// another version's, one that was cut short), as Session::reopen, interrupted.
[[nodiscard]] Result<Collected, SessionError> collect_run(const RunSource& source,
                                                          const Installation& installation,
                                                          const Cancellation& cancellation);

}  // namespace regraph::dataset
