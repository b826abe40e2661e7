// Command line of regraph-search.
#pragma once

#include "cli/language_model_options.h"
#include "search/config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::cli {

struct SearchOptions {
  std::string program;  // path this program was started by; not an option
  std::string kernel_file;
  std::string kernel;                            // "" or "name" or "name<float>"
  std::vector<std::string> defines;              // "TILE=16"
  std::vector<std::string> include_directories;  // for the kernel's own headers
  std::string device;
  std::string evaluator = "auto";  // "gpu", "gpu-only", "model"
  std::string sanitizer = "auto";  // "off"
  std::string search = "mcgs";
  SelectionConfig selection;  // of the methods
  LanguageModelOptions language_model;
  std::optional<int> evaluations;
  double time_seconds = 0.0;         // 0: no limit
  double evaluation_seconds = 60.0;  // one candidate's, and the check of the original
  std::uint64_t seed = 1;
  int jobs = 0;  // 0: as many as there are processors
  std::string graph;
  std::string export_graph;  // file to write the graph to, and stop
  std::string manifest;
  std::vector<std::string> sizes;  // "N=4096"
  std::string block;               // "32x8"
  std::string output;
  std::string resume;  // directory of a run to continue; then no kernel_file
  bool json = false;
  bool dry_run = false;
  bool init = false;
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
