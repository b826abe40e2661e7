// What the evaluator and its GPU worker say to each other: CBOR maps in frames (base/
// service_process.h). Bulk data lies in memory that both share. The worker's process has run
// foreign device code, so what it says is read as foreign.
#pragma once

#include "base/result.h"
#include "eval/gpu/protocol/device_properties.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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

// Instead of an answer that holds nothing.
struct Nothing {};

// What a frame holds: the name of an operation and fields. Immutable, cheap to copy.
class Message {
 public:
  // Reads a frame. Error: parse.
  [[nodiscard]] static Result<Message> decode(std::string_view bytes);

  // The operation that it names, empty when it names none.
  [[nodiscard]] std::string operation() const;
  // The fields of one of the structs above. Error: parse, when one is missing or of another type.
  template <typename T>
  [[nodiscard]] Result<T> fields() const;

 private:
  explicit Message(std::shared_ptr<const nlohmann::json> map) : map_(std::move(map)) {}

  std::shared_ptr<const nlohmann::json> map_;
};

// A frame: {"op": operation, ...fields}.
template <typename T>
[[nodiscard]] std::string encode(std::string_view operation, const T& fields);

// For people: JSON, indented.
[[nodiscard]] std::string readable(const DeviceProperties& properties);

}  // namespace regraph::gpu
