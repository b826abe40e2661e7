// What data sets are made of: pairs of kernels, states that can be asked about, and answers to
// them. Flat structures, each a line of JSON.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace regraph::dataset {

// A slow and a fast kernel that compute the same, with the evidence. The first five are
// KernelCompare's (a benchmark's name, the file's, what was done, slow and fast kernel).
struct PairRecord {
  std::string benchmark;
  std::string source_file;
  std::string description;
  std::string slow;  // CUDA C++
  std::string fast;

  std::string id;       // pair_id
  std::string problem;  // id of the RegisteredProblem that both were verified against
  std::string kernel;   // name of the function
  std::string family;
  std::string split;        // train, validation, test; empty before a set is divided
  std::string step;         // id in the ReGraph; empty where no single step lies between them
  std::string parameters;   // JSON object of texts: maps with changing keys confuse table formats
  std::string history;      // JSON list: ids of the steps from the original to the slow kernel
  std::string launch_slow;  // journal::plan_text
  std::string launch_fast;
  std::string manifest;  // YAML, with the slow kernel's launch: the two are a problem of their own
  std::string assumptions;  // JSON list: what the fast one needs beyond the original
  std::string device;
  std::string method;  // predicted or measured
  double seconds_slow = 0.0;
  double seconds_slow_low = 0.0;
  double seconds_slow_high = 0.0;
  double seconds_fast = 0.0;
  double seconds_fast_low = 0.0;
  double seconds_fast_high = 0.0;
  double speedup = 1.0;
  double speedup_low = 1.0;
  double speedup_high = 1.0;
  std::string verdict;       // of the second execution
  std::string verification;  // what was compared, in words
  std::string tolerance;
  std::string origin;  // run, walk, slowdown
  std::string tool_version;
  std::string licence;      // of the kernel; empty: its owner's
  std::string fingerprint;  // equal for pairs that differ in names, constants and layout only
};

// Of problem, both kernels, both launches and step.
[[nodiscard]] std::string pair_id(const PairRecord& pair);
// Of both sources without names, numbers and layout, of the step with its values, and of the blocks
// that both are launched with.
[[nodiscard]] std::string pair_fingerprint(const PairRecord& pair);

// A prompt about a registered state (score/state_registry.h).
struct StateItem {
  std::string state;  // score::state_text
  std::string id;     // of it
  std::string kernel;
  std::string family;
  std::string step;
  int stage = 0;       // of a curriculum: 1 local steps ... 4 tiles, see stage_of
  int settings = 0;    // that the rewriter offers of the step at this state
  std::string system;  // the prompt's two messages
  std::string user;
};

// An answer to a state's prompt and what became of it.
struct AnswerItem {
  std::string state;  // id
  std::string kernel;
  std::string family;
  std::string step;
  std::string completion;
  std::string outcome;  // name(learn::AnswerOutcome), or "unjudged"
  std::string method;
  double seconds = 0.0;  // of the answer; 0 where not correct
  double seconds_low = 0.0;
  double seconds_high = 0.0;
  double parent_seconds = 0.0;
  double parent_seconds_low = 0.0;
  double parent_seconds_high = 0.0;
  std::string origin;
};

inline constexpr const char* kUnjudged = "unjudged";

// One line of JSON each, without newline; the readers give back an equal one. Errors: parse.
[[nodiscard]] std::string item_text(const PairRecord& pair);
[[nodiscard]] std::string item_text(const StateItem& state);
[[nodiscard]] std::string item_text(const AnswerItem& answer);
[[nodiscard]] Result<PairRecord> read_pair(std::string_view line);
[[nodiscard]] Result<StateItem> read_state_item(std::string_view line);
[[nodiscard]] Result<AnswerItem> read_answer(std::string_view line);

// Where a step stands in a curriculum: 1 changes a line (hints, unrolling, padding), 2 the launch
// or the order of threads, 3 what a thread does, 4 what a block shares.
[[nodiscard]] int stage_of(std::string_view step);

}  // namespace regraph::dataset
