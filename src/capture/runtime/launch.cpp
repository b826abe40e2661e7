// Launches: the configuration that <<<>>> pushes, the arguments by the layout of the kernel's
// parameters. They are executed before the call returns, whatever their stream.
#include "capture/runtime/runtime_state.h"
#include "capture/runtime/server_connection.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace {

using namespace regraph::capture;  // NOLINT: these are the library's own functions

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
};

std::vector<Configuration>& pushed() {
  static thread_local std::vector<Configuration> configurations;
  return configurations;
}

cudaError_t launch(const void* function, const Configuration& with, void** arguments,
                   bool cooperative) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (state.sticky_error != cudaSuccess) return state.note(state.sticky_error);
  Kernel* kernel = find_kernel(state, function);
  if (kernel == nullptr) return state.note(cudaErrorInvalidDeviceFunction);
  if (const cudaError_t error = learn(*kernel); error != cudaSuccess) return state.note(error);
  const KernelAnswer& known = *kernel->known;
  std::vector<char> block(known.parameter_bytes);
  for (std::uint32_t i = 0; i < known.parameters; ++i)
    std::memcpy(block.data() + known.slots[i].offset, arguments[i], known.slots[i].bytes);
  Launch request;
  request.kernel = known.kernel;
  const unsigned grid[3] = {with.grid.x, with.grid.y, with.grid.z};
  const unsigned threads[3] = {with.block.x, with.block.y, with.block.z};
  std::memcpy(request.grid, grid, sizeof grid);
  std::memcpy(request.block, threads, sizeof threads);
  request.dynamic_shared_bytes = static_cast<std::uint32_t>(with.shared_bytes);
  request.stream = reinterpret_cast<std::uint64_t>(with.stream);
  request.parameter_bytes = known.parameter_bytes;
  request.cooperative = cooperative ? 1 : 0;
  return state.note_answer(
      ask(RequestKind::launch, {&request, sizeof request}, {block.data(), block.size()}).status);
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     CUstream_st* stream) {
  pushed().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (pushed().empty()) return cudaErrorMissingConfiguration;
  const Configuration top = pushed().back();
  pushed().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<void**>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, {grid, block, shared_bytes, stream}, arguments, false);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch(function, {grid, block, shared_bytes, stream}, arguments, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes,
                                        cudaStream_t stream) {
  return launch(function, {grid, block, shared_bytes, stream}, arguments, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* with, const void* function,
                                void** arguments) {
  return launch(function, {with->gridDim, with->blockDim, with->dynamicSmemBytes, with->stream},
                arguments, false);
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return cudaSuccess;
}
cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) {
  return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char** name, const void* function) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  const Kernel* kernel = find_kernel(state, function);
  if (kernel == nullptr) return state.note(cudaErrorInvalidDeviceFunction);
  *name = kernel->name.c_str();
  return state.note(cudaSuccess);
}
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  *kernel = reinterpret_cast<cudaKernel_t>(find_kernel(state, function));
  return state.note(*kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  Kernel* kernel = find_kernel(state, function);
  if (kernel == nullptr) return state.note(cudaErrorInvalidDeviceFunction);
  if (const cudaError_t error = learn(*kernel); error != cudaSuccess) return state.note(error);
  const DeviceFacts& device = device_of(state);
  *attributes = {};
  attributes->sharedSizeBytes = kernel->known->static_shared_bytes;
  attributes->numRegs = kernel->known->registers;
  attributes->maxThreadsPerBlock = 1024;
  attributes->ptxVersion = attributes->binaryVersion = device.major * 10 + device.minor;
  attributes->maxDynamicSharedSizeBytes = device.shared_bytes_per_block;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_threads, std::size_t dynamic_bytes, unsigned) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  Kernel* kernel = find_kernel(state, function);
  if (kernel == nullptr || block_threads <= 0) return state.note(cudaErrorInvalidValue);
  if (const cudaError_t error = learn(*kernel); error != cudaSuccess) return state.note(error);
  const DeviceFacts& device = device_of(state);
  const int warps = (block_threads + 31) / 32;
  int fit = device.threads_per_multiprocessor / (warps * 32);
  // Registers come in units of 256 a warp.
  const int registers =
      kernel->known->registers > 0 ? (kernel->known->registers * 32 + 255) / 256 * 256 : 0;
  if (registers > 0) fit = std::min(fit, device.registers_per_multiprocessor / registers / warps);
  const auto shared =
      static_cast<std::int64_t>(kernel->known->static_shared_bytes + dynamic_bytes) +
      device.reserved_shared_bytes_per_block;
  if (shared > 0)
    fit = std::min(fit, static_cast<int>(device.shared_bytes_per_multiprocessor / shared));
  *blocks = std::min(fit, device.blocks_per_multiprocessor);
  return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                      int blocks, int) {
  constexpr int kSharedUnit = 128;
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  Kernel* kernel = find_kernel(state, function);
  if (kernel == nullptr || blocks <= 0) return state.note(cudaErrorInvalidValue);
  if (const cudaError_t error = learn(*kernel); error != cudaSuccess) return state.note(error);
  const DeviceFacts& device = device_of(state);
  const int each = device.shared_bytes_per_multiprocessor / blocks / kSharedUnit * kSharedUnit -
                   device.reserved_shared_bytes_per_block;
  const auto most = static_cast<std::int64_t>(
      std::min(each, static_cast<int>(device.shared_bytes_per_block_with_opt_in)));
  const auto left = most - static_cast<std::int64_t>(kernel->known->static_shared_bytes);
  *bytes = static_cast<std::size_t>(std::max<std::int64_t>(left, 0));
  return state.note(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_threads,
                                                          std::size_t dynamic_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                                dynamic_bytes, 0);
}

}  // extern "C"
