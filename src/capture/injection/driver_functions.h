// What is called of the driver that the program has loaded.
#pragma once

#include <cstddef>
#include <cuda.h>

namespace regraph::capture {

struct DriverFunctions {
  CUresult (*kernel_parameter)(CUkernel, std::size_t, std::size_t*, std::size_t*) = nullptr;
  CUresult (*function_parameter)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;
  CUresult (*kernel_name)(const char**, CUkernel) = nullptr;
  CUresult (*kernel_library)(CUlibrary*, CUkernel) = nullptr;
  CUresult (*library_global)(CUdeviceptr*, std::size_t*, CUlibrary, const char*) = nullptr;
  CUresult (*function_module)(CUmodule*, CUfunction) = nullptr;
  CUresult (*module_global)(CUdeviceptr*, std::size_t*, CUmodule, const char*) = nullptr;
  CUresult (*address_range)(CUdeviceptr*, std::size_t*, CUdeviceptr) = nullptr;
  CUresult (*copy_to_host)(void*, CUdeviceptr, std::size_t) = nullptr;
  CUresult (*synchronize)() = nullptr;
  CUresult (*is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;

  // Null when one that is needed is not there: the driver is older than CUDA 12.4.
  [[nodiscard]] static const DriverFunctions* loaded();
};

}  // namespace regraph::capture
