// Allocations and copies. Device memory is mapped here at its device address, so a copy is a copy;
// only module variables lie in the other process and are asked for.
#include "capture/runtime/runtime_state.h"
#include "capture/runtime/server_connection.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace regraph::capture;  // NOLINT: these are the library's own functions

constexpr std::size_t kPitch = 512;

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (pointer == nullptr) return state.note(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return state.note(cudaSuccess);
  const Allocation request{bytes, kind, 0};
  const Answer answer = ask(RequestKind::allocate, {&request, sizeof request});
  AllocationAnswer given;
  void* mapped = MAP_FAILED;
  if (answer.status == cudaSuccess && answer.read(given)) {
    mapped = ::mmap(reinterpret_cast<void*>(given.address), given.mapped_bytes,
                    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, answer.descriptor, 0);
  }
  if (answer.descriptor >= 0) ::close(answer.descriptor);
  if (mapped == MAP_FAILED) return state.note(cudaErrorMemoryAllocation);
  state.allocations[given.address] = {given.address, bytes, given.mapped_bytes, kind};
  *pointer = mapped;
  return state.note(cudaSuccess);
}

cudaError_t release(void* pointer) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (pointer == nullptr) return state.note(cudaSuccess);
  const auto place = state.allocations.find(address_of(pointer));
  if (place == state.allocations.end()) return state.note(cudaErrorInvalidValue);
  const Address request{place->first};
  (void)ask(RequestKind::release, {&request, sizeof request});
  ::munmap(pointer, place->second.mapped_bytes);
  state.allocations.erase(place);
  return state.note(cudaSuccess);
}

// Whether it is memory of a module variable, which is not mapped here.
bool is_variable(const RuntimeState& state, std::uint64_t address) {
  for (const auto& [shadow, variable] : state.variables) {
    if (variable.known && address >= variable.known->address &&
        address < variable.known->address + variable.known->bytes) {
      return true;
    }
  }
  return false;
}

cudaError_t read_remote(void* to, std::uint64_t from, std::size_t bytes) {
  const Range range{from, bytes};
  const Answer answer = ask(RequestKind::read, {&range, sizeof range});
  if (answer.status != cudaSuccess) return static_cast<cudaError_t>(answer.status);
  if (answer.payload.size() != bytes) return cudaErrorInvalidValue;
  std::memcpy(to, answer.payload.data(), bytes);
  return cudaSuccess;
}

cudaError_t write_remote(std::uint64_t to, const void* from, std::size_t bytes) {
  const Range range{to, bytes};
  return static_cast<cudaError_t>(
      ask(RequestKind::write, {&range, sizeof range}, {from, bytes}).status);
}

// Whether a range that begins in an allocation ends in it, too.
bool fits(const RuntimeState& state, std::uint64_t address, std::size_t bytes) {
  const MappedMemory* memory = state.find(address);
  return memory == nullptr || address + bytes <= memory->begin + memory->bytes;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (state.sticky_error != cudaSuccess || bytes == 0) return state.note(cudaSuccess);
  if (!fits(state, address_of(to), bytes) || !fits(state, address_of(from), bytes))
    return state.note(cudaErrorInvalidValue);
  const bool to_variable = is_variable(state, address_of(to));
  if (is_variable(state, address_of(from))) {
    if (!to_variable) return state.note(read_remote(to, address_of(from), bytes));
    std::string between(bytes, '\0');
    const cudaError_t error = read_remote(between.data(), address_of(from), bytes);
    if (error != cudaSuccess) return state.note(error);
    return state.note(write_remote(address_of(to), between.data(), bytes));
  }
  if (to_variable) return state.note(write_remote(address_of(to), from, bytes));
  std::memmove(to, from, bytes);
  return state.note(cudaSuccess);
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height) {
  if (width > to_pitch || width > from_pitch) {
    const std::lock_guard lock(runtime().mutex);
    return runtime().note(cudaErrorInvalidPitchValue);
  }
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = copy(static_cast<char*>(to) + row * to_pitch,
                                   static_cast<const char*>(from) + row * from_pitch, width);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t set(void* to, int value, std::size_t bytes) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (state.sticky_error != cudaSuccess || bytes == 0) return state.note(cudaSuccess);
  if (is_variable(state, address_of(to))) {
    const std::string values(bytes, static_cast<char>(value));
    return state.note(write_remote(address_of(to), values.data(), bytes));
  }
  if (state.find(address_of(to)) == nullptr || !fits(state, address_of(to), bytes))
    return state.note(cudaErrorInvalidValue);
  std::memset(to, value, bytes);
  return state.note(cudaSuccess);
}

// The device address of a variable; 0 and an error where there is none.
std::uint64_t variable_address(RuntimeState& state, const void* symbol, std::size_t end,
                               cudaError_t& error) {
  const auto place = state.variables.find(symbol);
  error = place == state.variables.end() ? cudaErrorInvalidSymbol : learn(place->second);
  if (error == cudaSuccess && end > place->second.known->bytes) error = cudaErrorInvalidValue;
  return error == cudaSuccess ? place->second.known->address : 0;
}

cudaError_t symbol_copy(const void* symbol, std::size_t offset, std::size_t bytes, void* to,
                        const void* from) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  cudaError_t error = cudaSuccess;
  const std::uint64_t address = variable_address(state, symbol, offset + bytes, error);
  if (error != cudaSuccess) return state.note(error);
  void* place = reinterpret_cast<void*>(address + offset);
  return to != nullptr ? copy(to, place, bytes) : copy(place, from, bytes);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::device);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
  return allocate(pointer, bytes, MemoryKind::device);
}
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryKind::managed);
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::pinned);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryKind::pinned);
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate(pointer, *pitch * height, MemoryKind::device);
}

cudaError_t cudaFree(void* pointer) {
  return release(pointer);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  return release(pointer);
}
cudaError_t cudaFreeHost(void* pointer) {
  return release(pointer);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned* flags, void*) {
  *flags = cudaHostAllocDefault;
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height);
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return set(to, value, bytes);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return set(to, value, bytes);
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = set(static_cast<char*>(to) + row * pitch, value, width);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind) {
  return symbol_copy(symbol, offset, bytes, nullptr, from);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind, cudaStream_t) {
  return symbol_copy(symbol, offset, bytes, nullptr, from);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind) {
  return symbol_copy(symbol, offset, bytes, to, nullptr);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind, cudaStream_t) {
  return symbol_copy(symbol, offset, bytes, to, nullptr);
}
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  cudaError_t error = cudaSuccess;
  *address = reinterpret_cast<void*>(variable_address(state, symbol, 0, error));
  return state.note(error);
}
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  const auto place = state.variables.find(symbol);
  if (place == state.variables.end()) return state.note(cudaErrorInvalidSymbol);
  *bytes = place->second.bytes;
  return state.note(cudaSuccess);
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  std::uint64_t used = 0;
  for (const auto& [address, memory] : state.allocations)
    used += memory.kind == MemoryKind::device ? memory.bytes : 0;
  *total = device_of(state).total_bytes;
  *free_bytes = *total > used ? *total - used : 0;
  return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned,
                                 cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  *attributes = {};
  const MappedMemory* memory = state.find(address_of(pointer));
  if (memory == nullptr) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->hostPointer = const_cast<void*>(pointer);
    return state.note(cudaSuccess);
  }
  attributes->type = memory->kind == MemoryKind::managed  ? cudaMemoryTypeManaged
                     : memory->kind == MemoryKind::pinned ? cudaMemoryTypeHost
                                                          : cudaMemoryTypeDevice;
  attributes->devicePointer = const_cast<void*>(pointer);
  if (memory->kind != MemoryKind::device) attributes->hostPointer = const_cast<void*>(pointer);
  return state.note(cudaSuccess);
}

}  // extern "C"
