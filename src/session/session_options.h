// What a user may say about a session, its problem and its language model. Plain data.
#pragma once

#include "eval/gpu/protocol/device_properties.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regraph {

namespace fleet {
class Broker;  // fleet/queue/broker.h
}

// What is said about a kernel besides its file.
struct ProblemOptions {
  std::string kernel_file;                       // CUDA source, or a T1 file that names it
  std::string kernel;                            // "" or "name" or "name<float>"
  std::string function;                          // of sequential C++, in place of a kernel
  std::string manifest;                          // file; empty: beside the source or in it
  std::vector<std::string> defines;              // "TILE=16"
  std::vector<std::string> include_directories;  // for the kernel's own headers
  std::vector<std::string> sizes;                // "N=4096"
  std::string block;                             // "32x8"
  int launch_line = 0;  // of the launch in the file's host code that is meant; 0: the only one
};

struct OpenOptions {
  // For a manifest to be completed by hand: what is missing is listed instead of being an error.
  bool fill_in = false;
  std::uint64_t seed = 1;             // of the check's inputs, and of everything random later
  double evaluation_seconds = 180.0;  // one evaluation, or the check of the original, may take
  double program_seconds = 120.0;     // a captured program may take with the winner in it
  // Told what is done from now on, in words, while a problem is opened; may be empty.
  std::function<void(const std::string&)> on_phase = {};
};

// Who evaluates candidates where it is not this process, and asks language models.
struct FleetAccess {
  std::shared_ptr<fleet::Broker> broker;  // null: there is no fleet
  // Of workers that may evaluate (fleet/evaluator_version.h); empty: candidates are evaluated here.
  std::string version;
  // That workers of this version have, at present.
  std::vector<gpu::DeviceProperties> gpus = {};
  // Told what a user should know of workers; from any thread. May be empty.
  std::function<void(const std::string&)> report;
};

struct SessionOptions {
  ProblemOptions problem;
  std::string device;              // a name, an architecture, a .yaml file; empty: the GPU here
  std::string evaluator = "auto";  // a name of evaluator_kinds() (session/evaluators.h)
  // File of the ReGraph; empty: the shipped one; "published": that without what it has learned.
  std::string graph;
  // File; empty: the shipped one, which has learned from the rewriter's steps only; "none": priors
  // come from the graph alone.
  std::string policy;
  OpenOptions open;
  FleetAccess fleet;
};

}  // namespace regraph
