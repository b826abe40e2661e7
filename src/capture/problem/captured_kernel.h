// What a program's launches of one kernel were, as a folder:
//
//     capture.json   this file's struct: program, symbol, launches with their pointers
//     kernel.cu      the source, with own headers put in
//     data/HASH.zst  contents of allocations before a launch (kernel/captured_data.h)
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph::capture {

// A pointer among the parameters, or in a structure among them.
struct KeptPointer {
  std::uint32_t parameter = 0;
  std::uint32_t byte = 0;        // in the parameter
  std::uint64_t allocation = 0;  // number of the program's allocation
  std::uint64_t offset = 0;      // bytes from its begin
  std::uint64_t bytes = 0;       // from the pointer to its end
  std::string data;              // file of the allocation's content; empty: it was not kept
};

// A variable of the kernel's module.
struct KeptVariable {
  std::string name;  // mangled
  std::uint64_t bytes = 0;
  std::string data;
};

// How one kernel of several was launched.
struct StageLaunch {
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared_bytes = 0;
};

struct KeptLaunch {
  std::uint64_t run = 0;       // 0: the program; 1, 2, ...: the further ones that were asked for
  std::uint64_t sequence = 0;  // among the launches of the kernel, from 1
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  // the block as it was passed
  std::vector<KeptPointer> pointers;
  std::vector<KeptVariable> variables;
  std::uint64_t thread_instructions = 0;  // 0: it was not executed
  // Of several kernels in a row: each one's; grid, block and shared bytes above are the first's.
  std::vector<StageLaunch> stages = {};

  // Of all stages.
  [[nodiscard]] std::uint64_t threads() const;
};

// A parameter in the block.
struct KeptSlot {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// One of several kernels that are launched in a row and are one problem.
struct KernelStage {
  std::string symbol;
  std::size_t slots = 0;  // so many of CapturedKernel::slots are its own
};

struct CapturedKernel {
  std::string symbol;                // of several: of the one to be made faster
  std::vector<std::string> command;  // of the program
  std::string directory;             // that it ran in
  std::string device;                // it was told to run on
  std::string output_hash;           // of what it wrote to standard output
  int exit_code = 0;
  std::uint64_t launches = 0;             // of the kernel in all
  std::uint64_t thread_instructions = 0;  // of all; 0: they ran on a GPU
  double seconds = 0.0;                   // of all on the GPU that they ran on; 0: on none
  bool overlapping = false;               // in some launch two pointers led into one allocation
  std::string source;                     // where it was found; empty: it was not
  // In the order of their launches; empty: it is one kernel. Slots, and parameter blocks of the
  // kept launches, are those of all one after the other.
  std::vector<KernelStage> stages;
  std::vector<KeptSlot> slots;
  std::vector<KeptLaunch> kept;       // the largest of run 0 first
  std::vector<std::string> left_out;  // what was not kept, and why
};

// The slots of one of its kernels, in that one's own parameter block; all where it is one kernel.
// Empty: there is no such stage.
[[nodiscard]] std::vector<KeptSlot> slots_of(const CapturedKernel& kernel,
                                             const std::string& symbol);

inline constexpr std::size_t kMostStages = 64;  // as many as a manifest's `launches`

inline constexpr const char* kCaptureFile = "capture.json";
inline constexpr const char* kCapturedSource = "kernel.cu";
inline constexpr const char* kCapturedData = "data";

// Writes capture.json into the folder, which only the user may read. Error: io.
[[nodiscard]] Status write_captured_kernel(const std::filesystem::path& folder,
                                           const CapturedKernel& kernel);

// Reads it back. Errors name the file: not_found, invalid_argument (not such a file, or damaged).
[[nodiscard]] Result<CapturedKernel> read_captured_kernel(const std::filesystem::path& folder);

}  // namespace regraph::capture
