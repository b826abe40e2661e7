// A driver whose GPU has memory but no processors: everything succeeds, copies are copies, launches
// do nothing. CUDA_VISIBLE_DEVICES, which the worker is given, makes it `taken` by another process,
// `exclusive` to one, or `faulty`: launches fail.
#include "eval/gpu/driver/driver_api.h"

#include <cstdlib>
#include <cstring>

#define FAKE_TEXT_OF(name) #name
#define FAKE_NAME_OF(name) FAKE_TEXT_OF(name)
#define FAKE(function, ...)                                        \
  int own_##function(__VA_ARGS__) __asm__(FAKE_NAME_OF(function)); \
  int own_##function(__VA_ARGS__)

namespace {
bool visible(const char* as) {
  const char* const devices = std::getenv("CUDA_VISIBLE_DEVICES");
  return devices != nullptr && std::strcmp(devices, as) == 0;
}
}  // namespace

extern "C" {
FAKE(cuDriverGetVersion, int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
FAKE(cuDeviceGetCount, int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
FAKE(cuDeviceGetName, char* text, int bytes, CUdevice) {
  std::strncpy(text, "NVIDIA Fake", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
FAKE(cuDeviceGetPCIBusId, char* text, int bytes, CUdevice) {
  std::strncpy(text, "0000:1b:00.0", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
FAKE(cuDeviceGetAttribute, int* value, int which, CUdevice) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      *value = visible("exclusive") ? CU_COMPUTEMODE_EXCLUSIVE_PROCESS : CU_COMPUTEMODE_DEFAULT;
      break;
    default:
      *value = 1;
  }
  return CUDA_SUCCESS;
}
FAKE(cuDeviceTotalMem, std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}
FAKE(cuMemGetInfo, std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}
FAKE(cuDevicePrimaryCtxRetain, CUcontext* context, CUdevice) {
  static int something = 0;
  if (visible("taken")) return CUDA_ERROR_DEVICE_UNAVAILABLE;
  *context = reinterpret_cast<CUcontext>(&something);
  return CUDA_SUCCESS;
}
// Guard pages are not to be had: who asks for them gets an error.
FAKE(cuMemAddressReserve) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuMemAlloc, CUdeviceptr* address, std::size_t bytes) {
  *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  return CUDA_SUCCESS;
}
FAKE(cuMemFree, CUdeviceptr address) {
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
FAKE(cuMemcpyHtoD, CUdeviceptr to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return CUDA_SUCCESS;
}
FAKE(cuMemcpyDtoH, void* to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return CUDA_SUCCESS;
}
FAKE(cuModuleGetGlobal) {
  return CUDA_ERROR_NOT_FOUND;
}
FAKE(cuFuncGetAttribute, int* value, int, CUfunction) {
  *value = 0;
  return CUDA_SUCCESS;
}
FAKE(cuEventQuery, CUevent) {
  return visible("faulty") ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}
FAKE(cuEventElapsedTime, float* milliseconds, CUevent, CUevent) {
  *milliseconds = 1.0F;
  return CUDA_SUCCESS;
}

// It would move the list a little further right each time.
// clang-format off
#define REST(X) \
  X(cuInit) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGet) X(cuCtxSetCurrent) \
  X(cuCtxSetLimit) X(cuCtxResetPersistingL2Cache) X(cuCtxSynchronize) X(cuModuleLoadData) \
  X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuLaunchKernel) X(cuLaunchKernelEx) \
  X(cuMemcpyDtoDAsync) X(cuMemsetD8) X(cuMemsetD8Async) X(cuStreamCreate) \
  X(cuStreamSynchronize) X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiate) \
  X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuEventCreate) X(cuEventDestroy) \
  X(cuEventRecord) X(cuEventRecordWithFlags) X(cuMemGetAllocationGranularity) \
  X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) \
  X(cuMemSetAccess)
// clang-format on
#define X(function)      \
  FAKE(function) {       \
    return CUDA_SUCCESS; \
  }
REST(X)
}
