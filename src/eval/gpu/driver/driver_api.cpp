#include "eval/gpu/driver/driver_api.h"

#include <fmt/format.h>

#include <array>
#include <dlfcn.h>

namespace regraph::gpu {
namespace {

// The loader's own search comes first; containers and WSL keep the library where it does not look.
constexpr std::array<const char*, 4> kLibraries = {
    "libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/cuda/compat/libcuda.so.1"};

template <typename Function>
bool bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<Driver> Driver::load() {
  void* library = nullptr;
  std::string trouble = "libcuda.so.1 is not found";
  for (const char* path : kLibraries) {
    library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    // One that is there but cannot be loaded says more than those that are not.
    const std::string why = ::dlerror();
    if (why.find("No such file") == std::string::npos) trouble = why;
  }
  if (library == nullptr) {
    return fail(ErrorCode::not_found, fmt::format("no CUDA driver: {}", trouble));
  }
  Driver driver;
// Two levels, so that cuda.h's own renaming happens first.
#define REGRAPH_TEXT_OF(name) #name
#define REGRAPH_NAME_OF(name) REGRAPH_TEXT_OF(name)
#define X(function)                                                               \
  if (!bind(library, REGRAPH_NAME_OF(function), driver.function)) {               \
    return fail(ErrorCode::unsupported,                                           \
                "the NVIDIA driver is too old: it has no " REGRAPH_NAME_OF(       \
                    function) "; a driver for CUDA 13 is needed (580 or newer)"); \
  }
  REGRAPH_DRIVER_FUNCTIONS(X)
#undef X
#undef REGRAPH_NAME_OF
#undef REGRAPH_TEXT_OF
  if (const CUresult result = driver.cuInit(0); result != CUDA_SUCCESS) {
    return fail(ErrorCode::resource, "the CUDA driver does not start: " + driver.describe(result));
  }
  // Within a major version older drivers load what newer toolkits make; across it they do not.
  int version = 0;
  (void)driver.cuDriverGetVersion(&version);
  if (version / 1000 < CUDA_VERSION / 1000) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("the NVIDIA driver is too old: it is for CUDA {}.{}, and kernels compiled "
                    "with CUDA {} do not load; a newer driver is needed (580 for CUDA 13)",
                    version / 1000, version % 1000 / 10, CUDA_VERSION / 1000));
  }
  return driver;
}

std::string Driver::describe(CUresult result) const {
  const char* symbol = nullptr;
  const char* words = nullptr;
  if (cuGetErrorName(result, &symbol) != CUDA_SUCCESS || symbol == nullptr) {
    return fmt::format("CUDA error {}", static_cast<int>(result));
  }
  if (cuGetErrorString(result, &words) != CUDA_SUCCESS || words == nullptr) return symbol;
  return fmt::format("{}: {}", symbol, words);
}

bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

}  // namespace regraph::gpu
