// Command line of regraph-search.
#pragma once

#include "cli/fleet_flags.h"
#include "search/config.h"
#include "session/language_model_options.h"
#include "session/session.h"

#include <optional>
#include <string>

namespace regraph::cli {

struct SearchOptions {
  SessionOptions session;  // with no kernel_file when a run is continued
  std::string search = "mcgs";
  SelectionConfig selection;  // of the methods
  LanguageModelOptions language_model;
  FleetFlags fleet;
  std::optional<int> evaluations;
  double time_seconds = 0.0;       // 0: no limit
  int jobs = 0;                    // 0: as many as there are processors
  std::string sanitizer = "auto";  // "off"
  std::string export_graph;        // file to write the graph to, and stop
  std::string output;
  std::string check;  // the user's own test of the answer; empty: none
  double check_seconds = 600.0;
  std::string resume;  // directory of a run to continue
  std::string report;  // directory of a run to write the page of, and stop
  bool learn = false;  // priors follow what the search itself finds out
  bool json = false;
  bool dry_run = false;
  bool verbose = false;
  bool quiet = false;
};

struct ParsedOptions {
  SearchOptions options;
  // Set when the program is to end at once: --help, --version, or a usage error.
  std::optional<int> exit_code;
  std::string text;  // to print before: on standard output for exit code 0, else standard error
};

[[nodiscard]] ParsedOptions parse_search_options(int argc, const char* const* argv);

}  // namespace regraph::cli
