// Sources of a data set, each worked on in a process of its own.
#pragma once

#include "cli/dataset_options.h"
#include "cli/program.h"
#include "dataset/collected.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraph::cli {

enum class UnitKind : std::uint8_t { run, walks, slowdown };

// One source and everything that decides what it gives.
struct DatasetUnit {
  UnitKind kind = UnitKind::run;
  std::string place;  // the run's directory, or the kernel's file
  std::string name;   // "FAMILY/NAME"; empty for runs: of the kernel
  std::string family;
  std::string device;
  std::string evaluator;
  std::string prompts;
  std::uint64_t seed = 1;
  int walks = 0;
  int depth = 3;
  int most_pairs = 40;
  bool family_by_folder = false;
  bool judge = true;
  std::string task = "apply";
  std::string result;  // file that it is to write
};

[[nodiscard]] std::string unit_text(const DatasetUnit& unit);
[[nodiscard]] std::optional<DatasetUnit> read_unit(const std::string& text);

// The units of runs and kernels among the sources; the other sources are put into `sets`. `kind`:
// of what kernels are to give. Errors: usage, as learn::read_corpus.
[[nodiscard]] Result<std::vector<DatasetUnit>, SessionError> find_units(
    const DatasetOptions& options, UnitKind kind, const std::filesystem::path& work,
    std::vector<std::filesystem::path>& sets);

// Carries the units out, as many at once as there may be; those whose result is there already are
// not done again. Sources that fail are said and counted as dropped.
[[nodiscard]] dataset::Collected collect_units(const Program& program,
                                               const DatasetOptions& options,
                                               const std::vector<DatasetUnit>& units,
                                               const std::vector<std::filesystem::path>& sets);

}  // namespace regraph::cli
