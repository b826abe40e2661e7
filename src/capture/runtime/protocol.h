// What a captured program's runtime asks of the process that captures it.
//
//   request:  RequestHead, then `bytes` bytes: the struct of its kind, then what that says
//   answer:   AnswerHead, then `bytes` bytes likewise; one descriptor with it for allocate,
//             and host_memory
//
// Over a stream socket of one machine: structs as they lie in memory. Both ends are of one build.
#pragma once

#include <cstdint>

namespace regraph::capture {

// Environment variable with the socket's path.
inline constexpr const char* kSocketVariable = "REGRAPH_CAPTURE_SOCKET";
inline constexpr std::uint32_t kProtocolVersion = 3;
inline constexpr std::uint32_t kMostParameters = 256;
inline constexpr std::uint64_t kLargestMessage = std::uint64_t{1} << 30;
// Larger copies to the device are the program's own, which says `access`.
inline constexpr std::uint64_t kLargestSentCopy = std::uint64_t{16} << 20;

enum class RequestKind : std::uint32_t {
  hello = 1,    // Hello -> DeviceFacts
  module,       // a fat binary -> ModuleAnswer
  kernel,       // NameInModule, name -> KernelAnswer
  variable,     // NameInModule, name -> VariableAnswer
  allocate,     // Allocation -> AllocationAnswer and a descriptor of the memory
  host_memory,  // HostMemory -> AllocationAnswer and a descriptor of its pages, zeros at first
  release,      // Address -> nothing
  launch,       // Launch, parameter block -> nothing
  read,         // Range -> bytes; of module variables
  write,        // Range, bytes -> nothing; variables and memory of the device
  fill,         // Fill -> nothing; likewise
  move,         // Move -> nothing; likewise
  access,       // Access -> nothing; before the program reads or writes device memory itself
  not_there,    // name of a function that this runtime lacks -> nothing
  // From a program on a GPU (capture/injection), about its launches:
  seen_kernel,    // its symbol -> SeenKernel, its slots, names of its module's variables with zeros
  seen_launch,    // SeenLaunch, SeenPointers, symbol, parameter block, slots -> SeenAnswer
  seen_content,   // SeenContent, a piece of an allocation or variable -> nothing
  seen_variable,  // SeenContent of `total` bytes, name -> nothing; its content follows
  seen_all,       // Hello -> nothing; the launch is about to begin
  seen_time,      // SeenTime, symbol -> nothing
  seen_trouble,   // a sentence -> nothing
};

struct RequestHead {
  RequestKind kind = RequestKind::hello;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
};

struct AnswerHead {
  std::int32_t status = 0;  // a cudaError_t
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
};

struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::uint32_t process = 0;
};

struct DeviceFacts {
  char name[128] = {};
  std::uint64_t total_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::int32_t major = 9;
  std::int32_t minor = 0;
  std::int32_t multiprocessors = 132;
  std::int32_t clock_kilohertz = 0;
  std::int32_t memory_bus_bits = 0;
  std::int32_t threads_per_multiprocessor = 2048;
  std::int32_t blocks_per_multiprocessor = 32;
  std::int32_t registers_per_multiprocessor = 65536;
  std::int32_t shared_bytes_per_multiprocessor = 0;
  std::int32_t shared_bytes_per_block = 49152;
  std::int32_t shared_bytes_per_block_with_opt_in = 0;
  std::int32_t reserved_shared_bytes_per_block = 1024;
};

struct ModuleAnswer {
  std::uint32_t module = 0;
};

struct NameInModule {
  std::uint32_t module = 0;
  std::uint32_t name_bytes = 0;
};

struct KernelAnswer {
  std::uint32_t kernel = 0;
  std::uint32_t parameters = 0;
  std::uint32_t parameter_bytes = 0;  // of the whole block
  std::int32_t registers = 0;
  std::uint64_t static_shared_bytes = 0;
  struct Slot {
    std::uint32_t offset;
    std::uint32_t bytes;
  } slots[kMostParameters];
};

struct VariableAnswer {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

enum class MemoryKind : std::uint32_t { device, pinned, managed };

struct Allocation {
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  std::uint32_t reserved = 0;
};

struct AllocationAnswer {
  std::uint64_t address = 0;
  std::uint64_t mapped_bytes = 0;
};

// Memory of the program's own, which is to be the device's, too.
struct HostMemory {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t mapped_begin = 0;  // of the pages that it lies on
  std::uint64_t mapped_bytes = 0;
};

struct Address {
  std::uint64_t address = 0;
};

struct Range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct Fill {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;  // of a byte
  std::uint32_t reserved = 0;
};

struct Move {
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
};

struct Access {
  std::uint32_t writes = 0;
  std::uint32_t reserved = 0;
};

struct Launch {
  std::uint32_t kernel = 0;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t cooperative = 0;
};

// What the program's file says of a kernel. Nothing is known: without slots.
struct SeenKernel {
  std::uint32_t is_known = 0;
  std::uint32_t slots = 0;  // KernelAnswer::Slot
};

struct SeenPointer {
  std::uint32_t parameter = 0;
  std::uint32_t byte = 0;
  std::uint64_t base = 0;    // of its allocation
  std::uint64_t bytes = 0;   // of that
  std::uint64_t offset = 0;  // in it
};

struct SeenLaunch {
  std::uint32_t process = 0;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t slots = 0;
  std::uint32_t pointers = 0;
  std::uint32_t symbol_bytes = 0;
  std::uint32_t parameter_bytes = 0;
  std::uint64_t not_shown = 0;  // launches of the kernel since the last one that was
};

struct SeenAnswer {
  std::uint32_t wants_contents = 0;
  std::uint32_t reserved = 0;
  double quiet_threads = 0.0;  // as LaunchObserver::quiet_threads
};

struct SeenContent {
  std::uint32_t process = 0;
  std::uint32_t is_variable = 0;
  std::uint64_t base = 0;    // of the allocation or variable
  std::uint64_t offset = 0;  // of this piece
  std::uint64_t total = 0;
};

struct SeenTime {
  double seconds = 0.0;
  std::uint64_t not_shown = 0;
};

}  // namespace regraph::capture
