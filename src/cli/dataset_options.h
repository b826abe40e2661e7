// What the user said to regraph-dataset.
#pragma once

#include "cli/fleet_flags.h"
#include "dataset/data_set.h"
#include "eval/model/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::cli {

struct DatasetOptions {
  std::vector<std::string> sources;
  std::string output;
  std::string device = kDefaultDevice;
  std::string evaluator = "model";
  std::string prompts;
  std::string work;  // folder for what single sources gave; empty: a temporary one
  std::string family;
  bool families_by_folder = false;
  dataset::DataSetOptions set;
  std::uint64_t seed = 1;
  int jobs = 0;  // 0: processors
  int most_pairs = 40;
  // Of kernels as sources.
  int walks = 0;
  int depth = 3;
  std::string task = "apply";
  double judged_share = 1.0;  // of the kernels
  // generate
  std::vector<std::string> families;
  std::uint64_t per_family = 10;
  // verify
  int sample = 0;  // 0: all
  // show
  std::string id;
  bool no_parquet = false;
  bool quiet = false;
  FleetFlags fleet;
};

}  // namespace regraph::cli
