// Searches of one kernel to learn from or to compare priors by: the kernel is opened once, and what
// one search found out of a candidate the next one knows.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "learn/run_digest.h"
#include "search/config.h"
#include "session/installation.h"
#include "session/session_error.h"
#include "session/session_options.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::learn {

// Words for StudySearch::graph besides files.
inline constexpr const char* kFlatGraph = "flat";  // all steps alike

// Constants of mcgs (search/config.h) that a search is to have instead of the usual ones.
struct SelectionChanges {
  std::optional<double> exploration;  // c at the start
  std::optional<int> greedy_every;
  std::optional<double> max_share;
  std::optional<double> first_play_reduction;
  std::optional<double> widening;  // k
};

struct StudySearch {
  std::string label;  // also the digest's file name
  std::string searcher = "mcgs";
  std::string graph;   // file, "published", kFlatGraph; empty: the shipped one
  std::string policy;  // file; empty or "none": none
  bool learn = false;  // inside the run
  int evaluations = 60;
  std::uint64_t seed = 1;
  SelectionChanges changes;
};

struct StudyRequest {
  std::filesystem::path kernel;
  std::string family;
  std::string device;
  std::string evaluator = "model";
  std::filesystem::path output;  // folder; digests that are there already are kept
  bool replace = false;          // those that were made with other settings are made anew
  bool any_build = false;        // evaluations kept by other builds of the program count, too
  bool derived = false;          // the kernel was made from another one of its family
  std::vector<StudySearch> searches;
};

// As JSON, for a process of its own. Errors: parse.
[[nodiscard]] std::string study_text(const StudyRequest& request);
[[nodiscard]] Result<StudyRequest> read_study(std::string_view text);

// OUTPUT/LABEL.json
[[nodiscard]] std::filesystem::path digest_path(const std::filesystem::path& output,
                                                const std::string& label);

// OUTPUT/LABEL.examples: what the search has to show (example_table.h).
[[nodiscard]] std::filesystem::path examples_path(const std::filesystem::path& output,
                                                  const std::string& label);

// Carries out the searches one after the other and writes a digest and examples for each. `tell`
// gets a line a search. `fleet`: who evaluates. Errors: as Session::open; what was written until
// then is kept.
[[nodiscard]] Result<void, SessionError> study_kernel(
    const StudyRequest& request, const Installation& installation, const std::string& program,
    const Cancellation& cancellation, const std::function<void(const std::string&)>& tell,
    const FleetAccess& fleet = {});

}  // namespace regraph::learn
