// A data set as a folder:
//
//   README.md           the card: what is in it, how it was verified, limits
//   problems.jsonl      what kernels are verified against   (score::StateRegistry reads
//   states.jsonl        what answers may be about            these two)
//   data/FORM/SPLIT-00000.jsonl   (data_forms.h), and .parquet where a library wrote it
//   items.txt           all of it as sources gave it (collected.h), to be put together with others
//   summary.json        counts, what was dropped and why, settings
//   checksums.xxh128    of all files above, as xxh128sum -c reads them; written last
//
// A folder without checksums.xxh128 is no data set.
#pragma once

#include "dataset/collected.h"
#include "dataset/family_split.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace regraph::dataset {

inline constexpr const char* kChecksumsFile = "checksums.xxh128";
inline constexpr const char* kSummaryFile = "summary.json";

struct DataSetOptions {
  std::string title = "ReGraph pairs";
  std::string licence = "other";  // of the kernels, as the hub names licences
  std::uint64_t seed = 1;         // of the split
  SplitShares shares = {};
  std::vector<std::string> forms;  // of kForms, and kItems; empty: all
};

// Stands for items.txt among the forms. A set without it cannot be a source of another one.
inline constexpr const char* kItems = "items";

struct DataSetSummary {
  int considered = 0;  // pairs that were looked at
  std::map<std::string, int> dropped;
  // Form -> split -> rows.
  std::map<std::string, std::map<std::string, std::size_t>> rows;
  std::size_t families = 0;
  std::size_t kernels = 0;
  std::map<std::string, std::size_t> methods;  // pairs by how they were timed
  std::map<std::string, std::size_t> steps;    // pairs by step
  std::map<std::string, std::string> splits;   // family -> split
  std::string device;                          // of the first pair
};

// Leaves out pairs that differ from an earlier one in names, constants and layout only (counted as
// dropped), divides the rest by family and writes the folder, which must be missing or empty.
// Files are written beside it and moved at once when all are there. `finish` may add files to the
// folder before checksums are taken (Parquet); empty: nothing. Errors: invalid_argument, resource,
// io.
[[nodiscard]] Result<DataSetSummary> write_data_set(
    const std::filesystem::path& folder, Collected collected, const DataSetOptions& options,
    const std::function<Status(const std::filesystem::path& folder)>& finish = {});

// What a folder holds that is a data set and whose files are as they were written. Errors:
// not_found (no data set), unsupported (it was written without its items), parse (damaged: which
// file, which line), io.
[[nodiscard]] Result<Collected> read_data_set(const std::filesystem::path& folder);

// Whether every file has its checksum. Errors: not_found, parse (which file), io.
[[nodiscard]] Status check_data_set(const std::filesystem::path& folder);

}  // namespace regraph::dataset
