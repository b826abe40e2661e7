// The CUDA driver, loaded at run time: the same program starts on machines without one.
#pragma once

#include "base/result.h"

#include <cuda.h>
#include <string>

namespace regraph::gpu {

// Every function of the driver that is used. cuda.h renames some (cuMemAlloc is cuMemAlloc_v2); the
// names here are those before.
// clang-format off
#define REGRAPH_DRIVER_FUNCTIONS(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGet) \
  X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) \
  X(cuDeviceGetPCIBusId) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuCtxSetLimit) \
  X(cuCtxResetPersistingL2Cache) X(cuCtxSynchronize) X(cuModuleLoadData) X(cuModuleUnload) \
  X(cuModuleGetFunction) X(cuModuleGetGlobal) X(cuFuncGetAttribute) X(cuFuncSetAttribute) \
  X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH) \
  X(cuMemcpyDtoDAsync) X(cuMemsetD8) X(cuMemsetD8Async) X(cuMemGetInfo) X(cuStreamCreate) \
  X(cuStreamSynchronize) X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiate) \
  X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuEventCreate) X(cuEventDestroy) \
  X(cuEventRecord) X(cuEventRecordWithFlags) X(cuEventQuery) X(cuEventElapsedTime) \
  X(cuMemGetAllocationGranularity) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) \
  X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess)
// clang-format on

struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared cannot have any
#define X(function) decltype(&::function) function = nullptr;
  REGRAPH_DRIVER_FUNCTIONS(X)
#undef X

  // Loads libcuda and initialises it. Errors: not_found (no driver: what was tried), unsupported
  // (older than this program needs), resource (a driver that does not start, in its words).
  [[nodiscard]] static Result<Driver> load();

  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  [[nodiscard]] std::string describe(CUresult result) const;
};

// Whether a result means that the context is lost for good.
[[nodiscard]] bool is_sticky(CUresult result);

}  // namespace regraph::gpu
