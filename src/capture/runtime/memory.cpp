// Allocations and copies. Device memory is mapped here at its device address, so a copy to the host
// is a copy, once the process that captures knows of it; module variables lie there, and what
// changes device memory is its work, unless it is large: it may know what comes out.
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
  state.allocations[given.address] = {given.address, bytes, given.mapped_bytes, kind, false};
  *pointer = mapped;
  return state.note(cudaSuccess);
}

cudaError_t allocate_rows(void** pointer, std::size_t& pitch, std::size_t width, std::size_t rows) {
  std::size_t bytes = ~std::size_t{0};  // more than there is
  if (!__builtin_add_overflow(width, kPitch - 1, &pitch)) {
    pitch = pitch / kPitch * kPitch;
    if (__builtin_mul_overflow(pitch, rows, &bytes)) bytes = ~std::size_t{0};
  }
  return allocate(pointer, bytes, MemoryKind::device);
}

cudaError_t release(void* pointer) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (pointer == nullptr) return state.note(cudaSuccess);
  const auto place = state.allocations.find(address_of(pointer));
  if (place == state.allocations.end() || place->second.registered)
    return state.note(cudaErrorInvalidValue);
  const Address request{place->first};
  (void)ask(RequestKind::release, {&request, sizeof request});
  ::munmap(pointer, place->second.mapped_bytes);
  state.allocations.erase(place);
  return state.note(cudaSuccess);
}

// Where an address lies, as the program sees it.
enum class Place { host, mapped, variable };

Place place_of(const RuntimeState& state, std::uint64_t address) {
  if (state.find(address) != nullptr) return Place::mapped;
  for (const auto& [shadow, variable] : state.variables) {
    if (variable.known && address >= variable.known->address &&
        address < variable.known->address + variable.known->bytes) {
      return Place::variable;
    }
  }
  return Place::host;
}

int read_remote(void* to, std::uint64_t from, std::size_t bytes) {
  const Range range{from, bytes};
  const Answer answer = ask(RequestKind::read, {&range, sizeof range});
  if (answer.status != cudaSuccess) return answer.status;
  if (answer.payload.size() != bytes) return cudaErrorInvalidValue;
  std::memcpy(to, answer.payload.data(), bytes);
  return cudaSuccess;
}

int write_remote(std::uint64_t to, const void* from, std::size_t bytes) {
  const Range range{to, bytes};
  return ask(RequestKind::write, {&range, sizeof range}, {from, bytes}).status;
}

// Before this process reads or writes device memory.
int say_access(bool writes) {
  const Access access{writes ? 1U : 0U, 0};
  return ask(RequestKind::access, {&access, sizeof access}).status;
}

// Whether a range that begins in an allocation ends in it, too.
bool fits(const RuntimeState& state, std::uint64_t address, std::size_t bytes) {
  const MappedMemory* memory = state.find(address);
  return memory == nullptr || bytes <= memory->begin + memory->bytes - address;
}

int copy_bytes(RuntimeState& state, void* to, const void* from, std::size_t bytes) {
  const Place target = place_of(state, address_of(to));
  const Place source = place_of(state, address_of(from));
  if (target != Place::host && source != Place::host) {
    const Move request{address_of(to), address_of(from), bytes};
    return ask(RequestKind::move, {&request, sizeof request}).status;
  }
  if (source == Place::variable) return read_remote(to, address_of(from), bytes);
  if (target == Place::variable || (target == Place::mapped && bytes <= kLargestSentCopy))
    return write_remote(address_of(to), from, bytes);
  const bool both_host = target == Place::host && source == Place::host;
  const int status = both_host ? cudaSuccess : say_access(target == Place::mapped);
  if (status == cudaSuccess) std::memmove(to, from, bytes);
  return status;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (state.sticky_error != cudaSuccess || bytes == 0) return state.note(cudaSuccess);
  if (!fits(state, address_of(to), bytes) || !fits(state, address_of(from), bytes))
    return state.note(cudaErrorInvalidValue);
  return state.note_answer(copy_bytes(state, to, from, bytes));
}

// A box of bytes: rows of `width`, `height` of them in a slice, `depth` slices.
struct Box {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  [[nodiscard]] bool empty() const { return width == 0 || height == 0 || depth == 0; }
};
struct Pitch {
  std::size_t row = 0;
  std::size_t slice = 0;
  // From the first byte of a box to behind its last.
  [[nodiscard]] std::size_t span(const Box& box) const {
    return (box.depth - 1) * slice + (box.height - 1) * row + box.width;
  }
};

cudaError_t copy_box(void* to, const Pitch& to_pitch, const void* from, const Pitch& from_pitch,
                     const Box& box) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (box.width > to_pitch.row || box.width > from_pitch.row)
    return state.note(cudaErrorInvalidPitchValue);
  if (state.sticky_error != cudaSuccess || box.empty()) return state.note(cudaSuccess);
  if (!fits(state, address_of(to), to_pitch.span(box)) ||
      !fits(state, address_of(from), from_pitch.span(box))) {
    return state.note(cudaErrorInvalidValue);
  }
  const Place target = place_of(state, address_of(to));
  const Place source = place_of(state, address_of(from));
  const bool remote = target == Place::variable || source == Place::variable;
  int status = cudaSuccess;
  if (!remote && (target == Place::mapped || source == Place::mapped))
    status = say_access(target == Place::mapped);
  for (std::size_t slice = 0; slice < box.depth; ++slice) {
    for (std::size_t row = 0; row < box.height && status == cudaSuccess; ++row) {
      char* const at = static_cast<char*>(to) + slice * to_pitch.slice + row * to_pitch.row;
      const char* const values =
          static_cast<const char*>(from) + slice * from_pitch.slice + row * from_pitch.row;
      if (remote) {
        status = copy_bytes(state, at, values, box.width);
      } else {
        std::memmove(at, values, box.width);
      }
    }
  }
  return state.note_answer(status);
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height) {
  return copy_box(to, {to_pitch, 0}, from, {from_pitch, 0}, {width, height, 1});
}

cudaError_t copy_3d(const cudaMemcpy3DParms* with) {
  if (with->srcArray != nullptr || with->dstArray != nullptr)
    return not_there("cudaMemcpy3D of an array");
  const auto pitch_of = [](const cudaPitchedPtr& pointer) {
    return Pitch{pointer.pitch, pointer.pitch * pointer.ysize};
  };
  const auto at = [](const cudaPitchedPtr& pointer, const Pitch& pitch, const cudaPos& where) {
    return static_cast<char*>(pointer.ptr) + where.z * pitch.slice + where.y * pitch.row + where.x;
  };
  const Pitch to = pitch_of(with->dstPtr);
  const Pitch from = pitch_of(with->srcPtr);
  return copy_box(at(with->dstPtr, to, with->dstPos), to, at(with->srcPtr, from, with->srcPos),
                  from, {with->extent.width, with->extent.height, with->extent.depth});
}

int set_bytes(void* to, int value, std::size_t bytes) {
  const Fill request{address_of(to), bytes, static_cast<unsigned char>(value), 0};
  return ask(RequestKind::fill, {&request, sizeof request}).status;
}

cudaError_t set(void* to, int value, std::size_t bytes) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (state.sticky_error != cudaSuccess || bytes == 0) return state.note(cudaSuccess);
  return state.note_answer(set_bytes(to, value, bytes));
}

cudaError_t set_box(void* to, const Pitch& pitch, int value, const Box& box) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (box.width > pitch.row) return state.note(cudaErrorInvalidValue);
  if (state.sticky_error != cudaSuccess || box.empty()) return state.note(cudaSuccess);
  if (place_of(state, address_of(to)) != Place::mapped ||
      !fits(state, address_of(to), pitch.span(box))) {
    return state.note(cudaErrorInvalidValue);
  }
  const int status = say_access(true);
  for (std::size_t slice = 0; slice < box.depth; ++slice) {
    for (std::size_t row = 0; row < box.height && status == cudaSuccess; ++row)
      std::memset(static_cast<char*>(to) + slice * pitch.slice + row * pitch.row, value, box.width);
  }
  return state.note_answer(status);
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
  return allocate_rows(pointer, *pitch, width, height);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  *pointer = {nullptr, 0, extent.width, extent.height};
  std::size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) rows = ~std::size_t{0};
  return allocate_rows(&pointer->ptr, pointer->pitch, extent.width, rows);
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
  return set_box(to, {pitch, 0}, value, {width, height, 1});
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t) {
  return set_box(to, {pitch, 0}, value, {width, height, 1});
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return set_box(to.ptr, {to.pitch, to.pitch * to.ysize}, value,
                 {extent.width, extent.height, extent.depth});
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t) {
  return cudaMemset3D(to, value, extent);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* with) {
  return copy_3d(with);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* with, cudaStream_t) {
  return copy_3d(with);
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
