// What the prompts are made of. Plain structs that refer to the caller's data; nothing is kept
// after rendering.
#pragma once

#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "kernel/problem.h"
#include "regraph/expander.h"
#include "regraph/step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

// The GPU that candidates are made for. A figure of 0 is not known and not mentioned.
struct PromptDevice {
  std::string name;          // "NVIDIA H200 SXM"
  std::string architecture;  // "sm_90"
  int sm_count = 0;
  int shared_bytes_per_block = 0;  // with opt-in
  int shared_bytes_per_sm = 0;
  int registers_per_sm = 0;
  int max_threads_per_sm = 0;
  std::uint64_t l2_bytes = 0;
  double dram_bytes_per_second = 0.0;  // achieved by a copy
  double peak_fp32_flops = 0.0;        // per second
};

// A verified application of the step right after the step before it, on some kernel.
struct EdgeExample {
  std::string from;    // id of the step before, "init" for none
  std::string kernel;  // name, for people
  std::string before;  // device code
  std::string after;
  double speedup = 1.0;
};

// What became of an earlier attempt at the same step.
struct FailedAttempt {
  std::string reason;   // one word: a verdict's name, "rejected", ...
  std::string message;  // what the compiler, verifier or answer parser said
};

// A kernel state with its surroundings: common to all prompts.
struct PromptState {
  const Problem& problem;
  const Candidate& candidate;
  const Evaluation& evaluation;  // the candidate's own
  const PromptDevice& device;
  const ExpansionContext* context = nullptr;   // how it was come by; null: not known
  std::optional<std::string_view> shown = {};  // of its code; none: all of it
};

// Apply one step.
struct ApplyInputs {
  PromptState state;
  const Step& step;
  StepParameters parameters;                // chosen values; the rest is up to the model
  std::optional<EdgeExample> example = {};  // verified, of the same transition of the ReGraph
  std::vector<FailedAttempt> failed = {};   // oldest first; the last three are shown
  std::string reason = {};                  // why it was chosen, by whoever did
};

// Apply several steps at once.
struct LeapInputs {
  PromptState state;
  std::vector<Step> plan;  // in the order to be applied
  std::vector<FailedAttempt> failed = {};
  std::string reason = {};
};

// Put what another state did into this one as well.
struct CombineInputs {
  PromptState state;
  const OtherState& other;
  std::string_view other_shown;  // of its code
  std::vector<FailedAttempt> failed = {};
  std::string reason = {};
};

// Which steps to try now.
struct ProposeInputs {
  PromptState state;
  std::vector<const Step*> catalogue;  // in the order to be shown, none null
  std::vector<std::string> done = {};  // steps applied so far, as StepProposal::text, oldest first
  int limit = 3;                       // how many steps are asked for
  bool leaps = false;                  // plans of several steps may be named
  bool combinations = false;           // states of the context may be named to be combined with
};

// Why a candidate fails.
struct CorrectionInputs {
  PromptState state;   // of the candidate that fails, with its verdict and message
  PromptState parent;  // of the correct one that the step was applied to
  const Step& step;    // that was applied
  StepParameters parameters = {};
};

// What limits a correct candidate.
struct OptimisationInputs {
  PromptState state;
  std::vector<const Step*> catalogue;
  std::vector<std::string> done = {};
};

// The smallest fix of a candidate that fails.
struct RepairInputs {
  PromptState state;   // of the candidate that fails, with its verdict and message
  PromptState parent;  // of the correct one that the step was applied to
  const Step& step;
  StepParameters parameters = {};
  std::string advice = {};  // of a judge; may be empty
  // What the answer has to be about is not in it as a whole, so it is shown again.
  bool show_source = true;
};

// Longest texts in bytes; what is longer is cut, and the cut says so.
struct PromptLimits {
  std::size_t source = 48 << 10;
  std::size_t example = 6 << 10;        // each of its two sides
  std::size_t whole_example = 2 << 10;  // of both sides; a longer one is cut to what changed
  std::size_t message = 3 << 10;        // of compiler and verifier
  std::size_t line = 600;               // names, instructions and other text on one line
  std::size_t tests = 6;                // test sizes shown
  std::size_t facts = 14;               // counters shown
  std::size_t failed = 3;               // earlier attempts shown
  std::size_t tried = 16;               // steps shown that were tried near the candidate
  std::size_t note = 200;               // what is said of one of them
};

}  // namespace regraph::llm
