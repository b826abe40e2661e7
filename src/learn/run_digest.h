// What a search leaves to learn from: the states it judged, as a policy sees them, and what became
// of the steps it tried there. Small enough to be kept for thousands of runs.
#pragma once

#include "base/result.h"
#include "policy/edge_features.h"
#include "regraph/expander.h"
#include "search/outcome.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::learn {

// A tried edge of a state.
struct DigestEdge {
  std::size_t proposal = 0;  // place in the state's proposals
  int variant = 0;
  std::optional<std::uint32_t> child;  // id of the state it led to; nothing when it failed
  bool verified = false;
  double log_gain = 0.0;  // valid when verified
  bool repeats = false;   // led where another step of the state leads, or back
  std::string reason;     // why it failed
};

struct DigestState {
  std::uint32_t id = 0;  // 0: the original
  std::string identity;  // hash of the kernel and its launch
  policy::StateView view;
  std::vector<DigestEdge> edges;
};

struct RunDigest {
  std::string kernel;       // name of the function
  std::string kernel_hash;  // of the original and what has to be computed
  std::string family;       // kernels that vote together
  std::string label;        // of the search, as whoever ran it called it
  std::string device;
  TimeMethod method = TimeMethod::predicted;
  bool derived = false;  // the kernel was made from another one of its family
  std::string program;   // version of the program
  std::string settings;  // what decided the search, see study_settings.h; empty: nobody said
  int evaluations = 0;
  // Best log-speedup after 1, 2, ... evaluations; empty when nobody watched.
  std::vector<double> curve;
  double best_log_speedup = 0.0;       // confirmed
  std::vector<std::string> best_path;  // StepProposal::text of its steps
  std::vector<DigestState> states;     // correct ones, aliases aside

  // A shortest way, StepProposal::text of its steps, to the state of the highest log-speedup,
  // confirmed or not; empty where that is the original, or where no edge of variant 0 leads to it.
  [[nodiscard]] std::vector<std::string> path_to_fastest() const;

  // Names the run by what came of it: runs that found the same are the same.
  [[nodiscard]] std::string run() const;
};

// What identifies a search for a digest.
struct DigestLabels {
  std::string kernel_hash;
  std::string family;
  std::string label;
  bool derived = false;
  std::string settings = {};  // as RunDigest::settings
};

// `rewriter` looks at what tried steps make. `names` is copied in.
struct DigestSource {
  const SearchOutcome& outcome;
  const Expander& rewriter;
  std::string kernel;
  std::string device;
  std::string program;
};
[[nodiscard]] RunDigest digest_of(const DigestSource& source, const DigestLabels& labels,
                                  std::vector<double> curve);

// As JSON, "regraph-digest/1"; read_digest gives back an equal one. Errors start with `name`:
// parse.
[[nodiscard]] std::string digest_text(const RunDigest& digest);
[[nodiscard]] Result<RunDigest> read_digest(std::string_view text, std::string_view name);

}  // namespace regraph::learn
