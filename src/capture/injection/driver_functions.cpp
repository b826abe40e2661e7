#include "capture/injection/driver_functions.h"

#include <dlfcn.h>

namespace regraph::capture {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

// Names are those of the versions that cuda.h declares.
bool find_all(DriverFunctions& functions) {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr && find(library, "cuKernelGetParamInfo", functions.kernel_parameter) &&
         find(library, "cuFuncGetParamInfo", functions.function_parameter) &&
         find(library, "cuKernelGetName", functions.kernel_name) &&
         find(library, "cuKernelGetLibrary", functions.kernel_library) &&
         find(library, "cuLibraryGetGlobal", functions.library_global) &&
         find(library, "cuFuncGetModule", functions.function_module) &&
         find(library, "cuModuleGetGlobal_v2", functions.module_global) &&
         find(library, "cuMemGetAddressRange_v2", functions.address_range) &&
         find(library, "cuMemcpyDtoH_v2", functions.copy_to_host) &&
         find(library, "cuCtxSynchronize", functions.synchronize) &&
         find(library, "cuStreamIsCapturing", functions.is_capturing);
}

}  // namespace

const DriverFunctions* DriverFunctions::loaded() {
  static DriverFunctions functions;
  static const bool kComplete = find_all(functions);
  return kComplete ? &functions : nullptr;
}

}  // namespace regraph::capture
