// Pools of memory: allocations from any of them are allocations, and their settings are kept.
#include "capture/runtime/runtime_state.h"

namespace {

using namespace regraph::capture;  // NOLINT: these are the library's own functions

struct MemoryPool {
  std::map<int, std::uint64_t> attributes;
};

MemoryPool& default_pool() {
  static MemoryPool& pool = *new MemoryPool;
  return pool;
}
cudaMemPool_t handle_of(MemoryPool& pool) {
  return reinterpret_cast<cudaMemPool_t>(&pool);
}
MemoryPool* pool_of(cudaMemPool_t handle) {
  return reinterpret_cast<MemoryPool*>(handle);
}

cudaMemPool_t& current_pool() {
  static cudaMemPool_t pool = handle_of(default_pool());
  return pool;
}

// The first attributes are of type int, later ones of 64 bits.
bool is_narrow(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolReuseFollowEventDependencies ||
         attribute == cudaMemPoolReuseAllowOpportunistic ||
         attribute == cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  *pool = handle_of(default_pool());
  return state.note(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  *pool = current_pool();
  return state.note(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (device != 0 || pool == nullptr) return state.note(cudaErrorInvalidValue);
  current_pool() = pool;
  return state.note(cudaSuccess);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = handle_of(*new MemoryPool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (pool == nullptr || pool_of(pool) == &default_pool()) return state.note(cudaErrorInvalidValue);
  if (current_pool() == pool) current_pool() = handle_of(default_pool());
  delete pool_of(pool);
  return state.note(cudaSuccess);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (pool == nullptr || value == nullptr) return state.note(cudaErrorInvalidValue);
  pool_of(pool)->attributes[attribute] =
      is_narrow(attribute) ? static_cast<std::uint64_t>(*static_cast<const int*>(value))
                           : *static_cast<const std::uint64_t*>(value);
  return state.note(cudaSuccess);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (pool == nullptr || value == nullptr) return state.note(cudaErrorInvalidValue);
  const auto known = pool_of(pool)->attributes.find(attribute);
  const bool is_set = known != pool_of(pool)->attributes.end();
  if (is_narrow(attribute)) {
    *static_cast<int*>(value) = is_set ? static_cast<int>(known->second) : 1;
  } else {
    *static_cast<std::uint64_t*>(value) = is_set ? known->second : 0;
  }
  return state.note(cudaSuccess);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, std::size_t) {
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t,
                                    cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}

}  // extern "C"
