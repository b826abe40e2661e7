// What regraph-train is asked for. Plain data.
#pragma once

#include "cli/fleet_flags.h"
#include "eval/model/device.h"
#include "learn/kernel_study.h"
#include "learn/policy_training.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::cli {

struct TrainOptions {
  std::vector<std::string> sources;  // folders of kernels, kernels, run directories, tables
  std::string device = kDefaultDevice;
  std::string evaluator = "model";
  std::string work = "regraph-training";  // folder for searches, kept between calls
  std::string output;                     // file
  std::string graph;                      // file; empty: the shipped one
  std::string policy;                     // file; empty: none
  std::vector<std::string> without;       // families to leave out
  std::vector<std::string> labels;        // of searches to learn from; empty: all
  std::string start = "published";        // priors that a loop starts from; as --graph, or "flat"
  int iterations = 3;                     // of a loop
  int evaluations = 60;
  int jobs = 0;  // 0: as many as there are processors
  int folds = 7;
  learn::SelectionChanges changes;       // of a search
  learn::PolicyTrainingConfig training;  // seed and threads aside
  std::vector<std::string> searchers = {"mcgs", "greedy"};
  std::vector<std::string> priors = {"published", "graph", "graph+run", "policy", "policy+run"};
  std::uint64_t seed = 1;
  int seeds = 1;  // searches of a method that draws lots are done with so many
  bool rankings_only = false;
  bool sealed = false;     // sealed families too
  bool any_build = false;  // evaluations that another build kept count, too
  bool quiet = false;
  FleetFlags fleet;
};

}  // namespace regraph::cli
