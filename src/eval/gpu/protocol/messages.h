// What the evaluator and its GPU worker say to each other: CBOR maps in frames (base/
// service_process.h). Bulk data lies in memory that both share. The worker's process has run
// foreign device code, so what it says is read as foreign.
#pragma once

#include "base/result.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::gpu {

// A stretch of the shared memory, in bytes.
struct Stretch {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct OpenRequest {
  int device = 0;                     // ordinal among those that CUDA shows the worker
  std::vector<std::uint8_t> harness;  // cubin of harness_kernels.h
};

struct ProbeRequest {
  int device = 0;
};

// What the driver says of the GPU.
struct DeviceProperties {
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // "sm_90"
  std::string bus_id;
  int device_count = 0;
  int driver_version = 0;  // 13000 for CUDA 13.0
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  int sm_count = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t shared_bytes_per_block = 0;  // with opt-in
  double clock_hertz = 0.0;                  // highest of the SMs
  double memory_clock_hertz = 0.0;
  int memory_bus_bits = 0;
  bool device_reads_host_memory = false;  // any pageable memory of the process
};

// cuModuleLoadData, and the functions that launches name by their position.
struct FunctionRequest {
  std::string entry;
  std::uint32_t dynamic_shared_bytes = 0;
};
struct LoadRequest {
  std::vector<std::uint8_t> cubin;
  std::vector<FunctionRequest> functions;
};
struct FunctionProperties {
  int registers = 0;
  int static_shared_bytes = 0;
  int local_bytes = 0;
  int max_threads = 0;
};
struct LoadResponse {
  int module = 0;
  std::vector<FunctionProperties> functions;
};

// Where a buffer lies in its mapping: guarded ones end (or begin) where an unmapped page does. An
// exact one is an allocation of just its bytes, which tools that know allocations watch closely.
enum class Placement : std::uint8_t { plain, at_end, at_start, exact };

struct BufferRequest {
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 256;  // of the address; at_end gives up no more than that
  std::uint32_t offset = 0;       // the address is that many bytes off a multiple of the alignment
  Placement placement = Placement::plain;
  bool read_only = false;  // once its content is there; plain ones are never
  Stretch content;         // what it holds; 0 bytes: anything
};
struct AllocateRequest {
  std::vector<BufferRequest> buffers;
};
struct AllocateResponse {
  std::vector<int> buffers;  // their names
  std::vector<std::uint64_t> addresses;
};
struct FreeRequest {
  std::vector<int> buffers;
  std::vector<int> modules;
};

struct SymbolRequest {
  int module = 0;
  std::string name;
  Stretch content;
};

struct LaunchMessage {
  int module = 0;
  int function = 0;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::vector<std::uint8_t> parameters;
};

// Buffer to shared memory.
struct ReadMessage {
  int buffer = 0;
  std::uint64_t offset = 0;
};

struct CopyMessage {
  int target = 0;
  int source = 0;
};

// Runs launches once, in order, and reads buffers back.
struct RunRequest {
  std::vector<LaunchMessage> launches;
  std::vector<ReadMessage> reads;
  double timeout_seconds = 2.0;
};
struct RunResponse {
  std::vector<int> damaged;  // buffers beside which something was written
};

// What one sample runs: restoring and poisoning are not timed.
struct TimedPlan {
  std::vector<LaunchMessage> launches;
  std::vector<CopyMessage> restores;
  std::vector<int> poisons;
};
struct TimeRequest {
  std::vector<TimedPlan> plans;
  std::vector<std::uint32_t> samples;  // position in `plans` of each sample, in order
  bool cold = true;                    // the L2 is swept before each sample
  bool as_graph = false;               // submitted as one graph: no host between samples
  std::uint64_t poison_seed = 0;
  double timeout_seconds = 10.0;
};
struct TimeResponse {
  std::vector<double> seconds;  // one a sample
  double clock_hertz = 0.0;     // of the SMs, over all samples
  double wall_seconds = 0.0;    // from the first submission to the last event
};

// Counts what a plan does, once, cold.
struct ProfileRequest {
  TimedPlan plan;
  int tier = 0;                    // CounterTier
  std::vector<std::string> cupti;  // files that may be CUPTI, best first
  std::uint64_t poison_seed = 0;
  double timeout_seconds = 60.0;  // of one launch
};
struct ProfileResponse {
  std::map<std::string, double> values;  // by CUPTI's names
  int passes = 0;
};

// Instead of an answer, as the E of Result<T, Failure>. One that is final has ended the worker.
struct Failure {
  int cuda = 0;        // CUresult, 0: not CUDA's
  bool final = false;  // the worker's context is lost, and it ends
  bool timeout = false;
  std::string message;  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
};

// {"op": name, ...fields}
template <typename T>
[[nodiscard]] std::string encode(std::string_view operation, const T& fields);
// The bytes of a frame as a map. Error: parse.
[[nodiscard]] Result<nlohmann::json> decode(std::string_view bytes);
// The operation that a map names, empty when it names none.
[[nodiscard]] std::string operation_of(const nlohmann::json& map);
// The fields of a map. Error: parse, when one is missing or of another type.
template <typename T>
[[nodiscard]] Result<T> fields_of(const nlohmann::json& map);

#define REGRAPH_MESSAGE NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE
REGRAPH_MESSAGE(Stretch, offset, bytes)
REGRAPH_MESSAGE(OpenRequest, device, harness)
REGRAPH_MESSAGE(ProbeRequest, device)
REGRAPH_MESSAGE(DeviceProperties, name, architecture, bus_id, device_count, driver_version,
                total_bytes, free_bytes, sm_count, l2_bytes, shared_bytes_per_block, clock_hertz,
                memory_clock_hertz, memory_bus_bits, device_reads_host_memory)
REGRAPH_MESSAGE(FunctionRequest, entry, dynamic_shared_bytes)
REGRAPH_MESSAGE(LoadRequest, cubin, functions)
REGRAPH_MESSAGE(FunctionProperties, registers, static_shared_bytes, local_bytes, max_threads)
REGRAPH_MESSAGE(LoadResponse, module, functions)
REGRAPH_MESSAGE(BufferRequest, bytes, alignment, offset, placement, read_only, content)
REGRAPH_MESSAGE(AllocateRequest, buffers)
REGRAPH_MESSAGE(AllocateResponse, buffers, addresses)
REGRAPH_MESSAGE(FreeRequest, buffers, modules)
REGRAPH_MESSAGE(SymbolRequest, module, name, content)
REGRAPH_MESSAGE(LaunchMessage, module, function, grid, block, shared_bytes, parameters)
REGRAPH_MESSAGE(ReadMessage, buffer, offset)
REGRAPH_MESSAGE(CopyMessage, target, source)
REGRAPH_MESSAGE(RunRequest, launches, reads, timeout_seconds)
REGRAPH_MESSAGE(RunResponse, damaged)
REGRAPH_MESSAGE(TimedPlan, launches, restores, poisons)
REGRAPH_MESSAGE(TimeRequest, plans, samples, cold, as_graph, poison_seed, timeout_seconds)
REGRAPH_MESSAGE(TimeResponse, seconds, clock_hertz, wall_seconds)
REGRAPH_MESSAGE(ProfileRequest, plan, tier, cupti, poison_seed, timeout_seconds)
REGRAPH_MESSAGE(ProfileResponse, values, passes)
REGRAPH_MESSAGE(Failure, cuda, final, timeout, message)
#undef REGRAPH_MESSAGE

template <typename T>
std::string encode(std::string_view operation, const T& fields) {
  nlohmann::json map = fields;
  map["op"] = operation;
  std::string bytes;
  nlohmann::json::to_cbor(map, bytes);
  return bytes;
}

template <typename T>
Result<T> fields_of(const nlohmann::json& map) {
  // The library's only way to say so.
  try {
    return map.get<T>();
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::parse, std::string("malformed message: ") + problem.what());
  }
}

}  // namespace regraph::gpu
