// What the program has registered and holds, as its runtime knows it.
#pragma once

#include "capture/runtime/protocol.h"

#include <cstdint>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace regraph::capture {

struct Module {
  const void* fat_binary = nullptr;  // sent when something of it is first used
  std::optional<std::uint32_t> id;
};

struct Kernel {
  Module* module = nullptr;
  std::string name;  // mangled
  std::optional<KernelAnswer> known;
  cudaError_t trouble = cudaSuccess;  // why it cannot be launched
};

struct Variable {
  Module* module = nullptr;
  std::string name;
  std::size_t bytes = 0;
  std::optional<VariableAnswer> known;
};

struct MappedMemory {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t mapped_bytes = 0;
  MemoryKind kind = MemoryKind::device;
  bool registered = false;  // the program's own
};

// All of it behind one lock, which every function of the runtime takes.
struct RuntimeState {
  std::recursive_mutex mutex;
  std::vector<std::unique_ptr<Module>> modules;
  std::unordered_map<const void*, std::unique_ptr<Kernel>> kernels;  // by the host's stub
  std::unordered_map<const void*, Variable> variables;               // by the host's shadow
  std::map<std::uint64_t, MappedMemory> allocations;                 // by first address
  std::optional<DeviceFacts> device;
  cudaError_t last_error = cudaSuccess;
  cudaError_t sticky_error = cudaSuccess;  // a kernel failed: nothing works any more

  // The allocation that holds the address, null for other memory.
  [[nodiscard]] const MappedMemory* find(std::uint64_t address) const;
  // Notes the error for cudaGetLastError, and returns it.
  cudaError_t note(cudaError_t error);
  // Likewise of an answer's status, which may say that a kernel failed.
  cudaError_t note_answer(int status);
};

// Never destroyed: programs call the runtime while they end.
[[nodiscard]] RuntimeState& runtime();

// The kernel of a stub or of a handle, null when it is neither.
[[nodiscard]] Kernel* find_kernel(RuntimeState& state, const void* stub_or_handle);
// Asks for what is not known yet of it. Errors: those that a launch gives.
[[nodiscard]] cudaError_t learn(Kernel& kernel);
[[nodiscard]] cudaError_t learn(Variable& variable);
[[nodiscard]] const DeviceFacts& device_of(RuntimeState& state);

// For a function that this runtime lacks: it is named to the process that captures.
cudaError_t not_there(const char* function);

}  // namespace regraph::capture
