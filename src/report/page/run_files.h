// What a run directory holds of a run, as far as the page needs it.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// A candidate as the run database has it; the original is the first, with id 0.
struct PageState {
  std::int64_t id = 0;
  std::optional<std::int64_t> parent;
  std::string step;     // as text, with its parameters; empty for the original
  std::string verdict;  // as in result.json
  std::string message;  // why it is not correct; empty where it may hold captured data
  // Seconds, absent for candidates without a time.
  std::optional<double> seconds;
  std::optional<double> low_seconds;
  std::optional<double> high_seconds;
  std::string method;  // "predicted", "measured"
  std::int64_t samples = 0;
  std::string bottleneck;
  std::string launch;       // in words: block and grid of each launch
  std::string assumptions;  // separated by "; "
  // After ptxas.
  std::int64_t registers_per_thread = 0;
  std::int64_t spill_bytes = 0;
  std::int64_t shared_bytes = 0;  // static
  std::string identity;           // of the candidate; empty for the original
  std::string source_hash;        // of a text in `sources`
};

// A step that led nowhere new: refused, or to a state that was known already.
struct PageAttempt {
  std::int64_t parent = 0;
  std::string step;
  std::string refusal;  // why there is no candidate; empty where there is
  std::string identity;
};

struct RunFiles {
  std::string result;  // text of result.json; empty for a run that has not come to its end
  // Of the run database; empty where there is none.
  std::string tool_version;
  std::string kernel;
  std::string source_path;
  std::string device;
  std::string original;  // source
  std::string stopped;   // why the search ended
  bool captured = false;
  bool has_database = false;
  std::vector<PageState> states;      // in the order of their evaluation
  std::int64_t states_left_out = 0;   // beyond what a page can show
  std::vector<PageAttempt> attempts;  // in their order
  // Source of each state, in the order of `states`.
  std::vector<std::string> sources;
  std::string best;  // best.cu or best.py, where it is there
};

// More states than that are left out of the page, which says so.
inline constexpr std::int64_t kMostPageStates = 20000;

// Reads result.json, best.cu and run.db, which other versions may have written: a column that is
// not there counts as empty. The run may still be going on. Errors: not_found (no such folder, or
// neither result.json nor run.db in it), parse (either is damaged), resource (a file is far too
// large), io.
[[nodiscard]] Result<RunFiles> read_run_files(const std::filesystem::path& directory);

}  // namespace regraph
