// What programs ask about the device: the one that is captured for.
#include "capture/runtime/runtime_state.h"

#include <cstring>

namespace {

using namespace regraph::capture;  // NOLINT: these are the library's own functions

constexpr int kRuntimeVersion = CUDART_VERSION;

constexpr char kBusId[] = "0000:01:00.0";

// What hardware says of them, until they are set.
std::map<int, std::size_t>& limits() {
  static auto& values = *new std::map<int, std::size_t>{{cudaLimitStackSize, 1024},
                                                        {cudaLimitPrintfFifoSize, 8 << 20},
                                                        {cudaLimitMallocHeapSize, 8 << 20},
                                                        {cudaLimitMaxL2FetchGranularity, 64},
                                                        {cudaLimitPersistingL2CacheSize, 0}};
  return values;
}

cudaError_t only_first(int device) {
  const std::lock_guard lock(runtime().mutex);
  return runtime().note(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

DeviceFacts facts() {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  return device_of(state);
}

// False for attributes that nothing is known of.
bool attribute_of(cudaDeviceAttr attribute, int& value) {
  const DeviceFacts device = facts();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      value = 1024;
      return true;
    case cudaDevAttrMaxBlockDimZ:
      value = 64;
      return true;
    case cudaDevAttrMaxGridDimX:
      value = 2147483647;
      return true;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      value = 65535;
      return true;
    case cudaDevAttrWarpSize:
      value = 32;
      return true;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      value = device.shared_bytes_per_block;
      return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      value = device.shared_bytes_per_block_with_opt_in;
      return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      value = device.shared_bytes_per_multiprocessor;
      return true;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      value = device.reserved_shared_bytes_per_block;
      return true;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      value = device.registers_per_multiprocessor;
      return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      value = device.threads_per_multiprocessor;
      return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      value = device.blocks_per_multiprocessor;
      return true;
    case cudaDevAttrTotalConstantMemory:
      value = 65536;
      return true;
    case cudaDevAttrMultiProcessorCount:
      value = device.multiprocessors;
      return true;
    case cudaDevAttrClockRate:
      value = device.clock_kilohertz;
      return true;
    case cudaDevAttrL2CacheSize:
      value = static_cast<int>(device.l2_bytes);
      return true;
    case cudaDevAttrComputeCapabilityMajor:
      value = device.major;
      return true;
    case cudaDevAttrComputeCapabilityMinor:
      value = device.minor;
      return true;
    case cudaDevAttrGlobalMemoryBusWidth:
      value = device.memory_bus_bits;
      return true;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCanMapHostMemory:
      value = 1;
      return true;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrComputeMode:
    case cudaDevAttrIntegrated:
    case cudaDevAttrEccEnabled:
      value = 0;
      return true;
    default:
      return false;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return only_first(device);
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return only_first(device);
}
cudaError_t cudaSetDeviceFlags(unsigned) {
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = kRuntimeVersion;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kRuntimeVersion;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return only_first(device);
  if (attribute_of(attribute, *value)) return cudaSuccess;
  return not_there("cudaDeviceGetAttribute of a rare attribute");
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  const std::lock_guard lock(runtime().mutex);
  limits()[limit] = value;
  return runtime().note(cudaSuccess);
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  const std::lock_guard lock(runtime().mutex);
  const auto known = limits().find(limit);
  if (known == limits().end()) return runtime().note(cudaErrorUnsupportedLimit);
  *value = known->second;
  return runtime().note(cudaSuccess);
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetValidDevices(int*, int) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) {
  if (device != 0 || bytes < static_cast<int>(sizeof kBusId)) return only_first(-1);
  std::memcpy(id, kBusId, sizeof kBusId);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  *device = 0;
  return only_first(std::strcmp(id, kBusId) == 0 ? 0 : -1);
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
  *value = 0;
  return only_first(-1);  // there are no two
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return only_first(-1);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
  return only_first(-1);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return only_first(device);
  const DeviceFacts known = facts();
  std::memset(properties, 0, sizeof *properties);
  std::memcpy(properties->name, known.name, sizeof known.name);
  properties->totalGlobalMem = known.total_bytes;
  properties->sharedMemPerBlock = known.shared_bytes_per_block;
  properties->sharedMemPerBlockOptin = known.shared_bytes_per_block_with_opt_in;
  properties->sharedMemPerMultiprocessor = known.shared_bytes_per_multiprocessor;
  properties->reservedSharedMemPerBlock = known.reserved_shared_bytes_per_block;
  properties->regsPerBlock = properties->regsPerMultiprocessor = known.registers_per_multiprocessor;
  properties->warpSize = 32;
  properties->memPitch = 2147483647;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->totalConstMem = 65536;
  properties->major = known.major;
  properties->minor = known.minor;
  properties->multiProcessorCount = known.multiprocessors;
  properties->maxThreadsPerMultiProcessor = known.threads_per_multiprocessor;
  properties->maxBlocksPerMultiProcessor = known.blocks_per_multiprocessor;
  properties->l2CacheSize = static_cast<int>(known.l2_bytes);
  properties->memoryBusWidth = known.memory_bus_bits;
  properties->unifiedAddressing = properties->managedMemory = properties->canMapHostMemory = 1;
  properties->concurrentKernels = properties->concurrentManagedAccess = 1;
  return cudaSuccess;
}

}  // extern "C"
